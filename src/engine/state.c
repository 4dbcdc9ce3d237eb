#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/tiers.h"

void
state_init(struct state *st)
{
    memset(st, 0, sizeof *st);
}

static void
drop_messages(struct state *st)
{
    for (size_t i = 0; i < st->n; i++)
        message_free(st->messages[i]);
    free(st->messages);
    st->messages = NULL;
    st->n = st->cap = 0;
    st->bytes = 0;
}

void
state_release(struct state *st)
{
    validator_proof_release(&st->proof);
    drop_messages(st);
    for (size_t i = 0; i < st->cap_calls; i++)
        message_free(st->calls[i].answer);
    free(st->calls);
    for (size_t i = 0; i < STATE_EXTS; i++)
        if (st->ext[i].name && st->ext[i].free_data)
            st->ext[i].free_data(st->ext[i].data);
    state_init(st);
}

void
state_begin_submit(struct state *st, int64_t turns)
{
    st->turns_before = turns;
    st->turn = 0;
    st->max_output_recoveries = 0;
    st->max_output_override = 0;
    st->reactive_compact_attempted = false;
    st->compact.last_compact_turn = 0;
    st->stop_hook.row = st->stop_hook.all = 0;
    st->nudged = false;
}

void
state_append(struct state *st, const struct message *take_m)
{
    if (!take_m)
        return;
    if (!st->edition)
        st->edition = message_edition_new();
    ARRAY_GROW(st->messages, st->n, st->cap);
    st->messages[st->n++] = take_m;
    st->bytes += tier_weight(take_m);
}

void
state_note_cached(struct state *st, size_t n)
{
    st->n_cached = st->n_same = n;
}

