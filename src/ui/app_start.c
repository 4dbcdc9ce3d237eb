/* How the engine arrives: on a thread of its own, after the first frame. Until then the screen answers keys, and what is submitted
 * waits here. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "ui/app_private.h"

#define EARLY_MAX 64
#define SAY_AFTER_MS 600 /* a start that takes longer than this says what it waits for */
#define GIVE_UP_MS                                                                                 \
    3000 /* how long the end of the program waits for a start that was told to stop */
#define STARTING "starting: settings and credentials"

/* Written by the thread, read once `fd` says that it is done. On its own in memory, so that a thread that does not come back can keep it. */
struct app_start {
    const struct app_options *o;
    pthread_t thread;
    int fd;
    struct engine *engine;
    struct err err;
    int64_t since_ms;
    bool said;
    struct op *question;
};

static void *
start_main(void *arg)
{
    struct app_start *s = arg;
    s->engine = s->o->start_engine(s->o->user, &s->err);
    uint64_t one = 1;
    while (write(s->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    return NULL;
}

static void
start_free(struct app_start *s)
{
    op_free(s->question);
    (void)close(s->fd);
    free(s);
}

static void
say_failure(struct app *a, struct err *err)
{
    (void)err_wrap(err, "the engine did not start");
    app_error(a, err);
}

void
app_start_begin(struct app *a)
{
    struct app_start *s = xcalloc(1, sizeof(*s));
    sigset_t all, old;
    struct err err = {0};
    s->o = a->o;
    s->since_ms = clock_mono_ms();
    s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* Signals belong to the screen. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = s->fd < 0 ? errno : pthread_create(&s->thread, NULL, start_main, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0) {
        a->start = s;
        return;
    }
    (void)err_sys(&err, rc, "no thread for it");
    say_failure(a, &err);
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s);
}

int
app_start_fd(const struct app *a)
{
    return a->start ? a->start->fd : -1;
}

int64_t
app_start_due(const struct app *a)
{
    return a->start && !a->start->said ? a->start->since_ms + SAY_AFTER_MS : -1;
}

void
app_start_tick(struct app *a, int64_t now)
{
    if (!a->start || a->start->said || now < a->start->since_ms + SAY_AFTER_MS)
        return;
    a->start->said = true;
    app_note(a, STARTING);
    a->note_until_ms = now + 60000; /* until it is there; see app_start_take */
}

bool
app_start_keep(struct app *a, const char *text)
{
    if (!a->start)
        return false;
    if (a->n_queued == EARLY_MAX) {
        app_note(a, "yare is still starting, and %d prompts wait already", EARLY_MAX);
        input_set(&a->input, str_from(text));
        return true;
    }
    app_queue_add(a, text, QUEUE_WAITING);
    a->dirty = true;
    return true;
}

void
app_start_question(struct app *a, struct op *take_op)
{
    op_free(a->start->question);
    a->start->question = take_op;
}

static void
post_early(struct app *a, struct app_start *s)
{
    a->said |= a->n_queued > 0;
    app_queue_pump(a);
    if (s->question)
        engine_post(a->engine, s->question);
    s->question = NULL;
}

/* Without an engine the screen is of no use but to what was written into it. A prompt of the command line is in the shell's history. */
static void
fail(struct app *a, struct err *err)
{
    struct buf text;
    buf_init(&text, BUF_MAX);
    input_expand(&a->input, &text);
    if (!text.len || (a->o->prompt && str_is(buf_str(&text), a->o->prompt))) {
        a->start_err = *err;
        app_quit(a, 1);
    } else {
        say_failure(a, err);
    }
    buf_release(&text);
}

void
app_start_take(struct app *a)
{
    struct app_start *s = a->start;
    pthread_join(s->thread, NULL);
    a->start = NULL;
    if (s->said)
        a->note_until_ms = 0;
    a->engine = s->engine;
    if (a->engine) {
        post_early(a, s);
        app_follow(a);
    } else {
        app_queue_give_back(a); /* nothing that was typed is lost */
        fail(a, &s->err);
    }
    start_free(s);
    a->urgent = true; /* the frame with the engine's first word does not wait for the cap */
}

bool
app_start_stop(struct app *a)
{
    struct app_start *s = a->start;
    if (!s)
        return true;
    if (a->o->stop_start)
        a->o->stop_start(a->o->user);
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += GIVE_UP_MS / 1000;
    a->start = NULL;
    if (pthread_timedjoin_np(s->thread, NULL, &until) != 0) {
        log_warn("ui", "the start did not stop in %d ms; it is left behind", GIVE_UP_MS);
        return false;
    }
    engine_free(s->engine);
    start_free(s);
    return true;
}
