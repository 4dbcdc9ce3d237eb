/* Search: first in what is in memory, then by the messages that the engine says hold the words. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/item_lines.h"
#include "ui/transcript_private.h"

#define HITS_MAX 100000

void
search_init(struct search *s)
{
    *s = (struct search){0};
    buf_init(&s->needle, 1 << 16);
}

void
search_release(struct search *s)
{
    buf_release(&s->needle);
    free(s->hits);
    search_init(s);
}

void
search_forget(struct search *s)
{
    buf_clear(&s->needle);
    free(s->hits);
    s->hits = NULL;
    s->n_hits = 0;
    s->some = s->from_end = s->ask = s->known = s->complete = false;
    s->seq = 0;
}

static int
by_index(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void
search_take_hits(struct search *s, struct str json)
{
    struct err err;
    struct cJSON *tree = json_parse(json, &err);
    const struct cJSON *list = tree ? json_at(tree, "hits") : NULL;
    size_t cap = 0;
    free(s->hits);
    s->hits = NULL;
    s->n_hits = 0;
    s->known = json_is_array(list);
    s->complete = s->known && json_bool(tree, "complete", false);
    for (const struct cJSON *n = s->known ? json_first(list) : NULL; n && s->n_hits < HITS_MAX;
         n = json_next(n)) {
        int64_t index = json_int(n, "index", -1);
        if (index < 0 || index > INT32_MAX)
            continue;
        ARRAY_GROW(s->hits, s->n_hits, cap);
        s->hits[s->n_hits++] = index;
    }
    if (s->n_hits)
        qsort(s->hits, s->n_hits, sizeof(*s->hits), by_index);
    json_free(tree);
}

/* ---- in memory ---- */

static bool
item_holds(const struct item *it, struct str needle)
{
    return !it->aside && (text_has_fold(buf_str(&it->text), needle) ||
                          text_has_fold(str_from(it->name), needle) ||
                          text_has_fold(str_from(it->what), needle) ||
                          text_has_fold(str_from(it->summary), needle));
}

struct str
joined_line(const struct lines *l, size_t k, struct buf *out, size_t *ret_first, size_t **from)
{
    size_t first = k, last = k;
    while (first > 0 && l->line[first].soft && k - first < 200)
        first--;
    while (last + 1 < l->n && l->line[last + 1].soft && last - k < 200)
        last++;
    *from = xcalloc(last - first + 2, sizeof(**from));
    for (size_t i = first; i <= last; i++) {
        struct str s = lines_text(l, i);
        for (unsigned b = 0; i > first && b < l->line[i].joint; b++)
            buf_addc(out, ' ');
        (*from)[i - first] = out->len;
        size_t lead = i > first ? l->line[i].lead : 0;
        buf_add_str(out, str_sub(s, lead, s.len));
    }
    (*from)[last - first + 1] = out->len;
    *ret_first = first;
    return buf_str(out);
}

/* The needle begins in line k of the lines. */
static bool
begins_in(const struct lines *l, size_t k, struct str needle)
{
    struct buf b;
    size_t first, *from, len, at;
    if (!l->line[k].soft && (k + 1 >= l->n || !l->line[k + 1].soft))
        return text_has_fold(lines_text(l, k), needle);
    buf_init(&b, BUF_MAX);
    struct str s = joined_line(l, k, &b, &first, &from);
    at = text_find_fold(s, needle, from[k - first], &len);
    bool yes = at != (size_t)-1 && at < from[k - first + 1];
    free(from);
    buf_release(&b);
    return yes;
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
        if (begins_in(l, (size_t)k, needle))
            return k;
    for (size_t k = 0; k < l->n && !any; k++)
        any = begins_in(l, k, needle);
    return !any && l->n && (dir > 0 ? from < 0 : from > 0) ? 0 : -1;
}

