/* Events as JSON, for --events FILE and replay: one object a line, members from the field table. */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/event.h"
#include "engine/event_fields.h"

static const char *const phase_names[] = {"start", "delta", "end"};
static const char *const block_names[] = {"text", "thinking", "tool_use"};

/* ---- writing ---- */

static void
write_err(struct jw *w, const struct err *e)
{
    jw_object(w);
    jw_kcstr(w, "code", err_code_name(e->code));
    jw_kint(w, "number", e->code);
    if (e->http)
        jw_kint(w, "http", e->http);
    if (e->sys)
        jw_kint(w, "sys", e->sys);
    if (e->retry_after_ms)
        jw_kint(w, "retry_after_ms", e->retry_after_ms);
    if (e->kind[0])
        jw_kcstr(w, "kind", e->kind);
    jw_kbool(w, "retryable", e->retryable);
    jw_kcstr(w, "text", e->text);
    jw_end(w);
}

static void
write_rules(struct jw *w, const struct event *e)
{
    jw_array(w);
    for (size_t i = 0; i < e->u.ask.n_rules; i++)
        jw_cstr(w, e->u.ask.rules[i]);
    jw_end(w);
}

static void
write_field(struct jw *w, const struct event *e, const struct event_field *f)
{
    const char *s;
    if (f->type == FIELD_STR || f->type == FIELD_STATIC) {
        s = *FIELD_AT(e, f, const char *);
        if (s)
            jw_kcstr(w, f->name, s);
        return;
    }
    jw_key(w, f->name);
    switch (f->type) {
    case FIELD_INT:
        jw_int(w, *FIELD_AT(e, f, int));
        break;
    case FIELD_I64:
        jw_int(w, *FIELD_AT(e, f, int64_t));
        break;
    case FIELD_U64:
        jw_int(w, (int64_t)*FIELD_AT(e, f, uint64_t));
        break;
    case FIELD_NUM:
        jw_num(w, *FIELD_AT(e, f, double));
        break;
    case FIELD_BOOL:
        jw_bool(w, *FIELD_AT(e, f, bool));
        break;
    case FIELD_MODE:
        jw_cstr(w, perm_mode_name(*FIELD_AT(e, f, enum perm_mode)));
        break;
    case FIELD_BLOCK:
        jw_cstr(w, block_names[*FIELD_AT(e, f, enum event_block)]);
        break;
    case FIELD_TOOL_STATE:
        jw_cstr(w, tool_state_name(*FIELD_AT(e, f, enum tool_state)));
        break;
    case FIELD_ERR:
        write_err(w, FIELD_AT(e, f, struct err));
        break;
    case FIELD_DECISION:
        jw_object(w);
        decision_write(FIELD_AT(e, f, struct decision), w);
        jw_end(w);
        break;
    case FIELD_RULES:
        write_rules(w, e);
        break;
    case FIELD_STR:
    case FIELD_STATIC:
        break;
    }
}

static bool
has_phase(enum event_kind k)
{
    return k == EV_TURN || k == EV_BLOCK || k == EV_TOOL || k == EV_COMPACT;
}

void
event_write(const struct event *e, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kcstr(&w, "event", event_kind_name(e->kind));
    jw_kint(&w, "wall_ms", e->wall_ms);
    if (has_phase(e->kind))
        jw_kcstr(&w, "phase", phase_names[e->phase]);
    if (e->seq)
        jw_kint(&w, "seq", (int64_t)e->seq);
    if (e->agent)
        jw_kcstr(&w, "agent", e->agent);
    if (e->place)
        jw_kint(&w, "place", e->place);
    size_t n;
    const struct event_field *f = event_fields(&n);
    for (size_t i = 0; i < n; i++)
        if (f[i].kind == e->kind)
            write_field(&w, e, &f[i]);
    jw_end(&w);
}

/* ---- reading ---- */

