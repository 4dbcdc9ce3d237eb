#include "tools/grep_text.h"

#include <string.h>

#include "tools/args.h"
#include "tools/grep_find.h"

/* A slice is what is searched between two looks at the cancel token. */
enum { SHOWN_CHARS = 500, SLICE = 256 << 10, CANCEL_EACH = 256, BEFORE_MATCH = 100 };

/* In blocks that a byte counts to the end of, so that the compiler makes wide adds of it. */
static int64_t
count_lines(const char *p, size_t n)
{
    int64_t lines = 0;

    while (n) {
        size_t block = n < 255 ? n : 255;
        unsigned char some = 0;
        for (size_t i = 0; i < block; i++)
            some = (unsigned char)(some + (p[i] == '\n'));
        lines += some;
        p += block;
        n -= block;
    }
    return lines;
}

static size_t
line_end(const struct grep_text *f, size_t at)
{
    const char *nl = at < f->s.len ? memchr(f->s.ptr + at, '\n', f->s.len - at) : NULL;

    return nl ? (size_t)(nl - f->s.ptr) : f->s.len;
}

static size_t
line_start(const struct grep_text *f, size_t at)
{
    const char *nl = at ? memrchr(f->s.ptr, '\n', at) : NULL;

    return nl ? (size_t)(nl - f->s.ptr) + 1 : 0;
}

static struct str
line_text(const struct grep_text *f, size_t start, size_t end)
{
    if (end > start && f->s.ptr[end - 1] == '\r')
        end--;
    return str_sub(f->s, start, end - start);
}

static void
add_number(struct buf *out, int64_t number, char sep)
{
    char digits[24];
    size_t at = sizeof digits;

    digits[--at] = sep;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    buf_add(out, digits + at, sizeof digits - at);
}

static void
add_text(struct grep_text *f, int64_t number, char sep, struct str text, size_t whole)
{
    struct buf *out = &f->hits->text;
    struct str head = text;
    size_t before = out->len;
    if (text.len > SHOWN_CHARS)
        head = str_sub(text, 0, f->ascii ? SHOWN_CHARS : tool_char_offset(text, SHOWN_CHARS));

    if (f->o->show_name) {
        if (!f->shown)
            f->shown = f->target->shown(f->target->user);
        tool_clean_text(out, str_from(f->shown));
        buf_addc(out, sep);
    }
    if (f->o->line_numbers)
        add_number(out, number, sep);
    if (text.len < whole)
        buf_addf(out, "[%zu bytes ...] ", whole - text.len);
    if (f->ascii && !memchr(head.ptr ? head.ptr : "", '\0', head.len))
        buf_add_str(out, head);
    else
        tool_clean_text(out, head);
    if (head.len < text.len)
        buf_addf(out, " [... line cut, %zu bytes in all]", whole);
    buf_addc(out, '\n');
    if (buf_full(out))
        buf_truncate(out, before); /* not half a line */
    else
        f->hits->lines++;
    f->hits->cut = buf_full(out);
    f->done |= f->hits->cut || (f->o->max_lines && f->hits->lines >= f->o->max_lines);
}

/* Each match in a line by itself (-o). */
static void
add_only_matching(struct grep_text *f, struct str line)
{
    size_t at = 0, start, end;

    while (at <= line.len && !f->done &&
           grep_match(f->w->matcher, line, at, f->ascii, &start, &end) == GREP_FOUND) {
        if (end > start)
            add_text(f, f->next_no, ':', str_sub(line, start, end - start), end - start);
        at = end > start ? end : tool_char_offset(str_sub(line, end, line.len), 1) + end;
        if (end == start && at >= line.len)
            break;
    }
}

/* A match far into a long line is shown with what is around it, not the start of the line. */
static struct str
from_match(struct grep_text *f, struct str line)
{
    size_t start, end;

    if (line.len <= SHOWN_CHARS ||
        grep_match(f->w->matcher, line, 0, f->ascii, &start, &end) != GREP_FOUND ||
        start + BEFORE_MATCH <= SHOWN_CHARS)
        return line;
    start = tool_char_start(line, start - BEFORE_MATCH);
    return str_sub(line, start, line.len);
}

/* Shows the line at next_at and steps past it. */
static void
pass_line(struct grep_text *f, char sep)
{
    size_t end = line_end(f, f->next_at);
    struct str line = line_text(f, f->next_at, end);

    if (sep == ':' && f->o->only_matching)
        add_only_matching(f, line);
    else
        add_text(f, f->next_no, sep, sep == ':' ? from_match(f, line) : line, line.len);
    f->next_at = end < f->s.len ? end + 1 : f->s.len;
    f->next_no++;
}

static void
pass_after(struct grep_text *f, size_t until)
{
    for (; f->after_left && f->next_at < until && !f->done; f->after_left--)
        pass_line(f, '-');
}

/* Lines start..last (offsets; last lies in the last line) matched. */
static void
show_match(struct grep_text *f, size_t start, size_t last)
{
    size_t from = start;

    pass_after(f, start);
    for (size_t n = f->o->before; n && from > f->next_at; n--)
        from = line_start(f, from - 1);
    if (from > f->next_at && f->any && (f->o->before || f->o->after))
        buf_add(&f->hits->text, "\0\n", 2);
    if (from > f->next_at) {
        f->next_no += count_lines(f->s.ptr + f->next_at, from - f->next_at);
        f->next_at = from;
    }
    while (f->next_at < start && !f->done)
        pass_line(f, '-');
    while (f->next_at <= last && f->next_at < f->s.len && !f->done)
        pass_line(f, ':');
    f->after_left = f->o->after;
    f->any = true;
}

