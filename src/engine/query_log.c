#include "engine/query_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/proc_tree.h"
#include "engine/engine_private.h"
#include "engine/executor.h"
#include "engine/tasks.h"
#include "tools/bash_script.h"
#include "tools/task.h"

#define TEXT_MAX ((size_t)256 << 10)
#define LOGS_MAX 64
#define LOGS_BYTES ((size_t)4 << 20)
#define PROCESSES_MAX 64

struct tool_log {
    char *id, *name, *what;
    enum tool_state state;
    char *text; /* the last TEXT_MAX bytes */
    size_t len;
    int64_t from;
};
struct tool_logs {
    struct tool_log logs[LOGS_MAX]; /* oldest first */
    size_t n, bytes;
};

/* ---- kept ---- */

static void
drop_first(struct tool_logs *k)
{
    struct tool_log *l = &k->logs[0];
    k->bytes -= l->len;
    free(l->id);
    free(l->name);
    free(l->what);
    free(l->text);
    memmove(k->logs, k->logs + 1, --k->n * sizeof *k->logs);
}

/* The last `max` bytes, from the start of a character. */
static struct str
last_bytes(struct str s, size_t max)
{
    size_t at = s.len > max ? s.len - max : 0;
    while (at && at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80)
        at++;
    return str_sub(s, at, s.len);
}

void
query_log_keep(struct core *c, const char *id, const char *name, const char *what,
               enum tool_state state, const struct tool_result *r)
{
    if (!c->logs)
        c->logs = xcalloc(1, sizeof *c->logs);
    struct tool_logs *k = c->logs;
    struct str all = buf_str(r->log.len ? &r->log : r->display.len ? &r->display : &r->text);
    struct str text = last_bytes(all, TEXT_MAX);
    while (k->n && (k->n == LOGS_MAX || k->bytes + text.len > LOGS_BYTES))
        drop_first(k);
    k->logs[k->n++] = (struct tool_log){
        .id = xstrdup(id),
        .name = xstrdup(name),
        .what = xstrdup(what),
        .state = state,
        .text = str_dup(text),
        .len = text.len,
        .from = (r->log.len ? r->log_from : 0) + (int64_t)(all.len - text.len),
    };
    k->bytes += text.len;
}

void
query_log_release(struct core *c)
{
    while (c->logs && c->logs->n)
        drop_first(c->logs);
    free(c->logs);
    c->logs = NULL;
}

/* ---- answers ---- */

static void
write_head(struct jw *w, struct str id, const char *name, const char *what, enum tool_state state)
{
    jw_object(w);
    jw_kstr(w, "id", id);
    jw_kcstr(w, "name", name);
    jw_kcstr(w, "what", what);
    jw_kcstr(w, "state", tool_state_name(state));
}

static void
write_text(struct jw *w, struct str text, int64_t from)
{
    jw_kstr(w, "text", text);
    jw_kint(w, "from", from);
}

static void
write_processes(struct jw *w, pid_t supervisor, const char *command)
{
    struct str rest = str_from(command), first = STR("");
    (void)str_split(&rest, '\n', &first);
    struct proc_node *nodes = xcalloc(PROCESSES_MAX, sizeof *nodes);
    size_t n = proc_tree(supervisor, nodes, PROCESSES_MAX);
    jw_key(w, "processes");
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        jw_object(w);
        jw_kint(w, "pid", nodes[i].pid);
        jw_kint(w, "depth", nodes[i].depth);
        /* the shell that runs it, and what that forks, would show yare's own lines around it */
        if (strstr(nodes[i].command, " --confine ") && strstr(nodes[i].command, BASH_SCRIPT_MARK))
            jw_kcstr(w, "command", "(sandbox)"); /* the steps around a confined command */
        else if (strstr(nodes[i].command, BASH_SCRIPT_MARK))
            jw_kstr(w, "command", first);
        else
            jw_kcstr(w, "command", nodes[i].command);
        jw_end(w);
    }
    jw_end(w);
    free(nodes);
}

/* A command that runs, or did in the background. */
static bool
answer_task(struct core *c, struct str id, size_t max, struct jw *w)
{
    struct task *t = task_find(c->tasks, id);
    if (!t)
        return false;
    struct task_info i;
    struct buf text;
    uint64_t from;
    buf_init(&text, BUF_MAX);
    task_get(t, &i);
    task_read_tail(t, max, &text, &from, NULL);
    write_head(w, id, "Bash", i.command, tasks_shown_state(&i));
    write_text(w, buf_str(&text), (int64_t)from);
    jw_kint(w, "bytes", (int64_t)i.bytes);
    jw_kint(w, "elapsed_ms", i.elapsed_ms);
    write_processes(w, i.supervisor, i.command);
    buf_release(&text);
    task_info_release(&i);
    task_unref(t);
    return true;
}

static bool
answer_open(struct core *c, struct str id, struct jw *w)
{
    const char *name;
    enum tool_state state;
    char *what = executor_describe(c->executor, id, &name, &state);
    if (!what)
        return false;
    write_head(w, id, name, what, state);
    write_text(w, STR(""), 0);
    jw_kint(w, "bytes", 0);
    write_processes(w, 0, what);
    free(what);
    return true;
}

static bool
answer_kept(struct core *c, struct str id, size_t max, struct jw *w)
{
    for (size_t i = c->logs ? c->logs->n : 0; i-- > 0;) {
        const struct tool_log *l = &c->logs->logs[i];
        if (!str_is(id, l->id))
            continue;
        struct str all = str_make(l->text, l->len), text = last_bytes(all, max);
        write_head(w, id, l->name, l->what, l->state);
        write_text(w, text, l->from + (int64_t)(l->len - text.len));
        jw_kint(w, "bytes", l->from + (int64_t)l->len);
        write_processes(w, 0, l->what);
        return true;
    }
    return false;
}

void
query_tool_log(struct engine *e, struct str arg, struct buf *out)
{
    struct str rest = str_trim(arg), id, count;
    size_t max = TEXT_MAX;
    struct jw w;
    if (!str_split(&rest, ' ', &id))
        id = STR("");
    if (str_split(&rest, ' ', &count)) {
        char *text = str_dup(count);
        unsigned long long n = strtoull(text, NULL, 10);
        max = n < TEXT_MAX ? (size_t)n : TEXT_MAX;
        free(text);
    }
    jw_init(&w, out);
    if (!answer_task(&e->core, id, max, &w) && !answer_open(&e->core, id, &w) &&
        !answer_kept(&e->core, id, max, &w)) {
        jw_object(&w);
        jw_kstr(&w, "id", id);
        jw_kcstr(&w, "error", "what this call put out is no longer kept");
    }
    jw_end(&w);
}
