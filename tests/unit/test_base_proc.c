#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"

extern char **environ;

/* A mark in the environment finds a tree's processes again whatever they did to their parents and sessions. */
static char mark[64];
static int mark_number;

static const char *const *
marked_env(void)
{
    static const char *env[8];
    static char path[512];
    snprintf(mark, sizeof mark, "YARE_TEST_MARK=%d-%d", (int)getpid(), mark_number++);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    env[0] = mark;
    env[1] = path;
    env[2] = "ASAN_OPTIONS=detect_leaks=0";
    env[3] = NULL;
    return env;
}

static bool
has_mark(const char *pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    return n > 0 && memmem(text, (size_t)n, mark, strlen(mark));
}

static int
count_marked(void)
{
    int n = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9' && has_mark(d->d_name))
            n++;
    closedir(dir);
    return n;
}

static bool
none_within(int ms)
{
    int64_t end = clock_mono_ms() + ms;
    while (count_marked() > 0) {
        if (clock_mono_ms() > end)
            return false;
        poll(NULL, 0, 5);
    }
    return true;
}

static struct proc
start(const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct proc_spec spec = {.argv = argv, .env = marked_env(), .new_session = true};
    struct proc p;
    struct err err;
    if (!proc_start(&spec, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

static void
read_until(struct proc *p, struct buf *out, const char *what)
{
    while (!strstr(buf_cstr(out), what)) {
        assert_true(proc_poll(p, NULL, 20000));
        if (!proc_read(p, out))
            break;
    }
    assert_non_null(strstr(buf_cstr(out), what));
}

static void
run_collects_output_and_status(void **state)
{
    (void)state;
    const char *const argv[] = {"sh", "-c", "pwd; echo out; echo err >&2; cat; exit 7", NULL};
    struct proc_spec spec = {.argv = argv,
                             .env = marked_env(),
                             .cwd = "/usr",
                             .new_session = true,
                             .stdin_data = STR("fed\n")};
    struct buf out;
    struct err err;
    int status = 0;
    buf_init(&out, 4096);
    assert_true(proc_run(&spec, NULL, 20000, &out, &status, &err));
    assert_string_equal(buf_cstr(&out), "/usr\nout\nerr\nfed\n");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    buf_release(&out);
    assert_true(none_within(2000));
}

static void
what_cannot_run_says_why(void **state)
{
    (void)state;
    struct proc p;
    struct err err;
    const char *const nothing[] = {"no-such-program-here", NULL};
    struct proc_spec spec = {.argv = nothing, .env = marked_env()};
    assert_false(proc_start(&spec, &p, &err));
    assert_int_equal(err.sys, ENOENT);
    assert_non_null(strstr(err.text, "cannot run 'no-such-program-here'"));

    const char *const ls[] = {"ls", NULL};
    spec.argv = ls;
    spec.cwd = "/no/such/folder";
    assert_false(proc_start(&spec, &p, &err));
    assert_int_equal(err.sys, ENOENT);
    assert_non_null(strstr(err.text, "/no/such/folder"));

    const char *const text[] = {"/etc/passwd", NULL};
    spec = (struct proc_spec){.argv = text, .env = marked_env()};
    assert_false(proc_start(&spec, &p, &err));
    assert_int_equal(err.sys, EACCES);

    const char *const empty[] = {NULL};
    spec.argv = empty;
    assert_false(proc_start(&spec, &p, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_true(none_within(2000));
}

/* Ignores INT and TERM, in a session of its own, with grandchildren that were forked twice. */
static const char stubborn[] = "trap '' INT TERM HUP; "
                               "for i in 1 2 3; do (setsid sh -c 'trap \"\" INT TERM HUP; (sleep "
                               "1000 & sleep 1000) & exec sleep 1000' &) ; done; "
                               "(sleep 1000 &) ; echo ready; while :; do sleep 1000; done";

static void
kill_leaves_nobody(void **state)
{
    (void)state;
    struct proc p = start(stubborn);
    struct buf out;
    buf_init(&out, 4096);
    read_until(&p, &out, "ready");
    assert_true(count_marked() >= 4);
    proc_kill(&p, 500);
    assert_int_equal(count_marked(), 0);
    assert_true(p.exited);
    assert_true(WIFSIGNALED(p.exit_status));
    proc_finish(&p);
    proc_finish(&p);
    buf_release(&out);
}

static void
term_is_enough_for_the_polite(void **state)
{
    (void)state;
    struct proc p =
        start("trap 'echo cleaned; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    struct buf out;
    buf_init(&out, 4096);
    read_until(&p, &out, "ready");
    proc_kill(&p, 20000);
    while (proc_read(&p, &out))
        ;
    assert_non_null(strstr(buf_cstr(&out), "cleaned"));
    assert_int_equal(WEXITSTATUS(p.exit_status), 3);
    proc_finish(&p);
    buf_release(&out);
}

static void
death_of_the_program_leaves_nobody(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    const char *const *env = marked_env();
    pid_t middle = fork();
    if (middle == 0) {
        const char *const argv[] = {"sh", "-c", stubborn, NULL};
        struct proc_spec spec = {.argv = argv, .env = env, .new_session = true};
        struct proc p;
        struct buf out;
        buf_init(&out, 4096);
        if (!proc_start(&spec, &p, NULL))
            _exit(1);
        while (!strstr(buf_cstr(&out), "ready") && proc_poll(&p, NULL, 20000))
            proc_read(&p, &out);
        if (write(fds[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char c;
    assert_int_equal(read(fds[0], &c, 1), 1);
    assert_true(count_marked() >= 4);
    kill(middle, SIGKILL);
    waitpid(middle, NULL, 0);
    assert_true(none_within(3000));
    close(fds[0]);
    close(fds[1]);
}

static void
background_does_not_hold_the_exit(void **state)
{
    (void)state;
    struct proc p = start("sleep 1000 & echo done; exit 5");
    struct buf out;
    buf_init(&out, 4096);
    while (!p.exited) {
        assert_true(proc_poll(&p, NULL, 20000));
        proc_read(&p, &out);
    }
    assert_true(proc_read(&p, &out)); /* the pipe is still open */
    assert_string_equal(buf_cstr(&out), "done\n");
    assert_int_equal(WEXITSTATUS(p.exit_status), 5);
    assert_false(proc_poll(&p, NULL, 20)); /* nothing more is there to see */
    assert_int_equal(count_marked(), 2);   /* the sleeper and its supervisor */
    proc_finish(&p);
    assert_int_equal(count_marked(), 0);
    buf_release(&out);
}

static void
released_goes_on_and_may_write(void **state)
{
    (void)state;
    char path[] = "/tmp/yare-proc-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char script[256];
    /* More than a pipe holds: somebody must still be reading. */
    snprintf(script, sizeof script,
             "(head -c 300000 /dev/zero; echo over > %s; sleep 1000) & exit 0", path);
    struct proc p = start(script);
    while (!p.exited)
        assert_true(proc_poll(&p, NULL, 20000));
    proc_release(&p);
    assert_int_equal(p.supervisor, 0);
    int64_t end = clock_mono_ms() + 20000;
    char text[8] = "";
    while (pread(fd, text, 4, 0) != 4 && clock_mono_ms() < end)
        poll(NULL, 0, 5);
    assert_string_equal(text, "over");
    assert_true(count_marked() >= 2);
    /* The supervisor takes a TERM of its own as the order to end everything. */
    DIR *dir = opendir("/proc");
    for (struct dirent *d; (d = readdir(dir));)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9' && has_mark(d->d_name))
            kill(atoi(d->d_name), SIGTERM);
    closedir(dir);
    assert_true(none_within(3000));
    unlink(path);
    close(fd);
}

static void
a_megabyte_comes_through(void **state)
{
    (void)state;
    struct proc p = start("head -c 1048576 /dev/zero | tr '\\0' x");
    struct buf out;
    buf_init(&out, BUF_MAX);
    do
        assert_true(proc_poll(&p, NULL, 20000));
    while (proc_read(&p, &out));
    assert_int_equal(out.len, 1048576);
    assert_false(buf_full(&out));
    while (!p.exited)
        assert_true(proc_poll(&p, NULL, 20000));
    assert_int_equal(p.exit_status, 0);
    proc_finish(&p);
    buf_release(&out);
}

static void
output_past_the_cap_is_dropped(void **state)
{
    (void)state;
    const char *const argv[] = {"sh", "-c", "head -c 500000 /dev/zero; exit 4", NULL};
    struct proc_spec spec = {.argv = argv, .env = marked_env(), .new_session = true};
    struct buf out;
    int status;
    buf_init(&out, 1000);
    assert_true(proc_run(&spec, NULL, 20000, &out, &status, NULL));
    assert_int_equal(out.len, 1000);
    assert_true(buf_full(&out));
    assert_int_equal(WEXITSTATUS(status), 4);
    buf_release(&out);
}

static void
large_input_needs_no_feeder(void **state)
{
    (void)state;
    size_t n = 3u << 20;
    char *data = malloc(n);
    assert_non_null(data);
    memset(data, 'a', n);
    const char *const argv[] = {"wc", "-c", NULL};
    struct proc_spec spec = {
        .argv = argv, .env = marked_env(), .new_session = true, .stdin_data = str_make(data, n)};
    struct buf out;
    int status;
    buf_init(&out, 1000);
    assert_true(proc_run(&spec, NULL, 20000, &out, &status, NULL));
    assert_int_equal(atol(buf_cstr(&out)), (long)n);
    buf_release(&out);
    free(data);
}

static void
time_runs_out(void **state)
{
    (void)state;
    const char *const argv[] = {"sh", "-c", "echo part; sleep 1000 | sleep 1000", NULL};
    struct proc_spec spec = {.argv = argv, .env = marked_env(), .new_session = true};
    struct buf out;
    struct err err;
    int status = -1;
    buf_init(&out, 1000);
    assert_false(proc_run(&spec, NULL, 300, &out, &status, &err));
    assert_int_equal(err.code, ERR_TIMEOUT);
    assert_string_equal(buf_cstr(&out), "part\n");
    assert_int_equal(status, -1);
    assert_int_equal(count_marked(), 0);
    buf_release(&out);
}

static void *
fire(void *token)
{
    cancel_fire(token, CANCEL_USER);
    return NULL;
}

static void
cancel_ends_a_run(void **state)
{
    (void)state;
    const char *const argv[] = {"sleep", "1000", NULL};
    struct proc_spec spec = {.argv = argv, .env = marked_env(), .new_session = true};
    struct cancel *token = cancel_new(NULL);
    struct buf out;
    struct err err;
    int status;
    pthread_t thread;
    buf_init(&out, 1000);
    assert_int_equal(pthread_create(&thread, NULL, fire, token), 0);
    assert_false(proc_run(&spec, token, -1, &out, &status, &err));
    assert_int_equal(err.code, ERR_CANCELLED);
    pthread_join(thread, NULL);
    assert_int_equal(count_marked(), 0);
    cancel_free(token);
    buf_release(&out);
}

static void
the_command_starts_clean(void **state)
{
    (void)state;
    /* Masks, ignored signals and stray descriptors of this process must not reach it. */
    sigset_t block, old;
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    sigaddset(&block, SIGINT);
    pthread_sigmask(SIG_BLOCK, &block, &old);
    signal(SIGPIPE, SIG_IGN);
    int stray = dup2(1, 77);
    struct proc p =
        start("grep -E 'SigBlk|SigIgn' /proc/self/status; ls /proc/self/fd | wc -l; ulimit -c; "
              "ps -o sid= -o pid= -p $$ 2>/dev/null; tty");
    struct buf out;
    buf_init(&out, 4096);
    while (proc_poll(&p, NULL, 20000) && proc_read(&p, &out))
        ;
    assert_non_null(strstr(buf_cstr(&out), "SigBlk:\t0000000000000000"));
    assert_non_null(strstr(buf_cstr(&out), "SigIgn:\t0000000000000000"));
    assert_non_null(strstr(buf_cstr(&out), "\n4\n0\n")); /* 0, 1, 2 and ls's own; no core */
    assert_non_null(strstr(buf_cstr(&out), "not a tty"));
    proc_finish(&p);
    close(stray);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    buf_release(&out);
}

static int
open_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void *
many(void *arg)
{
    (void)arg;
    const char *const argv[] = {"echo", "hello", NULL};
    struct proc_spec spec = {.argv = argv, .new_session = true};
    for (int i = 0; i < 10; i++) {
        struct buf out;
        int status;
        buf_init(&out, 100);
        if (!proc_run(&spec, NULL, 60000, &out, &status, NULL) || strcmp(buf_cstr(&out), "hello\n"))
            abort();
        buf_release(&out);
    }
    return NULL;
}

static void
threads_start_side_by_side(void **state)
{
    (void)state;
    many(NULL);
    int before = open_descriptors();
    pthread_t t[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, many, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    struct proc zero = {0};
    proc_finish(&zero);
    proc_finish(&zero);
    many(NULL);
    assert_int_equal(open_descriptors(), before);
}

static int
open_terminal(int *ret_slave)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    *ret_slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(*ret_slave >= 0);
    return master;
}

static void
make_raw(int fd)
{
    struct termios raw;
    tcgetattr(fd, &raw);
    cfmakeraw(&raw);
    tcsetattr(fd, TCSANOW, &raw);
}

static bool
is_cooked(int fd)
{
    struct termios t;
    assert_int_equal(tcgetattr(fd, &t), 0);
    return t.c_lflag & ICANON;
}

static void
the_guard_puts_the_terminal_back(void **state)
{
    (void)state;
    int slave, fds[2], master = open_terminal(&slave);
    assert_int_equal(pipe(fds), 0);
    struct termios found;
    assert_int_equal(tcgetattr(slave, &found), 0);
    pid_t middle = fork();
    if (middle == 0) {
        struct proc guard;
        make_raw(slave);
        if (!proc_guard_terminal(slave, &found, &guard, NULL))
            _exit(1);
        if (write(fds[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char c, text[512];
    close(fds[1]);
    assert_int_equal(read(fds[0], &c, 1), 1);
    assert_false(is_cooked(slave));
    kill(middle, SIGKILL);
    waitpid(middle, NULL, 0);
    int64_t end = clock_mono_ms() + 10000;
    while (!is_cooked(slave) && clock_mono_ms() < end)
        poll(NULL, 0, 5);
    assert_true(is_cooked(slave));
    ssize_t n = read(master, text, sizeof text);
    assert_true(n > 0 && memmem(text, (size_t)n, "\033[?1049l", 8));
    close(fds[0]);

    /* A clean end leaves the terminal to whoever has it now. */
    struct proc guard;
    make_raw(slave);
    assert_true(proc_guard_terminal(slave, &found, &guard, NULL));
    proc_unguard_terminal(&guard);
    assert_false(is_cooked(slave));
    close(slave);
    close(master);
}

int
main(void)
{
    proc_set_supervisor(SUPERVISE_HELPER);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_collects_output_and_status),
        cmocka_unit_test(what_cannot_run_says_why),
        cmocka_unit_test(kill_leaves_nobody),
        cmocka_unit_test(term_is_enough_for_the_polite),
        cmocka_unit_test(death_of_the_program_leaves_nobody),
        cmocka_unit_test(background_does_not_hold_the_exit),
        cmocka_unit_test(released_goes_on_and_may_write),
        cmocka_unit_test(a_megabyte_comes_through),
        cmocka_unit_test(output_past_the_cap_is_dropped),
        cmocka_unit_test(large_input_needs_no_feeder),
        cmocka_unit_test(time_runs_out),
        cmocka_unit_test(cancel_ends_a_run),
        cmocka_unit_test(the_command_starts_clean),
        cmocka_unit_test(threads_start_side_by_side),
        cmocka_unit_test(the_guard_puts_the_terminal_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
