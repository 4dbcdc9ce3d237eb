#include "ui/markdown.h"

#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/highlight.h"
#include "ui/markdown_table.h"

/* md4c 0.4.8 reads on past the end of a text that stops inside a link. NULs there stop it; without them what happens to
 * follow in memory is taken for the link's end and it crashes (tests/unit/test_ui_markdown.c has the text). */
#define PAD 64
#define DEPTH 12 /* deeper nesting is laid out like the last level */

/* A quote, or an item of a list. */
struct level {
    bool quote;
    char mark[16]; /* item: its bullet or number with a blank behind */
    bool pending;  /* item: nothing of it was written yet, the mark is still to come */
};
struct list {
    bool ordered, tight;
    unsigned next;
};
struct md {
    struct lines *out;
    const struct md_options *o;
    struct str source; /* the copy that is parsed */
    struct flow flow;
    struct level levels[DEPTH];
    struct list lists[DEPTH];
    size_t n_levels, n_lists; /* may pass DEPTH: what lies deeper shares the last slot */
    size_t start;             /* line at which this piece began */
    bool gap;                 /* a blank line is due before the next block */
    bool heading, head_row;
    unsigned bold, strike, link; /* open spans */
    size_t link_from;            /* flow length at which the link text began */
    struct buf href, code, lang;
    bool in_code;
    struct md_table table;
    bool in_table;
    enum md_side side;
};

static enum style
text_style(const struct md *m)
{
    if (m->heading)
        return ST_HEADING;
    if (m->link)
        return ST_LINK;
    if (m->bold || m->head_row)
        return ST_BOLD;
    return m->strike ? ST_DIM : m->o->base;
}

static size_t
level_slots(const struct md *m)
{
    return m->n_levels < DEPTH ? m->n_levels : DEPTH;
}

/* What stands before a line at the present depth. Only the first line of an item has its mark. At most half the width. */
static void
add_prefix(struct md *m, struct buf *out, bool first)
{
    size_t start = out->len;
    for (size_t i = 0; i < level_slots(m); i++) {
        struct level *l = &m->levels[i];
        struct str s = l->quote ? (m->o->ascii ? STR("| ") : STR("│ ")) : str_from(l->mark);
        int have = text_width(str_sub(buf_str(out), start, out->len));
        if (have + text_width(s) > m->o->width / 2)
            break;
        if (l->quote || (first && l->pending))
            buf_add_str(out, s);
        else
            for (int k = text_width(s); k > 0; k--)
                buf_addc(out, ' ');
    }
    for (size_t i = 0; first && i < level_slots(m); i++)
        m->levels[i].pending = false;
}

static void
put_gap(struct md *m)
{
    if (!m->gap || m->out->n == m->start) {
        m->gap = false;
        return;
    }
    struct buf b;
    buf_init(&b, 4096);
    bool keep[DEPTH];
    for (size_t i = 0; i < level_slots(m); i++) {
        keep[i] = m->levels[i].pending;
        m->levels[i].pending = false;
    }
    add_prefix(m, &b, false);
    for (size_t i = 0; i < level_slots(m); i++)
        m->levels[i].pending = keep[i];
    lines_begin(m->out, false);
    struct str s = buf_str(&b);
    while (s.len && s.ptr[s.len - 1] == ' ')
        s.len--;
    lines_raw(m->out, ST_DIM, s);
    buf_release(&b);
    m->gap = false;
}

/* After a block: a blank line comes before the next one, but not inside a tight list. */
static void
want_gap(struct md *m)
{
    size_t i = m->n_lists < DEPTH ? m->n_lists : DEPTH;
    m->gap = i == 0 || !m->lists[i - 1].tight;
}

static void
flush(struct md *m)
{
    if (!m->flow.text.len)
        return;
    struct buf first, rest;
    buf_init(&first, 4096);
    buf_init(&rest, 4096);
    bool mark = false;
    for (size_t i = 0; i < level_slots(m); i++)
        mark |= m->levels[i].pending;
    put_gap(m);
    add_prefix(m, &first, true);
    add_prefix(m, &rest, false);
    flow_wrap(&m->flow, m->out,
              &(struct indent){.width = m->o->width,
                               .keep = mark,
                               .first = buf_str(&first),
                               .rest = buf_str(&rest),
                               .style = ST_DIM});
    buf_release(&first);
    buf_release(&rest);
}

/* ---- code ---- */

void
md_code_label(struct lines *out, struct str prefix, struct str lang, const struct md_options *o)
{
    if (!lang.len)
        return;
    struct buf b;
    struct flow f;
    buf_init(&b, 4096);
    flow_init(&f);
    buf_adds(&b, o->ascii ? "-- " : "── ");
    buf_add_str(&b, str_sub(lang, 0, 200));
    flow_add(&f, ST_DIM, buf_str(&b));
    lines_begin(out, false);
    lines_raw(out, ST_DIM, prefix);
    int room = o->width - text_width(prefix), most = o->width / 2 + 3;
    flow_cut(&f, out, room < most ? room : most, o->ascii);
    flow_release(&f);
    buf_release(&b);
}

