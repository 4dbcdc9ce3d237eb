/* One task: its process, its output, its end. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "perm/confinement.h"
#include "tools/args.h"
#include "tools/task_private.h"
#include "tools/tool.h"

enum {
    /* what is still taken after the command ended, should a background child keep writing */
    DRAIN_BYTES = 1 << 20,
    DRAIN_MS = 200,
    PARTING_MS = 20,
    SANDBOX_WHY_MAX = 4096
};

static void
list_add(struct task_table *tt, struct task *t)
{
    pthread_mutex_lock(&tt->lock);
    ARRAY_GROW(tt->list, tt->n, tt->cap);
    tt->list[tt->n++] = task_ref(t);
    pthread_mutex_unlock(&tt->lock);
}

static void
list_remove(struct task_table *tt, struct task *t)
{
    bool found = false;
    pthread_mutex_lock(&tt->lock);
    for (size_t i = 0; i < tt->n && !found; i++) {
        if (tt->list[i] != t)
            continue;
        tt->n--;
        memmove(tt->list + i, tt->list + i + 1, (tt->n - i) * sizeof *tt->list);
        found = true;
    }
    pthread_mutex_unlock(&tt->lock);
    if (found)
        task_unref(t);
}

struct task *
task_start(struct task_table *tt, const struct tool_ctx *ctx, const struct proc_spec *spec,
           struct str command, const char *cwd_file, struct confined *take_confined,
           struct err *err)
{
    struct proc p;
    int64_t now = clock_mono_ms();
    if (!proc_start(spec, &p, err)) {
        confined_free(take_confined);
        return NULL;
    }
    struct task *t = xcalloc(1, sizeof *t);
    atomic_init(&t->refs, 1);
    t->table = tt;
    t->tool_use_id = xstrdup(ctx->tool_use_id);
    t->session_id = xstrdup(ctx->session_id);
    t->command = str_dup(command);
    t->cwd_file = xstrdup(cwd_file);
    t->pid = p.child;
    t->supervisor = p.supervisor;
    t->start_ms = now;
    t->ended = cancel_new(NULL);
    t->proc = p;
    t->confined = take_confined;
    t->was_confined = take_confined != NULL;
    pthread_mutex_init(&t->lock, NULL);
    buf_init(&t->chunk, TASK_CHUNK);
    bash_output_init(&t->output, ctx->spill_dir, ctx->tool_use_id);
    if (tt)
        list_add(tt, t);
    return t;
}

struct task *
task_ref(struct task *t)
{
    atomic_fetch_add(&t->refs, 1);
    return t;
}

void
task_unref(struct task *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    proc_finish(&t->proc);
    confined_free(t->confined);
    bash_output_release(&t->output);
    buf_release(&t->chunk);
    cancel_free(t->ended);
    pthread_mutex_destroy(&t->lock);
    free(t->tool_use_id);
    free(t->session_id);
    free(t->command);
    free(t->cwd_file);
    free(t->sandbox_why);
    free(t);
}

/* ---- reading it ---- */

static bool
take_chunk(struct task *t, struct buf *chunk)
{
    buf_clear(chunk);
    bool more = proc_read(&t->proc, chunk);
    pthread_mutex_lock(&t->lock);
    bash_output_add(&t->output, buf_str(chunk));
    pthread_mutex_unlock(&t->lock);
    return more;
}

bool
task_take(struct task *t, struct buf *chunk)
{
    take_chunk(t, chunk);
    return t->proc.exited;
}

void
task_drain(struct task *t, struct buf *chunk)
{
    size_t taken = 0;
    int64_t until = clock_mono_ms() + DRAIN_MS;

    while (take_chunk(t, chunk)) {
        taken += chunk->len;
        if (!chunk->len || taken >= DRAIN_BYTES || clock_mono_ms() >= until)
            break;
    }
}

bool
task_poll(struct task *t, struct cancel *cancel, int wake_fd, int timeout_ms)
{
    t->proc.wake_fd = wake_fd;
    proc_poll(&t->proc, cancel, timeout_ms);
    t->proc.wake_fd = -1;
    return task_take(t, &t->chunk);
}

bool
task_flooded(const struct task *t)
{
    uint64_t max =
        t->table && t->table->host.flood_bytes ? t->table->host.flood_bytes : TASK_FLOOD_BYTES;
    return t->output.total > max; /* written by the thread that asks */
}

