/* Edits made to State: written down, undone, and made again when a session is resumed. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/context.h"
#include "engine/context_kept.h"

#define RECORDS_MAX ((size_t)48 << 20)
#define OPENED "open" /* the tier of a record that opens a fold */

/* ---- what is kept ---- */

void
context_drop_staged(struct context_kept *k)
{
    tier_result_release(&k->staged);
    message_free(k->staged_first);
    message_free(k->staged_last);
    k->staged_first = k->staged_last = NULL;
    k->staged_n = 0;
}

static void
drop_folds(struct context_kept *k)
{
    for (size_t i = 0; i < k->n_folds; i++)
        free(k->folds[i].what);
    k->n_folds = 0;
}

static void
free_kept(void *data)
{
    struct context_kept *k = data;
    drop_folds(k);
    free(k->folds);
    context_drop_staged(k);
    buf_release(&k->records);
    buf_release(&k->management);
    free(k);
}

static void
write_kept(const void *data, struct jw *w)
{
    const struct context_kept *k = data;
    jw_object(w);
    jw_kint(w, "folds", (int64_t)k->n_folds);
    jw_kint(w, "staged", (int64_t)k->staged.n);
    for (size_t i = 0; i < CONTEXT_TIERS && k->tier[i].name; i++) {
        jw_key(w, k->tier[i].name);
        jw_object(w);
        jw_kint(w, "before", k->tier[i].before);
        jw_kint(w, "after", k->tier[i].after);
        jw_end(w);
    }
    jw_end(w);
}

const struct context_kept *
context_kept_if(const struct core *c)
{
    return state_ext_get(&c->state, "context");
}

struct context_kept *
context_kept(struct core *c)
{
    struct context_kept *k = state_ext_get(&c->state, "context");
    if (k)
        return k;
    k = xcalloc(1, sizeof *k);
    buf_init(&k->records, RECORDS_MAX);
    buf_init(&k->management, 4096);
    const struct state_ext ext = {"context", k, free_kept, write_kept};
    if (!state_ext_add(&c->state, &ext))
        die("no room for the context in State");
    return k;
}

/* ---- making them ---- */

/* Where the prompt cache ends earlier by an edit, the ledger is told why; what was not sent yet was in no cache. */
static void
explain_break(struct core *c, const char *tier)
{
    if (c->state.n_cached && c->state.n_same >= c->state.n_cached)
        return;
    char *why = xasprintf("context edited: %s", tier);
    ledger_expect(&c->usage.ledger, why, false);
    free(why);
}

/* The texts that markers point to come first: a marker never names a file that is not there. */
static bool
keep_texts(struct core *c, const struct tier_result *r, struct err *err)
{
    if (r->n_keeps && !fs_mkdirs(c->paths.spill, 0700, err))
        return false;
    for (size_t i = 0; i < r->n_keeps; i++) {
        const struct tier_keep *k = &r->keeps[i];
        if (!fs_exists(k->path) &&
            !fs_write_atomic(k->path, k->m->blocks[k->block].text, 0600, err))
            return false;
    }
    return true;
}

/* Where the boundary in front of old message `at` is in the new list; inside an edit: behind what stands in its place. */
static size_t
moved(const struct tier_result *r, size_t at)
{
    size_t now = at;
    for (size_t i = 0; i < r->n && r->edits[i].from < at; i++) {
        const struct tier_edit *e = &r->edits[i];
        now = now + e->n_with - ((e->to < at ? e->to : at) - e->from);
    }
    return now;
}

/* A stored answer is what stands in the conversation; of what was folded there is none. */
static void
index_answers(struct state *st, const struct tier_view *v, const struct tier_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = r->edits[i].from; k < r->edits[i].to; k++)
            if (v->messages[k]->role == ROLE_USER)
                state_forget_answers(st, v->messages[k]);
        for (size_t k = 0; k < r->edits[i].n_with; k++)
            if (r->edits[i].with[k]->role == ROLE_USER)
                state_index_answers(st, r->edits[i].with[k]);
    }
}

static int64_t
saved_before(const struct tier_result *r, size_t at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->n && r->edits[i].from < at; i++)
        sum += r->edits[i].saved;
    return sum;
}

/* State holds the edited list; what the server counted of it is less by what was saved there. */
static void
replace(struct core *c, const struct tier_view *v, const struct tier_result *r)
{
    struct state *st = &c->state;
    int64_t saved = saved_before(r, st->n_counted);
    size_t sent = moved(r, st->n_sent), counted = moved(r, st->n_counted), n;
    index_answers(st, v, r);
    const struct message **list = tier_apply(v, r, &n);
    state_replace_messages(st, list, n);
    st->n_sent = sent;
    st->n_counted = counted;
    if (st->context_tokens > 0)
        st->context_tokens = st->context_tokens > saved ? st->context_tokens - saved : 1;
}