void
md_code_line(struct lines *out, struct str first, struct str rest, struct str line,
             const uint8_t *styles, const struct md_options *o)
{
    struct flow f;
    if (!line.len) {
        lines_begin(out, false);
        return;
    }
    flow_init(&f);
    for (size_t at = 0, end; at < line.len; at = end) {
        enum style st = styles ? (enum style)styles[at] : ST_CODE;
        for (end = at + 1; end < line.len && (!styles || styles[end] == styles[at]);)
            end++;
        flow_add(&f, st, str_sub(line, at, end - at));
    }
    flow_break(&f, out,
               &(struct indent){.width = o->width, .first = first, .rest = rest, .style = ST_DIM});
    flow_release(&f);
}

/* The roles of the code's bytes, yours; NULL: plain. */
static uint8_t *
code_styles(struct md *m, struct str text)
{
    struct highlight *h = m->o->open ? NULL : highlight_new(buf_str(&m->lang));
    if (!h)
        return NULL;
    uint8_t *styles = xmalloc(text.len + 1);
    highlight_add(h, text);
    highlight_styles(h, 0, text.len, styles);
    highlight_free(h);
    return styles;
}

static void
code_block(struct md *m)
{
    struct str text, line;
    struct buf first, rest, visible;
    buf_init(&first, 4096);
    buf_init(&rest, 4096);
    buf_init(&visible, BUF_MAX);
    visible_add(&visible, buf_str(&m->code));
    text = buf_str(&visible);
    uint8_t *styles = code_styles(m, text);
    if (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    while (str_split(&text, '\n', &line)) {
        buf_clear(&first);
        buf_clear(&rest);
        add_prefix(m, &first, true);
        add_prefix(m, &rest, false);
        buf_adds(&first, "  ");
        buf_adds(&rest, "  ");
        md_code_line(m->out, buf_str(&first), buf_str(&rest), line,
                     styles ? styles + (line.ptr - visible.data) : NULL, m->o);
    }
    free(styles);
    buf_release(&first);
    buf_release(&rest);
    buf_release(&visible);
}

static void
enter_code(struct md *m, const MD_BLOCK_CODE_DETAIL *d)
{
    put_gap(m);
    if (d->lang.size) {
        struct buf b;
        buf_init(&b, 4096);
        add_prefix(m, &b, true);
        buf_adds(&b, "  ");
        md_code_label(m->out, buf_str(&b), str_make(d->lang.text, d->lang.size), m->o);
        buf_release(&b);
    }
    buf_clear(&m->code);
    buf_clear(&m->lang);
    buf_add(&m->lang, d->lang.text, d->lang.size);
    m->in_code = true;
}

/* ---- blocks ---- */

static struct list *
list_at(struct md *m)
{
    return &m->lists[(m->n_lists < DEPTH ? m->n_lists : DEPTH) - 1];
}

static struct level *
level_push(struct md *m)
{
    m->n_levels++;
    struct level *l = &m->levels[level_slots(m) - 1];
    *l = (struct level){0};
    return l;
}

static void
enter_item(struct md *m, const MD_BLOCK_LI_DETAIL *d)
{
    struct list *list = list_at(m);
    struct level *l = level_push(m);
    l->pending = true;
    struct buf b;
    buf_init(&b, sizeof(l->mark) - 1);
    if (list->ordered)
        buf_addf(&b, "%u. ", list->next++);
    else
        buf_adds(&b, m->o->ascii ? "- " : m->n_lists % 2 ? "• " : "◦ ");
    if (d->is_task)
        buf_adds(&b, d->task_mark == ' ' ? "[ ] " : "[x] ");
    memcpy(l->mark, buf_cstr(&b), b.len + 1);
    buf_release(&b);
}

static void
enter_list(struct md *m, bool ordered, bool tight, unsigned start)
{
    flush(m);
    m->n_lists++;
    *list_at(m) = (struct list){ordered, tight, start};
}

static int
enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct md *m = user;
    switch (type) {
    case MD_BLOCK_QUOTE:
        flush(m);
        put_gap(m);
        level_push(m)->quote = true;
        break;
    case MD_BLOCK_UL:
        enter_list(m, false, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight, 0);
        break;
    case MD_BLOCK_OL:
        enter_list(m, true, ((MD_BLOCK_OL_DETAIL *)detail)->is_tight,
                   ((MD_BLOCK_OL_DETAIL *)detail)->start);
        break;
    case MD_BLOCK_LI:
        enter_item(m, detail);
        break;
    case MD_BLOCK_H:
        flush(m);
        m->heading = true;
        flow_add(&m->flow, ST_HEADING,
                 str_sub(STR("######"), 0, ((MD_BLOCK_H_DETAIL *)detail)->level));
        flow_add(&m->flow, ST_HEADING, STR(" "));
        break;
    case MD_BLOCK_CODE:
        flush(m);
        enter_code(m, detail);
        break;
    case MD_BLOCK_TABLE:
        flush(m);
        md_table_init(&m->table, ((MD_BLOCK_TABLE_DETAIL *)detail)->col_count);
        m->in_table = true;
        break;
    case MD_BLOCK_THEAD:
        m->head_row = true;
        break;
    case MD_BLOCK_TR:
        md_table_row(&m->table);
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD: {
        MD_ALIGN a = ((MD_BLOCK_TD_DETAIL *)detail)->align;
        m->side = a == MD_ALIGN_RIGHT ? MD_RIGHT : a == MD_ALIGN_CENTER ? MD_CENTER : MD_LEFT;
        break;
    }
    default:
        break;
    }
    return 0;
}