/* Static members point to strings that live for ever; those of a record are kept once each, up to a cap. */
static const char *
intern(struct str s)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char *known[256];
    static size_t n;
    const char *found = "";
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < n && !str_is(s, known[i]))
        i++;
    if (i < n) {
        found = known[i];
    } else if (n < ARRAY_LEN(known)) {
        known[n] = str_dup(s);
        found = known[n++];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int
name_index(const char *const *names, size_t n, const char *s)
{
    for (size_t i = 0; s && i < n; i++)
        if (names[i] && strcmp(names[i], s) == 0)
            return (int)i;
    return -1;
}

static void
read_err(const struct cJSON *n, struct err *ret)
{
    err_clear(ret);
    int64_t code = json_int(n, "number", ERR_INVALID);
    ret->code = code >= ERR_NONE && code <= ERR_UNSUPPORTED ? (enum err_code)code : ERR_INVALID;
    ret->http = (int)json_int(n, "http", 0);
    ret->sys = (int)json_int(n, "sys", 0);
    ret->retry_after_ms = (int)json_int(n, "retry_after_ms", 0);
    ret->retryable = json_bool(n, "retryable", false);
    struct str kind = json_str(n, "kind"), text = json_str(n, "text");
    if (kind.ptr)
        memcpy(ret->kind, kind.ptr, kind.len < sizeof ret->kind ? kind.len : sizeof ret->kind - 1);
    if (text.ptr)
        memcpy(ret->text, text.ptr, text.len < sizeof ret->text ? text.len : sizeof ret->text - 1);
}

static enum verdict
verdict_parse(const char *s)
{
    for (int v = VERDICT_NONE; v <= VERDICT_DENY; v++)
        if (strcmp(verdict_name((enum verdict)v), s) == 0)
            return (enum verdict)v;
    return VERDICT_ASK;
}

static void
read_decision(const struct cJSON *n, struct decision *ret)
{
    decision_init(ret);
    ret->verdict = verdict_parse(json_cstr(n, "decision", "ask"));
    const char *lift = json_cstr(n, "liftable_by", "none");
    for (int l = LIFT_NONE; l <= LIFT_CLASSIFIER; l++)
        if (strcmp(lift_name((enum lift)l), lift) == 0)
            ret->liftable_by = (enum lift)l;
    enum verdict whole = ret->verdict;
    for (const struct cJSON *f = json_first(json_at(n, "findings")); f; f = json_next(f)) {
        struct finding *got =
            decision_add(ret, json_cstr(f, "layer", ""),
                         verdict_parse(json_cstr(f, "verdict", json_cstr(f, "decision", "ask"))),
                         json_cstr(f, "rule", NULL), json_cstr(f, "part", NULL), "%s",
                         json_cstr(f, "reason", ""));
        const char *file = json_cstr(f, "file", NULL);
        if (file && !got->file)
            got->file = xstrdup(file);
        got->line = (int)json_int(f, "line", 0);
        got->confidence = json_num(f, "confidence", 1);
    }
    for (const struct cJSON *e = json_first(json_at(n, "effects")); e; e = json_next(e))
        decision_add_effect(ret, json_cstr(e, "kind", ""), json_cstr(e, "path", NULL),
                            json_cstr(e, "leads", NULL));
    int64_t more = json_int(n, "effects_more", 0);
    ret->effects_more = more > 0 ? (size_t)more : 0;
    ret->verdict = whole;
}

static void
read_rules(const struct cJSON *n, struct event *e)
{
    size_t len = json_len(n);
    if (!json_is_array(n) || !len || len > 64)
        return;
    e->u.ask.rules = xcalloc(len, sizeof *e->u.ask.rules);
    for (const struct cJSON *m = json_first(n); m; m = json_next(m)) {
        struct str s = json_value_str(m);
        if (s.ptr)
            e->u.ask.rules[e->u.ask.n_rules++] = str_dup(s);
    }
}

static void
read_named(const struct cJSON *v, struct event *e, const struct event_field *f)
{
    char *name = str_dup(json_value_str(v));
    int at;
    if (f->type == FIELD_MODE) {
        enum perm_mode m = PERM_DEFAULT;
        (void)perm_mode_parse(name, &m);
        *FIELD_AT(e, f, enum perm_mode) = m;
    } else if (f->type == FIELD_BLOCK) {
        at = name_index(block_names, ARRAY_LEN(block_names), name);
        *FIELD_AT(e, f, enum event_block) = at < 0 ? EVBLOCK_TEXT : (enum event_block)at;
    } else {
        int found = TOOL_DONE;
        for (int s = TOOL_WAITING; s <= TOOL_CANCELLED; s++)
            if (strcmp(tool_state_name((enum tool_state)s), name) == 0)
                found = s;
        *FIELD_AT(e, f, enum tool_state) = (enum tool_state)found;
    }
    free(name);
}

static int64_t
in_range(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static void
read_field(const struct cJSON *tree, struct event *e, const struct event_field *f)
{
    const struct cJSON *v = json_at(tree, f->name);
    if (!v)
        return;
    switch (f->type) {
    case FIELD_STR:
        if (json_is_str(v))
            *FIELD_AT(e, f, char *) = str_dup(json_value_str(v));
        break;
    case FIELD_STATIC:
        if (json_is_str(v))
            *FIELD_AT(e, f, const char *) = intern(json_value_str(v));
        break;
    case FIELD_INT:
        *FIELD_AT(e, f, int) = (int)in_range(json_int(tree, f->name, 0), INT_MIN, INT_MAX);
        break;
    case FIELD_I64:
        *FIELD_AT(e, f, int64_t) = json_int(tree, f->name, 0);
        break;
    case FIELD_U64:
        *FIELD_AT(e, f, uint64_t) = (uint64_t)in_range(json_int(tree, f->name, 0), 0, INT64_MAX);
        break;
    case FIELD_NUM:
        *FIELD_AT(e, f, double) = isfinite(json_value_num(v)) ? json_value_num(v) : 0; /* "1e999" */
        break;
    case FIELD_BOOL:
        *FIELD_AT(e, f, bool) = json_bool(tree, f->name, false);
        break;
    case FIELD_MODE:
    case FIELD_BLOCK:
    case FIELD_TOOL_STATE:
        read_named(v, e, f);
        break;
    case FIELD_ERR:
        read_err(v, FIELD_AT(e, f, struct err));
        break;
    case FIELD_DECISION:
        decision_release(FIELD_AT(e, f, struct decision));
        read_decision(v, FIELD_AT(e, f, struct decision));
        break;
    case FIELD_RULES:
        read_rules(v, e);
        break;
    }
}

static struct event *
read_kind(const struct cJSON *tree, struct err *err)
{
    struct str name;
    if (!json_need_str(tree, "event", &name, err))
        return NULL;
    for (int k = EV_SESSION; k <= EV_CLOSED; k++) {
        if (!str_is(name, event_kind_name((enum event_kind)k)))
            continue;
        return event_new((enum event_kind)k);
    }
    err_set(err, ERR_INVALID, "unknown event '%.*s'", (int)(name.len < 40 ? name.len : 40),
            name.ptr);
    return NULL;
}

struct event *
event_read(struct str json, struct err *err)
{
    struct cJSON *tree = json_parse(json, err);
    struct event *e = tree ? read_kind(tree, err) : NULL;
    if (!e) {
        json_free(tree);
        return NULL;
    }
    e->wall_ms = json_int(tree, "wall_ms", 0);
    e->seq = (uint64_t)json_int(tree, "seq", 0);
    e->place = json_int(tree, "place", 0);
    int phase = name_index(phase_names, ARRAY_LEN(phase_names), json_cstr(tree, "phase", "start"));
    e->phase = phase < 0 ? PHASE_START : (enum event_phase)phase;
    struct str agent = json_str(tree, "agent");
    if (agent.ptr)
        e->agent = str_dup(agent);
    size_t n;
    const struct event_field *f = event_fields(&n);
    for (size_t i = 0; i < n; i++) {
        if (f[i].kind == e->kind)
            read_field(tree, e, &f[i]);
    }
    json_free(tree);
    return e;
}
