#include "perm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perm/sandbox.h"

enum { PLAN_MAX = 8 << 20 };

_Noreturn void
confine_fail(const struct confine *c, const char *step, int errnum)
{
    fprintf(stderr, "yare: the sandbox could not be set up: %s: %s\n", step, strerror(errnum));
    int fd = c && c->note ? open(c->note, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd >= 0)
        dprintf(fd, "setup %s: %s\n", step, strerror(errnum));
    _exit(CONFINE_FAILED);
}

static _Noreturn void
usage(void)
{
    fprintf(stderr, "yare --confine is for yare's own use\n");
    _exit(2);
}

_Noreturn void
confine_exec(char **argv)
{
    execvp(argv[0], argv);
    int saved = errno;
    fprintf(stderr, "yare: cannot run '%s': %s\n", argv[0], strerror(saved));
    _exit(saved == ENOENT ? 127 : 126);
}

static void
add(const char ***list, size_t *n, const char *value)
{
    *list = xreallocarray(*list, *n + 1, sizeof **list);
    (*list)[(*n)++] = value;
}

static void
take_record(struct confine *c, const char *key, const char *value)
{
    const struct {
        const char *key, **to;
    } texts[] = {{"bwrap", &c->bwrap}, {"tmp", &c->tmp}, {"note", &c->note}, {"proxy", &c->proxy}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!strcmp(key, texts[i].key)) {
            *texts[i].to = value;
            return;
        }
    if (!strcmp(key, "w"))
        add(&c->write, &c->n_write, value);
    else if (!strcmp(key, "x"))
        add(&c->hidden, &c->n_hidden, value);
    else if (!strcmp(key, "r"))
        add(&c->shown, &c->n_shown, value);
    else if (!strcmp(key, "s"))
        add(&c->sockets, &c->n_sockets, value);
    else if (!strcmp(key, "kind"))
        c->bwrap_kind = !strcmp(value, "bwrap");
    else if (!strcmp(key, "net"))
        c->network = !strcmp(value, "1");
    else if (!strcmp(key, "abi"))
        c->abi = atoi(value);
    else if (!strcmp(key, "file"))
        c->file_bytes = atoll(value);
    else if (!strcmp(key, "cpu"))
        c->cpu_seconds = atoll(value);
    else
        confine_fail(c, key,
                     EINVAL); /* a limit that is not understood is a limit that is not kept */
}

static ssize_t
read_all(int fd, char *to, size_t max)
{
    size_t got = 0;
    while (got < max) {
        ssize_t n = read(fd, to + got, max - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static void
read_plan(struct confine *c, const char *file)
{
    c->plan_fd = open(file, O_RDONLY | O_CLOEXEC);
    if (c->plan_fd < 0)
        confine_fail(c, "cannot open the plan", errno);
    c->text = xmalloc(PLAN_MAX + 1);
    ssize_t n = read_all(c->plan_fd, c->text, PLAN_MAX);
    if (n < 0 || n == PLAN_MAX)
        confine_fail(c, "cannot read the plan", n < 0 ? errno : EFBIG);
    c->text[n] = '\0';
    for (size_t at = 0; at < (size_t)n;) {
        char *record = c->text + at, *eq = strchr(record, '=');
        at += strlen(record) + 1;
        if (!strcmp(record, "bwrap-args")) {
            c->args_at = (int64_t)at;
            return;
        }
        if (!eq)
            confine_fail(c, "the plan is damaged", EINVAL);
        *eq = '\0';
        take_record(c, record, eq + 1);
    }
    confine_fail(c, "the plan is cut short", EINVAL);
}

static void
limit(const struct confine *c, int what, int64_t value, const char *name)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) < 0)
        confine_fail(c, name, errno);
    rlim_t to = (rlim_t)value;
    if (now.rlim_max != RLIM_INFINITY && to > now.rlim_max)
        to = now.rlim_max; /* narrower already */
    /* Time: the first signal can be caught, the second a second later cannot. */
    struct rlimit set = {
        to,
        what == RLIMIT_CPU && (now.rlim_max == RLIM_INFINITY || to < now.rlim_max) ? to + 1 : to};
    if (setrlimit((__rlimit_resource_t)what, &set) < 0)
        confine_fail(c, name, errno);
}

