/* Questions to a replay are answered from the recording, up to what was played: it is read again, so only where each message begins
 * has to be kept in memory. */
#include "engine/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/event.h"

#define PAGE 50
#define HITS_MAX 200
#define EXCERPT_BEFORE 60
#define EXCERPT_LEN 200

/* False: enough was seen. */
typedef bool (*visit_fn)(void *user, struct event *ev);

/* The events from `offset` on; only: as the reader's. */
static bool
scan(const struct replay *r, int64_t offset, struct str only, visit_fn visit, void *user,
     struct err *err)
{
    struct recording_reader in;
    struct recording_line l = {0};
    if (!recording_read_open(&in, r->path, err))
        return false;
    bool ok = recording_read_seek(&in, offset, err), more = ok;
    in.only = only;
    while (more && recording_read(&in, &l)) {
        more = in.taken <= r->played_to;
        if (more && l.kind == RECORDING_EVENT)
            more = visit(user, l.event);
        event_free(l.event);
    }
    recording_read_close(&in);
    return ok;
}

/* ---- a page of the history ---- */

struct page {
    int64_t from, to, total;
    struct jw *w;
    struct buf line;
};

/* As panes show what was before: whole, and at once. */
static bool
mark_as_past(struct event *ev)
{
    switch (ev->kind) {
    case EV_USER:
        ev->u.user.replayed = true;
        return true;
    case EV_BLOCK:
        ev->u.block.replayed = true;
        return true;
    case EV_TOOL:
        ev->u.tool.replayed = true;
        return ev->phase != PHASE_DELTA;
    default:
        return false;
    }
}

static bool
write_place(void *user, struct event *ev)
{
    struct page *p = user;
    if (ev->place > p->to)
        return false;
    if (ev->place <= p->from || !mark_as_past(ev))
        return true;
    buf_clear(&p->line);
    event_write(ev, &p->line);
    if (!buf_full(&p->line))
        jw_raw(p->w, buf_str(&p->line));
    return !buf_full(p->w->out);
}

/* Where the first message behind number `place` begins; -1: there is none. */
static int64_t
offset_behind(const struct replay *r, int64_t place)
{
    size_t lo = 0, hi = r->n_places;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->places[mid].place <= place)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < r->n_places ? r->places[lo].offset : -1;
}

static bool
answer_history(const struct replay *r, struct str arg, struct jw *w, struct err *err)
{
    struct page p = {.w = w, .total = r->n_places ? r->places[r->n_places - 1].place : 0};
    char *text = str_dup(arg);
    p.to = arg.len ? strtoll(text, NULL, 10) : p.total;
    free(text);
    p.to = p.to < 0 ? 0 : p.to > p.total ? p.total : p.to;
    p.from = p.to > PAGE ? p.to - PAGE : 0;
    jw_kint(w, "from", p.from);
    jw_kint(w, "to", p.to);
    jw_kint(w, "total", p.total);
    jw_key(w, "events");
    jw_array(w);
    buf_init(&p.line, BUF_MAX);
    int64_t offset = offset_behind(r, p.from);
    bool ok = offset < 0 || scan(r, offset, STR(""), write_place, &p, err);
    buf_release(&p.line);
    jw_end(w);
    return ok;
}

/* ---- search ---- */

struct find {
    struct str want;
    struct jw *w;
    int hits;
};

static bool
look_in(struct find *f, const struct event *ev, const char *uuid, const char *role, struct str text)
{
    size_t at = recording_find(text, f->want);
    if (at == (size_t)-1)
        return false;
    size_t from = at > EXCERPT_BEFORE ? at - EXCERPT_BEFORE : 0;
    while (from > 0 && ((unsigned char)text.ptr[from] & 0xC0) == 0x80)
        from--;
    jw_object(f->w);
    jw_kint(f->w, "index", ev->place > 0 ? ev->place - 1 : 0);
    jw_kcstr(f->w, "uuid", uuid ? uuid : "");
    jw_kcstr(f->w, "role", role);
    jw_kstr(f->w, "excerpt", str_sub(text, from, EXCERPT_LEN));
    jw_end(f->w);
    f->hits++;
    return true;
}

/* The text of a content block, whatever its kind; prompts have an event of their own. */
static struct str
block_text(const struct cJSON *b, bool assistant)
{
    struct str s = assistant ? json_str(b, "text") : json_str(b, "content");
    if (!s.ptr && assistant)
        s = json_str(b, "thinking");
    if (!s.ptr)
        s = json_str(b, "content.0.text");
    return s;
}

static bool
find_in(void *user, struct event *ev)
{
    struct find *f = user;
    if (ev->kind == EV_USER)
        (void)look_in(f, ev, ev->u.user.uuid, "user", str_from(ev->u.user.text));
    if (ev->kind != EV_MESSAGE || !ev->u.message.json)
        return f->hits < HITS_MAX;
    struct cJSON *tree = json_parse(str_from(ev->u.message.json), NULL);
    const struct cJSON *content = json_at(tree, "content");
    const char *role = ev->u.message.assistant ? "assistant" : "user";
    for (const struct cJSON *b = json_first(content); b; b = json_next(b))
        if (look_in(f, ev, ev->u.message.uuid, role, block_text(b, ev->u.message.assistant)))
            break;
    json_free(tree);
    return f->hits < HITS_MAX;
}

static bool
answer_search(const struct replay *r, struct str arg, struct jw *w, struct err *err)
{
    struct find f = {.want = arg, .w = w};
    jw_key(w, "hits");
    jw_array(w);
    /* What stands in a line as it is was not changed by the quoting, so most lines need not be read. */
    bool plain = true;
    for (size_t i = 0; i < arg.len; i++)
        plain = plain && (unsigned char)arg.ptr[i] >= ' ' && !strchr("\"\\", arg.ptr[i]);
    bool ok = scan(r, 0, plain ? arg : STR(""), find_in, &f, err);
    jw_end(w);
    jw_kbool(w, "complete", ok && f.hits < HITS_MAX);
    return ok;
}

void
replay_answer(struct replay *r, const struct op *op, struct buf *out)
{
    struct err err = {0};
    struct jw w;
    struct str arg = str_from(op->text);
    bool ok = true;
    jw_init(&w, out);
    jw_object(&w);
    if (op->query == QUERY_HISTORY)
        ok = answer_history(r, arg, &w, &err);
    else if (op->query == QUERY_SEARCH)
        ok = answer_search(r, arg, &w, &err);
    else
        ok = err_set(&err, ERR_UNSUPPORTED, "not available in a replay");
    if (!ok)
        jw_kcstr(&w, "error", err.text);
    jw_end(&w);
}
