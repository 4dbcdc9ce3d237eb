/* Bash: a command from its input to its end, or to the background. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "perm/confinement.h"
#include "tools/args.h"
#include "tools/bash_parts.h"
#include "tools/bash_script.h"
#include "tools/builtin.h"

enum {
    DEFAULT_TIMEOUT_MS = 120000,
    MAX_TIMEOUT_MS = 600000,
    COMMAND_MAX = 120 << 10, /* the kernel takes 128 KiB an argument */
    PROGRESS_MS = 50
};

/* The environment of the command, and what keeps programs from asking on a terminal that is not there. */
static const char **
make_env(const char *const *given)
{
    static const char *const quiet[] = {"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
                                        "PAGER=cat", "TERM=dumb"};
    size_t n = 0, out = 0;

    while (given && given[n])
        n++;
    const char **env = xcalloc(n + ARRAY_LEN(quiet) + 1, sizeof *env);
    for (size_t i = 0; i < n; i++)
        env[out++] = given[i];
    for (size_t q = 0; q < ARRAY_LEN(quiet); q++) {
        size_t name = strcspn(quiet[q], "=") + 1;
        bool there = false;
        for (size_t i = 0; i < n && !there; i++)
            there = strncmp(given[i], quiet[q], name) == 0;
        if (!there)
            env[out++] = quiet[q];
    }
    return env;
}

/* The file to which the shell writes where it ended: made now, so that nobody else can put one there. */
static char *
make_cwd_file(const char *dir, struct err *err)
{
    char *path = xasprintf("%s/.cwd-XXXXXX", dir ? dir : "/tmp");
    int fd = -1;

    if (!dir || fs_mkdirs(dir, 0700, err))
        fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    err_sys(err, errno, "cannot make a file in '%s'", dir ? dir : "/tmp");
    free(path);
    return NULL;
}

/* Where it was decided that the command runs inside the sandbox, it does or it does not run. */
static bool
confine(struct bash *b, struct proc_spec *spec, struct confined **ret, struct err *err)
{
    struct confinement *in = b->ctx->confinement;
    *ret = in ? confined_new(in, spec->cwd, b->cwd_file, spec->argv, err) : NULL;
    if (!*ret)
        return !in || err_wrap(err, "Bash: the sandbox cannot be made, the command did not run");
    spec->argv = (*ret)->command.argv;
    spec->caps = &(*ret)->command.caps;
    return true;
}

static bool
start(struct bash *b, struct err *err)
{
    struct buf script;
    const char **env;

    b->cwd_file = make_cwd_file(b->ctx->spill_dir, err);
    if (!b->cwd_file)
        return false;
    buf_init(&script, BUF_MAX);
    bash_script(b->cwd_file, &script);
    char *command = str_dup(b->command);
    env = make_env(b->ctx->child_env);
    const char *const argv[] = {"bash", "--norc", "--noprofile", "-c", buf_cstr(&script),
                                "bash", command,  NULL};
    struct proc_spec spec = {.argv = argv, .env = env, .cwd = b->ctx->cwd, .new_session = true};
    struct confined *in = NULL;
    if (confine(b, &spec, &in, err)) {
        b->start_ms = clock_mono_ms();
        b->task = task_start(b->ctx->tasks, b->ctx, &spec, b->command, b->cwd_file, in, err);
    }
    free(env);
    free(command);
    buf_release(&script);
    return b->task != NULL;
}

static void
report_progress(struct bash *b)
{
    int64_t now = clock_mono_ms();
    struct task_info i;

    if (!b->ctx->progress || now - b->progress_ms < PROGRESS_MS)
        return;
    b->progress_ms = now;
    task_get(b->task, &i);
    b->ctx->progress(b->ctx->user, str_from(i.last_line), (int64_t)i.bytes);
    task_info_release(&i);
}

static bool
try_background(struct bash *b, const char *why)
{
    /* Who gave a timeout for a command in the background meant it; the one that a command in front has is used up. */
    bool at_timeout = clock_mono_ms() - b->start_ms >= b->timeout_ms;

    if (!task_to_background(b->task, b->timeout_given && !at_timeout ? b->timeout_ms : 0))
        return false;
    b->why_behind = why;
    b->way = BASH_BEHIND;
    return true;
}

