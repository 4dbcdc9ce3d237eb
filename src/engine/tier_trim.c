/* What is new and larger than the rest of the window: cut before it is sent. The largest blocks first, all to one length. */
#include <stdlib.h>
#include <string.h>

#include "engine/hidden.h"
#include "engine/rebuild.h"
#include "engine/tier_private.h"

#define LEAST 4000 /* bytes that are left of a block, and below which none is cut */

struct part {
    size_t at, block, bytes;
};

static bool
is_typed(const struct message *m, size_t block)
{
    return m->blocks[block].kind == BLOCK_TEXT && tier_is_typed(m, block);
}

/* Typed, never sent, not the newest, and a quarter of the window or more: a prompt that did not fit ended its turn, and would end
 * every later one. */
static bool
is_left_over(const struct tier_view *v, size_t at, size_t block)
{
    double tokens = (double)v->messages[at]->blocks[block].text.len / v->bytes_per_token;
    if (!is_typed(v->messages[at], block) || tokens < (double)v->window / 4)
        return false;
    for (size_t i = at; i < v->n; i++)
        for (size_t k = i == at ? block + 1 : 0; k < v->messages[i]->n_blocks; k++)
            if (is_typed(v->messages[i], k))
                return true;
    return false;
}

/* Results and files that the person named (engine/submit.c); never what was typed last, nor instructions and pins. */
static bool
may_cut(const struct tier_view *v, size_t at, size_t block)
{
    const struct message *m = v->messages[at];
    const struct block *b = &m->blocks[block];
    if (b->text.len <= LEAST || b->raw.len > 2 * b->text.len + 4096)
        return false; /* short, or an image */
    return b->kind == BLOCK_TOOL_RESULT || is_left_over(v, at, block) ||
           (b->kind == BLOCK_TEXT && m->role == ROLE_USER && str_starts(b->text, HIDDEN_FILE));
}

/* The length to which all longer ones are cut, so that `over` bytes go; as far as that can be. */
static size_t
level(const struct part *p, size_t n, size_t over)
{
    size_t high = 0, low = LEAST;
    for (size_t i = 0; i < n; i++)
        high = p[i].bytes > high ? p[i].bytes : high;
    while (low < high) { /* the highest level that is low enough */
        size_t mid = low + (high - low + 1) / 2, gone = 0;
        for (size_t i = 0; i < n; i++)
            gone += p[i].bytes > mid ? p[i].bytes - mid : 0;
        if (gone >= over)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

static size_t
whole_char(struct str s, size_t at)
{
    while (at > 0 && at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* Its beginning and end, and where the whole is. */
static char *
cut_text(const struct tier_view *v, const struct message *m, size_t block, size_t len,
         struct tier_result *ret)
{
    const struct block *b = &m->blocks[block];
    struct str s = b->text;
    struct buf out;
    buf_init(&out, BUF_MAX);
    size_t head = whole_char(s, len / 4 * 3), tail = whole_char(s, s.len - len / 4);
    buf_add(&out, s.ptr, head);
    buf_addf(&out, "\n\n[... %zu bytes left out: there is no room for them in the context",
             tail - head);
    bool typed = is_typed(m, block);
    if (v->keep_dir && (b->kind == BLOCK_TOOL_RESULT || typed)) {
        char *path = tier_keep_path(v->keep_dir, typed ? STR("typed") : b->id, s);
        buf_addf(&out, ". Whole text: %s", path);
        tier_keep_add(ret, m, block, path);
    }
    buf_adds(&out, " ...]\n\n");
    buf_add_str(&out, str_sub(s, tail, s.len));
    return buf_take(&out);
}

static void
cut_message(const struct tier_view *v, size_t at, size_t len, struct tier_result *ret)
{
    const struct message *m = v->messages[at];
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *blk = &m->blocks[i];
        if (!may_cut(v, at, i) || blk->text.len <= len) {
            rebuild_block(b, blk);
            continue;
        }
        char *text = cut_text(v, m, i, len, ret);
        if (blk->kind == BLOCK_TOOL_RESULT)
            message_add_tool_result(b, blk->id, str_from(text), blk->is_error);
        else
            message_add_text(b, str_from(text));
        free(text);
    }
    struct message *now = rebuild_as(message_build(b), m);
    if (!now)
        return;
    struct tier_edit *e = tier_edit_add(ret);
    e->from = at;
    e->to = at + 1;
    e->with = xcalloc(1, sizeof *e->with);
    e->with[e->n_with++] = now;
    e->what = xstrdup("what is new, larger than the rest of the window");
    e->saved = tier_tokens(v, m) - tier_tokens(v, now);
}

void
tier_trim(const struct tier_view *v, size_t from, struct tier_result *ret)
{
    struct part *parts = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = from; i < v->n; i++)
        for (size_t k = 0; k < v->messages[i]->n_blocks; k++)
            if (may_cut(v, i, k)) {
                ARRAY_GROW(parts, n, cap);
                parts[n++] = (struct part){i, k, v->messages[i]->blocks[k].text.len};
            }
    int64_t over = v->used - v->goal;
    if (n && over > 0) {
        /* with the note in each cut; what is escaped goes too, so it is never too little */
        size_t bytes = (size_t)((double)over * v->bytes_per_token) + n * 500;
        size_t len = level(parts, n, bytes), last = SIZE_MAX;
        for (size_t i = 0; i < n; i++) {
            if (parts[i].bytes > len + 500 && parts[i].at != last)
                cut_message(v, last = parts[i].at, len, ret);
        }
    }
    free(parts);
    tier_result_finish(v, ret);
}
