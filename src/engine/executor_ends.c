/* How the calls of a batch ended, for the journal: what a result does not say, and a screen that opens the session again shows.
 * "toolEnds" of the record: [{"id","state","summary","elapsed_ms","what","display","is_diff"}]; all but id and state only where there is
 * something to say. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/attach.h"
#include "engine/executor_call.h"

#define DISPLAY_MAX ((size_t)16 << 10) /* of one call */
#define DISPLAYS_MAX ((size_t)256 << 10)

/* Whole lines of what was shown, as many as fit. */
static void
write_display(struct jw *w, struct str shown, size_t cap)
{
    if (shown.len <= cap) {
        jw_kstr(w, "display", shown);
        return;
    }
    const char *nl = cap ? memrchr(shown.ptr, '\n', cap) : NULL;
    size_t keep = nl ? (size_t)(nl - shown.ptr) : 0;
    char *cut = xasprintf("%.*s\n[%zu bytes more]", (int)keep, shown.ptr, shown.len - keep);
    jw_kcstr(w, "display", keep ? cut : "");
    free(cut);
}

static void
write_end(const struct executor *x, const struct call *c, size_t *left, struct jw *w)
{
    const struct tool_result *r = &c->result;
    jw_object(w);
    jw_kcstr(w, "id", c->id);
    jw_kcstr(w, "state", tool_state_name(c->state));
    if (r->summary[0])
        jw_kcstr(w, "summary", r->summary);
    if (c->ended_ms > c->started_ms)
        jw_kint(w, "elapsed_ms", c->ended_ms - c->started_ms);
    if (c->edited) {
        char *what = tool_describe(c->tool, c->tree, x->core->cwd);
        jw_kcstr(w, "what", what);
        free(what);
    }
    if (r->display.len) {
        size_t cap = DISPLAY_MAX < *left ? DISPLAY_MAX : *left;
        write_display(w, buf_str(&r->display), cap);
        *left -= r->display.len < cap ? r->display.len : cap;
    }
    bool diff;
    (void)call_shown(c, &diff);
    if (diff)
        jw_kbool(w, "is_diff", true);
    jw_end(w);
}

/* The list that TodoWrite set last. */
static void
take_todos(struct core *core, const struct call *c)
{
    if (!c->tool || strcmp(c->tool->name, "TodoWrite") != 0 || c->state != TOOL_DONE)
        return;
    struct str list = json_raw_member(buf_str(&c->result.data), "newTodos");
    if (!list.len)
        return;
    free(core->todos_due);
    core->todos_due = str_dup(list);
    attach_todos(core, core->todos_due);
}

/* Instructions may wait for the file that it was about. */
static void
take_touched(struct core *core, const struct call *c)
{
    const char *path = json_cstr(c->tree, "file_path", json_cstr(c->tree, "notebook_path", NULL));
    if (path && c->state == TOOL_DONE)
        attach_touched(core, path);
}

char *
executor_ends(struct executor *x)
{
    struct buf json;
    struct jw w;
    size_t left = DISPLAYS_MAX;
    buf_init(&json, BUF_MAX);
    jw_init(&w, &json);
    jw_array(&w);
    for (size_t i = 0; i < x->n; i++) {
        write_end(x, &x->calls[i], &left, &w);
        take_todos(x->core, &x->calls[i]);
        take_touched(x->core, &x->calls[i]);
    }
    jw_end(&w);
    if (x->n && !buf_full(&json))
        return buf_take(&json);
    buf_release(&json);
    return NULL;
}
