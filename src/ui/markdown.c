#include "ui/markdown.h"

#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/markdown_private.h"

/* md4c 0.4.8 reads on past the end of a text that stops inside a link. NULs there stop it; without them what happens to
 * follow in memory is taken for the link's end and it crashes (tests/unit/test_ui_markdown.c has the text). */
#define PAD 64

static size_t
level_slots(const struct md *m)
{
    return m->n_levels < MD_DEPTH ? m->n_levels : MD_DEPTH;
}

/* What stands before a line at the present depth. Only the first line of an item has its mark. At most half the width. */
void
md_prefix(struct md *m, struct buf *out, bool first)
{
    size_t start = out->len;
    for (size_t i = 0; i < level_slots(m); i++) {
        struct md_level *l = &m->levels[i];
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

void
md_gap(struct md *m)
{
    if (!m->gap || m->out->n == m->start) {
        m->gap = false;
        return;
    }
    struct buf b;
    buf_init(&b, 4096);
    bool keep[MD_DEPTH];
    for (size_t i = 0; i < level_slots(m); i++) {
        keep[i] = m->levels[i].pending;
        m->levels[i].pending = false;
    }
    md_prefix(m, &b, false);
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
    size_t i = m->n_lists < MD_DEPTH ? m->n_lists : MD_DEPTH;
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
    md_gap(m);
    md_prefix(m, &first, true);
    md_prefix(m, &rest, false);
    flow_wrap(&m->flow, m->out,
              &(struct indent){.width = m->o->width,
                               .keep = mark,
                               .first = buf_str(&first),
                               .rest = buf_str(&rest),
                               .style = ST_DIM});
    buf_release(&first);
    buf_release(&rest);
}

/* ---- blocks ---- */

static struct md_list *
list_at(struct md *m)
{
    return &m->lists[(m->n_lists < MD_DEPTH ? m->n_lists : MD_DEPTH) - 1];
}

static struct md_level *
level_push(struct md *m)
{
    m->n_levels++;
    struct md_level *l = &m->levels[level_slots(m) - 1];
    *l = (struct md_level){0};
    return l;
}

static void
enter_item(struct md *m, const MD_BLOCK_LI_DETAIL *d)
{
    struct md_list *list = list_at(m);
    struct md_level *l = level_push(m);
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
    *list_at(m) = (struct md_list){ordered, tight, start};
}

static int
enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct md *m = user;
    switch (type) {
    case MD_BLOCK_QUOTE:
        flush(m);
        md_gap(m);
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
        md_code_begin(m, detail);
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
    md_gap(m);
    md_prefix(m, &b, true);
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
    md_gap(m);
    md_prefix(m, &b, true);
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
    struct md_level *l = &m->levels[level_slots(m) - 1];
    if (l->pending) {
        struct buf b;
        buf_init(&b, 4096);
        md_gap(m);
        md_prefix(m, &b, true);
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
        md_code_end(m);
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

void
md_render(struct lines *out, struct str text, const struct md_options *o)
{
    static const MD_PARSER parser = {
        .flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = md_enter_span,
        .leave_span = md_leave_span,
        .text = md_add_text,
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
