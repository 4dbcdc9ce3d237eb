#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "tools/args.h"
#include "tools/bash_output.h"
#include "tools/bash_script.h"
#include "tools/builtin.h"

enum {
    DEFAULT_TIMEOUT_MS = 120000,
    MAX_TIMEOUT_MS = 600000,
    COMMAND_MAX = 120 << 10, /* the kernel takes 128 KiB an argument */
    GRACE_MS = 1000,         /* from TERM to KILL */
    PROGRESS_MS = 50,
    /* what is still taken after the command ended, should a background child keep writing */
    DRAIN_BYTES = 1 << 20,
    DRAIN_MS = 200,
    SUCCESS_CHARS = 30000,
    FAILURE_CHARS = 10000,
    OUTPUT_CHARS_MAX = 150000
};

struct bash {
    struct tool_ctx *ctx;
    struct tool_result *ret;
    struct str command;
    int64_t timeout_ms, start_ms, end_ms, progress_ms;
    char *cwd_file;
    struct proc proc;
    struct bash_output output;
    bool timed_out, interrupted;
};

static int64_t
env_number(const char *name, int64_t fallback, int64_t max)
{
    const char *s = getenv(name);
    char *end;

    if (!s || !*s)
        return fallback;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (*end || errno || v <= 0)
        return fallback;
    return v < max ? v : max;
}

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
    b->start_ms = clock_mono_ms();
    bool ok = proc_start(&spec, &b->proc, err);
    free(env);
    free(command);
    buf_release(&script);
    return ok;
}

static void
report_progress(struct bash *b)
{
    int64_t now = clock_mono_ms();
    struct buf line;

    if (!b->ctx->progress || now - b->progress_ms < PROGRESS_MS)
        return;
    b->progress_ms = now;
    buf_init(&line, BUF_MAX);
    tool_clean_text(&line, buf_str(&b->output.last_line));
    b->ctx->progress(b->ctx->user, buf_str(&line), (int64_t)b->output.total);
    buf_release(&line);
}

/* Takes what is there. False at end of file. */
static bool
take_output(struct bash *b, struct buf *chunk)
{
    buf_clear(chunk);
    bool more = proc_read(&b->proc, chunk);
    bash_output_add(&b->output, buf_str(chunk));
    return more;
}

/* The command ended; what it wrote may still be in the pipe, and a background child may hold that open for long. */
static void
drain(struct bash *b, struct buf *chunk)
{
    uint64_t before = b->output.total;
    int64_t until = clock_mono_ms() + DRAIN_MS;

    do {
        if (!take_output(b, chunk))
            return;
    } while (chunk->len && b->output.total - before < DRAIN_BYTES && clock_mono_ms() < until);
}

static void
wait_for_end(struct bash *b)
{
    int64_t deadline = b->start_ms + b->timeout_ms;
    struct buf chunk;

    buf_init(&chunk, 512 << 10);
    while (!b->proc.exited) {
        int64_t left = deadline - clock_mono_ms();
        if (cancel_fired(b->ctx->cancel) != CANCEL_NONE)
            b->interrupted = true;
        else if (left <= 0)
            b->timed_out = true;
        if (b->interrupted || b->timed_out)
            break;
        proc_poll(&b->proc, b->ctx->cancel, (int)left);
        take_output(b, &chunk);
        report_progress(b);
    }
    if (b->interrupted || b->timed_out)
        proc_kill(&b->proc, GRACE_MS);
    drain(b, &chunk);
    b->end_ms = clock_mono_ms();
    if (b->interrupted || b->timed_out)
        proc_finish(&b->proc);
    else
        proc_release(&b->proc);
    buf_release(&chunk);
}

/* Where the shell ended, when it said so. Leaving the project brings it back to where it was. */
static void
note_cwd(struct bash *b, struct buf *notice)
{
    char *root = fs_resolve(b->ctx->root, NULL), *now = fs_resolve(b->ctx->cwd, NULL);
    struct buf text;
    struct err err;
    bool found;

    buf_init(&text, 16384);
    if (root && now && fs_read_if(b->cwd_file, 8192, &text, &found, &err)) {
        struct str s = buf_str(&text);
        if (s.len && s.ptr[s.len - 1] == '\n')
            buf_truncate(&text, s.len - 1);
        const char *path = buf_cstr(&text);
        if (*path == '/' && strcmp(path, now) != 0) {
            if (fs_is_within(path, root))
                b->ret->new_cwd = xstrdup(path);
            else
                buf_addf(notice, "Shell cwd was reset to %s", b->ctx->cwd);
        }
    }
    buf_release(&text);
    free(root);
    free(now);
}

static void
add_seconds(struct buf *out, int64_t ms)
{
    if (ms % 1000)
        buf_addf(out, "%.1f s", (double)ms / 1000);
    else
        buf_addf(out, "%lld s", (long long)(ms / 1000));
}

/* The shell's view of a wait status. */
static int
exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct ending {
    int code;
    const char *meaning; /* of a benign exit */
    bool failed;
};

static struct ending
judge(struct bash *b)
{
    struct ending e = {.code = exit_code(b->proc.exit_status)};

    if (b->interrupted || b->timed_out) {
        e.failed = true;
        return e;
    }
    if (e.code == 1)
        e.meaning = bash_benign_exit(b->command);
    e.failed = e.code != 0 && !e.meaning;
    return e;
}

