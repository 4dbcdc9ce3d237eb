/* The past: pages of the session's history that were read back (view.h), and the one list that it makes with the live items. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ui/view_parts.h"

bool
view_joined(const struct view *v)
{
    return !v->past.n || v->past.joined;
}

size_t
view_len(const struct view *v)
{
    return v->past.n + (view_joined(v) ? v->n_items : 0);
}

struct item *
view_at(const struct view *v, size_t i)
{
    return i < v->past.n ? &v->past.items[i] : &v->items[i - v->past.n];
}

size_t
view_find(const struct view *v, uint64_t no)
{
    size_t lo = 0, hi = view_len(v);
    if (!hi)
        return 0;
    for (hi--; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (view_at(v, mid)->no < no)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Index of the first message of which a live item is there; INT64_MAX: not known. */
static int64_t
live_first(const struct view *v)
{
    for (size_t i = 0; i < v->n_items; i++)
        if (v->items[i].place > 0)
            return v->items[i].place - 1;
    return INT64_MAX;
}

int64_t
view_first_message(const struct view *v)
{
    if (v->past.n)
        return v->past.from;
    int64_t first = live_first(v);
    return first == INT64_MAX ? 0 : first;
}

/* ---- the past's items ---- */

static void
past_drop(struct past *p, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        p->text_bytes -= p->items[i].text.len;
        view_item_release(&p->items[i]);
    }
    if (n)
        memmove(p->items + from, p->items + from + n, (p->n - from - n) * sizeof(*p->items));
    p->n -= n;
}

void
view_past_clear(struct view *v)
{
    v->shape += v->past.n > 0;
    past_drop(&v->past, 0, v->past.n);
    v->past.from = v->past.to = 0;
    v->past.joined = false;
}

static bool
past_full(const struct past *p)
{
    return p->n > PAST_ITEMS || p->text_bytes > PAST_BYTES;
}

/* Lets messages go at the end that is not looked at; one page always stays. */
static void
past_trim(struct past *p, bool at_end, size_t keep)
{
    while (past_full(p) && p->n > keep) {
        size_t n = 1;
        if (at_end) {
            while (n < p->n && p->items[p->n - n - 1].place == p->items[p->n - n].place)
                n++;
            if (p->n - n < keep)
                return;
            past_drop(p, p->n - n, n);
            p->to = p->items[p->n - 1].place;
            p->joined = false;
        } else {
            while (n < p->n && p->items[n].place == p->items[n - 1].place)
                n++;
            if (p->n - n < keep)
                return;
            past_drop(p, 0, n);
            p->from = p->items[0].place - 1;
        }
    }
}

/* Moves items of the page with places in (after, before] to index `at` of the past. Returns how many. */
static size_t
past_insert(struct view *v, struct view *page, size_t at, int64_t after, int64_t before)
{
    struct past *p = &v->past;
    size_t first = 0, last;
    while (first < page->n_items && page->items[first].place <= after)
        first++;
    for (last = first; last < page->n_items && page->items[last].place <= before;)
        last++;
    size_t n = last - first;
    if (!n)
        return 0;
    ARRAY_GROW(p->items, p->n + n, p->cap);
    memmove(p->items + at + n, p->items + at, (p->n - at) * sizeof(*p->items));
    memcpy(p->items + at, page->items + first, n * sizeof(*p->items));
    p->n += n;
    for (size_t i = at; i < at + n; i++) {
        p->text_bytes += p->items[i].text.len;
        view_item_touch(v, &p->items[i]);
    }
    /* what was moved is no longer the page's */
    memmove(page->items + first, page->items + last, (page->n_items - last) * sizeof(*page->items));
    page->n_items -= n;
    return n;
}

/* ---- pages ---- */

/* The page's events through a view of its own: the past looks as it looked live. */
static void
read_events(const struct cJSON *tree, struct view *page)
{
    struct buf b;
    struct err err;
    buf_init(&b, BUF_MAX);
    for (const struct cJSON *n = json_first(json_at(tree, "events")); n; n = json_next(n)) {
        buf_clear(&b);
        json_print(n, &b);
        struct event *e = event_read(buf_str(&b), &err);
        if (e && e->place <= 0) { /* it could not be put in order */
            event_free(e);
            e = NULL;
        }
        view_apply(page, e);
    }
    view_items_settle(page);
    buf_release(&b);
}

static bool
take_above(struct view *v, struct view *page, int64_t from, int64_t to, int64_t *ret_before)
{
    struct past *p = &v->past;
    int64_t first = view_first_message(v);
    if (to < first) { /* the history below has grown shorter or is not what it was */
        *ret_before = -1;
        return false;
    }
    if (from >= first)
        return false;
    if (!p->n) {
        p->to = first;
        p->joined = true;
    }
    size_t n = past_insert(v, page, 0, 0, first);
    p->from = from;
    past_trim(p, true, n);
    return true;
}

static bool
take_below(struct view *v, struct view *page, int64_t from, int64_t to, int64_t *ret_before)
{
    struct past *p = &v->past;
    int64_t live = live_first(v);
    if (!p->n || p->joined)
        return false;
    if (from > p->to) { /* a page starts where it likes: one that ends sooner */
        *ret_before = from;
        return false;
    }
    size_t n = past_insert(v, page, p->n, p->to, live);
    p->to = to < live ? to : live;
    p->joined = p->to >= live;
    past_trim(p, false, n);
    return true;
}

static bool
take_alone(struct view *v, struct view *page, int64_t from, int64_t to)
{
    struct past *p = &v->past;
    int64_t live = live_first(v);
    view_past_clear(v);
    if (from >= live)
        return true; /* all of it is there */
    (void)past_insert(v, page, 0, 0, live);
    p->from = from;
    p->to = to < live ? to : live;
    p->joined = p->to >= live;
    return p->n > 0;
}

bool
view_take_page(struct view *v, struct str json, enum view_page how, int64_t *ret_before)
{
    struct err err;
    struct view page;
    struct cJSON *tree = json_parse(json, &err);
    int64_t from = tree ? json_int(tree, "from", -1) : -1,
            to = tree ? json_int(tree, "to", -1) : -1;
    bool ok = false;
    *ret_before = -1;
    if (from >= 0 && to > from && to < INT32_MAX) {
        view_init(&page);
        read_events(tree, &page);
        ok = how == PAGE_ABOVE   ? take_above(v, &page, from, to, ret_before)
             : how == PAGE_BELOW ? take_below(v, &page, from, to, ret_before)
                                 : take_alone(v, &page, from, to);
        view_release(&page);
        v->shape++;
        v->version++;
    }
    json_free(tree);
    return ok;
}
