#include "ui/log_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "ui/keys.h"
#include "ui/view_parts.h"

#define ASK_MS 100
#define NO_HIT ((size_t)-1)

/* ---- open and closed ---- */

void
log_view_init(struct log_view *l)
{
    *l = (struct log_view){.last_seq = LOG_SEQ, .hit = NO_HIT};
    buf_init(&l->text, BUF_MAX);
    lines_init(&l->lines);
    field_init(&l->find);
}

static void
drop_processes(struct log_view *l)
{
    while (l->n_processes)
        free(l->processes[--l->n_processes]);
}

void
log_view_close(struct log_view *l)
{
    free(l->id);
    free(l->name);
    free(l->what);
    free(l->problem);
    l->id = l->name = l->what = l->problem = NULL;
    drop_processes(l);
    buf_release(&l->text);
    buf_init(&l->text, BUF_MAX);
    lines_release(&l->lines);
    lines_init(&l->lines);
    field_clear(&l->find);
    l->seq = 0;
    l->stale = l->finding = false;
}

void
log_view_release(struct log_view *l)
{
    log_view_close(l);
    buf_release(&l->text);
    lines_release(&l->lines);
    field_release(&l->find);
}

void
log_view_open(struct log_view *l, const char *id)
{
    log_view_close(l);
    l->id = xstrdup(id);
    l->state = TOOL_WAITING;
    l->from = l->bytes = 0;
    l->follow = l->stale = true;
    l->scroll = l->laid = l->pause_ms = 0;
    l->asked_ms = 0;
    l->hit = NO_HIT;
    l->note = NULL;
}

/* ---- question and answer ---- */

void
log_view_note(struct log_view *l, const struct event *ev)
{
    if (!l->id)
        return;
    if (ev->kind == EV_TOOL)
        l->stale |= ev->u.tool.id && strcmp(ev->u.tool.id, l->id) == 0;
    else if (ev->kind == EV_TASK)
        l->stale |= ev->u.task.json && strstr(ev->u.task.json, l->id);
}

int64_t
log_view_due(const struct log_view *l)
{
    if (!l->id || !l->stale || l->seq)
        return -1;
    return l->asked_ms + l->pause_ms;
}

struct op *
log_view_ask(struct log_view *l, int64_t now_ms)
{
    int64_t due = log_view_due(l);
    if (due < 0 || now_ms < due)
        return NULL;
    struct op *op = op_new(OP_QUERY, l->id);
    op->query = QUERY_TOOL_LOG;
    op->seq = l->seq = ++l->last_seq;
    l->asked_ms = now_ms;
    l->pause_ms = ASK_MS;
    l->stale = false;
    return op;
}

static enum tool_state
state_named(const char *name)
{
    for (int s = TOOL_WAITING; s <= TOOL_CANCELLED; s++)
        if (strcmp(tool_state_name((enum tool_state)s), name) == 0)
            return (enum tool_state)s;
    return TOOL_DONE;
}

size_t
log_process_lines(const struct cJSON *answer, char **ret, size_t max)
{
    size_t n = 0;
    for (const struct cJSON *p = json_first(json_at(answer, "processes")); p && n < max;
         p = json_next(p)) {
        int64_t depth = json_int(p, "depth", 0);
        if (depth < 1) /* the shell that runs the command */
            continue;
        struct buf b;
        buf_init(&b, 4096);
        for (int64_t i = 1; i < depth && i < 16; i++)
            buf_adds(&b, "  ");
        buf_addf(&b, "%lld ", (long long)json_int(p, "pid", 0));
        text_visible(&b, json_str(p, "command"));
        ret[n++] = buf_take(&b);
    }
    return n;
}

bool
log_view_answer(struct log_view *l, const struct event *ev)
{
    if (!l->seq || ev->seq != l->seq)
        return false;
    struct err err = {0};
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), &err);
    l->seq = 0;
    free(l->problem);
    l->problem = tree ? str_dup(json_str(tree, "error")) : xstrdup(err.text);
    if (tree && !*l->problem) {
        view_set(&l->name, json_cstr(tree, "name", NULL));
        view_set(&l->what, json_cstr(tree, "what", NULL));
        l->state = state_named(json_cstr(tree, "state", ""));
        l->from = json_int(tree, "from", 0);
        l->bytes = json_int(tree, "bytes", 0);
        buf_clear(&l->text);
        buf_add_str(&l->text, json_str(tree, "text"));
        drop_processes(l);
        l->n_processes = log_process_lines(tree, l->processes, LOG_PROCESSES);
        l->laid = 0;
    }
    json_free(tree);
    return true;
}

/* ---- layout ---- */

static void
add_wrapped(struct log_view *l, struct flow *f, struct str line, int width)
{
    if (!line.len) {
        lines_begin(&l->lines, false);
        return;
    }
    flow_add(f, ST_TEXT, line);
    flow_break(f, &l->lines, &(struct indent){.width = width, .drop = true});
}