/* ---- its end ---- */

/* The supervisor tells of that a moment after it told of the command's own end. */
static bool
tree_gone(struct task *t)
{
    struct pollfd p = {.fd = t->proc.status_fd};
    return p.fd < 0 || (poll(&p, 1, PARTING_MS) > 0 && (p.revents & POLLHUP));
}

/* What the command left behind lives on inside: the sandbox's own marks stay until the table ends, and that with it. */
static void
keep_sandbox(struct task_table *tt, struct confined *take_c)
{
    if (!tt) {
        confined_free(take_c);
        return;
    }
    pthread_mutex_lock(&tt->lock);
    ARRAY_GROW(tt->left, tt->n_left, tt->cap_left);
    tt->left[tt->n_left++] = take_c;
    pthread_mutex_unlock(&tt->lock);
}

void
task_leave_sandbox(struct task *t)
{
    struct buf tail, why;
    uint64_t from;
    if (!t->confined)
        return;
    buf_init(&tail, BUF_MAX);
    buf_init(&why, SANDBOX_WHY_MAX);
    if (t->proc.exited && t->proc.exit_status != 0) {
        task_read_tail(t, BASH_TAIL_BYTES, &tail, &from, NULL);
        confined_explain(t->confined, t->proc.exit_status, buf_str(&tail), &why);
    }
    struct str s = str_trim(buf_str(&why));
    pthread_mutex_lock(&t->lock);
    t->sandbox_why = s.len ? str_dup(s) : NULL;
    pthread_mutex_unlock(&t->lock);
    if (tree_gone(t))
        confined_free(t->confined);
    else
        keep_sandbox(t->table, t->confined);
    t->confined = NULL;
    buf_release(&tail);
    buf_release(&why);
}

void
task_set_over(struct task *t, enum task_state state)
{
    pthread_mutex_lock(&t->lock);
    t->state = state;
    t->exit_status = t->proc.exit_status;
    t->end_ms = clock_mono_ms();
    pthread_mutex_unlock(&t->lock);
    if (t->cwd_file)
        unlink(t->cwd_file);
    cancel_fire(t->ended, CANCEL_STOP);
}

void
task_finish(struct task *t, bool kill, bool politely)
{
    if (kill && politely)
        proc_ask_kill(&t->proc, true, TASK_GRACE_MS);
    if (kill)
        proc_kill(&t->proc, TASK_GRACE_MS);
    task_drain(t, &t->chunk);
    task_leave_sandbox(t);
    if (kill)
        proc_finish(&t->proc);
    else
        proc_release(&t->proc);
    pthread_mutex_lock(&t->lock);
    t->state = kill ? TASK_STOPPED : TASK_EXITED;
    t->exit_status = t->proc.exit_status;
    t->end_ms = clock_mono_ms();
    t->told = true;
    pthread_mutex_unlock(&t->lock);
    cancel_fire(t->ended, CANCEL_STOP);
    if (t->table)
        list_remove(t->table, t);
}

const struct proc *
task_proc(const struct task *t)
{
    return &t->proc;
}

struct bash_output *
task_output(struct task *t)
{
    return &t->output;
}

int
task_ended_fd(struct task *t)
{
    return cancel_fd(t->ended);
}

/* ---- looking at it ---- */

void
task_get(struct task *t, struct task_info *ret)
{
    struct buf line;
    buf_init(&line, BUF_MAX);
    pthread_mutex_lock(&t->lock);
    tool_clean_text(&line, buf_str(&t->output.last_line));
    *ret = (struct task_info){
        .id = t->id[0] ? xstrdup(t->id) : NULL,
        .tool_use_id = xstrdup(t->tool_use_id),
        .session_id = xstrdup(t->session_id),
        .command = xstrdup(t->command),
        .last_line = buf_take(&line),
        .spill_path = xstrdup(t->output.spill_path),
        .pid = t->pid,
        .supervisor = t->state == TASK_RUNNING ? t->supervisor : 0,
        .state = t->state,
        .exit_status = t->exit_status,
        .elapsed_ms = (t->state == TASK_RUNNING ? clock_mono_ms() : t->end_ms) - t->start_ms,
        .timeout_ms = t->timeout_ms,
        .bytes = t->output.total,
        .by_person = t->by_person,
        .confined = t->was_confined,
        .sandbox_why = xstrdup(t->sandbox_why),
    };
    pthread_mutex_unlock(&t->lock);
}

