/* Any bytes as Markdown: no line is wider than asked for, and text that streams in ends up looking as if it had come at once. */
#include <stdlib.h>

#include "ui/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
stream(struct lines *out, struct str text, size_t step, const struct md_options *o)
{
    struct mdstream m;
    struct md_options open = *o;
    open.open = true;
    lines_init(out);
    mdstream_init(&m);
    for (size_t at = step; at < text.len; at += step)
        mdstream_update(&m, out, str_sub(text, 0, at), &open);
    mdstream_update(&m, out, text, o);
    mdstream_release(&m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lines whole, pieces;
    if (size < 2)
        return 0;
    struct md_options o = {.width = 1 + (data[0] & 63), .ascii = data[0] & 64, .base = ST_TEXT};
    struct str text = str_make((const char *)data + 2, size - 2);
    size_t step = 1 + data[1] + text.len / 64;
    stream(&whole, text, text.len + 1, &o);
    stream(&pieces, text, step, &o);
    if (whole.n != pieces.n)
        abort();
    for (size_t i = 0; i < whole.n; i++) {
        if (!str_eq(lines_text(&whole, i), lines_text(&pieces, i)))
            abort();
        /* where there is little room for prefixes and labels, the canvas cuts */
        if (o.width >= 40 && lines_width(&whole, i) > o.width)
            abort();
    }
    lines_release(&whole);
    lines_release(&pieces);
    return 0;
}
