#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/item_lines.h"
#include "ui/transcript_private.h"

#define SCROLL_MAX 10000 /* lines that are still to be scrolled when a page has come */

struct transcript *
transcript_new(void)
{
    struct transcript *t = xcalloc(1, sizeof(*t));
    cache_init(&t->cache);
    search_init(&t->search);
    t->follow = true;
    t->barren = -1;
    return t;
}

void
transcript_free(struct transcript *t)
{
    if (!t)
        return;
    cache_release(&t->cache);
    search_release(&t->search);
    free(t);
}

bool
transcript_at_end(const struct transcript *t)
{
    return t->follow;
}

int
transcript_height(struct transcript *t, const struct view *v, size_t i)
{
    return cache_height(&t->cache, v, i);
}

/* ---- places ---- */

/* Moves a place by lines; past the last one it counts on. Returns the lines (negative) that were not to be had above the first. */
static int64_t
place_move(struct transcript *t, const struct view *v, struct place *p, int lines)
{
    size_t i = view_find(v, p->no), n = view_len(v);
    int64_t at = (int64_t)p->line + lines, left = 0;
    while (at < 0 && i > 0)
        at += transcript_height(t, v, --i);
    if (at < 0) {
        left = at;
        at = 0;
    }
    while (at >= transcript_height(t, v, i)) {
        if (i + 1 >= n)
            break;
        at -= transcript_height(t, v, i++);
    }
    *p = (struct place){view_at(v, i)->no, (int)at};
    return left;
}

/* The first line when the last one stands at the bottom. */
static struct place
tail_top(struct transcript *t, const struct view *v)
{
    int64_t sum = 0;
    for (size_t i = view_len(v); i-- > 0;) {
        sum += transcript_height(t, v, i);
        if (sum >= t->h)
            return (struct place){view_at(v, i)->no, (int)(sum - t->h)};
    }
    return (struct place){view_at(v, 0)->no, 0};
}

static bool
place_before(struct place a, struct place b)
{
    return a.no < b.no || (a.no == b.no && a.line < b.line);
}

/* Lines from a to b, which is not before it. */
static int64_t
distance(struct transcript *t, const struct view *v, struct place a, struct place b)
{
    int64_t sum = b.line - a.line;
    for (size_t i = view_find(v, a.no), end = view_find(v, b.no); i < end; i++)
        sum += transcript_height(t, v, i);
    return sum;
}

/* ---- following and leaving the tail ---- */

void
transcript_leave_tail(struct transcript *t, struct view *v)
{
    v->hold = true;
    if (!t->follow || !view_len(v) || !v->n_items)
        return;
    t->follow = false;
    t->seen = v->items[v->n_items - 1].no;
    t->seen_height = view_joined(v) ? transcript_height(t, v, view_len(v) - 1) : 0;
}

/* What is at or past the tail follows it; the end of a past that does not reach the tail is only as far as one gets now. */
void
transcript_settle(struct transcript *t, const struct view *v)
{
    struct place tail = tail_top(t, v);
    if (!t->follow && place_before(t->top, tail))
        return;
    t->follow = view_joined(v);
    t->top = tail;
}

#define COUNTED 400 /* new items whose lines are counted; of more than that each counts as one */

static int64_t
new_lines(struct transcript *t, const struct view *v)
{
    int64_t sum = 0;
    size_t i = v->n_items, counted = 0;
    if (t->follow || !v->n_items)
        return 0;
    bool joined = view_joined(v);
    while (i-- > 0 && v->items[i].no > t->seen)
        sum += joined && counted++ < COUNTED ? transcript_height(t, v, v->past.n + i) : 1;
    if (joined && i < v->n_items && v->items[i].no == t->seen) {
        int more = transcript_height(t, v, v->past.n + i) - t->seen_height;
        sum += more > 0 ? more : 0;
    }
    return sum;
}

