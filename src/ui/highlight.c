#include "ui/highlight.h"

#include <stdlib.h>
#include <string.h>

#include "ui/canvas.h"
#include "ui/highlight_lang.h"

/* The parser asks every hundred steps whether it may go on. Code takes about a step a byte, and a line of a block that streams in
 * a round or two; text that is no code can make error recovery take many times that, and is then left plain. */
#define ROUNDS_LEAST 60
#define ROUNDS_A_LINE 4
#define BYTES_A_ROUND 40
#define MATCHES 256

struct highlight {
    const struct hl_lang *lang; /* NULL: a diff */
    TSParser *parser;
    TSTree *tree;
    TSQueryCursor *cursor;
    struct buf text;
    TSPoint end;
    bool stale;    /* text was added since the tree was made */
    bool plain;    /* given up */
    size_t rounds; /* left to the parser */
};

static bool
is_diff(struct str lang)
{
    return str_is(lang, "diff") || str_is(lang, "patch");
}

struct highlight *
highlight_new(struct str lang)
{
    const struct hl_lang *l = is_diff(lang) ? NULL : hl_lang_find(lang);
    if (!l && !is_diff(lang))
        return NULL;
    struct highlight *h = xcalloc(1, sizeof(*h));
    h->lang = l;
    buf_init(&h->text, HIGHLIGHT_MAX);
    if (!l)
        return h;
    h->parser = ts_parser_new();
    h->cursor = ts_query_cursor_new();
    ts_query_cursor_set_match_limit(h->cursor, MATCHES);
    h->rounds = ROUNDS_LEAST;
    if (!ts_parser_set_language(h->parser, l->grammar)) { /* of another ABI */
        highlight_free(h);
        return NULL;
    }
    return h;
}

void
highlight_free(struct highlight *h)
{
    if (!h)
        return;
    if (h->tree)
        ts_tree_delete(h->tree);
    if (h->cursor)
        ts_query_cursor_delete(h->cursor);
    if (h->parser)
        ts_parser_delete(h->parser);
    buf_release(&h->text);
    free(h);
}

static TSPoint
point_after(TSPoint p, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\n')
            p = (TSPoint){p.row + 1, 0};
        else
            p.column++;
    }
    return p;
}

void
highlight_add(struct highlight *h, struct str text)
{
    size_t before = h->text.len;
    if (!buf_add_str(&h->text, text) || !text.len)
        return;
    TSPoint old = h->end;
    h->end = point_after(old, text);
    h->stale = true;
    h->rounds += ROUNDS_A_LINE + text.len / BYTES_A_ROUND;
    if (!h->tree)
        return;
    TSInputEdit edit = {.start_byte = (uint32_t)before,
                        .old_end_byte = (uint32_t)before,
                        .new_end_byte = (uint32_t)h->text.len,
                        .start_point = old,
                        .old_end_point = old,
                        .new_end_point = h->end};
    ts_tree_edit(h->tree, &edit);
}

void
highlight_afresh(struct highlight *h)
{
    if (h->tree)
        ts_tree_delete(h->tree);
    h->tree = NULL;
    h->stale = true;
    h->plain = false;
    h->rounds = ROUNDS_LEAST + h->text.len / BYTES_A_ROUND;
}

static const char *
read_text(void *payload, uint32_t at, TSPoint point, uint32_t *ret_len)
{
    const struct highlight *h = payload;
    (void)point;
    *ret_len = at < h->text.len ? (uint32_t)(h->text.len - at) : 0;
    return *ret_len ? h->text.data + at : "";
}

static bool
too_long(TSParseState *state)
{
    struct highlight *h = state->payload;
    h->rounds -= h->rounds > 0;
    return h->rounds == 0;
}

static void
parse(struct highlight *h)
{
    TSInput in = {.payload = h, .read = read_text, .encoding = TSInputEncodingUTF8};
    TSParseOptions o = {.payload = h, .progress_callback = too_long};
    if (!h->stale || h->plain)
        return;
    h->stale = false;
    TSTree *tree = ts_parser_parse_with_options(h->parser, h->tree, in, o);
    if (!tree) {
        ts_parser_reset(h->parser);
        h->plain = true;
        return;
    }
    if (h->tree)
        ts_tree_delete(h->tree);
    h->tree = tree;
}

/* Captures come by where they start, outer ones first, and those of one node in the order of their patterns. */
static void
paint(struct highlight *h, size_t from, size_t len, uint8_t *ret)
{
    TSQueryMatch m;
    uint32_t k;
    size_t last_a = 0, last_b = 0;
    uint8_t last_rank = 0;
    ts_query_cursor_set_byte_range(h->cursor, (uint32_t)from, (uint32_t)(from + len));
    ts_query_cursor_exec(h->cursor, h->lang->query, ts_tree_root_node(h->tree));
    while (ts_query_cursor_next_capture(h->cursor, &m, &k)) {
        uint32_t capture = m.captures[k].index;
        size_t a = ts_node_start_byte(m.captures[k].node), b = ts_node_end_byte(m.captures[k].node);
        bool same = a == last_a && b == last_b;
        if (h->lang->styles[capture] == HL_SKIP || b <= from || a >= from + len ||
            (same && h->lang->ranks[capture] < last_rank) ||
            !hl_lang_passes(h->lang, &m, buf_str(&h->text)))
            continue;
        last_a = a;
        last_b = b;
        last_rank = h->lang->ranks[capture];
        a = a < from ? from : a;
        b = b > from + len ? from + len : b;
        memset(ret + (a - from), h->lang->styles[capture], b - a);
    }
}

/* Marks stay, the line has the colour of its mark. */
static void
paint_diff(struct str text, size_t from, size_t len, uint8_t *ret)
{
    for (size_t at = from; at < from + len;) {
        size_t nl = str_find(text, '\n', at), end = nl < from + len ? nl + 1 : from + len;
        struct str line = str_sub(text, at, end - at);
        bool head = str_starts(line, "+++ ") || str_starts(line, "--- ") ||
                    str_starts(line, "diff ") || str_starts(line, "index ");
        enum style st = head                     ? ST_DIM
                        : line.ptr[0] == '+'     ? ST_ADD
                        : line.ptr[0] == '-'     ? ST_DEL
                        : str_starts(line, "@@") ? ST_HUNK
                                                 : ST_CODE;
        memset(ret + (at - from), (int)st, end - at);
        at = end;
    }
}

void
highlight_styles(struct highlight *h, size_t from, size_t len, uint8_t *ret)
{
    memset(ret, ST_CODE, len);
    if (from >= h->text.len)
        return;
    if (len > h->text.len - from)
        len = h->text.len - from;
    if (!h->lang) {
        paint_diff(buf_str(&h->text), from, len, ret);
        return;
    }
    parse(h);
    if (!h->plain && h->tree)
        paint(h, from, len, ret);
}
