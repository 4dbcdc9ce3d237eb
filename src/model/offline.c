/* The offline pilot as a provider: a model stream like any other, made without a network or a model (see pilot_answer.h). */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "model/pilot_answer.h"
#include "model/provider.h"

struct provider {
    struct model_provider pub;
    int pace_us;
};

struct stream {
    struct model_stream pub;
    struct script script;
    size_t at;
    int timer, pace_us; /* timer: -1 when nothing is paced */
};

static void
stream_free(struct model_stream *base)
{
    struct stream *s = (struct stream *)base;
    script_release(&s->script);
    if (s->timer >= 0)
        close(s->timer);
    free(s);
}

/* The timer polls readable once the next piece is due. */
static bool
arm(struct stream *s, struct err *err)
{
    struct itimerspec t = {
        .it_value = {.tv_sec = s->pace_us / 1000000, .tv_nsec = s->pace_us % 1000000 * 1000L}};
    if (timerfd_settime(s->timer, 0, &t, NULL) != 0)
        return err_sys(err, errno, "cannot set a timer");
    return true;
}

/* Waits for the next piece's time. MODEL_IDLE: woken, or the caller's time ran out first. */
static enum model_step
wait_due(struct stream *s, int wake_fd, int timeout_ms, struct err *err)
{
    struct pollfd p[2] = {{.fd = s->timer, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    if (poll(p, 2, timeout_ms) < 0 && errno != EINTR) {
        err_sys(err, errno, "cannot wait");
        return MODEL_FAILED;
    }
    if (p[1].revents || !p[0].revents)
        return MODEL_IDLE;
    return arm(s, err) ? MODEL_DELTA : MODEL_FAILED;
}

static bool
is_paced(const struct stream *s, const struct delta *d)
{
    return s->timer >= 0 && d->text.len > 0;
}

static enum model_step
stream_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
            struct err *err)
{
    struct stream *s = (struct stream *)base;
    if (s->at == s->script.n)
        return MODEL_DONE;
    const struct delta *d = script_at(&s->script, s->at);
    enum model_step step = is_paced(s, d) ? wait_due(s, wake_fd, timeout_ms, err) : MODEL_DELTA;
    if (step == MODEL_DELTA) {
        *ret = *d;
        s->at++;
    }
    return step;
}

static const struct model_stream_ops stream_ops = {stream_next, stream_free};

static struct model_stream *
start(void *self, const struct model_request *req, struct err *err)
{
    struct provider *p = self;
    struct stream *s = xcalloc(1, sizeof *s);
    s->pub.ops = &stream_ops;
    s->pace_us = p->pace_us;
    s->timer = p->pace_us > 0 ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) : -1;
    if (p->pace_us > 0 && (s->timer < 0 || !arm(s, err))) {
        if (s->timer < 0)
            err_sys(err, errno, "cannot make a timer");
        stream_free(&s->pub);
        return NULL;
    }
    pilot_answer(req, &s->script);
    return &s->pub;
}

struct model_provider *
offline_provider_new(int pace_us)
{
    struct provider *p = xcalloc(1, sizeof *p);
    p->pace_us = pace_us;
    p->pub = (struct model_provider){.name = "offline", .self = p, .start = start, .free = free};
    return &p->pub;
}
