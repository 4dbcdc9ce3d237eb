/* Blocks of code: their label, their colours, lines kept as they are. */
#include "ui/markdown_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/highlight.h"

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
    lines_drawn(out);
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

void
md_code_end(struct md *m)
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
        md_prefix(m, &first, true);
        md_prefix(m, &rest, false);
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

void
md_code_begin(struct md *m, const MD_BLOCK_CODE_DETAIL *d)
{
    md_gap(m);
    if (d->lang.size) {
        struct buf b;
        buf_init(&b, 4096);
        md_prefix(m, &b, true);
        buf_adds(&b, "  ");
        md_code_label(m->out, buf_str(&b), str_make(d->lang.text, d->lang.size), m->o);
        buf_release(&b);
    }
    buf_clear(&m->code);
    buf_clear(&m->lang);
    buf_add(&m->lang, d->lang.text, d->lang.size);
    m->in_code = true;
}