static void
rule(struct md *m)
{
    struct buf b;
    buf_init(&b, 4096);
    put_gap(m);
    add_prefix(m, &b, true);
    lines_begin(m->out, false);
    lines_raw(m->out, ST_DIM, buf_str(&b));
    for (int i = text_width(buf_str(&b)); i < m->o->width; i++)
        lines_raw(m->out, ST_DIM, m->o->ascii ? STR("-") : STR("─"));
    buf_release(&b);
}

static void
table_end(struct md *m)
{
    struct buf b;
    buf_init(&b, 4096);
    put_gap(m);
    add_prefix(m, &b, true);
    md_table_lines(&m->table, m->out, buf_str(&b), m->o);
    md_table_release(&m->table);
    m->in_table = false;
    buf_release(&b);
}

/* An item without text still shows its mark. */
static void
leave_item(struct md *m)
{
    flush(m);
    struct level *l = &m->levels[level_slots(m) - 1];
    if (l->pending) {
        struct buf b;
        buf_init(&b, 4096);
        put_gap(m);
        add_prefix(m, &b, true);
        lines_begin(m->out, false);
        lines_raw(m->out, ST_DIM, buf_str(&b));
        buf_release(&b);
    }
    m->n_levels--;
    want_gap(m);
}

static int
leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct md *m = user;
    (void)detail;
    switch (type) {
    case MD_BLOCK_QUOTE:
        flush(m);
        m->n_levels--;
        want_gap(m);
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        m->n_lists--;
        want_gap(m);
        break;
    case MD_BLOCK_LI:
        leave_item(m);
        break;
    case MD_BLOCK_HR:
        rule(m);
        want_gap(m);
        break;
    case MD_BLOCK_H:
        flush(m);
        m->heading = false;
        want_gap(m);
        break;
    case MD_BLOCK_CODE:
        m->in_code = false;
        code_block(m);
        want_gap(m);
        break;
    case MD_BLOCK_P:
        flush(m);
        want_gap(m);
        break;
    case MD_BLOCK_TABLE:
        table_end(m);
        want_gap(m);
        break;
    case MD_BLOCK_THEAD:
        m->head_row = false;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        md_table_cell(&m->table, m->side, &m->flow);
        break;
    default:
        break;
    }
    return 0;
}

/* ---- spans ---- */

static int
enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct md *m = user;
    switch (type) {
    case MD_SPAN_EM:
    case MD_SPAN_STRONG:
        m->bold++;
        break;
    case MD_SPAN_DEL:
        flow_add(&m->flow, ST_DIM, STR("~~"));
        m->strike++;
        break;
    case MD_SPAN_CODE:
        flow_add(&m->flow, m->heading ? ST_HEADING : ST_CODE, STR("`"));
        break;
    case MD_SPAN_A:
        if (m->link++)
            break;
        buf_clear(&m->href);
        buf_add(&m->href, ((MD_SPAN_A_DETAIL *)detail)->href.text,
                ((MD_SPAN_A_DETAIL *)detail)->href.size);
        m->link_from = m->flow.text.len;
        break;
    case MD_SPAN_IMG:
        flow_add(&m->flow, ST_DIM, STR("[image "));
        break;
    default:
        break;
    }
    return 0;
}

/* The address is always shown, unless it is the text itself: a link says where it leads. */
static void
leave_link(struct md *m)
{
    if (--m->link)
        return;
    struct str text = str_sub(buf_str(&m->flow.text), m->link_from, m->flow.text.len),
               href = buf_str(&m->href);
    if (str_starts(href, "mailto:") && !str_starts(text, "mailto:"))
        href = str_sub(href, 7, href.len);
    if (!href.len || str_eq(text, href) ||
        (str_starts(href, "http://") && str_eq(text, str_sub(href, 7, href.len))))
        return;
    flow_add(&m->flow, ST_DIM, STR(" ("));
    flow_add(&m->flow, ST_DIM, href);
    flow_add(&m->flow, ST_DIM, STR(")"));
}

