#include "engine/validator.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/images.h"
#include "engine/rebuild.h"
#include "engine/validator_private.h"

/* Lines of the report; the count goes on. */
#define REPORT_MAX 2000
#define NO_START "(the beginning of this conversation is not available)"

void
validator_report_init(struct validator_report *r)
{
    r->changes = r->looked = 0;
    buf_init(&r->text, REPORT_MAX);
}

void
validator_report_release(struct validator_report *r)
{
    buf_release(&r->text);
}

void
mend_note(struct validator_report *r, const char *fmt, ...)
{
    r->changes++;
    if (r->text.len && !buf_full(&r->text))
        buf_addc(&r->text, '\n');
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&r->text, fmt, ap);
    va_end(ap);
}

void
mend_push(struct mend_list *l, const struct message *take_m)
{
    ARRAY_GROW(l->m, l->n, l->cap);
    l->m[l->n++] = take_m;
}

static bool
is_blank(struct str s)
{
    return str_trim(s).len == 0;
}

/* ---- pass 1: blocks that may not stand where they stand ---- */

static const char *
why_illegal(const struct message *m, size_t i)
{
    const struct block *b = &m->blocks[i];
    switch (b->kind) {
    case BLOCK_TEXT:
        return is_blank(b->text) ? "an empty text block" : NULL;
    case BLOCK_THINKING:
        if (m->role == ROLE_USER)
            return "a thinking block in a user message";
        return b->signature.len ? NULL : "a thinking block without its signature";
    case BLOCK_REDACTED_THINKING:
        return m->role == ROLE_USER ? "a thinking block in a user message" : NULL;
    case BLOCK_TOOL_USE:
        if (m->role == ROLE_USER)
            return "a tool_use in a user message";
        if (!b->id.len)
            return "a tool_use without an id";
        for (size_t k = 0; k < i; k++)
            if (m->blocks[k].kind == BLOCK_TOOL_USE && str_eq(m->blocks[k].id, b->id))
                return "a second tool_use with the same id";
        return NULL;
    case BLOCK_TOOL_RESULT:
        return m->role == ROLE_ASSISTANT ? "a tool_result in an assistant message" : NULL;
    case BLOCK_OTHER:
        return json_raw_member(b->raw, "type").ptr ? NULL : "a block without a type";
    case BLOCK_IMAGE:
        return NULL;
    }
    return NULL;
}

/* Blocks [0, end) without thinking at the end: the API refuses a message that ends in thinking. */
static size_t
useful_end(const struct message *m)
{
    size_t end = m->n_blocks;
    while (end > 0 && m->role == ROLE_ASSISTANT &&
           (rebuild_is_thinking(&m->blocks[end - 1]) || why_illegal(m, end - 1)))
        end--;
    return end;
}

static void
drop_illegal(const struct message *m, struct mend_list *out, struct validator_report *r)
{
    size_t end = useful_end(m), bad = m->n_blocks - end;
    for (size_t i = 0; i < end; i++)
        bad += why_illegal(m, i) != NULL;
    if (!bad && m->n_blocks) {
        mend_push(out, message_ref(m));
        return;
    }
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0; i < m->n_blocks; i++) {
        const char *why = why_illegal(m, i);
        if (!why && i >= end)
            why = "thinking with nothing after it";
        if (why)
            mend_note(r, "left out %s", why);
        else
            rebuild_block(b, &m->blocks[i]);
    }
    const struct message *left = rebuild_finish(b, m);
    if (left)
        mend_push(out, left);
    else
        mend_note(r, "left out a message without content");
}

/* Blocks that may stand there, of images that may be sent. */
static void
check_blocks(const struct message *m, struct mend_list *out, struct validator_report *r)
{
    const struct message *fit = images_count(m) ? images_replace(m, images_fault, NULL) : NULL;
    if (fit)
        mend_note(r, "left out an image that may not be sent");
    drop_illegal(fit ? fit : m, out, r);
    message_free(fit);
}

/* ---- pass 2: neighbours of one role become one message ---- */

static const struct message *
join(const struct message *a, const struct message *b)
{
    struct message_builder *mb = message_builder_new(a->role);
    for (size_t i = 0; i < a->n_blocks; i++)
        rebuild_block(mb, &a->blocks[i]);
    for (size_t i = 0; i < b->n_blocks; i++)
        rebuild_block(mb, &b->blocks[i]);
    const struct message *m = rebuild_finish(mb, a);
    if (m && !b->hidden)
        ((struct message *)m)->hidden = false; /* fresh: nobody else holds it yet */
    return m;
}

