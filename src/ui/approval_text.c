/* The text of a permission request in the rows there are: its first and last ones, and how much lies between. */
#include "base/text.h"
#include "ui/approval_parts.h"

#define SHOWN_MAX ((size_t)64 << 10) /* bytes of one text that are laid out at each end */

void
strict_add(struct flow *f, enum style st, struct str s, bool ascii)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    strict_visible(&b, s, ascii);
    flow_add(f, st, buf_str(&b));
    buf_release(&b);
}

/* Rows of a text with a gutter that no text can imitate: where it starts (`first`), "> " where a newline begins another line,
 * a bar where a line only goes on. A command must not be able to draw rows that look like findings. */
static void
lay_text(struct lines *out, struct str text, struct str first, int width, bool ascii)
{
    struct flow f;
    struct str line, rest = text;
    flow_init(&f);
    while (rest.len && str_split(&rest, '\n', &line)) {
        strict_add(&f, ST_TEXT, line, ascii);
        if (f.text.len) {
            flow_break(
                &f, out,
                &(struct indent){
                    .width = width, .first = first, .rest = PARTS_BAR(ascii), .style = ST_DIM});
        } else {
            lines_begin(out, false);
            lines_raw(out, ST_DIM, first);
        }
        first = STR("> ");
    }
    flow_release(&f);
}

/* Only the two ends of a huge text are laid out. */
static struct str
end_of(struct str text, size_t max)
{
    size_t from = text.len > max ? text.len - max : 0;
    while (from > 0 && from < text.len && ((unsigned char)text.ptr[from] & 0xC0) == 0x80)
        from++;
    return str_sub(text, from, text.len);
}

/* "rm -rf a … && rm -rf z": all that fits on one row. */
static void
one_row(struct lines *out, struct str text, struct str prefix, int width, bool ascii)
{
    struct buf b, cut;
    buf_init(&b, BUF_MAX);
    buf_init(&cut, BUF_MAX);
    strict_visible(&b, text_start(text, 4096), ascii);
    if (text.len > 8192) {
        buf_addc(&b, ' ');
        strict_visible(&b, end_of(text, 4096), ascii);
    } else if (text.len > 4096) {
        strict_visible(&b, str_sub(text, text_start(text, 4096).len, text.len), ascii);
    }
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] == '\n')
            b.data[i] = ' ';
    fold_middle(&cut, buf_str(&b), width - text_width(prefix), ascii);
    lines_begin(out, false);
    lines_raw(out, ST_DIM, prefix);
    lines_raw(out, ST_TEXT, buf_str(&cut));
    buf_release(&b);
    buf_release(&cut);
}

static void
cut_mark(struct lines *out, size_t lines, size_t bytes, bool ascii)
{
    const char *dots = ascii ? ".." : "…";
    lines_begin(out, false);
    if (bytes)
        lines_addf(out, ST_WARN, "  %s %zu bytes more, w shows all %s", dots, bytes, dots);
    else
        lines_addf(out, ST_WARN, "  %s %zu more line%s, w shows all %s", dots, lines,
                   lines == 1 ? "" : "s", dots);
}

bool
text_rows(struct lines *out, struct str text, struct str prefix, int width, int rows, bool ascii)
{
    struct lines head, tail;
    bool huge = text.len > 2 * SHOWN_MAX;
    lines_init(&head);
    lines_init(&tail);
    lay_text(&head, huge ? text_start(text, SHOWN_MAX) : text, prefix, width, ascii);
    if (huge)
        lay_text(&tail, end_of(text, SHOWN_MAX), PARTS_BAR(ascii), width, ascii);
    const struct lines *end = huge ? &tail : &head;
    bool cut = huge || head.n > (size_t)rows;
    if (!cut) {
        for (size_t i = 0; i < head.n; i++)
            lines_copy(out, &head, i);
    } else if (rows < 3) {
        one_row(out, text, prefix, width, ascii);
    } else {
        size_t below = ((size_t)rows - 1) / 2, above = (size_t)rows - 1 - below;
        above = above < head.n ? above : head.n;
        below = below < end->n ? below : end->n;
        for (size_t i = 0; i < above; i++)
            lines_copy(out, &head, i);
        cut_mark(out, head.n - above - (huge ? 0 : below), huge ? text.len - 2 * SHOWN_MAX : 0,
                 ascii);
        for (size_t i = end->n - below; i < end->n; i++)
            lines_copy(out, end, i);
    }
    lines_release(&head);
    lines_release(&tail);
    return cut;
}
