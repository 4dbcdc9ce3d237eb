/* Everything is made close-on-exec and above the numbers it gets in the supervisor, so that posix_spawn's dup2 calls
 * cannot overwrite each other and no other thread's child inherits a descriptor of ours. */
#include "base/proc_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/supervise.h"

/* Numbers in the supervisor; 0 to 2 are the command's. */
enum { IN_DEATH = 3, IN_STATUS, IN_DRAIN, IN_TTY, IN_FIRST_FREE };

struct ends {
    int in, out_read, out_write, death_here, death_there, status_read, status_write;
};

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
close_ends(struct ends *e)
{
    close_fd(&e->in);
    close_fd(&e->out_read);
    close_fd(&e->out_write);
    close_fd(&e->death_here);
    close_fd(&e->death_there);
    close_fd(&e->status_read);
    close_fd(&e->status_write);
}

/* Moves fd up out of the way of the supervisor's numbers; -1 with errno when that fails (fd is closed). */
static int
lift(int fd)
{
    if (fd < 0 || fd >= IN_FIRST_FREE)
        return fd;
    int up = fcntl(fd, F_DUPFD_CLOEXEC, IN_FIRST_FREE);
    int saved = errno;
    close(fd);
    errno = saved;
    return up;
}

static bool
lift_pair(const int fds[2], int *ret_a, int *ret_b)
{
    *ret_a = lift(fds[0]);
    *ret_b = lift(fds[1]);
    return *ret_a >= 0 && *ret_b >= 0;
}

/* A pipe when it holds all at once (programs expect one), else a file in memory: nobody has to feed it. */
static int
open_stdin(struct str data)
{
    int fds[2];
    if (data.len == 0)
        return lift(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (data.len <= 65536 && pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0) {
        bool whole = write(fds[1], data.ptr, data.len) == (ssize_t)data.len;
        close(fds[1]);
        if (whole) {
            fcntl(fds[0], F_SETFL, 0);
            return lift(fds[0]);
        }
        close(fds[0]);
    }
    int fd = memfd_create("stdin", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (!fs_write_all(fd, data, NULL) || lseek(fd, 0, SEEK_SET) < 0) {
        close(fd);
        return -1;
    }
    return lift(fd);
}

static bool
open_ends(const struct proc_spec *spec, struct ends *e)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0 || !lift_pair(fds, &e->out_read, &e->out_write))
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
        !lift_pair(fds, &e->death_here, &e->death_there))
        return false;
    if (pipe2(fds, O_CLOEXEC) < 0 || !lift_pair(fds, &e->status_read, &e->status_write))
        return false;
    e->in = open_stdin(spec->stdin_data);
    return e->in >= 0;
}

static int
add_actions(posix_spawn_file_actions_t *a, const struct ends *e, int tty_fd)
{
    const int map[][2] = {{e->in, STDIN_FILENO},         {e->out_write, STDOUT_FILENO},
                          {e->out_write, STDERR_FILENO}, {e->death_there, IN_DEATH},
                          {e->status_write, IN_STATUS},  {e->out_read, IN_DRAIN}};
    /* The terminal first: its number may be one that the others overwrite. */
    int rc = tty_fd >= 0 ? posix_spawn_file_actions_adddup2(a, tty_fd, IN_TTY) : 0;
    for (size_t i = 0; i < ARRAY_LEN(map) && rc == 0; i++)
        rc = posix_spawn_file_actions_adddup2(a, map[i][0], map[i][1]);
    return rc;
}