void
task_info_release(struct task_info *i)
{
    free(i->id);
    free(i->tool_use_id);
    free(i->session_id);
    free(i->command);
    free(i->last_line);
    free(i->spill_path);
    free(i->sandbox_why);
    *i = (struct task_info){.id = NULL};
}

bool
task_failed(const struct task_info *i)
{
    if (i->state == TASK_EXITED)
        return i->exit_status != 0;
    return i->state != TASK_RUNNING;
}

void
task_say_state(const struct task_info *i, struct buf *out)
{
    switch (i->state) {
    case TASK_RUNNING:
        buf_adds(out, "running");
        break;
    case TASK_EXITED:
        if (WIFSIGNALED(i->exit_status))
            buf_addf(out, "killed by signal %d", WTERMSIG(i->exit_status));
        else
            buf_addf(out, "exit %d", WEXITSTATUS(i->exit_status));
        break;
    case TASK_TIMED_OUT:
        buf_addf(out, "killed at its timeout of %lld ms", (long long)i->timeout_ms);
        break;
    case TASK_STOPPED:
        buf_adds(out, i->by_person ? "stopped by the person" : "stopped");
        break;
    case TASK_FLOODED:
        buf_adds(out, "killed: it put out too much");
        break;
    }
}

/* Off the front: the rest of a character that was cut. Off the end (of what still runs): one that is not whole yet. */
static struct str
whole_characters(struct str s, bool cut_front, bool cut_end)
{
    size_t skip = 0, back = 0;
    while (cut_front && skip < 3 && skip < s.len && ((unsigned char)s.ptr[skip] & 0xC0) == 0x80)
        skip++;
    s = str_sub(s, skip, s.len);
    while (cut_end && back < 3 && back < s.len) {
        unsigned char c = (unsigned char)s.ptr[s.len - 1 - back];
        size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        back++;
        if (want > 1)
            return want > back ? str_sub(s, 0, s.len - back) : s;
        if ((c & 0xC0) != 0x80)
            break;
    }
    return s;
}

void
task_read_tail(struct task *t, size_t max, struct buf *out, uint64_t *ret_from,
               size_t *ret_replaced)
{
    struct buf raw;
    buf_init(&raw, BUF_MAX);
    pthread_mutex_lock(&t->lock);
    uint64_t from = bash_output_tail(&t->output, max, &raw);
    bool running = t->state == TASK_RUNNING;
    pthread_mutex_unlock(&t->lock);
    struct str s = whole_characters(buf_str(&raw), from > 0, running);
    size_t replaced = tool_clean_text(out, s);
    *ret_from = from;
    if (ret_replaced)
        *ret_replaced = replaced;
    buf_release(&raw);
}

void
task_read_new(struct task *t, size_t max, struct buf *out, uint64_t *ret_skipped)
{
    struct buf raw;
    buf_init(&raw, BUF_MAX);
    pthread_mutex_lock(&t->lock);
    uint64_t fresh = t->output.total - t->read_at;
    if (fresh < max)
        max = (size_t)fresh;
    uint64_t from = bash_output_tail(&t->output, max, &raw);
    *ret_skipped = from - t->read_at;
    struct str s = whole_characters(buf_str(&raw), *ret_skipped > 0, t->state == TASK_RUNNING);
    if (s.ptr)
        t->read_at = t->output.total - (uint64_t)(raw.data + raw.len - (s.ptr + s.len));
    pthread_mutex_unlock(&t->lock);
    tool_clean_text(out, s);
    buf_release(&raw);
}

/* ---- marks ---- */

bool
task_stop(struct task *t, bool by_person)
{
    pthread_mutex_lock(&t->lock);
    bool runs = t->state == TASK_RUNNING && t->id[0];
    if (runs && !t->stop) {
        t->stop = t->stop_politely = true;
        t->by_person = by_person;
    }
    pthread_mutex_unlock(&t->lock);
    if (runs)
        task_wake_keeper(t->table);
    return runs;
}

void
task_announce(struct task *t)
{
    pthread_mutex_lock(&t->lock);
    t->announced = true;
    pthread_mutex_unlock(&t->lock);
}

void
task_forget(struct task *t)
{
    pthread_mutex_lock(&t->lock);
    t->told = true;
    pthread_mutex_unlock(&t->lock);
}