/* A fold is named by its user message, which says what stood there. */
static void
note_folds(struct context_kept *k, const struct tier_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct tier_edit *e = &r->edits[i];
        for (size_t j = 0; j < e->n_with; j++) {
            if (e->to - e->from < 2 || !tier_is_fold(e->with[j]))
                continue;
            ARRAY_GROW(k->folds, k->n_folds, k->cap_folds);
            struct context_fold *f = &k->folds[k->n_folds++];
            memcpy(f->uuid, e->with[j]->uuid, sizeof f->uuid);
            f->what = xstrdup(e->what);
            f->saved = e->saved;
        }
    }
}

bool
context_commit(struct core *c, const struct tier_view *v, const struct tier_result *r,
               const char *tier, struct err *err)
{
    struct context_kept *k = context_kept(c);
    struct buf record;
    if (!keep_texts(c, r, err))
        return false;
    buf_init(&record, BUF_MAX);
    tier_write(v, r, tier, &record);
    bool ok = !buf_full(&record) ||
              err_set(err, ERR_LIMIT, "the edits are too many for one record of the journal");
    if (ok && c->journal)
        ok = journal_append_note(c->journal, c->session_id, "context-edit", NULL, buf_str(&record),
                                 err);
    buf_release(&record);
    if (!ok)
        return false;
    replace(c, v, r);
    note_folds(k, r);
    context_drop_staged(k);
    explain_break(c, tier);
    return true;
}

/* ---- again, on resume ---- */

void
context_take_note(struct core *c, struct str type, struct str record)
{
    struct context_kept *k = context_kept(c);
    if (str_is(type, "system") && str_contains(record, STR("\"subtype\":\"compact_boundary\""))) {
        buf_clear(&k->records); /* what they changed does not count for the model any more */
        k->uncounted = 0;
    } else if (str_is(type, "usage")) {
        bool main = !str_contains(record, STR("\"purpose\":")) ||
                    str_contains(record, STR("\"purpose\":\"" LEDGER_MAIN "\""));
        if (main && !str_contains(record, STR("\"agent\":")))
            k->uncounted = 0;
    } else if (str_is(type, "context-edit")) {
        buf_add_str(&k->records, record);
        buf_addc(&k->records, '\n');
        struct cJSON *t = json_parse(record, NULL);
        k->uncounted += json_count(t, "before") - json_count(t, "after");
        json_free(t);
    }
}

/* A record's own members: those of its envelope are written anew. */
static bool
note_again(struct core *c, struct str record, struct err *err)
{
    static const char *const keys[] = {"tier", "before", "after", "edits", "fold"};
    struct buf members;
    buf_init(&members, BUF_MAX);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct str raw = json_raw_member(record, keys[i]);
        if (raw.ptr)
            buf_addf(&members, "%s\"%s\":", members.len ? "," : "", keys[i]);
        buf_add_str(&members, raw);
    }
    bool ok = core_note_kept(c, "context-edit", buf_str(&members), err);
    buf_release(&members);
    return ok;
}

bool
context_note_edits(struct core *c, struct err *err)
{
    struct str records = buf_str(&context_kept(c)->records), line;
    bool ok = true;
    while (ok && str_split(&records, '\n', &line))
        ok = !line.len || note_again(c, line, err);
    return ok;
}

static bool
names_fold(struct str opened, const struct tier_edit *e)
{
    for (size_t i = 0; i < e->n_with; i++)
        if (str_contains(opened, str_from(e->with[i]->uuid)))
            return true;
    return false;
}

/* Edits of folds that were opened since are left out. */
static void
drop_opened(struct tier_result *r, struct str opened)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct tier_edit *e = &r->edits[i];
        if (!names_fold(opened, e)) {
            r->edits[n++] = *e;
            continue;
        }
        for (size_t k = 0; k < e->n_with; k++)
            message_free(e->with[k]);
        free(e->with);
        free(e->what);
    }
    r->n = n;
}

/* The uuids of folds that were opened, one behind the other. */
static void
find_opened(struct str records, struct buf *out)
{
    struct str line;
    while (str_split(&records, '\n', &line)) {
        if (!str_contains(line, STR("\"tier\":\"" OPENED "\"")))
            continue;
        struct cJSON *t = json_parse(line, NULL);
        buf_adds(out, json_cstr(t, "fold", ""));
        buf_addc(out, ' ');
        json_free(t);
    }
}