static void
start_over(struct transcript *t, const struct view *v)
{
    t->epoch = v->epoch;
    cache_drop_all(&t->cache);
    search_forget(&t->search);
    t->follow = true;
    t->cursor = 0;
    t->want = WANT_NONE;
    t->then = THEN_NOTHING;
    t->go_to_tail = false;
    t->pressing = t->selected = false;
    t->seq = 0;
    t->barren = -1;
}

/* A new width keeps the place by its share of the item. */
static void
keep_share(struct transcript *t, const struct view *v, int old)
{
    size_t i = view_find(v, t->top.no);
    int now = transcript_height(t, v, i);
    if (old > 0)
        t->top.line = (int)((int64_t)t->top.line * now / old);
    if (t->top.line >= now)
        t->top.line = now > 0 ? now - 1 : 0;
    i = view_find(v, t->seen);
    if (view_at(v, i)->no == t->seen)
        t->seen_height = transcript_height(t, v, i);
}

/* Takes over the view's changes and the size. */
static void
sync(struct transcript *t, const struct view *v, int w, int h, bool ascii)
{
    if (v->epoch != t->epoch)
        start_over(t, v);
    bool wider = t->cache.width != w && t->cache.width > 0;
    int old = wider ? cache_known_height(&t->cache, t->top.no) : 0;
    t->w = w;
    t->h = h;
    cache_sync(&t->cache, v, w, ascii);
    if (!view_len(v))
        return;
    uint64_t there = view_at(v, view_find(v, t->top.no))->no;
    if (there != t->top.no) { /* let go meanwhile: read back */
        if (!t->follow && t->want == WANT_NONE && t->top.no >> VIEW_PLACE_BITS)
            transcript_want(t, WANT_MESSAGE, (int64_t)(t->top.no >> VIEW_PLACE_BITS) - 1,
                            THEN_NOTHING, 0);
        t->top = (struct place){there, 0};
    }
    if (wider && !t->follow)
        keep_share(t, v, old);
}

/* The past goes once the tail is followed again. */
void
transcript_let_past_go(struct transcript *t, struct view *v)
{
    if (t->go_to_tail || (t->follow && view_joined(v))) {
        view_past_clear(v);
        t->follow = true;
        t->go_to_tail = false;
    }
}

/* Before the first drawing there is nothing to move in. */
bool
transcript_ready(struct transcript *t, struct view *v)
{
    transcript_let_past_go(t, v);
    if (t->w < 1 || t->h < 1 || !view_len(v))
        return false;
    sync(t, v, t->w, t->h, t->cache.ascii);
    transcript_settle(t, v);
    return true;
}

void
transcript_scroll(struct transcript *t, struct view *v, int lines)
{
    if (!transcript_ready(t, v) || lines == 0)
        return;
    if (lines < 0)
        transcript_leave_tail(t, v);
    int64_t left = place_move(t, v, &t->top, lines);
    struct place there = t->top;
    transcript_settle(t, v);
    if (left < 0 && view_first_message(v) > 0)
        transcript_want(t, WANT_ABOVE, -1, THEN_SCROLL,
                        left < -SCROLL_MAX ? -SCROLL_MAX : (int)left);
    if (lines > 0 && !view_joined(v) && place_before(t->top, there)) {
        left = distance(t, v, t->top, there);
        transcript_want(t, WANT_BELOW, -1, THEN_SCROLL, left > SCROLL_MAX ? SCROLL_MAX : (int)left);
    }
}

void
transcript_page(struct transcript *t, struct view *v, int dir)
{
    int lines = t->h > 2 ? t->h - 2 : 1;
    transcript_scroll(t, v, dir < 0 ? -lines : lines);
}

void
transcript_home(struct transcript *t, struct view *v)
{
    if (!transcript_ready(t, v))
        return;
    transcript_leave_tail(t, v);
    if (view_first_message(v) > 0)
        transcript_want(t, WANT_HOME, -1, THEN_NOTHING, 0);
    t->top = (struct place){view_at(v, 0)->no, 0};
    transcript_settle(t, v);
}

