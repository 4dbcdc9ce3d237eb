#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/item_lines.h"
#include "ui/transcript_cache.h"

/* A place: a line of an item, its gap above included. Items by their number in the session. */
struct place {
    uint64_t no;
    int line;
};
struct transcript {
    struct cache cache;
    int w, h;             /* as last drawn */
    bool follow;          /* the tail is shown */
    struct place top;     /* first line shown; kept up to date while following */
    uint64_t first, last; /* items seen at the last drawing */
    uint64_t cursor;      /* item + 1; 0: none chosen */
    uint64_t seen;        /* the newest item when the tail was left ... */
    int seen_height;      /* ... and its height then */
    struct place found;   /* of the search */
    bool searching;
};

struct transcript *
transcript_new(void)
{
    struct transcript *t = xcalloc(1, sizeof(*t));
    cache_init(&t->cache);
    t->follow = true;
    return t;
}

void
transcript_free(struct transcript *t)
{
    if (!t)
        return;
    cache_release(&t->cache);
    free(t);
}

bool
transcript_at_end(const struct transcript *t)
{
    return t->follow;
}

static size_t
index_of(const struct view *v, uint64_t no)
{
    if (no < v->dropped)
        return 0;
    size_t i = (size_t)(no - v->dropped);
    return i < v->n_items ? i : v->n_items ? v->n_items - 1 : 0;
}

static int
height(struct transcript *t, const struct view *v, size_t i)
{
    return cache_height(&t->cache, v, i);
}

/* ---- places ---- */

/* Moves a place by lines; stops at the very first line, or past the last one (false then). */
static bool
place_move(struct transcript *t, const struct view *v, struct place *p, int lines)
{
    size_t i = index_of(v, p->no);
    int64_t at = (int64_t)p->line + lines;
    while (at < 0 && i > 0)
        at += height(t, v, --i);
    if (at < 0)
        at = 0;
    bool inside = true;
    while (at >= height(t, v, i)) {
        if (i + 1 >= v->n_items) {
            inside = false;
            break;
        }
        at -= height(t, v, i++);
    }
    *p = (struct place){v->dropped + i, (int)at};
    return inside;
}

/* The first line when the last one stands at the bottom. */
static struct place
tail_top(struct transcript *t, const struct view *v)
{
    int64_t sum = 0;
    for (size_t i = v->n_items; i-- > 0;) {
        sum += height(t, v, i);
        if (sum >= t->h)
            return (struct place){v->dropped + i, (int)(sum - t->h)};
    }
    return (struct place){v->dropped, 0};
}

static bool
place_before(struct place a, struct place b)
{
    return a.no < b.no || (a.no == b.no && a.line < b.line);
}

/* ---- following and leaving the tail ---- */

static void
leave_tail(struct transcript *t, const struct view *v)
{
    if (!t->follow || !v->n_items)
        return;
    t->follow = false;
    t->seen = v->dropped + v->n_items - 1;
    t->seen_height = height(t, v, v->n_items - 1);
}

/* What is at or past the tail follows it. */
static void
settle(struct transcript *t, const struct view *v)
{
    struct place tail = tail_top(t, v);
    if (t->follow || !place_before(t->top, tail)) {
        t->follow = true;
        t->top = tail;
    }
}

static int64_t
new_lines(struct transcript *t, const struct view *v)
{
    if (t->follow || !v->n_items)
        return 0;
    int64_t sum = 0;
    size_t i = v->n_items;
    while (i-- > 0 && v->dropped + i > t->seen)
        sum += height(t, v, i);
    if (t->seen >= v->dropped && t->seen - v->dropped < v->n_items) {
        int more = height(t, v, (size_t)(t->seen - v->dropped)) - t->seen_height;
        sum += more > 0 ? more : 0;
    }
    return sum;
}

/* Takes over the view's changes and the size. A new width keeps the place by its share of the item. */
static void
sync(struct transcript *t, const struct view *v, int w, int h, bool ascii)
{
    bool wider = t->cache.width != w && t->cache.width > 0;
    size_t i = index_of(v, t->top.no);
    int old = t->top.no >= t->cache.base
                  ? cache_known_height(&t->cache, (size_t)(t->top.no - t->cache.base))
                  : 0;
    t->w = w;
    t->h = h;
    cache_sync(&t->cache, v, w, ascii);
    if (t->top.no < v->dropped)
        t->top = (struct place){v->dropped, 0};
    if (!wider || t->follow || !v->n_items)
        return;
    int now = height(t, v, i);
    if (old > 0)
        t->top.line = (int)((int64_t)t->top.line * now / old);
    if (t->top.line >= now)
        t->top.line = now > 0 ? now - 1 : 0;
    if (t->seen >= v->dropped && t->seen - v->dropped < v->n_items)
        t->seen_height = height(t, v, (size_t)(t->seen - v->dropped));
}

