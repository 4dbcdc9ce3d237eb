/* What the transcript asks of the engine, and what goes on when the answer is there. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/keys.h"
#include "ui/transcript_private.h"

#define SEQ_FIRST                                                                                  \
    ((uint64_t)7 << 48) /* queries of this pane are told from others' by their number */
#define STEP 40         /* messages below what is there that are asked for at a time */
#define NEAR 24         /* items left above the screen when the page above is asked for unasked */

void
transcript_want(struct transcript *t, enum want want, int64_t index, enum then then, int arg)
{
    /* keys that come while a page is under way add up */
    if (t->want == want && then == THEN_SCROLL && t->then == THEN_SCROLL)
        arg += t->then_arg;
    t->want = want;
    t->want_index = index;
    t->then = then;
    t->then_arg = arg;
}

void
transcript_note(const struct transcript *t, const struct view *v, struct buf *out)
{
    const struct search *s = &t->search;
    (void)v;
    if (!t->follow && s->needle.len && s->known && s->some) {
        int64_t message = (int64_t)(s->found.no >> VIEW_PLACE_BITS) - 1;
        size_t at = 0;
        while (at < s->n_hits && s->hits[at] < message)
            at++;
        buf_adds(out, " ");
        bool there = at < s->n_hits && s->hits[at] == message;
        if (there)
            buf_addf(out, "%zu of ", at + 1);
        buf_addf(out, "%zu%s%s  %s older  ", s->n_hits, s->complete ? "" : " or more",
                 there ? "" : " found", keys_shown(keys_of(ACT_FIND_ON)));
        buf_addf(out, "%s newer ", keys_shown(keys_of(ACT_FIND_BACK)));
    } else if (t->want != WANT_NONE || (s->seq && t->then == THEN_FIND)) {
        buf_adds(out, s->seq ? " searching " : " reading ");
    }
}

/* Asked for before it is needed, so that scrolling does not stop at each page. */
static void
look_ahead(struct transcript *t, const struct view *v)
{
    int64_t first = view_first_message(v);
    if (t->want != WANT_NONE || t->then == THEN_FIND || t->follow || !view_len(v))
        return;
    if (first > 0 && first != t->barren && view_find(v, t->top.no) < NEAR)
        transcript_want(t, WANT_ABOVE, -1, THEN_NOTHING, 0);
    else if (!view_joined(v) && view_find(v, t->top.no) + (size_t)t->h + NEAR > view_len(v))
        transcript_want(t, WANT_BELOW, -1, THEN_NOTHING, 0);
}

static struct op *
make_query(struct transcript *t, enum query_kind kind, const char *text, uint64_t *ret_seq)
{
    struct op *op = op_new(OP_QUERY, text);
    op->query = kind;
    op->seq = *ret_seq = SEQ_FIRST + ++t->last_seq;
    return op;
}

static int64_t
page_end(const struct transcript *t, const struct view *v)
{
    if (t->want_index >= 0 && t->want != WANT_MESSAGE)
        return t->want_index;
    switch (t->want) {
    case WANT_ABOVE:
        return view_first_message(v);
    case WANT_BELOW:
        return v->past.to + STEP;
    case WANT_MESSAGE:
        return t->want_index + STEP / 2;
    default:
        return STEP;
    }
}

struct op *
transcript_query(struct transcript *t, struct view *v)
{
    struct search *s = &t->search;
    transcript_let_past_go(t, v);
    v->hold = !t->follow;
    if (s->ask && !s->seq) {
        s->ask = false;
        return make_query(t, QUERY_SEARCH, buf_cstr(&s->needle), &s->seq);
    }
    look_ahead(t, v);
    if (t->seq || t->want == WANT_NONE)
        return NULL;
    int64_t end = page_end(t, v);
    if (end <= 0) {
        t->want = WANT_NONE;
        return NULL;
    }
    char *text = xasprintf("%lld", (long long)end);
    struct op *op = make_query(t, QUERY_HISTORY, text, &t->seq);
    free(text);
    return op;
}

/* ---- answers ---- */

static void
go_on(struct transcript *t, struct view *v)
{
    enum then then = t->then;
    t->then = THEN_NOTHING;
    switch (then) {
    case THEN_SCROLL:
        transcript_scroll(t, v, t->then_arg);
        break;
    case THEN_PROMPT:
        transcript_prompt_jump(t, v, t->then_arg);
        break;
    case THEN_FIND:
        (void)transcript_search(t, v, buf_str(&t->search.needle), t->then_arg);
        break;
    case THEN_NOTHING:
        break;
    }
}

/* The item on top stays there: its gap may come or go with what is now above it. */
static void
take_page(struct transcript *t, struct view *v, struct str json)
{
    static const enum view_page hows[] = {[WANT_ABOVE] = PAGE_ABOVE,
                                          [WANT_BELOW] = PAGE_BELOW,
                                          [WANT_HOME] = PAGE_ALONE,
                                          [WANT_MESSAGE] = PAGE_ALONE};
    enum want want = t->want;
    int64_t before, first = view_first_message(v), index = t->want_index;
    if (want == WANT_NONE || !view_len(v))
        return;
    struct item *top = view_at(v, view_find(v, t->top.no));
    int gap = cache_gap(v, view_find(v, t->top.no));
    uint64_t no = top->no;
    bool ok = view_take_page(v, json, hows[want], &before);
    t->want = WANT_NONE;
    if (!ok && before > 0 && before != index) {
        transcript_want(t, want, before, t->then, t->then_arg);
        return;
    }
    if (!ok)
        t->barren = first;
    if (ok && hows[want] == PAGE_ALONE && view_len(v))
        t->top = (struct place){view_at(v, 0)->no, 0}; /* where it was is no longer there */
    if (!ok || !transcript_ready(t, v)) {
        t->then = THEN_NOTHING;
        return;
    }
    size_t i = view_find(v, no);
    if (view_at(v, i)->no == no && t->top.no == no && t->top.line > 0)
        t->top.line += cache_gap(v, i) - gap;
    if (want == WANT_HOME && v->past.n && v->past.from > 0) {
        transcript_want(t, WANT_HOME, v->past.from, THEN_NOTHING, 0);
        return;
    }
    if (want == WANT_HOME) {
        t->top = (struct place){view_at(v, 0)->no, 0};
        transcript_settle(t, v);
    } else if (want == WANT_MESSAGE) {
        i = view_find(v, (uint64_t)(index + 1) << VIEW_PLACE_BITS);
        uint64_t end = (uint64_t)(index + 2)
                       << VIEW_PLACE_BITS; /* upwards the search begins at the message's end */
        size_t from = t->then_arg > 0 ? i : view_find(v, end - 1);
        if (t->then == THEN_FIND) {
            t->search.found = (struct place){view_at(v, from)->no, t->then_arg > 0 ? -1 : 1 << 30};
            t->search.some = true;
        }
        transcript_show(t, v, i, 0);
    }
    go_on(t, v);
}

bool
transcript_answer(struct transcript *t, struct view *v, const struct event *ev)
{
    if (ev->seq <= SEQ_FIRST || ev->seq > SEQ_FIRST + t->last_seq)
        return false;
    struct str json = str_from(ev->u.answer.json);
    if (ev->seq == t->search.seq) {
        t->search.seq = 0;
        search_take_hits(&t->search, json);
        if (t->want == WANT_NONE && t->then == THEN_FIND && transcript_ready(t, v))
            go_on(t, v);
    } else if (ev->seq == t->seq) {
        t->seq = 0;
        take_page(t, v, json);
    }
    v->version++;
    return true;
}
