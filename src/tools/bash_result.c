/* What a Bash call says: its output, how it ended, where the shell stands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/json.h"
#include "tools/bash_parts.h"
#include "tools/bash_script.h"

enum {
    SUCCESS_CHARS = 30000,
    FAILURE_CHARS = 10000,
    OUTPUT_CHARS_MAX = 150000,
    SO_FAR_BYTES = 8 << 10
};

int64_t
bash_env_number(const char *name, int64_t fallback, int64_t max)
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
            /* The shell writes a name without links and dots; what is there may be another program's. */
            char *real = fs_resolve(path, NULL);
            bool plain = real && strcmp(real, path) == 0 && fs_is_dir(real);
            free(real);
            if (plain && fs_is_within(path, root))
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

/* What the sandbox has to say to a failure. */
static bool
note_sandbox(struct bash *b, struct buf *notice)
{
    struct task_info i;
    task_get(b->task, &i);
    bool walled = i.sandbox_why != NULL;
    if (walled)
        buf_addf(notice, "%s%s", notice->len ? "\n" : "", i.sandbox_why);
    task_info_release(&i);
    return walled;
}

struct ending {
    int code;
    const char *meaning; /* of a benign exit */
    bool failed;
};

static struct ending
judge(struct bash *b)
{
    struct ending e = {.code = exit_code(task_proc(b->task)->exit_status)};

    if (b->way != BASH_ENDED) {
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

static int64_t
elapsed_ms(const struct bash *b)
{
    struct task_info i;
    task_get(b->task, &i);
    int64_t ms = i.elapsed_ms;
    task_info_release(&i);
    return ms;
}

/* The first line of a failure: what happened. */
static void
say_ending(struct bash *b, const struct ending *e, struct buf *out)
{
    int status = task_proc(b->task)->exit_status;

    if (b->way == BASH_FLOODED) {
        buf_addf(out,
                 "Command put out more than %llu bytes and was killed with everything it started.",
                 (unsigned long long)task_output(b->task)->total);
    } else if (b->way != BASH_ENDED) {
        bool timed_out = b->way == BASH_TIMED_OUT;
        buf_adds(out, timed_out ? "Command timed out after " : "Command was interrupted after ");
        add_seconds(out, timed_out ? b->timeout_ms : elapsed_ms(b) / 100 * 100);
        buf_adds(out, " and was killed with everything it started.");
    }
    if (b->way != BASH_ENDED) {
        buf_adds(out, task_output(b->task)->total ? " Output so far:\n" : " There was no output.");
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
    jw_kbool(&w, "interrupted", b->way == BASH_INTERRUPTED);
    jw_kbool(&w, "isImage", false);
    if (b->way == BASH_TIMED_OUT)
        jw_kint(&w, "timedOutAfterMs", b->timeout_ms);
    if (e->meaning)
        jw_kcstr(&w, "returnCodeInterpretation", e->meaning);
    if (task_output(b->task)->spill_path) {
        jw_kcstr(&w, "persistedOutputPath", task_output(b->task)->spill_path);
        jw_kint(&w, "persistedOutputSize", (int64_t)task_output(b->task)->total);
    }
    jw_end(&w);
}

/* What the text does not show whole can be looked at by the person. */
static void
keep_log(struct bash *b, size_t max)
{
    uint64_t from = 0;
    if (task_output(b->task)->total <= max)
        return;
    task_read_tail(b->task, BASH_TAIL_BYTES, &b->ret->log, &from, NULL);
    b->ret->log_from = (int64_t)from;
}

void
bash_write_result(struct bash *b)
{
    struct tool_result *ret = b->ret;
    struct ending e = judge(b);
    struct buf output, notice;
    size_t replaced = 0;
    size_t max = e.failed ? FAILURE_CHARS
                          : (size_t)bash_env_number("BASH_MAX_OUTPUT_LENGTH", SUCCESS_CHARS,
                                                    OUTPUT_CHARS_MAX);

    buf_init(&output, BUF_MAX);
    buf_init(&notice, BUF_MAX);
    bash_output_write(task_output(b->task), max, &output, &replaced);
    note_cwd(b, &notice);
    keep_log(b, max);
    if (replaced)
        buf_addf(&notice, "%s%zu byte%s of output that %s no text replaced by U+FFFD",
                 notice.len ? "\n" : "", replaced, replaced == 1 ? "" : "s",
                 replaced == 1 ? "was" : "were");
    bool walled = note_sandbox(b, &notice);
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
    static const char *const words[] = {[BASH_INTERRUPTED] = "interrupted",
                                        [BASH_TIMED_OUT] = "timed out",
                                        [BASH_FLOODED] = "too much output"};
    if (b->way != BASH_ENDED)
        snprintf(ret->summary, sizeof ret->summary, "%s", words[b->way]);
    else
        snprintf(ret->summary, sizeof ret->summary, "exit %d%s", e.code,
                 walled ? ", by the sandbox" : "");
    write_data(b, &e, buf_str(&output), buf_str(&notice));
    ret->spill_path = task_output(b->task)->spill_path;
    task_output(b->task)->spill_path = NULL;
    buf_release(&output);
    buf_release(&notice);
}

/* ---- in the background ---- */

static void
write_behind_data(struct bash *b, const struct task_info *i)
{
    struct jw w;

    jw_init(&w, &b->ret->data);
    jw_object(&w);
    jw_kcstr(&w, "stdout", "");
    jw_kcstr(&w, "stderr", "");
    jw_kbool(&w, "interrupted", false);
    jw_kbool(&w, "isImage", false);
    jw_kcstr(&w, "backgroundTaskId", i->id);
    if (i->spill_path)
        jw_kcstr(&w, "persistedOutputPath", i->spill_path);
    jw_end(&w);
}

void
bash_write_behind(struct bash *b)
{
    struct buf *out = &b->ret->text;
    struct task_info i;
    uint64_t from;

    task_get(b->task, &i);
    buf_addf(out, "The command is still running in the background as task %s (pid %d): %s.\n", i.id,
             (int)i.pid, b->why_behind);
    buf_addf(out, "Read what it puts out with TaskOutput (task_id \"%s\"), stop it with TaskStop",
             i.id);
    if (i.spill_path)
        buf_addf(out, "; all of it goes to %s", i.spill_path);
    buf_adds(out, ".\nYou are told once when it has ended");
    if (i.timeout_ms) {
        buf_adds(out, "; it is killed ");
        add_seconds(out, i.timeout_ms);
        buf_adds(out, " after its start");
    }
    buf_adds(out, ".");
    if (i.bytes) {
        struct buf so_far;
        buf_init(&so_far, BUF_MAX);
        task_read_tail(b->task, SO_FAR_BYTES, &so_far, &from, NULL);
        buf_adds(out, from ? "\nThe end of its output so far:\n" : "\nIts output so far:\n");
        buf_add_str(out, str_trim(buf_str(&so_far)));
        buf_release(&so_far);
    }
    buf_addf(&b->ret->display, "goes on in the background as %s, pid %d", i.id, (int)i.pid);
    if (i.spill_path)
        buf_addf(&b->ret->display, "\noutput: %s", i.spill_path);
    snprintf(b->ret->summary, sizeof b->ret->summary, "in the background: %s", i.id);
    write_behind_data(b, &i);
    b->ret->task_id = xstrdup(i.id);
    task_info_release(&i);
}
