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
cache_release(struct cache *c)
{
    for (size_t i = 0; i < c->n; i++)
        entry_drop_lines(c, &c->entries[i]);
    free(c->entries);
    cache_init(c);
}

static void
drop_front(struct cache *c, uint64_t base)
{
    size_t gone = base - c->base < c->n ? (size_t)(base - c->base) : c->n;
    for (size_t i = 0; i < gone; i++)
        entry_drop_lines(c, &c->entries[i]);
    if (gone)
        memmove(c->entries, c->entries + gone, (c->n - gone) * sizeof(*c->entries));
    c->n -= gone;
    c->base = base;
}

void
cache_sync(struct cache *c, const struct view *v, int width, bool ascii)
{
    if (v->dropped > c->base)
        drop_front(c, v->dropped);
    if (width != c->width || ascii != c->ascii) {
        for (size_t i = 0; i < c->n; i++) {
            entry_drop_lines(c, &c->entries[i]);
            c->entries[i].version = 0;
        }
        c->width = width;
        c->ascii = ascii;
    }
    while (c->n < v->n_items) {
        ARRAY_GROW(c->entries, c->n, c->cap);
        c->entries[c->n++] = (struct cache_entry){0};
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
    return &lay(c, &v->items[i], i)->lines;
}

int
cache_gap(const struct view *v, size_t i)
{
    for (size_t k = i; k-- > 0;)
        if (!item_is_empty(&v->items[k]))
            return item_gap(&v->items[k], &v->items[i]);
    return 0;
}

int
cache_height(struct cache *c, const struct view *v, size_t i)
{
    const struct item *it = &v->items[i];
    if (item_is_empty(it))
        return 0;
    const struct cache_entry *e = &c->entries[i];
    int lines = e->version == it->version ? e->height : lay(c, it, i)->height;
    return lines + cache_gap(v, i);
}

int
cache_known_height(const struct cache *c, size_t i)
{
    return i < c->n ? c->entries[i].height : 0;
}

void
cache_trim(struct cache *c, size_t first, size_t last)
{
    if (c->n_laid <= LAID_MAX)
        return;
    /* the newest two may be growing: laying them out anew each time would cost more than they weigh */
    for (size_t i = 0; i + 2 < c->n; i++)
        if (i < first || i > last)
            entry_drop_lines(c, &c->entries[i]);
}
