#pragma once
/*
 * The laid-out lines of the transcript's items. An item is laid out when it is first asked for and again when its version or
 * the width changes; a text that grew only after its last final block. Heights stay known, lines are let go when many
 * are held and the item is out of sight. Entries go with the items' numbers.
 */
#include "ui/lines.h"
#include "ui/markdown.h"
#include "ui/view.h"

struct cache_entry {
    uint64_t no;      /* of the item */
    uint64_t version; /* of the item when it was laid out; 0: never */
    int height;       /* lines without the gap above */
    bool laid, done, open;
    struct lines lines;
    struct mdstream md;
};
struct cache {
    struct cache_entry *entries; /* as view_at has the items */
    size_t n, cap, n_laid;
    uint64_t shape; /* of the view */
    int width;
    bool ascii;
};
void cache_init(struct cache *c);
void cache_release(struct cache *c);
void cache_drop_all(struct cache *c);
/* Follows the view: new items, dropped ones, another width. First call of everything else. */
void cache_sync(struct cache *c, const struct view *v, int width, bool ascii);
/* By index of view_at. Lines are valid until the next cache call but cache_height of the same item. */
const struct lines *cache_lines(struct cache *c, const struct view *v, size_t i);
int cache_gap(const struct view *v, size_t i); /* blank lines above: 0 or 1 */
int cache_height(struct cache *c, const struct view *v,
                 size_t i); /* with the gap; 0: not to be seen */
int cache_known_height(const struct cache *c,
                       uint64_t no); /* without gap, as last laid out; 0: never */
/* Lets go of lines outside the items first to last (numbers), when many are held. */
void cache_trim(struct cache *c, uint64_t first, uint64_t last);