/* Laid out anew with each answer. The longer that takes, the rarer it is done. */
static void
lay_out(struct log_view *l, int width)
{
    struct flow f;
    struct str rest = buf_str(&l->text), line;
    if (l->laid == width || width < 1)
        return;
    int64_t start = clock_mono_ms();
    lines_clear(&l->lines);
    flow_init(&f);
    if (l->from > 0) {
        lines_begin(&l->lines, false);
        lines_addf(&l->lines, ST_DIM, "[%lld bytes before this are not shown]", (long long)l->from);
    }
    if (rest.len && rest.ptr[rest.len - 1] == '\n')
        rest.len--;
    while (rest.len && str_split(&rest, '\n', &line)) {
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        add_wrapped(l, &f, line, width);
    }
    flow_release(&f);
    l->laid = width;
    int64_t took = (clock_mono_ms() - start) * 8;
    l->pause_ms = took > 2000 ? 2000 : took > ASK_MS ? (int)took : ASK_MS;
    l->hit = NO_HIT;
}

static void
clamp(struct log_view *l)
{
    int max = (int)l->lines.n - l->seen;
    if (max < 0)
        max = 0;
    if (l->follow || l->scroll > max)
        l->scroll = max;
    if (l->scroll < 0)
        l->scroll = 0;
}

void
log_view_lay_out(struct log_view *l, int width, int rows)
{
    lay_out(l, width);
    l->seen = rows > 1 ? rows : 1;
    clamp(l);
}

/* ---- keys ---- */

static void
move(struct log_view *l, int rows)
{
    clamp(l);
    l->follow = false;
    l->scroll += rows;
    int max = (int)l->lines.n - l->seen;
    l->follow = rows > 0 && l->scroll >= max;
    clamp(l);
}

/* The next line in that direction that holds the words, without case, in sight. */
static void
find_next(struct log_view *l, int dir)
{
    struct str want = buf_str(&l->find.text);
    size_t n = l->lines.n;
    if (!want.len || !n)
        return;
    size_t at = l->hit != NO_HIT ? l->hit
                : dir > 0        ? (size_t)l->scroll + n - 1
                                 : (size_t)(l->scroll + l->seen);
    for (size_t k = 1; k <= n; k++) {
        size_t i = dir > 0 ? (at + k) % n : (at + 2 * n - k) % n;
        if (!text_has_fold(lines_text(&l->lines, i), want))
            continue;
        l->hit = i;
        l->follow = false;
        if ((int)i < l->scroll || (int)i >= l->scroll + l->seen)
            l->scroll = (int)i - l->seen / 2;
        clamp(l);
        return;
    }
    l->note = "not found";
}

static void
find_key(struct log_view *l, int key, struct str typed)
{
    if (key == YK_ESC || key == YK_ENTER) {
        l->finding = false;
        l->hit = NO_HIT;
        if (key == YK_ENTER)
            find_next(l, -1);
    } else {
        (void)field_key(&l->find, key, typed);
    }
}

static bool
scroll_key(struct log_view *l, int key)
{
    switch (key) {
    case YK_UP:
    case 'k':
        move(l, -1);
        return true;
    case YK_DOWN:
    case 'j':
        move(l, 1);
        return true;
    case YK_WHEEL_UP:
        move(l, -3);
        return true;
    case YK_WHEEL_DOWN:
        move(l, 3);
        return true;
    case YK_PGUP:
        move(l, -(l->seen > 1 ? l->seen - 1 : 1));
        return true;
    case YK_PGDN:
    case ' ':
        move(l, l->seen > 1 ? l->seen - 1 : 1);
        return true;
    case YK_HOME:
    case 'g':
        l->follow = false;
        l->scroll = 0;
        return true;
    case YK_END:
    case 'G':
        l->follow = true;
        clamp(l);
        return true;
    default:
        return false;
    }
}

enum log_key
log_view_key(struct log_view *l, int key, struct str typed)
{
    l->note = NULL;
    if (l->finding) {
        find_key(l, key, typed);
        return LOG_KEY_USED;
    }
    enum key_action act = keys_action_in(KEYS_ACTIVITY, key, 0);
    if (act == ACT_ACT_STOP)
        return LOG_KEY_STOP;
    if (act == ACT_ACT_BACKGROUND || act == ACT_BACKGROUND)
        return LOG_KEY_BACKGROUND;
    if (scroll_key(l, key))
        return LOG_KEY_USED;
    if (key == YK_ESC || key == 'q' || key == YK_ENTER || act == ACT_INTERRUPT)
        log_view_close(l);
    else if (key == '/')
        l->finding = true;
    else if (key == 'n' || key == 'N')
        find_next(l, key == 'n' ? -1 : 1);
    return LOG_KEY_USED;
}