static void
merge_roles(struct mend_list *l, struct validator_report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct message *m = l->m[i];
        if (n && l->m[n - 1]->role == m->role) {
            const struct message *both = join(l->m[n - 1], m);
            if (!both) { /* larger than any message may be */
                l->m[n++] = m;
                continue;
            }
            message_free(l->m[n - 1]);
            message_free(m);
            l->m[n - 1] = both;
            r->changes++;
        } else {
            l->m[n++] = m;
        }
    }
    l->n = n;
}

/* ---- all of it ---- */

static void
user_first(struct mend_list *l, struct validator_report *r)
{
    if (!l->n || l->m[0]->role == ROLE_USER)
        return;
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR(NO_START));
    struct message *m = message_build(b);
    m->hidden = true;
    mend_push(l, m);
    memmove(l->m + 1, l->m, (l->n - 1) * sizeof *l->m);
    l->m[0] = m;
    mend_note(r, "put a user message first");
}

/* before: NULL: the list is the whole conversation; else the ids of what stands in front of it. */
static size_t
mend_once(struct mend_list *l, const struct str_set *before, struct validator_report *r)
{
    static const struct str_set none;
    size_t changes = r->changes;
    struct mend_list kept = {NULL, 0, 0};
    r->looked += l->n;
    for (size_t i = 0; i < l->n; i++)
        check_blocks(l->m[i], &kept, r);
    for (size_t i = 0; i < l->n; i++)
        message_free(l->m[i]);
    free(l->m);
    *l = kept;
    merge_roles(l, r);
    mend_ids(l, before ? before : &none, r);
    mend_pairs(l, r);
    if (!before)
        user_first(l, r);
    return r->changes - changes;
}

/* A dropped message can make neighbours of two of one role, so it goes on until nothing changes; each round that
 * changes something drops, joins, renames or answers, which all come to an end. */
static void
mend_all(struct mend_list *l, const struct str_set *before, struct validator_report *r)
{
    while (mend_once(l, before, r) > 0)
        ;
}

void
validator_mend(const struct message ***msgs, size_t *n, struct validator_report *report)
{
    struct mend_list l = {*msgs, *n, *n};
    mend_all(&l, NULL, report);
    *msgs = l.m;
    *n = l.n;
}

/* ---- what is proved ---- */

static void
forget_from(struct validator_proof *p, size_t from)
{
    while (p->n > from)
        message_free(p->list[--p->n].m);
}

void
validator_proof_release(struct validator_proof *p)
{
    forget_from(p, 0);
    free(p->list);
    str_set_release(&p->ids);
    *p = (struct validator_proof){0};
}

static void
prove(struct validator_proof *p, const struct message *m)
{
    ARRAY_GROW(p->list, p->n, p->cap);
    struct validator_proved *now = &p->list[p->n++];
    *now = p->n > 1 ? now[-1] : (struct validator_proved){0};
    now->m = message_ref(m);
    now->bytes += m->json.len + 1;
    now->images += (unsigned)images_count(m);
    now->large_images += (unsigned)images_large(m);
}

/* The ids of the first n messages, which are never changed again. */
static void
know_ids(struct validator_proof *p, size_t n)
{
    if (n < p->n_ids) {
        str_set_release(&p->ids);
        p->ids = (struct str_set){0};
        p->n_ids = 0;
    }
    for (; p->n_ids < n; p->n_ids++) {
        const struct message *m = p->list[p->n_ids].m;
        for (size_t k = 0; k < m->n_blocks; k++)
            if (m->blocks[k].kind == BLOCK_TOOL_USE)
                (void)str_set_add(&p->ids, m->blocks[k].id);
    }
}

/* Where to begin: the last answer that is proved. What stands before it cannot be changed by anything that comes behind it. */
static size_t
last_answer(const struct validator_proof *p, size_t n)
{
    while (n > 0 && p->list[n - 1].m->role != ROLE_ASSISTANT)
        n--;
    return n ? n - 1 : 0;
}

/* The list that is looked at: as it was given, until something in it is mended. */
struct looked {
    const struct message *const *list;
    size_t n;
    uint64_t edition;
    const struct message **own; /* list, with its references; NULL: it is the caller's */
};

static void
own_release(struct looked *k)
{
    for (size_t i = 0; k->own && i < k->n; i++)
        message_free(k->own[i]);
    free(k->own);
    k->own = NULL;
}