/* Before the first drawing there is nothing to move in. */
static bool
ready(struct transcript *t, const struct view *v)
{
    if (t->w < 1 || t->h < 1 || !v->n_items)
        return false;
    sync(t, v, t->w, t->h, t->cache.ascii);
    settle(t, v);
    return true;
}

void
transcript_scroll(struct transcript *t, const struct view *v, int lines)
{
    if (!ready(t, v) || lines == 0)
        return;
    if (lines < 0)
        leave_tail(t, v);
    place_move(t, v, &t->top, lines);
    settle(t, v);
}

void
transcript_page(struct transcript *t, const struct view *v, int dir)
{
    int lines = t->h > 2 ? t->h - 2 : 1;
    transcript_scroll(t, v, dir < 0 ? -lines : lines);
}

void
transcript_home(struct transcript *t, const struct view *v)
{
    if (!ready(t, v))
        return;
    leave_tail(t, v);
    t->top = (struct place){v->dropped, 0};
    settle(t, v);
}

void
transcript_end(struct transcript *t)
{
    t->follow = true;
    t->cursor = 0;
}

/* ---- the cursor ---- */

static bool
is_seen(const struct transcript *t, uint64_t no)
{
    return no >= t->first && no <= t->last;
}

/* The chosen item while it is seen, else the last one seen that can be opened, else the last one. */
static size_t
cursor_item(const struct transcript *t, const struct view *v)
{
    if (t->cursor && is_seen(t, t->cursor - 1))
        return index_of(v, t->cursor - 1);
    size_t first = index_of(v, t->first), last = index_of(v, t->last);
    for (size_t i = last + 1; i-- > first;)
        if (item_has_fold(&v->items[i]))
            return i;
    return last;
}

const struct item *
transcript_item(struct transcript *t, const struct view *v)
{
    return ready(t, v) ? &v->items[cursor_item(t, v)] : NULL;
}

/* Puts the head of an item on the screen. */
static void
show_item(struct transcript *t, const struct view *v, size_t i)
{
    struct place head = {v->dropped + i, cache_gap(v, i)};
    struct place last = t->top;
    place_move(t, v, &last, t->h - 2);
    if (place_before(head, t->top)) {
        leave_tail(t, v);
        t->top = head;
    } else if (place_before(last, head)) {
        t->top = head;
        place_move(t, v, &t->top, -(t->h - 2));
    }
    settle(t, v);
}

void
transcript_move(struct transcript *t, const struct view *v, int dir)
{
    if (!ready(t, v))
        return;
    size_t i = cursor_item(t, v);
    for (;;) {
        if (dir < 0 ? i == 0 : i + 1 >= v->n_items)
            break;
        i += dir < 0 ? (size_t)-1 : 1;
        if (!item_is_empty(&v->items[i]))
            break;
    }
    t->cursor = v->dropped + i + 1;
    show_item(t, v, i);
    t->first = t->first < t->cursor - 1 ? t->first : t->cursor - 1;
    t->last = t->last > t->cursor - 1 ? t->last : t->cursor - 1;
}

bool
transcript_toggle(struct transcript *t, struct view *v)
{
    if (!ready(t, v))
        return false;
    size_t i = cursor_item(t, v);
    struct item *it = &v->items[i];
    if (!item_has_fold(it))
        return false;
    leave_tail(t, v);
    int before = height(t, v, i);
    it->open = !it->open;
    it->version = ++v->version;
    if (v->dropped + i == t->seen)
        t->seen_height += height(t, v, i) - before;
    if (t->top.no == v->dropped + i && t->top.line >= height(t, v, i))
        t->top.line = cache_gap(v, i);
    t->cursor = v->dropped + i + 1;
    settle(t, v);
    return true;
}

void
transcript_prompt_jump(struct transcript *t, const struct view *v, int dir)
{
    if (!ready(t, v))
        return;
    size_t i = index_of(v, t->top.no);
    bool past = t->top.line > cache_gap(v, i);
    if (dir < 0 && past)
        i++;
    for (;;) {
        if (dir < 0 ? i == 0 : i + 1 >= v->n_items) {
            if (dir < 0)
                transcript_home(t, v);
            else
                transcript_end(t);
            return;
        }
        i += dir < 0 ? (size_t)-1 : 1;
        if (v->items[i].kind == ITEM_USER && !v->items[i].hidden)
            break;
    }
    leave_tail(t, v);
    t->top = (struct place){v->dropped + i, cache_gap(v, i)};
    t->cursor = t->top.no + 1;
    settle(t, v);
}

/* ---- search ---- */

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static bool
holds(struct str s, struct str needle)
{
    if (!needle.len || needle.len > s.len)
        return false;
    for (size_t i = 0; i + needle.len <= s.len; i++) {
        size_t k = 0;
        while (k < needle.len && lower(s.ptr[i + k]) == lower(needle.ptr[k]))
            k++;
        if (k == needle.len)
            return true;
    }
    return false;
}