static bool
find_here(struct transcript *t, struct view *v, struct str needle, int dir)
{
    struct search *s = &t->search;
    /* what is seen is looked at first, in both directions */
    uint64_t last = s->from_end && view_len(v) ? view_at(v, view_len(v) - 1)->no : t->last;
    struct place at = s->some     ? s->found
                      : (dir > 0) ? (struct place){t->top.no, -1}
                                  : (struct place){last, 1 << 30};
    size_t i = view_find(v, at.no);
    for (;;) {
        const struct item *it = view_at(v, i);
        int line = item_holds(it, needle) ? line_with(t, v, i, needle, at.line, dir) : -1;
        if (line >= 0) {
            s->found = (struct place){it->no, line};
            s->some = true;
            transcript_show(t, v, i, line);
            return true;
        }
        if (dir < 0 ? i == 0 : i + 1 >= view_len(v))
            return false;
        i += dir < 0 ? (size_t)-1 : 1;
        at.line = dir > 0 ? -1 : 1 << 30;
    }
}

/* ---- beyond ---- */

/* The nearest hit past what is in memory; -1: none. */
static int64_t
hit_beyond(const struct search *s, const struct view *v, int dir)
{
    int64_t best = -1;
    for (size_t i = 0; i < s->n_hits; i++) {
        if (dir < 0 && s->hits[i] < view_first_message(v))
            best = s->hits[i];
        if (dir > 0 && !view_joined(v) && s->hits[i] >= v->past.to)
            return s->hits[i];
    }
    return best;
}

static enum find
find_beyond(struct transcript *t, struct view *v, int dir)
{
    struct search *s = &t->search;
    bool more = dir < 0 ? view_first_message(v) > 0 : !view_joined(v);
    if (!more)
        return FIND_NONE;
    if (!s->known) {
        if (!s->seq && !s->ask)
            return FIND_NONE; /* it cannot be asked */
        t->then = THEN_FIND;
        t->then_arg = dir;
        return FIND_WAIT;
    }
    int64_t hit = hit_beyond(s, v, dir);
    if (hit < 0 && s->complete)
        return FIND_NONE;
    if (hit < 0)
        transcript_want(t, dir < 0 ? WANT_ABOVE : WANT_BELOW, -1, THEN_FIND, dir);
    else
        transcript_want(t, WANT_MESSAGE, hit, THEN_FIND, dir);
    return FIND_WAIT;
}

enum find
transcript_search(struct transcript *t, struct view *v, struct str needle, int dir)
{
    struct search *s = &t->search;
    if (!transcript_ready(t, v) || !needle.len)
        return FIND_NONE;
    if (!text_equal_fold(needle, buf_str(&s->needle))) {
        bool moved = s->some || s->from_end;
        search_forget(s);
        buf_add_str(&s->needle, needle);
        s->ask = true;
        s->from_end = moved;
    }
    if (find_here(t, v, buf_str(&s->needle), dir))
        return FIND_HIT;
    return find_beyond(t, v, dir);
}

void
transcript_search_end(struct transcript *t)
{
    search_forget(&t->search);
    if (t->then == THEN_FIND)
        t->then = THEN_NOTHING;
}

/* ---- drawing ---- */

void
search_draw(const struct search *s, const struct lines *l, int line, struct canvas *c,
            struct rect r, int y)
{
    struct buf b;
    size_t first, *from, len, k = (size_t)line;
    if (!s->needle.len)
        return;
    buf_init(&b, BUF_MAX);
    struct str text = joined_line(l, k, &b, &first, &from);
    size_t a = from[k - first], end = from[k - first + 1];
    size_t lead = k > first ? l->line[k].lead : 0;
    int indent = text_width(str_sub(lines_text(l, k), 0, lead));
    for (size_t at = 0; (at = text_find_fold(text, buf_str(&s->needle), at, &len)) < end && len;
         at += len) {
        size_t p = at < a ? a : at, q = at + len < end ? at + len : end;
        if (q <= p)
            continue;
        int x = indent + text_width(str_sub(text, a, p - a));
        canvas_style(
            c,
            canvas_clip(c, (struct rect){r.x + x, r.y + y, text_width(str_sub(text, p, q - p)), 1}),
            ST_FOUND);
    }
    free(from);
    buf_release(&b);
}
