/* Edits as a record of the journal, and back. Bytes from the disk may be anything: what does not fit is refused whole. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/rebuild.h"
#include "engine/tier_private.h"

#define WITH_MAX 64 /* messages in place of a range */
#define UUID_CHARS 36

/* ---- writing ---- */

/* The block of the replaced range with the same bytes, looked for from *hint on: they stand in one order. */
static bool
find_block(const struct tier_view *v, const struct tier_edit *e, struct str raw, size_t *at,
           size_t *block)
{
    size_t i = *at, k = *block;
    for (; i < e->to; i++, k = 0)
        for (; k < v->messages[i]->n_blocks; k++)
            if (raw.len && str_eq(v->messages[i]->blocks[k].raw, raw)) {
                *at = i;
                *block = k;
                return true;
            }
    return false;
}

static void
write_blocks(const struct tier_view *v, const struct tier_edit *e, const struct message *m,
             struct jw *w)
{
    size_t at = e->from, block = 0;
    jw_key(w, "blocks");
    jw_array(w);
    for (size_t i = 0; i < m->n_blocks; i++) {
        size_t a = at, k = block;
        if (find_block(v, e, m->blocks[i].raw, &a, &k)) {
            jw_array(w);
            jw_int(w, (int64_t)(a - e->from));
            jw_int(w, (int64_t)k);
            jw_end(w);
            at = a;
            block = k + 1;
        } else {
            jw_raw(w, m->blocks[i].raw);
        }
    }
    jw_end(w);
}