static bool
item_holds(const struct item *it, struct str needle)
{
    return holds(buf_str(&it->text), needle) || holds(str_from(it->name), needle) ||
           holds(str_from(it->what), needle) || holds(str_from(it->summary), needle);
}

/* The next line with the needle in item i, after (dir 1) or before line `from`; -1: none. A match only inside a closed fold
 * is the fold's own line. */
static int
line_with(struct transcript *t, const struct view *v, size_t i, struct str needle, int from,
          int dir)
{
    const struct lines *l = cache_lines(&t->cache, v, i);
    bool any = false;
    if (from > (int)l->n)
        from = (int)l->n;
    for (int k = dir > 0 ? from + 1 : from - 1; k >= 0 && k < (int)l->n; k += dir)
        if (holds(lines_text(l, (size_t)k), needle))
            return k;
    for (size_t k = 0; k < l->n && !any; k++)
        any = holds(lines_text(l, k), needle);
    return !any && (dir > 0 ? from < 0 : from > 0) ? 0 : -1;
}

bool
transcript_search(struct transcript *t, const struct view *v, struct str needle, int dir)
{
    if (!ready(t, v) || !needle.len)
        return false;
    /* what is seen is looked at first, in both directions */
    struct place at = t->searching ? t->found
                      : (dir > 0)  ? (struct place){t->top.no, -1}
                                   : (struct place){t->last, 1 << 30};
    size_t i = index_of(v, at.no);
    for (;;) {
        int line = item_holds(&v->items[i], needle) ? line_with(t, v, i, needle, at.line, dir) : -1;
        if (line >= 0) {
            leave_tail(t, v);
            t->found = (struct place){v->dropped + i, line};
            t->searching = true;
            t->cursor = t->found.no + 1;
            t->top = (struct place){t->found.no, line + cache_gap(v, i)};
            settle(t, v);
            return true;
        }
        if (dir < 0 ? i == 0 : i + 1 >= v->n_items)
            break;
        i += dir < 0 ? (size_t)-1 : 1;
        at.line = dir > 0 ? -1 : 1 << 30;
    }
    t->searching = false;
    return false;
}

/* ---- drawing ---- */

static void
draw_new_mark(struct canvas *c, struct rect r, int64_t n, bool ascii)
{
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, " %lld new, End shows %s ", (long long)n, n == 1 ? "it" : "them");
    if (text_width(buf_str(&b)) > r.w) {
        buf_clear(&b);
        buf_addf(&b, "%lld new", (long long)n);
    }
    canvas_fill(c, r, ST_BORDER, ascii ? "-" : "─");
    int x = r.w - text_width(buf_str(&b)) - 1;
    canvas_text(c, r, x > 0 ? x : 0, 0, ST_SELECT, buf_str(&b));
    buf_release(&b);
}

static void
draw_items(struct transcript *t, const struct view *v, struct canvas *c, struct rect r, bool focus)
{
    size_t i = index_of(v, t->top.no), cursor = 0;
    int y = -t->top.line;
    t->first = t->last = v->dropped + i;
    for (size_t k = i; y < r.h && k < v->n_items; k++) {
        int gap = cache_gap(v, k), all = height(t, v, k);
        if (all == 0)
            continue;
        const struct lines *l = cache_lines(&t->cache, v, k);
        for (int line = y < 0 ? -y : 0; line < all && y + line < r.h; line++)
            if (line >= gap)
                lines_draw(l, (size_t)(line - gap), c, r, 0, y + line);
        y += all;
        t->last = v->dropped + k;
    }
    if (!focus)
        return;
    cursor = cursor_item(t, v);
    y = -t->top.line;
    for (size_t k = i; k < cursor; k++)
        y += height(t, v, k);
    y += cache_gap(v, cursor);
    y = y < 0 ? 0 : y; /* its head is above: the first line that is seen stands for it */
    if (y < r.h)
        canvas_style(c, (struct rect){r.x, r.y + y, r.w, 1}, ST_SELECT);
}

void
transcript_draw(struct transcript *t, const struct view *v, struct canvas *c, struct rect r,
                bool focus, bool ascii)
{
    if (r.w < 1 || r.h < 1)
        return;
    sync(t, v, r.w, r.h, ascii);
    if (!v->n_items) {
        t->follow = true;
        t->cursor = 0;
        return;
    }
    settle(t, v);
    int64_t fresh = r.h > 1 ? new_lines(t, v) : 0;
    struct rect body = r;
    if (fresh > 0)
        body.h--;
    draw_items(t, v, c, body, focus);
    if (fresh > 0)
        draw_new_mark(c, (struct rect){r.x, r.y + body.h, r.w, 1}, fresh, ascii);
    cache_trim(&t->cache, index_of(v, t->first), index_of(v, t->last));
}