static int
by_address(const void *a, const void *b)
{
    const struct message *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

/* Results that are not sent any more are not kept for their calls either, or memory would grow with the session; their ids stay
 * known, so that none runs twice. */
static void
drop_answers(struct state *st, const struct message *const *now, size_t n)
{
    const struct message **sorted = xcalloc(n + 1, sizeof *sorted);
    if (n)
        memcpy(sorted, now, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_address);
    for (size_t i = 0; i < st->cap_calls; i++) {
        struct call_record *r = &st->calls[i];
        if (!r->answer || bsearch(&r->answer, sorted, n, sizeof *sorted, by_address))
            continue;
        message_free(r->answer);
        r->answer = NULL;
    }
    free(sorted);
}

void
state_replace_messages(struct state *st, const struct message **take, size_t n)
{
    size_t same = 0;
    while (same < st->n && same < n && st->messages[same] == take[same])
        same++;
    if (st->n_same > same)
        st->n_same = same;
    drop_answers(st, take, n);
    drop_messages(st);
    st->messages = take;
    st->n = st->cap = n;
    st->edition = message_edition_new();
    for (size_t i = 0; i < n; i++)
        st->bytes += tier_weight(take[i]);
    if (st->n_sent > n)
        st->n_sent = n;
    if (st->n_counted > n)
        st->n_counted = n;
}

const struct message *
state_last(const struct state *st)
{
    return st->n ? st->messages[st->n - 1] : NULL;
}

void
state_note_transition(struct state *st, const struct state_transition *t)
{
    st->last = *t;
    st->ring[st->n_transitions++ % STATE_RING] = *t;
}

/* ---- tool_use ids: open addressing, never more than three quarters full ---- */

/* A long session has tens of thousands of calls: the hash of an id stands for it. Of two ids with one hash the second would be taken
 * for a conflict, and so be answered, not run. */
static uint64_t
key_of(struct str id)
{
    uint64_t key = str_hash(id);
    return key ? key : 1;
}

static struct call_record *
find_slot(struct call_record *calls, size_t cap, uint64_t key)
{
    size_t i = (size_t)key & (cap - 1);
    while (calls[i].key && calls[i].key != key)
        i = (i + 1) & (cap - 1);
    return &calls[i];
}

static void
grow_calls(struct state *st)
{
    size_t cap = st->cap_calls ? st->cap_calls * 2 : 64;
    struct call_record *calls = xcalloc(cap, sizeof *calls);
    for (size_t i = 0; i < st->cap_calls; i++)
        if (st->calls[i].key)
            *find_slot(calls, cap, st->calls[i].key) = st->calls[i];
    free(st->calls);
    st->calls = calls;
    st->cap_calls = cap;
}

static struct call_record *
lookup(const struct state *st, struct str id)
{
    if (!st->cap_calls)
        return NULL;
    struct call_record *r = find_slot(st->calls, st->cap_calls, key_of(id));
    return r->key ? r : NULL;
}

static struct call_record *
insert(struct state *st, struct str id, uint64_t digest)
{
    if (st->n_calls * 4 >= st->cap_calls * 3)
        grow_calls(st);
    struct call_record *r = find_slot(st->calls, st->cap_calls, key_of(id));
    r->key = key_of(id);
    r->digest = digest;
    st->n_calls++;
    return r;
}

static uint64_t
call_digest(struct str name, struct str input)
{
    return str_hash_more(str_hash_more(str_hash(name), STR("\n")), input);
}

enum call_entry
state_call_open(struct state *st, struct str id, struct str name, struct str input)
{
    uint64_t digest = call_digest(name, input);
    struct call_record *r = lookup(st, id);
    if (!r) {
        insert(st, id, digest);
        return CALL_NEW;
    }
    if (!r->answered)
        return CALL_OPEN;
    return r->answer && (r->digest == digest || !r->digest) ? CALL_REPEAT : CALL_CONFLICT;
}

bool
state_handle_tool_result(struct state *st, struct str id, struct err *err)
{
    struct call_record *r = lookup(st, id);
    if (!r)
        return err_set(err, ERR_INVALID, "refused a foreign result: no call has the id '%.*s'",
                       (int)(id.len < 64 ? id.len : 64), id.ptr);
    if (r->answered)
        return err_set(err, ERR_STALE, "refused a late or duplicate result: '%.*s' was answered",
                       (int)(id.len < 64 ? id.len : 64), id.ptr);
    r->answered = true;
    return true;
}

void
state_call_forget(struct state *st, struct str id)
{
    struct call_record *r = lookup(st, id);
    if (!r)
        return;
    /* Slots behind it may have been pushed there by it, so the table is built anew without it. */
    message_free(r->answer);
    struct call_record *old = st->calls;
    *r = (struct call_record){0};
    st->calls = xcalloc(st->cap_calls, sizeof *st->calls);
    st->n_calls--;
    for (size_t i = 0; i < st->cap_calls; i++)
        if (old[i].key)
            *find_slot(st->calls, st->cap_calls, old[i].key) = old[i];
    free(old);
}

void
state_index_answers(struct state *st, const struct message *results)
{
    for (size_t i = 0; i < results->n_blocks; i++) {
        const struct block *b = &results->blocks[i];
        if (b->kind != BLOCK_TOOL_RESULT)
            continue;
        struct call_record *r = lookup(st, b->id);
        if (!r)
            r = insert(st, b->id, 0);
        r->answered = true;
        message_free(r->answer);
        r->answer = message_ref(results);
        r->block = (uint32_t)i;
    }
}

void
state_forget_answers(struct state *st, const struct message *results)
{
    for (size_t i = 0; i < results->n_blocks; i++) {
        const struct block *b = &results->blocks[i];
        struct call_record *r = b->kind == BLOCK_TOOL_RESULT ? lookup(st, b->id) : NULL;
        if (!r || r->answer != results)
            continue;
        message_free(r->answer);
        r->answer = NULL;
    }
}

const struct block *
state_answer(const struct state *st, struct str id)
{
    const struct call_record *r = lookup(st, id);
    return r && r->answer ? &r->answer->blocks[r->block] : NULL;
}

/* ---- extension slots ---- */

bool
state_ext_add(struct state *st, const struct state_ext *ext)
{
    if (!ext->name || state_ext_get(st, ext->name))
        return false;
    for (size_t i = 0; i < STATE_EXTS; i++) {
        if (st->ext[i].name)
            continue;
        st->ext[i] = *ext;
        return true;
    }
    return false;
}

void *
state_ext_get(const struct state *st, const char *name)
{
    for (size_t i = 0; i < STATE_EXTS; i++)
        if (st->ext[i].name && strcmp(st->ext[i].name, name) == 0)
            return st->ext[i].data;
    return NULL;
}

/* ---- JSON ---- */

static void
write_ring(const struct state *st, struct jw *w)
{
    uint64_t from = st->n_transitions > STATE_RING ? st->n_transitions - STATE_RING : 0;
    jw_key(w, "transitions");
    jw_array(w);
    for (uint64_t i = from; i < st->n_transitions; i++) {
        const struct state_transition *t = &st->ring[i % STATE_RING];
        jw_object(w);
        jw_kcstr(w, "name", t->name);
        jw_kbool(w, "exit", t->is_exit);
        jw_kint(w, "turn", t->turn); /* of the session, as below */
        jw_kcstr(w, "file", t->file);
        jw_kint(w, "line", t->line);
        jw_kint(w, "wall_ms", t->wall_ms);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_exts(const struct state *st, struct jw *w)
{
    jw_key(w, "extensions");
    jw_object(w);
    for (size_t i = 0; i < STATE_EXTS; i++) {
        if (!st->ext[i].name || !st->ext[i].write)
            continue;
        jw_key(w, st->ext[i].name);
        st->ext[i].write(st->ext[i].data, w);
    }
    jw_end(w);
}

void
state_write(const struct state *st, struct buf *out)
{
    size_t open = 0;
    for (size_t i = 0; i < st->cap_calls; i++)
        open += st->calls[i].key && !st->calls[i].answered;
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kint(&w, "schema", STATE_SCHEMA);
    jw_kint(&w, "messages", (int64_t)st->n);
    jw_kint(&w, "messages_sent", (int64_t)st->n_sent);
    jw_kint(&w, "turn", st->turns_before + st->turn);
    jw_kint(&w, "max_output_recoveries", st->max_output_recoveries);
    jw_kint(&w, "max_output_override", st->max_output_override);
    jw_kbool(&w, "reactive_compact_attempted", st->reactive_compact_attempted);
    jw_kbool(&w, "stop_hook_active", st->stop_hook.all > 0);
    jw_kint(&w, "last_compact_turn",
            st->compact.last_compact_turn ? st->turns_before + st->compact.last_compact_turn : 0);
    jw_kint(&w, "compact_failures", st->compact.failures);
    jw_kint(&w, "context_tokens", st->context_tokens);
    jw_knum(&w, "bytes_per_token", st->bytes_per_token);
    jw_kint(&w, "tool_calls", (int64_t)st->n_calls);
    jw_kint(&w, "tool_calls_open", (int64_t)open);
    jw_kcstr(&w, "transition", st->last.name);
    write_ring(st, &w);
    write_exts(st, &w);
    jw_end(&w);
}