static void
redo(struct core *c, struct str record, struct str opened)
{
    struct state *st = &c->state;
    struct tier_result r;
    if (!tier_read(record, st->messages, st->n, &r)) {
        log_warn("context", "an edit of the journal does not fit what stands there now");
        return;
    }
    drop_opened(&r, opened);
    const struct tier_view v = {.messages = st->messages, .n = st->n};
    int64_t tokens = st->context_tokens;
    size_t sent = st->n_sent, counted = st->n_counted;
    replace(c, &v, &r);
    /* the journal's counts are told apart from its edits: context_redo_edits */
    st->context_tokens = tokens;
    st->n_sent = sent < st->n ? sent : st->n;
    st->n_counted = counted;
    note_folds(context_kept(c), &r);
    tier_result_release(&r);
}

void
context_redo_edits(struct core *c)
{
    struct context_kept *k = context_kept(c);
    struct state *st = &c->state;
    struct str records = buf_str(&k->records), line;
    struct buf opened;
    size_t n = st->n, counted = st->n_counted;
    buf_init(&opened, RECORDS_MAX);
    find_opened(records, &opened);
    drop_folds(k);
    while (str_split(&records, '\n', &line))
        if (line.len && !str_contains(line, STR("\"tier\":\"" OPENED "\"")))
            redo(c, line, buf_str(&opened));
    buf_release(&opened);
    if (k->records.len)
        core_mend(c, "");
    /* Counted from the end: edits and joined messages stand before it. */
    size_t after = n > counted ? n - counted : 0;
    st->n_counted = st->n > after ? st->n - after : 0;
    if (st->context_tokens > k->uncounted)
        st->context_tokens -= k->uncounted;
    k->uncounted = 0;
    buf_clear(&k->records);
}

/* ---- folds ---- */

/* A compaction takes folds with it. */
static bool
stands(const struct core *c, const char *uuid)
{
    for (size_t i = 0; i < c->state.n; i++)
        if (strcmp(c->state.messages[i]->uuid, uuid) == 0)
            return true;
    return false;
}

void
context_list_folds(struct core *c, struct buf *out)
{
    const struct context_kept *k = context_kept(c);
    bool any = false;
    for (size_t i = 0; i < k->n_folds; i++) {
        if (!stands(c, k->folds[i].uuid))
            continue;
        buf_addf(out, "fold %zu: %s (about %lld tokens saved)\n", i + 1, k->folds[i].what,
                 (long long)k->folds[i].saved);
        any = true;
    }
    if (any)
        buf_adds(out, "/context open N puts the messages of a fold back\n");
}

static void
gather_note(void *user, struct str type, struct str record)
{
    if (str_is(type, "context-edit") || str_is(type, "system"))
        context_take_note(user, type, record);
}

/* State as a resumed session would have it. */
static bool
reload(struct core *c, struct err *err)
{
    struct state *st = &c->state;
    struct context_kept *k = context_kept(c);
    size_t unsent = st->n - st->n_sent;
    buf_clear(&k->records);
    struct conversation *t = conversation_open(c->paths.journal, gather_note, c, err);
    k->uncounted = 0;
    if (!t) {
        buf_clear(&k->records);
        return false;
    }
    conversation_free(t);
    state_replace_messages(st, NULL, 0);
    st->context_tokens = 0; /* nobody has counted it as it is now */
    st->n_counted = 0;
    context_drop_staged(k);
    c->loaded = false;
    core_need_messages(c);
    st->n_sent = st->n > unsent ? st->n - unsent : 0;
    st->n_counted = 0;
    return true;
}

bool
context_open(struct core *c, size_t number, struct err *err)
{
    struct context_kept *k = context_kept(c);
    core_need_messages(c);
    if (!number || number > k->n_folds || !stands(c, k->folds[number - 1].uuid))
        return err_set(err, ERR_INVALID,
                       k->n_folds ? "there is no fold %zu; /context lists them"
                                  : "nothing is folded (no fold %zu)",
                       number);
    if (!c->journal || !core_sync(c, err))
        return c->journal ? false : err_set(err, ERR_INVALID, "there is no transcript yet");
    char *members = xasprintf("\"tier\":\"" OPENED "\",\"fold\":\"%s\"", k->folds[number - 1].uuid);
    bool ok = journal_append_note(c->journal, c->session_id, "context-edit", NULL,
                                  str_from(members), err);
    free(members);
    if (!ok || !reload(c, err))
        return false;
    explain_break(c, OPENED);
    return true;
}