void
transcript_end(struct transcript *t)
{
    t->follow = true;
    t->go_to_tail = true;
    t->cursor = 0;
    t->want = WANT_NONE;
    t->then = THEN_NOTHING;
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
        return view_find(v, t->cursor - 1);
    size_t first = view_find(v, t->first), last = view_find(v, t->last);
    for (size_t i = last + 1; i-- > first;)
        if (item_has_fold(view_at(v, i)))
            return i;
    return last;
}

const struct item *
transcript_item(struct transcript *t, struct view *v)
{
    return transcript_ready(t, v) ? view_at(v, cursor_item(t, v)) : NULL;
}

/* Puts the head of an item on the screen. */
static void
show_item(struct transcript *t, struct view *v, size_t i)
{
    struct place head = {view_at(v, i)->no, cache_gap(v, i)};
    struct place last = t->top;
    (void)place_move(t, v, &last, t->h - 2);
    if (place_before(head, t->top)) {
        transcript_leave_tail(t, v);
        t->top = head;
    } else if (place_before(last, head)) {
        t->top = head;
        (void)place_move(t, v, &t->top, -(t->h - 2));
    }
    transcript_settle(t, v);
}

void
transcript_move(struct transcript *t, struct view *v, int dir)
{
    if (!transcript_ready(t, v))
        return;
    size_t i = cursor_item(t, v);
    for (;;) {
        if (dir < 0 ? i == 0 : i + 1 >= view_len(v))
            break;
        i += dir < 0 ? (size_t)-1 : 1;
        if (!item_is_empty(view_at(v, i)))
            break;
    }
    t->cursor = view_at(v, i)->no + 1;
    show_item(t, v, i);
    t->first = t->first < t->cursor - 1 ? t->first : t->cursor - 1;
    t->last = t->last > t->cursor - 1 ? t->last : t->cursor - 1;
}

bool
transcript_toggle(struct transcript *t, struct view *v)
{
    if (!transcript_ready(t, v))
        return false;
    size_t i = cursor_item(t, v);
    struct item *it = view_at(v, i);
    if (!item_has_fold(it))
        return false;
    transcript_leave_tail(t, v);
    int before = transcript_height(t, v, i);
    it->open = !it->open;
    it->version = ++v->version;
    if (it->no == t->seen)
        t->seen_height += transcript_height(t, v, i) - before;
    if (t->top.no == it->no && t->top.line >= transcript_height(t, v, i))
        t->top.line = cache_gap(v, i);
    t->cursor = it->no + 1;
    transcript_settle(t, v);
    return true;
}

void
transcript_show(struct transcript *t, struct view *v, size_t i, int line)
{
    transcript_leave_tail(t, v);
    t->top = (struct place){view_at(v, i)->no, line + cache_gap(v, i)};
    t->cursor = t->top.no + 1;
    transcript_settle(t, v);
}

/* Nothing further in what is there: the rest of the session, or its ends. */
static void
past_the_edge(struct transcript *t, struct view *v, int dir)
{
    if (dir < 0 && view_first_message(v) > 0)
        transcript_want(t, WANT_ABOVE, -1, THEN_PROMPT, dir);
    else if (dir < 0)
        transcript_home(t, v);
    else if (!view_joined(v))
        transcript_want(t, WANT_BELOW, -1, THEN_PROMPT, dir);
    else
        transcript_end(t);
}

void
transcript_prompt_jump(struct transcript *t, struct view *v, int dir)
{
    if (!transcript_ready(t, v))
        return;
    size_t i = view_find(v, t->top.no);
    bool past = t->top.line > cache_gap(v, i);
    if (dir < 0 && past)
        i++;
    for (;;) {
        if (dir < 0 ? i == 0 : i + 1 >= view_len(v)) {
            past_the_edge(t, v, dir);
            return;
        }
        i += dir < 0 ? (size_t)-1 : 1;
        if (view_at(v, i)->kind == ITEM_USER && !view_at(v, i)->hidden)
            break;
    }
    transcript_show(t, v, i, 0);
}

