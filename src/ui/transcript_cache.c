#include "ui/transcript_cache.h"

#include <stdlib.h>
#include <string.h>

#include "ui/item_lines.h"

#define LAID_MAX 256

void
cache_init(struct cache *c)
{
    *c = (struct cache){0};
}

static void
entry_drop_lines(struct cache *c, struct cache_entry *e)
{
    if (!e->laid)
        return;
    lines_release(&e->lines);
    mdstream_release(&e->md);
    e->laid = false;
    c->n_laid--;
}

void
cache_drop_all(struct cache *c)
{
    for (size_t i = 0; i < c->n; i++)
        entry_drop_lines(c, &c->entries[i]);
    c->n = 0;
}

void
cache_release(struct cache *c)
{
    cache_drop_all(c);
    free(c->entries);
    cache_init(c);
}

/* Items came or went: the entries of those that stayed go with them. Both lists are in the order of the numbers. */
static void
follow_shape(struct cache *c, const struct view *v)
{
    size_t n = view_len(v), cap = n + n / 4 + 16, old = 0;
    struct cache_entry *now = xcalloc(cap, sizeof(*now));
    for (size_t i = 0; i < n; i++) {
        uint64_t no = view_at(v, i)->no;
        for (; old < c->n && c->entries[old].no < no; old++)
            entry_drop_lines(c, &c->entries[old]);
        if (old < c->n && c->entries[old].no == no)
            now[i] = c->entries[old++];
        else
            now[i].no = no;
    }
    for (; old < c->n; old++)
        entry_drop_lines(c, &c->entries[old]);
    free(c->entries);
    c->entries = now;
    c->n = n;
    c->cap = cap;
}

/* The usual change: new items at the end. */
static bool
only_grew(const struct cache *c, const struct view *v)
{
    size_t n = view_len(v);
    return c->n && n >= c->n && view_at(v, 0)->no == c->entries[0].no &&
           view_at(v, c->n - 1)->no == c->entries[c->n - 1].no;
}

void
cache_sync(struct cache *c, const struct view *v, int width, bool ascii)
{
    if (width != c->width || ascii != c->ascii) {
        for (size_t i = 0; i < c->n; i++) {
            entry_drop_lines(c, &c->entries[i]);
            c->entries[i].version = 0;
        }
        c->width = width;
        c->ascii = ascii;
    }
    if (c->shape == v->shape)
        return;
    c->shape = v->shape;
    if (!only_grew(c, v)) {
        follow_shape(c, v);
        return;
    }
    while (c->n < view_len(v)) {
        ARRAY_GROW(c->entries, c->n, c->cap);
        c->entries[c->n] = (struct cache_entry){.no = view_at(v, c->n)->no};
        c->n++;
    }
}

static void
lay_whole(struct cache *c, struct cache_entry *e, const struct item *it)
{
    if (!e->laid) {
        lines_init(&e->lines);
        e->laid = true;
        c->n_laid++;
    }
    lines_clear(&e->lines);
    mdstream_release(&e->md);
    item_lines(it, &e->lines, c->width, c->ascii);
    e->md.mark = lines_mark(&e->lines);
    e->done = it->done;
    e->open = it->open;
}

static struct cache_entry *
lay(struct cache *c, const struct item *it, size_t i)
{
    struct cache_entry *e = &c->entries[i];
    if (e->laid && e->version == it->version)
        return e;
    bool markdown = item_is_markdown(it);
    bool grew = markdown && e->laid && e->open == it->open &&
                (e->done == it->done || it->kind == ITEM_TEXT);
    if (!grew)
        lay_whole(c, e, it);
    if (markdown)
        mdstream_update(&e->md, &e->lines, buf_str(&it->text),
                        &(struct md_options){c->width, c->ascii,
                                             it->kind == ITEM_TEXT ? ST_TEXT : ST_THINK,
                                             !it->done});
    e->version = it->version;
    e->height = (int)e->lines.n;
    return e;
}

const struct lines *
cache_lines(struct cache *c, const struct view *v, size_t i)
{
    return &lay(c, view_at(v, i), i)->lines;
}

int
cache_gap(const struct view *v, size_t i)
{
    for (size_t k = i; k-- > 0;)
        if (!item_is_empty(view_at(v, k)))
            return item_gap(view_at(v, k), view_at(v, i));
    return 0;
}

int
cache_height(struct cache *c, const struct view *v, size_t i)
{
    const struct item *it = view_at(v, i);
    if (item_is_empty(it))
        return 0;
    const struct cache_entry *e = &c->entries[i];
    int lines = e->version == it->version ? e->height : lay(c, it, i)->height;
    return lines + cache_gap(v, i);
}

int
cache_known_height(const struct cache *c, uint64_t no)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->entries[mid].no < no)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->entries[lo].no == no ? c->entries[lo].height : 0;
}

void
cache_trim(struct cache *c, uint64_t first, uint64_t last)
{
    if (c->n_laid <= LAID_MAX)
        return;
    /* the newest two may be growing: laying them out anew each time would cost more than they weigh */
    for (size_t i = 0; i + 2 < c->n; i++)
        if (c->entries[i].no < first || c->entries[i].no > last)
            entry_drop_lines(c, &c->entries[i]);
}