/* The first `from` stay, the rest is `l`, which is used up. */
static void
replace_end(struct looked *k, size_t from, struct mend_list *l)
{
    const struct message **fresh = xcalloc(from + l->n + 1, sizeof *fresh);
    for (size_t i = 0; i < from; i++)
        fresh[i] = message_ref(k->list[i]);
    for (size_t i = 0; i < l->n; i++)
        fresh[from + i] = l->m[i];
    own_release(k);
    k->list = k->own = fresh;
    k->n = from + l->n;
    k->edition = 0;
    l->n = 0;
}

/* How many messages at the beginning are those that were proved. */
static size_t
same_as_proved(const struct validator_proof *p, const struct looked *k)
{
    size_t n = p->n < k->n ? p->n : k->n, same = 0;
    if (k->edition && k->edition == p->edition)
        return n;
    while (same < n && p->list[same].m == k->list[same])
        same++;
    return same;
}

static void
mend_new(struct validator_proof *p, struct looked *k, struct validator_report *r)
{
    size_t same = same_as_proved(p, k), changes = r->changes;
    if (same == k->n && same == p->n)
        return;
    size_t from = last_answer(p, same);
    know_ids(p, from); /* before what it was made of may go */
    forget_from(p, same);
    struct mend_list l = {NULL, 0, 0};
    for (size_t i = from; i < k->n; i++)
        mend_push(&l, message_ref(k->list[i]));
    mend_all(&l, from ? &p->ids : NULL, r);
    forget_from(p, from);
    for (size_t i = 0; i < l.n; i++)
        prove(p, l.m[i]);
    if (r->changes > changes)
        replace_end(k, from, &l);
    while (l.n > 0)
        message_free(l.m[--l.n]);
    free(l.m);
}

/* ---- the limits of a whole request ---- */

#define MANY_IMAGES 20 /* more, and none may be large */

/* Which images go; counted from the oldest. */
struct cut {
    size_t drop;  /* so many */
    size_t bytes; /* or until so much is gone */
    bool large;   /* only large ones */
    size_t gone;
};

static const char *
too_many(struct str media_type, struct str base64, void *arg)
{
    struct cut *c = arg;
    if (c->large)
        return images_is_large(media_type, base64)
                   ? "many images are in this conversation, and none of them may be so large"
                   : NULL;
    if (c->drop == 0 && c->gone >= c->bytes)
        return NULL;
    c->drop -= c->drop > 0;
    c->gone += base64.len;
    return "an older one, to make room";
}

/* From the oldest message on. */
static void
cut_images(const struct message **msgs, size_t n, struct cut *c, struct validator_report *r)
{
    for (size_t i = 0; i < n && (c->large || c->drop || c->gone < c->bytes); i++) {
        const struct message *fresh =
            images_count(msgs[i]) ? images_replace(msgs[i], too_many, c) : NULL;
        if (!fresh)
            continue;
        mend_note(r, c->large ? "left out large images: there are many" : "left out old images");
        message_free(msgs[i]);
        msgs[i] = fresh;
    }
}

static void
cut_from(struct looked *k, struct cut *c, struct validator_report *r)
{
    struct mend_list none = {NULL, 0, 0};
    if (!k->own)
        replace_end(k, k->n, &none);
    cut_images(k->own, k->n, c, r);
}

static bool
keep_limits(const struct validator_proof *p, const struct validator_limits *limits,
            struct looked *k, struct validator_report *r)
{
    if (!p->n)
        return true;
    const struct validator_proved *all = &p->list[p->n - 1];
    size_t before = r->changes;
    struct cut large = {.large = true}, old = {0};
    if (limits->images && all->images > limits->images)
        old.drop = all->images - limits->images / 2;
    if (limits->bytes && all->bytes > limits->bytes && all->images)
        old.bytes = all->bytes - limits->bytes / 4 * 3;
    if (old.drop || old.bytes)
        cut_from(k, &old, r);
    else if (all->images > MANY_IMAGES && all->large_images)
        cut_from(k, &large, r);
    return r->changes == before;
}

bool
validator_mend_more(struct validator_proof *p, const struct message *const *list, size_t n,
                    uint64_t edition, const struct validator_limits *limits,
                    struct validator_report *report, const struct message ***ret_list,
                    size_t *ret_n)
{
    struct looked k = {.list = list, .n = n, .edition = edition};
    size_t changes = report->changes;
    mend_new(p, &k, report);
    while (!keep_limits(p, limits, &k, report))
        mend_new(p, &k, report);
    p->edition = k.edition;
    if (report->changes == changes) {
        own_release(&k);
        return false;
    }
    *ret_list = k.own;
    *ret_n = k.n;
    return true;
}