/* ---- drawing ---- */

/* " 12 new, End shows them ", and to its left what is waited for or where the search stands. */
static void
draw_mark(struct canvas *c, struct rect r, int64_t n, struct str note, bool ascii)
{
    struct buf b;
    buf_init(&b, 4096);
    if (n > 0)
        buf_addf(&b, " %lld new, End shows %s ", (long long)n, n == 1 ? "it" : "them");
    if (text_width(buf_str(&b)) > r.w) {
        buf_clear(&b);
        buf_addf(&b, "%lld new", (long long)n);
    }
    canvas_fill(c, r, ST_BORDER, ascii ? "-" : "─");
    int x = r.w - text_width(buf_str(&b)) - 1;
    canvas_text(c, r, x > 0 ? x : 0, 0, ST_SELECT, buf_str(&b));
    const char *keys = note.len ? memmem(note.ptr, note.len, "  ", 2) : NULL;
    if (keys && text_width(note) + 3 >= x) /* where it stands is worth more than the keys */
        note = str_make(note.ptr, (size_t)(keys - note.ptr) + 1);
    if (note.len && text_width(note) + 3 < x)
        canvas_text(c, r, 1, 0, ST_TITLE, note);
    buf_release(&b);
}

static void
draw_items(struct transcript *t, const struct view *v, struct canvas *c, struct rect r, bool focus)
{
    size_t i = view_find(v, t->top.no), cursor = 0;
    int y = -t->top.line;
    t->first = t->last = view_at(v, i)->no;
    for (size_t k = i; y < r.h && k < view_len(v); k++) {
        int gap = cache_gap(v, k), all = transcript_height(t, v, k);
        if (all == 0)
            continue;
        const struct lines *l = cache_lines(&t->cache, v, k);
        for (int line = y < 0 ? -y : 0; line < all && y + line < r.h; line++) {
            if (line < gap)
                continue;
            lines_draw(l, (size_t)(line - gap), c, r, 0, y + line);
            link_draw(l, line - gap, c, r, y + line);
            search_draw(&t->search, l, line - gap, c, r, y + line);
            select_draw(t, (struct place){view_at(v, k)->no, line}, l, line - gap, c, r, y + line);
        }
        y += all;
        t->last = view_at(v, k)->no;
    }
    if (!focus)
        return;
    cursor = cursor_item(t, v);
    y = -t->top.line;
    for (size_t k = i; k < cursor; k++)
        y += transcript_height(t, v, k);
    y += cache_gap(v, cursor);
    y = y < 0 ? 0 : y; /* its head is above: the first line that is seen stands for it */
    if (y < r.h)
        canvas_style(c, (struct rect){r.x, r.y + y, r.w, 1}, ST_SELECT);
}

void
transcript_draw(struct transcript *t, const struct view *v, struct canvas *c, struct rect r,
                bool focus, bool ascii)
{
    struct buf note;
    if (r.w < 1 || r.h < 1)
        return;
    sync(t, v, r.w, r.h, ascii);
    if (!view_len(v)) {
        t->follow = true;
        t->cursor = 0;
        return;
    }
    transcript_settle(t, v);
    buf_init(&note, 4096);
    int64_t fresh = r.h > 1 ? new_lines(t, v) : 0;
    if (r.h > 2)
        transcript_note(t, v, &note);
    struct rect body = r;
    if (fresh > 0 || note.len)
        body.h--;
    draw_items(t, v, c, body, focus);
    if (body.h < r.h)
        draw_mark(c, (struct rect){r.x, r.y + body.h, r.w, 1}, fresh, buf_str(&note), ascii);
    cache_trim(&t->cache, t->first, t->last);
    buf_release(&note);
}