static const char *
signal_text(int sig)
{
    const char *text = sigdescr_np(sig);

    return text ? text : "unknown";
}

/* The first line of a failure: what happened. */
static void
say_ending(struct bash *b, const struct ending *e, struct buf *out)
{
    int status = b->proc.exit_status;

    if (b->interrupted || b->timed_out) {
        buf_adds(out,
                 b->interrupted ? "Command was interrupted after " : "Command timed out after ");
        add_seconds(out, b->timed_out ? b->timeout_ms : (b->end_ms - b->start_ms) / 100 * 100);
        buf_adds(out, " and was killed with everything it started.");
        buf_adds(out, b->output.total ? " Output so far:\n" : " There was no output.");
    } else if (e->failed) {
        buf_addf(out, "Exit code %d", e->code);
        if (WIFSIGNALED(status))
            buf_addf(out, " (killed by signal %d, %s)", WTERMSIG(status),
                     signal_text(WTERMSIG(status)));
        buf_addc(out, '\n');
    }
}

static void
write_data(struct bash *b, const struct ending *e, struct str output, struct str notice)
{
    struct jw w;

    jw_init(&w, &b->ret->data);
    jw_object(&w);
    jw_kstr(&w, "stdout", output);
    jw_kstr(&w, "stderr", notice);
    jw_kbool(&w, "interrupted", b->interrupted);
    jw_kbool(&w, "isImage", false);
    if (b->timed_out)
        jw_kint(&w, "timedOutAfterMs", b->timeout_ms);
    if (e->meaning)
        jw_kcstr(&w, "returnCodeInterpretation", e->meaning);
    if (b->output.spill_path) {
        jw_kcstr(&w, "persistedOutputPath", b->output.spill_path);
        jw_kint(&w, "persistedOutputSize", (int64_t)b->output.total);
    }
    jw_end(&w);
}

static void
write_result(struct bash *b)
{
    struct tool_result *ret = b->ret;
    struct ending e = judge(b);
    struct buf output, notice;
    size_t replaced = 0;
    size_t max =
        e.failed ? FAILURE_CHARS
                 : (size_t)env_number("BASH_MAX_OUTPUT_LENGTH", SUCCESS_CHARS, OUTPUT_CHARS_MAX);

    buf_init(&output, BUF_MAX);
    buf_init(&notice, BUF_MAX);
    bash_output_write(&b->output, max, &output, &replaced);
    note_cwd(b, &notice);
    if (replaced)
        buf_addf(&notice, "%s%zu byte%s of output that %s no text replaced by U+FFFD",
                 notice.len ? "\n" : "", replaced, replaced == 1 ? "" : "s",
                 replaced == 1 ? "was" : "were");
    say_ending(b, &e, &ret->text);
    struct str body = buf_str(&output);
    while (body.len && body.ptr[body.len - 1] == '\n')
        body.len--;
    buf_add_str(&ret->text, body);
    if (!body.len && e.failed)
        buf_truncate(&ret->text, str_trim(buf_str(&ret->text)).len);
    if (!ret->text.len)
        buf_adds(&ret->text, e.meaning ? e.meaning : "(no output)");
    if (notice.len)
        buf_addf(&ret->text, "\n\n[%s]", buf_cstr(&notice));
    ret->is_error = e.failed;
    ret->benign = e.meaning != NULL;
    if (b->timed_out || b->interrupted)
        snprintf(ret->summary, sizeof ret->summary, "%s",
                 b->timed_out ? "timed out" : "interrupted");
    else
        snprintf(ret->summary, sizeof ret->summary, "exit %d", e.code);
    write_data(b, &e, buf_str(&output), buf_str(&notice));
    ret->spill_path = b->output.spill_path;
    b->output.spill_path = NULL;
    buf_release(&output);
    buf_release(&notice);
}

static int64_t
timeout_of(const struct cJSON *input)
{
    int64_t max = env_number("BASH_MAX_TIMEOUT_MS", MAX_TIMEOUT_MS, 24 * 3600 * 1000);
    int64_t t = env_number("BASH_DEFAULT_TIMEOUT_MS", DEFAULT_TIMEOUT_MS, max);
    double given;
    const struct cJSON *n = json_at(input, "timeout");

    if (n && tool_read_num(n, &given) && given >= 1)
        t = given < (double)max ? (int64_t)given : max;
    return t;
}

void
tool_bash_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct bash b = {.ctx = ctx, .ret = ret, .command = tool_arg_str(input, "command")};
    struct err err;

    if (tool_arg_bool(input, "run_in_background", false)) {
        tool_result_fail(
            ret,
            "Bash: run_in_background is not available yet. Run the command in the foreground, or "
            "put it in the background yourself with & and its output in a file.");
        return;
    }
    if (!str_trim(b.command).len) {
        tool_result_fail(ret, "Bash: 'command' must not be empty");
        return;
    }
    if (b.command.len > COMMAND_MAX) {
        tool_result_fail(ret,
                         "Bash: the command is longer than %d bytes; write it to a script first",
                         COMMAND_MAX);
        return;
    }
    b.timeout_ms = timeout_of(input);
    bash_output_init(&b.output, ctx);
    if (start(&b, &err)) {
        wait_for_end(&b);
        write_result(&b);
    } else {
        tool_result_fail(ret, "%s", err.text);
    }
    if (b.cwd_file)
        unlink(b.cwd_file);
    free(b.cwd_file);
    bash_output_release(&b.output);
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