/* True: the waiting is over, b->way says why. */
static bool
look_around(struct bash *b, int64_t left_ms, bool *could_not)
{
    if (cancel_fired(b->ctx->cancel) != CANCEL_NONE)
        b->way = BASH_INTERRUPTED;
    else if (task_flooded(b->task))
        b->way = BASH_FLOODED;
    else if (cancel_fired(b->ctx->background) != CANCEL_NONE && !*could_not &&
             !(*could_not = !try_background(b, "the person sent it there")))
        return true;
    else if (left_ms <= 0 &&
             !(b->ctx->may_outlive && try_background(b, "it had not ended by its time-out")))
        b->way = BASH_TIMED_OUT;
    return b->way != BASH_ENDED;
}

static void
wait_in_front(struct bash *b)
{
    int64_t deadline = b->start_ms + b->timeout_ms;
    bool could_not = false; /* go to the background when it was told to */

    for (;;) {
        int64_t left = deadline - clock_mono_ms();
        if (look_around(b, left, &could_not))
            break;
        int wake = b->ctx->background && !could_not ? cancel_fd(b->ctx->background) : -1;
        if (task_poll(b->task, b->ctx->cancel, wake, (int)left))
            break;
        report_progress(b);
    }
    if (b->way != BASH_BEHIND)
        task_finish(b->task, b->way != BASH_ENDED, b->way == BASH_INTERRUPTED);
}

static void
run_behind(struct bash *b)
{
    if (task_to_background(b->task, b->timeout_given ? b->timeout_ms : 0)) {
        b->why_behind = "you asked for that";
        b->way = BASH_BEHIND;
        return;
    }
    task_finish(b->task, true, false);
    tool_result_fail(b->ret, "Bash: too many commands run in the background already; stop one with "
                             "TaskStop, or run this one in front");
}

static int64_t
timeout_of(const struct cJSON *input, bool *ret_given)
{
    int64_t max = bash_env_number("BASH_MAX_TIMEOUT_MS", MAX_TIMEOUT_MS, 24 * 3600 * 1000);
    int64_t t = bash_env_number("BASH_DEFAULT_TIMEOUT_MS", DEFAULT_TIMEOUT_MS, max);
    double given;
    const struct cJSON *n = json_at(input, "timeout");

    *ret_given = n && tool_read_num(n, &given) && given >= 1;
    if (*ret_given)
        t = given < (double)max ? (int64_t)given : max;
    return t;
}

static bool
check(const struct bash *b, bool behind)
{
    if (!str_trim(b->command).len)
        tool_result_fail(b->ret, "Bash: 'command' must not be empty");
    else if (b->command.len > COMMAND_MAX)
        tool_result_fail(b->ret,
                         "Bash: the command is longer than %d bytes; write it to a script first",
                         COMMAND_MAX);
    else if (behind && !task_table_takes_background(b->ctx->tasks))
        tool_result_fail(
            b->ret, "Bash: background commands are switched off here; run the command in front");
    else
        return true;
    return false;
}

void
tool_bash_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct bash b = {.ctx = ctx, .ret = ret, .command = tool_arg_str(input, "command")};
    bool behind = tool_arg_bool(input, "run_in_background", false);
    struct err err;

    if (!check(&b, behind))
        return;
    b.timeout_ms = timeout_of(input, &b.timeout_given);
    if (!start(&b, &err)) {
        tool_result_fail(ret, "%s", err.text);
    } else if (behind) {
        run_behind(&b);
    } else {
        wait_in_front(&b);
        if (b.way != BASH_BEHIND)
            bash_write_result(&b);
    }
    if (b.way == BASH_BEHIND)
        bash_write_behind(&b);
    else if (b.cwd_file)
        unlink(b.cwd_file);
    free(b.cwd_file);
    task_unref(b.task);
}

void
tool_bash_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    struct str command = str_trim(tool_arg_str(input, "command"));
    size_t nl = str_find(command, '\n', 0);

    (void)cwd;
    buf_add_str(out, nl == (size_t)-1 ? command : str_sub(command, 0, nl));
    if (nl != (size_t)-1)
        buf_adds(out, " ...");
}