static void
write_edit(const struct tier_view *v, const struct tier_edit *e, struct jw *w)
{
    jw_object(w);
    jw_kcstr(w, "from", v->messages[e->from]->uuid);
    jw_kcstr(w, "to", v->messages[e->to - 1]->uuid);
    jw_kint(w, "count", (int64_t)(e->to - e->from));
    jw_kint(w, "saved", e->saved);
    jw_kcstr(w, "what", e->what ? e->what : "");
    jw_key(w, "with");
    jw_array(w);
    for (size_t i = 0; i < e->n_with; i++) {
        const struct message *m = e->with[i];
        jw_object(w);
        jw_kcstr(w, "uuid", m->uuid);
        jw_kcstr(w, "role", m->role == ROLE_USER ? "user" : "assistant");
        jw_kbool(w, "hidden", m->hidden);
        write_blocks(v, e, m, w);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
}

void
tier_write(const struct tier_view *v, const struct tier_result *r, const char *tier,
           struct buf *out)
{
    struct jw w;
    buf_adds(out, "\"tier\":");
    json_quote(out, str_from(tier));
    buf_addf(out, ",\"before\":%lld,\"after\":%lld,\"edits\":", (long long)r->before,
             (long long)r->after);
    jw_init(&w, out);
    jw_array(&w);
    for (size_t i = 0; i < r->n; i++)
        if (r->edits[i].to > r->edits[i].from)
            write_edit(v, &r->edits[i], &w);
    jw_end(&w);
}

/* ---- reading ---- */

/* The next element of a raw array in *rest, which begins at '[' or behind an element. False: none is left. */
static bool
next_raw(struct str *rest, struct str *ret)
{
    size_t at = json_skip_blanks(*rest, 0);
    if (at >= rest->len || (rest->ptr[at] != '[' && rest->ptr[at] != ','))
        return false;
    at = json_skip_blanks(*rest, at + 1);
    size_t end = json_skip_value(*rest, at);
    if (at >= rest->len || rest->ptr[at] == ']' || end <= at)
        return false;
    *ret = str_sub(*rest, at, end - at);
    *rest = str_sub(*rest, end, rest->len);
    return true;
}

struct reader {
    const struct message *const *messages;
    size_t n, at; /* edits stand in order: what is before `at` is done */
};

static bool
find_range(struct reader *r, const struct cJSON *e, size_t *from, size_t *to)
{
    struct str first = json_str(e, "from"), last = json_str(e, "to");
    int64_t count = json_count(e, "count");
    size_t i = r->at;
    while (i < r->n && !str_is(first, r->messages[i]->uuid))
        i++;
    if (i >= r->n || count < 1 || (uint64_t)count > r->n - i ||
        !str_is(last, r->messages[i + (size_t)count - 1]->uuid))
        return false;
    *from = i;
    *to = r->at = i + (size_t)count;
    return true;
}

/* [message, block] of the range, or a block itself. */
static bool
read_block(const struct reader *r, size_t from, size_t to, struct str raw,
           struct message_builder *b)
{
    if (raw.ptr[0] == '{') {
        if (!json_raw_member(raw, "type").ptr)
            return false;
        message_add_raw(b, raw);
        return true;
    }
    struct cJSON *t = json_parse(raw, NULL);
    int64_t at = json_int(t, "0", -1), block = json_int(t, "1", -1);
    bool two = json_is_array(t) && json_len(t) == 2;
    json_free(t);
    if (!two || at < 0 || block < 0 || (uint64_t)at >= to - from ||
        (uint64_t)block >= r->messages[from + (size_t)at]->n_blocks)
        return false;
    rebuild_block(b, &r->messages[from + (size_t)at]->blocks[block]);
    return true;
}

/* The identity of the message that had this uuid before, or that of a new one. */
static struct message *
identify(const struct reader *r, size_t from, size_t to, const struct cJSON *t, struct message *m)
{
    struct str uuid = json_str(t, "uuid");
    for (size_t i = from; i < to; i++)
        if (str_is(uuid, r->messages[i]->uuid))
            return rebuild_as(m, r->messages[i]);
    memset(m->uuid, 0, sizeof m->uuid);
    memcpy(m->uuid, uuid.ptr, UUID_CHARS);
    m->hidden = json_bool(t, "hidden", false);
    m->wall_ms = r->messages[from]->wall_ms;
    return m;
}

static struct message *
read_message(const struct reader *r, size_t from, size_t to, struct str raw)
{
    struct cJSON *t = json_parse(raw, NULL);
    struct str role = json_str(t, "role"), blocks = json_raw_member(raw, "blocks"), one;
    struct message *m = NULL;
    bool user = str_is(role, "user");
    if ((user || str_is(role, "assistant")) && json_str(t, "uuid").len == UUID_CHARS &&
        str_starts(blocks, "[")) {
        struct message_builder *b = message_builder_new(user ? ROLE_USER : ROLE_ASSISTANT);
        bool ok = true;
        while (ok && next_raw(&blocks, &one))
            ok = read_block(r, from, to, one, b);
        if (ok)
            m = message_build(b);
        else
            message_builder_free(b);
    }
    if (m)
        m = identify(r, from, to, t, m);
    json_free(t);
    return m;
}

static bool
read_edit(struct reader *r, struct str raw, struct tier_result *ret)
{
    struct cJSON *t = json_parse(raw, NULL);
    struct str with = json_raw_member(raw, "with"), one;
    size_t from, to;
    bool ok = find_range(r, t, &from, &to) && str_starts(with, "[");
    if (ok) {
        struct tier_edit *e = tier_edit_add(ret);
        e->from = from;
        e->to = to;
        e->saved = json_int(t, "saved", 0);
        if (e->saved < 0 || e->saved > JSON_COUNT_MAX)
            e->saved = 0;
        e->what = str_dup(json_str(t, "what"));
        e->with = xcalloc(WITH_MAX, sizeof *e->with);
        while (ok && next_raw(&with, &one)) {
            ok = e->n_with < WITH_MAX &&
                 (e->with[e->n_with] = read_message(r, from, to, one)) != NULL;
            e->n_with += ok;
        }
    }
    json_free(t);
    return ok;
}

bool
tier_read(struct str record, const struct message *const *messages, size_t n,
          struct tier_result *ret)
{
    *ret = (struct tier_result){0};
    struct cJSON *t =
        json_parse(record, NULL); /* all of it, once: what follows are slices of sound JSON */
    struct str edits = json_raw_member(record, "edits"), one;
    struct reader r = {messages, n, 0};
    bool ok = json_is_object(t) && str_starts(edits, "[");
    ret->before = json_count(t, "before");
    ret->after = json_count(t, "after");
    json_free(t);
    while (ok && next_raw(&edits, &one))
        ok = read_edit(&r, one, ret);
    if (!ok)
        tier_result_release(ret);
    return ok;
}
