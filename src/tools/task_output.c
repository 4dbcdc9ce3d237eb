/* TaskOutput and TaskStop: the model looks after its background commands. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/builtin.h"
#include "tools/task.h"

enum {
    NEW_BYTES = 30000,
    DEFAULT_WAIT_MS = 30000,
    MAX_WAIT_MS = 600000,
    STOP_WAIT_MS = TASK_GRACE_MS + 4000,
    SHOWN_COMMAND = 200
};

static struct str
task_id(const struct cJSON *input)
{
    static const char *const keys[] = {"task_id", "bash_id", "shell_id"};
    struct str id = {.ptr = NULL};

    for (size_t i = 0; i < ARRAY_LEN(keys) && !id.len; i++)
        id = str_trim(tool_arg_str(input, keys[i]));
    return id;
}

bool
tool_task_validate(const struct cJSON *input, struct err *err)
{
    return task_id(input).len ||
           err_set(err, ERR_INVALID, "'task_id' is missing: the id that Bash gave, such as bash_1");
}

/* The task, or an error result. Yours to unref. */
static struct task *
need_task(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct str id = task_id(input);
    struct task *t = task_find(ctx->tasks, id);
    struct task_info i;
    bool behind = false;

    if (t) {
        task_get(t, &i);
        behind = i.id != NULL;
        task_info_release(&i);
    }
    if (behind)
        return t;
    task_unref(t);
    tool_result_fail(ret,
                     "there is no background command '%.*s'; background commands end with the "
                     "yare that started them",
                     (int)(id.len < 100 ? id.len : 100), id.ptr);
    return NULL;
}

/* Until it is over, the time is up, or the call is cancelled. */
static void
wait_for_end(struct task *t, struct cancel *cancel, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms, left;

    while ((left = until - clock_mono_ms()) > 0) {
        struct pollfd p[2] = {{.fd = task_ended_fd(t), .events = POLLIN},
                              {.fd = cancel ? cancel_fd(cancel) : -1, .events = POLLIN}};
        if (poll(p, 2, (int)left) > 0 || errno != EINTR)
            return;
    }
}

static void
say_head(const struct task_info *i, struct buf *out)
{
    struct str command = str_from(i->command);
    size_t nl = str_find(command, '\n', 0);

    command = str_sub(command, 0, nl < SHOWN_COMMAND ? nl : SHOWN_COMMAND);
    buf_addf(out, "%s: ", i->id);
    task_say_state(i, out);
    if (i->state == TASK_RUNNING)
        buf_addf(out, ", pid %d", (int)i->pid);
    buf_addf(out, ", %.1f s, %llu bytes of output in all (", (double)i->elapsed_ms / 1000,
             (unsigned long long)i->bytes);
    tool_clean_text(out, command);
    buf_adds(out, ")\n");
}

static void
write_data(const struct task_info *i, struct str output, struct buf *out)
{
    struct jw w;
    const char *status = i->state == TASK_RUNNING  ? "running"
                         : i->state != TASK_EXITED ? "killed"
                         : i->exit_status          ? "failed"
                                                   : "completed";

    jw_init(&w, out);
    jw_object(&w);
    jw_kcstr(&w, "retrieval_status", i->state == TASK_RUNNING ? "not_ready" : "success");
    jw_key(&w, "task");
    jw_object(&w);
    jw_kcstr(&w, "task_id", i->id);
    jw_kcstr(&w, "task_type", "local_bash");
    jw_kcstr(&w, "status", status);
    jw_kcstr(&w, "description", i->command);
    jw_kstr(&w, "output", output);
    if (i->state == TASK_EXITED)
        jw_kint(&w, "exitCode",
                WIFSIGNALED(i->exit_status) ? 128 + WTERMSIG(i->exit_status)
                                            : WEXITSTATUS(i->exit_status));
    jw_end(&w);
    jw_end(&w);
}

/* Its state, and what it put out since it was read last. */
static void
write_task(struct task *t, struct tool_result *ret)
{
    struct task_info i;
    struct buf fresh;
    uint64_t skipped;

    task_get(t, &i); /* before the reading: what is read of one that ended is all there is */
    if (i.state != TASK_RUNNING)
        task_forget(t); /* this tells it */
    buf_init(&fresh, BUF_MAX);
    task_read_new(t, NEW_BYTES, &fresh, &skipped);
    say_head(&i, &ret->text);
    if (skipped && i.spill_path)
        buf_addf(&ret->text, "[%llu bytes before this are left out; all of it: %s]\n",
                 (unsigned long long)skipped, i.spill_path);
    else if (skipped)
        buf_addf(&ret->text, "[%llu bytes before this were not kept]\n",
                 (unsigned long long)skipped);
    struct str body = str_trim(buf_str(&fresh));
    if (body.len)
        buf_add_str(&ret->text, body);
    else
        buf_adds(&ret->text, "(no new output)");
    if (i.sandbox_why)
        buf_addf(&ret->text, "\n\n[%s]", i.sandbox_why);
    write_data(&i, buf_str(&fresh), &ret->data);
    struct buf word;
    buf_init(&word, BUF_MAX);
    task_say_state(&i, &word);
    snprintf(ret->summary, sizeof ret->summary, "%s: %s", i.id, buf_cstr(&word));
    buf_release(&word);
    buf_release(&fresh);
    task_info_release(&i);
}

void
tool_task_output_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct task *t = need_task(ctx, input, ret);
    int64_t wait = tool_arg_int(input, "timeout", DEFAULT_WAIT_MS);

    if (!t)
        return;
    if (wait > MAX_WAIT_MS)
        wait = MAX_WAIT_MS;
    if (tool_arg_bool(input, "block", true))
        wait_for_end(t, ctx->cancel, wait);
    if (cancel_fired(ctx->cancel) != CANCEL_NONE)
        tool_result_fail(ret, "the wait was interrupted; the command goes on");
    else
        write_task(t, ret);
    task_unref(t);
}

void
tool_task_stop_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct task *t = need_task(ctx, input, ret);

    if (!t)
        return;
    if (task_stop(t, false)) /* not by the call's token: what was begun is finished */
        wait_for_end(t, NULL, STOP_WAIT_MS);
    write_task(t, ret);
    task_unref(t);
}

static void
describe(const struct cJSON *input, struct buf *out)
{
    buf_add_str(out, task_id(input));
}

void
tool_task_output_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    (void)cwd;
    describe(input, out);
}

void
tool_task_stop_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    (void)cwd;
    describe(input, out);
}