static int
leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct md *m = user;
    switch (type) {
    case MD_SPAN_EM:
    case MD_SPAN_STRONG:
        m->bold--;
        break;
    case MD_SPAN_DEL:
        m->strike--;
        flow_add(&m->flow, ST_DIM, STR("~~"));
        break;
    case MD_SPAN_CODE:
        flow_add(&m->flow, m->heading ? ST_HEADING : ST_CODE, STR("`"));
        break;
    case MD_SPAN_A:
        leave_link(m);
        break;
    case MD_SPAN_IMG: {
        const MD_ATTRIBUTE *src = &((MD_SPAN_IMG_DETAIL *)detail)->src;
        flow_add(&m->flow, ST_DIM, STR("] ("));
        flow_add(&m->flow, ST_DIM, str_make(src->text, src->size));
        flow_add(&m->flow, ST_DIM, STR(")"));
        break;
    }
    default:
        break;
    }
    return 0;
}

/* ---- text ---- */

static void
add_entity(struct md *m, struct str s)
{
    static const struct {
        const char *name, *text;
    } known[] = {{"&amp;", "&"},   {"&lt;", "<"},     {"&gt;", ">"},   {"&quot;", "\""},
                 {"&apos;", "'"},  {"&nbsp;", " "},   {"&copy;", "©"}, {"&mdash;", "—"},
                 {"&ndash;", "–"}, {"&hellip;", "…"}, {"&rarr;", "→"}, {"&larr;", "←"},
                 {"&times;", "×"}, {"&le;", "≤"},     {"&ge;", "≥"}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(s, known[i].name)) {
            flow_add(&m->flow, text_style(m), str_from(known[i].text));
            return;
        }
    if (s.len > 3 && s.len < 12 && s.ptr[1] == '#') {
        bool hex = s.ptr[2] == 'x' || s.ptr[2] == 'X';
        long cp = strtol(s.ptr + 2 + hex, NULL, hex ? 16 : 10);
        char utf8[4];
        if (cp > 0 && cp <= 0x10FFFF && !(cp >= 0xD800 && cp <= 0xDFFF)) {
            flow_add(&m->flow, text_style(m), str_make(utf8, text_encode((int32_t)cp, utf8)));
            return;
        }
    }
    flow_add(&m->flow, text_style(m), s);
}

static int
add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    struct md *m = user;
    struct str s = str_make(text, size);
    if (text >= m->source.ptr && text < m->source.ptr + m->source.len && size > m->source.len)
        return -1; /* a wrong range: the text is shown as it stands */
    if (m->in_code) {
        buf_add_str(&m->code, s);
        return 0;
    }
    switch (type) {
    case MD_TEXT_NULLCHAR:
        flow_add(&m->flow, text_style(m), STR("\xEF\xBF\xBD"));
        break;
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR: /* kept: models break lines where they mean it */
        flow_add(&m->flow, text_style(m), m->in_table ? STR(" ") : STR("\n"));
        break;
    case MD_TEXT_ENTITY:
        add_entity(m, s);
        break;
    case MD_TEXT_CODE:
        flow_add(&m->flow, m->heading ? ST_HEADING : ST_CODE, s);
        break;
    default:
        flow_add(&m->flow, text_style(m), s);
        break;
    }
    return 0;
}

void
md_render(struct lines *out, struct str text, const struct md_options *o)
{
    static const MD_PARSER parser = {
        .flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = add_text,
    };
    struct md m = {.out = out, .o = o, .start = out->n};
    struct buf copy;
    buf_init(&copy, BUF_MAX);
    buf_add_str(&copy, text);
    buf_add(&copy, (char[PAD]){0}, PAD);
    m.source = str_make(copy.data, text.len);
    flow_init(&m.flow);
    buf_init(&m.href, 1 << 16);
    buf_init(&m.code, BUF_MAX);
    buf_init(&m.lang, 1 << 16);
    int rc = buf_full(&copy) ? -1 : md_parse(copy.data, (MD_SIZE)text.len, &parser, &m);
    flush(&m);
    /* What gives no lines (a reference definition, say) is shown as it stands: nothing the model wrote gets lost. */
    if ((rc != 0 || out->n == m.start) && str_trim(text).len) {
        flow_add(&m.flow, ST_DIM, str_trim(text));
        flow_wrap(&m.flow, out, &(struct indent){.width = o->width});
    }
    if (m.in_table)
        md_table_release(&m.table);
    flow_release(&m.flow);
    buf_release(&m.href);
    buf_release(&m.code);
    buf_release(&m.lang);
    buf_release(&copy);
}
