#include "model/keyhelper.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"

#define KEY_MAX ((size_t)16384)
#define KILL_GRACE_MS 300
#define NO_KEY "apiKeyHelper printed %s: its standard output must be the key alone"

void
key_free(char *key)
{
    if (!key)
        return;
    explicit_bzero(key, strlen(key));
    free(key);
}

static void
drop_output(struct key_run *r)
{
    if (r->out.data)
        explicit_bzero(r->out.data, r->out.cap);
    buf_release(&r->out);
}

bool
key_run_start(struct key_run *r, const struct key_helper *h, struct err *err)
{
    /* Its standard error is closed off by the shell: proc merges both, and a message would become part of the key. */
    const char *argv[] = {"/bin/sh", "-c", "eval \"$1\" 2>/dev/null", "sh", h->command, NULL};
    const struct proc_spec spec = {.argv = argv, .env = h->env, .cwd = h->cwd, .new_session = true};
    *r = (struct key_run){0};
    buf_init(&r->out, KEY_MAX);
    r->until = clock_mono_ms() + (h->timeout_ms > 0 ? h->timeout_ms : KEY_HELPER_MS);
    if (!proc_start(&spec, &r->proc, err))
        return err_wrap(err, "apiKeyHelper");
    r->running = true;
    return true;
}

void
key_run_stop(struct key_run *r)
{
    if (r->running) {
        proc_kill(&r->proc, KILL_GRACE_MS);
        proc_finish(&r->proc);
    }
    r->running = false;
    drop_output(r);
}

/* One word of plain characters: it becomes a header. */
static bool
is_key(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f)
            return false;
    return s.len > 0;
}

static enum key_step
finish(struct key_run *r, char **ret_key, struct err *err)
{
    int status = r->proc.exit_status;
    enum key_step step = KEY_FAILED;
    (void)proc_read(&r->proc, &r->out);
    struct str key = str_trim(buf_str(&r->out));
    if (WIFSIGNALED(status))
        err_set(err, ERR_INVALID, "apiKeyHelper was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        err_set(err, ERR_INVALID, "apiKeyHelper: its command was not found; check that setting");
    else if (WEXITSTATUS(status) != 0)
        err_set(err, ERR_INVALID, "apiKeyHelper ended with status %d; run it by hand to see why",
                WEXITSTATUS(status));
    else if (buf_full(&r->out) || !is_key(key))
        err_set(err, ERR_INVALID, NO_KEY, key.len ? "something that is no key" : "nothing");
    else
        step = KEY_DONE;
    if (step == KEY_DONE)
        *ret_key = str_dup(key);
    proc_release(&r->proc);
    r->running = false;
    drop_output(r);
    return step;
}

static int
wait_ms(int64_t until, int64_t helper_until)
{
    int64_t now = clock_mono_ms(), left = helper_until - now;
    if (until >= 0 && until - now < left)
        left = until - now;
    return left > 0 ? (int)left : 0;
}

enum key_step
key_run_step(struct key_run *r, int wake_fd, int timeout_ms, char **ret_key, struct err *err)
{
    int64_t until = timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms;
    for (;;) {
        (void)proc_poll(&r->proc, NULL, 0); /* takes the supervisor's reports */
        (void)proc_read(&r->proc, &r->out);
        if (r->proc.exited)
            return finish(r, ret_key, err);
        if (buf_full(&r->out)) {
            key_run_stop(r);
            err_set(err, ERR_INVALID, NO_KEY, "something that is no key");
            return KEY_FAILED;
        }
        if (clock_mono_ms() >= r->until) {
            key_run_stop(r);
            err_set(err, ERR_TIMEOUT, "apiKeyHelper took too long and was stopped");
            return KEY_FAILED;
        }
        if (until >= 0 && clock_mono_ms() >= until)
            return KEY_WAITS;
        struct pollfd fds[] = {{.fd = r->proc.fd, .events = POLLIN},
                               {.fd = r->proc.status_fd, .events = POLLIN},
                               {.fd = wake_fd, .events = POLLIN}};
        if (poll(fds, ARRAY_LEN(fds), wait_ms(until, r->until)) > 0 && fds[2].revents)
            return KEY_WAITS;
    }
}

char *
key_helper_get(const struct key_helper *h, struct cancel *cancel, struct err *err)
{
    struct key_run r;
    char *key = NULL;
    if (!key_run_start(&r, h, err)) {
        drop_output(&r);
        return NULL;
    }
    int wake = cancel ? cancel_fd(cancel) : -1;
    enum key_step step;
    while ((step = key_run_step(&r, wake, -1, &key, err)) == KEY_WAITS)
        if (cancel_fired(cancel))
            break;
    if (step == KEY_WAITS) {
        key_run_stop(&r);
        err_set(err, ERR_CANCELLED, "apiKeyHelper was cancelled");
    }
    return step == KEY_DONE ? key : NULL;
}
