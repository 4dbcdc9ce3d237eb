/* Text and what runs inside a line: emphasis, code, links, images, entities. */
#include "ui/markdown_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

int
md_enter_span(MD_SPANTYPE type, void *detail, void *user)
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

int
md_leave_span(MD_SPANTYPE type, void *detail, void *user)
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

int
md_add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
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