/* -o of a match that may span lines: its text, once. */
static void
show_span(struct grep_text *f, size_t start, size_t end)
{
    size_t from = line_start(f, start);

    if (from > f->next_at) {
        f->next_no += count_lines(f->s.ptr + f->next_at, from - f->next_at);
        f->next_at = from;
    }
    if (end > start)
        add_text(f, f->next_no, ':', str_sub(f->s, start, end - start), end - start);
}

static void
take_match(struct grep_text *f, size_t start, size_t last)
{
    f->hits->matches++;
    if (f->o->mode == GREP_FILES)
        f->done = true;
    else if (f->o->mode == GREP_CONTENT)
        show_match(f, start, last);
}

/* Does the line match by itself? */
static bool
line_matches(struct grep_text *f, size_t start, size_t end)
{
    size_t a, b;
    enum grep_found found =
        grep_match(f->w->matcher, line_text(f, start, end), 0, f->ascii, &a, &b);

    f->hits->too_hard |= found == GREP_TOO_HARD;
    return found == GREP_FOUND;
}

static bool
stopped(const struct grep_text *f, size_t *n)
{
    return ++*n % CANCEL_EACH == 0 && cancel_fired(f->o->cancel) != CANCEL_NONE;
}

static void
search_by_line(struct grep_text *f)
{
    size_t n = 0;
    for (size_t at = 0, end; at < f->s.len && !f->done && !f->hits->too_hard; at = end + 1) {
        end = line_end(f, at);
        if (stopped(f, &n))
            return;
        if (line_matches(f, at, end))
            take_match(f, at, at);
    }
}

/* Only lines that hold a literal are tried. */
static void
search_by_literal(struct grep_text *f, const struct grep_finder *finder)
{
    bool exact = grep_pattern_exact(f->o->pattern);
    size_t at = 0, n = 0;

    while (at < f->s.len && !f->done && !f->hits->too_hard && !stopped(f, &n)) {
        size_t hit = grep_find(finder, f->s, at);
        if (hit == (size_t)-1)
            return;
        size_t start = line_start(f, hit), end = line_end(f, hit);
        if (exact || line_matches(f, start, end))
            take_match(f, start, start);
        at = end + 1;
    }
}

/* A match that may span lines; where to go on comes back. */
static size_t
take_span(struct grep_text *f, size_t start, size_t end)
{
    size_t last = end > start ? end - 1 : start;

    if (!f->o->only_matching || f->o->mode != GREP_CONTENT) {
        take_match(f, line_start(f, start), last);
        return line_end(f, last) + 1;
    }
    f->hits->matches++;
    show_span(f, start, end);
    return end > start ? end : line_end(f, last) + 1;
}

/* Looks through s, which ends with a line, at once; a match that leaves its line is tried again on the line alone. */
static void
search_slice(struct grep_text *f, size_t at, size_t stop)
{
    struct str s = str_sub(f->s, 0, stop);
    size_t start, end, n = 0;

    while (at < stop && !f->done && !stopped(f, &n)) {
        enum grep_found found = grep_match(f->w->matcher, s, at, f->ascii, &start, &end);
        f->hits->too_hard |= found == GREP_TOO_HARD;
        if (found != GREP_FOUND || start >= stop)
            return;
        if (f->o->multiline) {
            at = take_span(f, start, end);
            continue;
        }
        size_t from = line_start(f, start), line_stop = line_end(f, start);
        if (end <= line_stop || line_matches(f, from, line_stop))
            take_match(f, from, from);
        at = line_stop + 1;
    }
}

static void
search_at_once(struct grep_text *f)
{
    for (size_t at = 0, stop; at < f->s.len && !f->done && !f->hits->too_hard; at = stop) {
        stop = f->s.len;
        if (!f->o->multiline && stop - at > SLICE)
            stop = line_end(f, at + SLICE);
        stop += stop < f->s.len; /* with its newline */
        search_slice(f, at, stop);
        if (cancel_fired(f->o->cancel) != CANCEL_NONE)
            return;
    }
}

bool
grep_text_has_none(const struct grep_text *f, struct str s)
{
    const struct grep_finder *finder = grep_pattern_finder(f->o->pattern);

    return finder && grep_pattern_finder_text(f->o->pattern) == GREP_FINDS_IN_BYTES &&
           !f->after_left && grep_find(finder, s, 0) == (size_t)-1;
}

/* What is known of the literals, where the text lets it be used. */
static const struct grep_finder *
usable_finder(const struct grep_text *f)
{
    if (!f->ascii && grep_pattern_finder_text(f->o->pattern) == GREP_FINDS_IN_ASCII)
        return NULL;
    return grep_pattern_finder(f->o->pattern);
}

void
grep_text_search(struct grep_text *f, struct str s, bool ascii, bool last)
{
    f->s = s;
    f->ascii = ascii;
    f->next_at = 0;
    const struct grep_finder *finder = usable_finder(f);
    if (finder && !f->o->multiline)
        search_by_literal(f, finder);
    else if (finder && grep_find(finder, s, 0) == (size_t)-1)
        ; /* no match without it */
    else if (grep_pattern_by_line(f->o->pattern))
        search_by_line(f);
    else
        search_at_once(f);
    if (f->o->mode != GREP_CONTENT || f->done)
        return;
    pass_after(f, s.len);
    if (!last && f->next_at < s.len)
        f->next_no += count_lines(s.ptr + f->next_at, s.len - f->next_at);
}

void
grep_text_pass(struct grep_text *f, struct str s)
{
    if (f->o->mode == GREP_CONTENT)
        f->next_no += count_lines(s.ptr, s.len);
}
