/* $EDITOR for the prompt, $PAGER for an item: the terminal is theirs until they end. Events go on being taken, so that
 * a running turn does not stop meanwhile. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "ui/app_private.h"
#include "ui/term.h"

#define EDITED_MAX ((size_t)8 << 20)
#define WATCH_MS 50

extern char **environ;

/* `command` may have arguments, as $EDITOR often does: the shell splits it, the file comes as a parameter of its own. */
static pid_t
start(const char *command, const char *file)
{
    posix_spawnattr_t attr;
    sigset_t none, usual;
    pid_t pid = -1;
    char *script = xasprintf("%s \"$1\"", command);
    char *argv[] = {"sh", "-c", script, "yare", (char *)(uintptr_t)file, NULL};
    if (posix_spawnattr_init(&attr) == 0) {
        sigemptyset(&none);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        (void)posix_spawnattr_setsigmask(&attr, &none);
        (void)posix_spawnattr_setsigdefault(&attr, &usual);
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ) != 0)
            pid = -1;
        (void)posix_spawnattr_destroy(&attr);
    }
    free(script);
    return pid;
}

/* Its exit status, or -1. */
static int
watch(struct app *a, pid_t pid)
{
    for (;;) {
        int status;
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (got < 0 && errno != EINTR)
            return -1;
        struct pollfd f = {-1, POLLIN, 0};
        if (a->engine && !a->engine_closed)
            f.fd = engine_event_fd(a->engine);
        if (poll(&f, 1, WATCH_MS) > 0)
            app_drain(a, 256);
    }
}

/* SIGINT in the other program was meant for it alone; TERM and HUP stay for the loop. */
static void
forget_interrupts(void)
{
    sigset_t set;
    struct timespec zero = {0, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    while (sigtimedwait(&set, NULL, &zero) > 0)
        ;
}

static bool
run_on(struct app *a, const char *command, struct str text, char *name)
{
    struct err err;
    int fd = mkstemps(name, 3);
    if (fd < 0 || !fs_write_all(fd, text, &err)) {
        app_note(a, "cannot write a temporary file: %s", strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    (void)close(fd);
    term_leave();
    pid_t pid = start(command, name);
    int status = pid > 0 ? watch(a, pid) : -1;
    forget_interrupts();
    term_enter();
    if (status == 127) /* what a shell says of it */
        app_note(a, "'%s' was not found", command);
    else if (status != 0)
        app_note(a, "'%s' failed", command);
    return status == 0;
}

static char *
temporary_name(void)
{
    const char *dir = getenv("TMPDIR");
    return xasprintf("%s/yare-XXXXXX.md", dir && *dir ? dir : "/tmp");
}

static const char *
program(const char *first, const char *second, const char *fallback)
{
    const char *s = getenv(first);
    if (!s || !*s)
        s = second ? getenv(second) : NULL;
    return s && *s ? s : fallback;
}

void
app_edit_prompt(struct app *a)
{
    struct buf b;
    struct err err;
    char *name = temporary_name();
    buf_init(&b, BUF_MAX);
    input_expand(&a->input, &b);
    if (run_on(a, program("VISUAL", "EDITOR", "vi"), buf_str(&b), name)) {
        buf_clear(&b);
        if (!fs_read(name, EDITED_MAX, &b, &err)) {
            app_note(a, "%s", err.text);
        } else {
            /* editors end the last line */
            if (b.len && b.data[b.len - 1] == '\n')
                buf_truncate(&b, b.len - 1);
            input_set(&a->input, buf_str(&b));
        }
    }
    (void)unlink(name);
    free(name);
    buf_release(&b);
}

void
app_page(struct app *a, struct str text)
{
    char *name = temporary_name();
    (void)run_on(a, program("PAGER", NULL, "less"), text, name);
    (void)unlink(name);
    free(name);
}