static int
spawn(const char *path, char *const *argv, char *const *env, const struct ends *e, int tty_fd,
      pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int rc = add_actions(&actions, e, tty_fd);
    if (rc == 0)
        rc = posix_spawn(ret, path, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

struct cap_texts {
    char memory[24], processes[24];
};

static size_t
add_caps(const struct proc_caps *caps, struct cap_texts *texts, const char **head, size_t n)
{
    if (!caps)
        return n;
    snprintf(texts->memory, sizeof texts->memory, "%lld", (long long)caps->memory_bytes);
    snprintf(texts->processes, sizeof texts->processes, "%d", caps->processes);
    head[n++] = "--memory";
    head[n++] = texts->memory;
    head[n++] = "--processes";
    head[n++] = texts->processes;
    if (caps->note) {
        head[n++] = "--note";
        head[n++] = caps->note;
    }
    return n;
}

static char **
build_argv(const struct proc_spec *spec, int tty_fd, struct cap_texts *texts)
{
    static const char death[] = {'0' + IN_DEATH, 0}, status[] = {'0' + IN_STATUS, 0},
                      drain[] = {'0' + IN_DRAIN, 0}, tty[] = {'0' + IN_TTY, 0};
    const char *head[24];
    size_t n = 0, n_argv = 0;
    head[n++] = "yare";
    head[n++] = "--supervise";
    head[n++] = death;
    head[n++] = status;
    head[n++] = "--drain";
    head[n++] = drain;
    if (tty_fd >= 0) {
        head[n++] = "--tty";
        head[n++] = tty;
    }
    if (spec->new_session)
        head[n++] = "--setsid";
    if (spec->cwd) {
        head[n++] = "--cwd";
        head[n++] = spec->cwd;
    }
    n = add_caps(spec->caps, texts, head, n);
    head[n++] = "--";
    while (spec->argv && spec->argv[n_argv])
        n_argv++;
    char **argv = xcalloc(n + n_argv + 1, sizeof *argv);
    memcpy(argv, head, n * sizeof *argv);
    if (n_argv)
        memcpy(argv + n, spec->argv, n_argv * sizeof *argv);
    return argv;
}

static bool
first_report(int fd, struct supervise_report *ret)
{
    ssize_t n;
    do
        n = read(fd, ret, sizeof *ret);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *ret;
}

static bool
started(const struct proc_spec *spec, struct proc *p, struct err *err)
{
    struct supervise_report r;
    const char *name = spec->argv ? spec->argv[0] : "the terminal guard";
    if (!first_report(p->status_fd, &r))
        return err_set(err, ERR_SYS, "cannot run '%s': its supervisor ended at once", name);
    if (r.event == SUPERVISE_NO_CWD)
        return err_sys(err, r.value, "cannot run '%s' in '%s'", name, spec->cwd ? spec->cwd : ".");
    if (r.event == SUPERVISE_NO_FORK)
        return err_sys(err, r.value, "cannot make a process for '%s'", name);
    if (r.event != SUPERVISE_STARTED)
        return err_sys(err, r.value, "cannot run '%s'", name);
    p->child = r.value;
    return true;
}

bool
proc_spawn(const char *supervisor, const struct proc_spec *spec, int tty_fd, struct proc *ret,
           struct err *err)
{
    struct ends e = {-1, -1, -1, -1, -1, -1, -1};
    struct proc p = {.fd = -1, .status_fd = -1, .death_fd = -1, .wake_fd = -1};
    if (!open_ends(spec, &e)) {
        int saved = errno;
        close_ends(&e);
        return err_sys(err, saved, "cannot make the pipes for '%s'",
                       spec->argv ? spec->argv[0] : "the terminal guard");
    }
    struct cap_texts texts;
    char **argv = build_argv(spec, tty_fd, &texts);
    int rc = spawn(supervisor, argv, spec->env ? (char *const *)(uintptr_t)spec->env : environ, &e,
                   tty_fd, &p.supervisor);
    free(argv);
    if (rc) {
        close_ends(&e);
        return err_sys(err, rc, "cannot start the supervisor '%s'", supervisor);
    }
    p.fd = e.out_read;
    p.status_fd = e.status_read;
    p.death_fd = e.death_here;
    e.out_read = e.status_read = e.death_here = -1;
    close_ends(&e);
    if (!started(spec, &p, err)) {
        proc_finish(&p);
        return false;
    }
    fcntl(p.status_fd, F_SETFL, O_NONBLOCK);
    fcntl(p.fd, F_SETFL, O_NONBLOCK);
    *ret = p;
    return true;
}
