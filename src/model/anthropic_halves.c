#include "model/anthropic_halves.h"

#include "base/json.h"
#include "base/text.h"
#include "model/anthropic_event.h"
#include "model/halves.h"

void
anthropic_halves_init(struct anthropic_halves *h)
{
    *h = (struct anthropic_halves){0};
    buf_init(&h->marked, BUF_MAX);
    buf_init(&h->shown, BUF_MAX);
    buf_init(&h->carry, BUF_MAX);
    buf_init(&h->piece, BUF_MAX);
    buf_init(&h->left, BUF_MAX);
}

void
anthropic_halves_release(struct anthropic_halves *h)
{
    buf_release(&h->marked);
    buf_release(&h->shown);
    buf_release(&h->carry);
    buf_release(&h->piece);
    buf_release(&h->left);
}

/* The kind of delta whose text goes on from event to event, or DELTA_RAW. */
static enum delta_kind
grows_as(const struct delta *d)
{
    if (d->kind == DELTA_TEXT || d->kind == DELTA_THINKING || d->kind == DELTA_INPUT_JSON)
        return d->kind;
    if (d->kind == DELTA_BLOCK_START && (d->block == BLOCK_TEXT || d->block == BLOCK_THINKING))
        return d->block == BLOCK_TEXT ? DELTA_TEXT : DELTA_THINKING;
    return DELTA_RAW;
}

/* An event that is none of ours is handed on, and an error says what it can. */
static bool
may_have_marks(const struct cJSON *tree, struct str marked, struct str data)
{
    struct delta d;
    if (!anthropic_read_event(tree, marked, &d))
        return true;
    enum delta_kind kind = grows_as(&d);
    return kind != DELTA_RAW && (kind != DELTA_INPUT_JSON || text_valid_utf8(data));
}

struct cJSON *
anthropic_halves_parse(struct anthropic_halves *h, struct str data, struct str *ret_bytes,
                       struct str *ret_shown, struct err *err)
{
    struct buf carry;
    h->has_marks = false;
    *ret_bytes = *ret_shown = data;
    struct str marked = halves_mark(data, &h->marked, &h->has_marks);
    if (!h->has_marks)
        return json_parse(marked, err);
    struct cJSON *tree = json_parse(marked, err);
    if (!tree || !may_have_marks(tree, marked, data)) {
        h->has_marks = false;
        json_free(tree);
        return json_parse(data, err);
    }
    buf_init(&carry, BUF_MAX);
    buf_clear(&h->shown);
    halves_join(&carry, marked, &h->shown);
    halves_end(&carry, &h->shown);
    buf_release(&carry);
    *ret_bytes = marked;
    *ret_shown = buf_str(&h->shown);
    if (!str_is(json_str(tree, "type"), "error"))
        return tree;
    json_free(tree);
    return json_parse(*ret_shown, err);
}

/* Of a text that went on in no other event. */
static size_t
end_text(struct anthropic_halves *h, struct delta *ret)
{
    if (!h->carry.len)
        return 0;
    buf_clear(&h->left);
    halves_end(&h->carry, &h->left);
    *ret = (struct delta){.kind = h->kind, .index = h->index, .text = buf_str(&h->left)};
    return 1;
}

size_t
anthropic_halves_deltas(struct anthropic_halves *h, const struct delta *d, struct delta ret[2])
{
    enum delta_kind kind = d ? grows_as(d) : DELTA_RAW;
    bool goes_on = kind == h->kind && d && d->index == h->index && d->kind != DELTA_BLOCK_START;
    size_t n = 0;
    if (!goes_on && (!d || d->kind != DELTA_PING))
        n = end_text(h, ret);
    if (!d)
        return n;
    ret[n] = *d;
    if (kind == DELTA_RAW || (!h->has_marks && !h->carry.len))
        return n + 1;
    h->kind = kind;
    h->index = d->index;
    buf_clear(&h->piece);
    halves_join(&h->carry, d->text, &h->piece);
    ret[n].text = buf_str(&h->piece);
    return n + (h->piece.len || d->kind == DELTA_BLOCK_START);
}