static void
set_limits(const struct confine *c)
{
    if (c->file_bytes > 0)
        limit(c, RLIMIT_FSIZE, c->file_bytes, "the limit of a file's size");
    if (c->cpu_seconds > 0)
        limit(c, RLIMIT_CPU, c->cpu_seconds, "the limit of a process's time");
    limit(c, RLIMIT_CORE, 0, "no core dumps");
}

static void
set_env(const struct confine *c)
{
    static const char *const dropped[] = {"SSH_AUTH_SOCK",  "SSH_AGENT_PID",
                                          "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS",
                                          "DISPLAY",        "WAYLAND_DISPLAY",
                                          "XAUTHORITY",     "DOCKER_HOST",
                                          "CONTAINER_HOST", "TMUX",
                                          "TMUX_PANE",      "XDG_RUNTIME_DIR",
                                          "LISTEN_FDS",     "NOTIFY_SOCKET",
                                          "PULSE_SERVER",   "SESSION_MANAGER"};
    static const char *const proxies[] = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                                          "http_proxy", "https_proxy", "all_proxy"};
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        unsetenv(dropped[i]);
    if (c->tmp && (setenv("TMPDIR", c->tmp, 1) < 0 || setenv("TMP", c->tmp, 1) < 0 ||
                   setenv("TEMP", c->tmp, 1) < 0))
        confine_fail(c, "the environment", errno);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", SANDBOX_PROXY_PORT);
    for (size_t i = 0; c->proxy && i < ARRAY_LEN(proxies); i++)
        if (setenv(proxies[i], url, 1) < 0)
            confine_fail(c, "the environment", errno);
    if (c->proxy && (setenv("NO_PROXY", "localhost,127.0.0.1,::1", 1) < 0 ||
                     setenv("no_proxy", "localhost,127.0.0.1,::1", 1) < 0))
        confine_fail(c, "the environment", errno);
    if (setenv("YARE_SANDBOX", c->bwrap_kind ? "bwrap" : "landlock", 1) < 0)
        confine_fail(c, "the environment", errno);
}

bool
confine_drop_caps(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    if (syscall(SYS_capget, &head, data) < 0)
        return false;
    if (data[0].permitted & (1U << CAP_SETPCAP)) {
        /* The superuser's name alone must give nothing back. */
        prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                     SECBIT_NO_SETUID_FIXUP_LOCKED);
        for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
            if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
                return false;
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    memset(data, 0, sizeof data);
    return syscall(SYS_capset, &head, data) == 0;
}

static _Noreturn void
run_landlock(const struct confine *c, char **argv)
{
    const char *step = NULL;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        confine_fail(c, "no_new_privs", errno);
    if (!confine_landlock(c, &step))
        confine_fail(c, step, errno);
    if (!confine_drop_caps())
        confine_fail(c, "capabilities", errno);
    if (!confine_seccomp((struct confine_sockets){.internet = c->network}))
        confine_fail(c, "seccomp", errno);
    confine_exec(argv);
}

/* For the probe: an exit status of 0 means that this back end stands here. */
static _Noreturn void
try_landlock(void)
{
    const char *root = "/";
    struct confine c = {.write = &root, .n_write = 1, .abi = confine_landlock_abi()};
    char *argv[] = {(char[]){"true"}, NULL};
    if (!c.abi)
        confine_fail(&c, "this kernel has no Landlock", EOPNOTSUPP);
    run_landlock(&c, argv);
}

static _Noreturn void
confine_main(int argc, char **argv)
{
    struct confine c = {.plan_fd = -1};
    if (argc < 3)
        usage();
    if (!strcmp(argv[2], "try"))
        try_landlock();
    if (!strcmp(argv[2], "init"))
        confine_init(argc, argv);
    if (argc < 5 || strcmp(argv[3], "--") != 0)
        usage();
    prctl(PR_SET_NAME, "yare-confine");
    read_plan(&c, argv[2]);
    set_limits(&c);
    set_env(&c);
    if (c.bwrap_kind)
        confine_bwrap(&c, argv + 4);
    close(c.plan_fd);
    run_landlock(&c, argv + 4);
}

static bool possible;

void
confine_entry(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--confine"))
        confine_main(argc, argv);
    possible = true;
}

bool
confine_is_possible(void)
{
    return possible;
}
