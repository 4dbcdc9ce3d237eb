/* Addresses in the transcript lead where they say (OSC 8, where the terminal has it), however they are broken. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/transcript_private.h"

#define AROUND 40 /* soft-wrapped lines that are looked at to either side */

static bool
may_hold(const struct lines *l, size_t k)
{
    struct str s = lines_text(l, k);
    return memmem(s.ptr, s.len, "http", 4) != NULL;
}

/* Some line of its paragraph holds the start of an address. */
static bool
worth_it(const struct lines *l, size_t k)
{
    if (may_hold(l, k))
        return true;
    for (size_t i = k; i > 0 && l->line[i].soft && k - i < AROUND; i--)
        if (may_hold(l, i - 1))
            return true;
    return false;
}

void
link_draw(const struct lines *l, int line, struct canvas *c, struct rect r, int y)
{
    struct buf b;
    size_t first, *from, len, k = (size_t)line;
    if (!worth_it(l, k))
        return;
    buf_init(&b, BUF_MAX);
    struct str text = joined_line(l, k, &b, &first, &from);
    size_t a = from[k - first], end = from[k - first + 1];
    size_t lead = k > first ? l->line[k].lead : 0;
    int indent = text_width(str_sub(lines_text(l, k), 0, lead));
    for (size_t at = 0; (at = text_find_url(text, at, &len)) < end; at += len) {
        size_t p = at < a ? a : at, q = at + len < end ? at + len : end;
        if (q > p)
            canvas_link(
                c,
                canvas_clip(c, (struct rect){r.x + indent + text_width(str_sub(text, a, p - a)),
                                             r.y + y, text_width(str_sub(text, p, q - p)), 1}),
                str_sub(text, at, len));
    }
    free(from);
    buf_release(&b);
}
