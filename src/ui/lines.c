#include "ui/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TAB 4

void
lines_init(struct lines *l)
{
    *l = (struct lines){0};
    buf_init(&l->text, BUF_MAX);
}

void
lines_release(struct lines *l)
{
    buf_release(&l->text);
    free(l->spans);
    free(l->line);
    lines_init(l);
}

void
lines_clear(struct lines *l)
{
    buf_clear(&l->text);
    l->n_spans = l->n = 0;
}

struct lines_mark
lines_mark(const struct lines *l)
{
    return (struct lines_mark){l->text.len, l->n_spans, l->n};
}

void
lines_back(struct lines *l, struct lines_mark m)
{
    buf_truncate(&l->text, m.text);
    l->n_spans = m.spans;
    l->n = m.n;
}

void
lines_begin(struct lines *l, bool soft)
{
    ARRAY_GROW(l->line, l->n, l->cap);
    l->line[l->n++] = (struct line){.span = (uint32_t)l->n_spans, .soft = soft};
}

void
lines_raw(struct lines *l, enum style st, struct str s)
{
    size_t off = l->text.len;
    if (!s.len || !buf_add_str(&l->text, s))
        return;
    if (!l->n)
        lines_begin(l, false);
    struct line *line = &l->line[l->n - 1];
    if (line->n_spans && l->spans[l->n_spans - 1].style == (uint8_t)st) {
        l->spans[l->n_spans - 1].len += (uint32_t)s.len;
        return;
    }
    ARRAY_GROW(l->spans, l->n_spans, l->cap_spans);
    l->spans[l->n_spans++] = (struct span){(uint32_t)off, (uint32_t)s.len, (uint8_t)st};
    line->n_spans++;
}

void
lines_drawn(struct lines *l)
{
    l->line[l->n - 1].drawn = true;
}

void
lines_add(struct lines *l, enum style st, struct str s)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    visible_add(&b, s);
    lines_raw(l, st, buf_str(&b));
    buf_release(&b);
}

void
lines_addf(struct lines *l, enum style st, const char *fmt, ...)
{
    struct buf b;
    va_list ap;
    buf_init(&b, (size_t)1 << 16);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    lines_add(l, st, buf_str(&b));
    buf_release(&b);
}

struct str
lines_text(const struct lines *l, size_t i)
{
    const struct line *line = &l->line[i];
    if (!line->n_spans)
        return STR("");
    const struct span *first = &l->spans[line->span], *last = first + line->n_spans - 1;
    return str_sub(buf_str(&l->text), first->off, last->off + last->len - first->off);
}

int
lines_width(const struct lines *l, size_t i)
{
    return text_width(lines_text(l, i));
}

void
lines_draw(const struct lines *l, size_t i, struct canvas *c, struct rect r, int x, int y)
{
    const struct line *line = &l->line[i];
    for (uint32_t k = 0; k < line->n_spans; k++) {
        const struct span *s = &l->spans[line->span + k];
        x = canvas_text(c, r, x, y, (enum style)s->style,
                        str_sub(buf_str(&l->text), s->off, s->len));
    }
}

void
lines_copy(struct lines *l, const struct lines *from, size_t i)
{
    lines_begin(l, from->line[i].soft);
    for (uint32_t k = 0; k < from->line[i].n_spans; k++) {
        const struct span *s = &from->spans[from->line[i].span + k];
        lines_raw(l, (enum style)s->style, str_sub(buf_str(&from->text), s->off, s->len));
    }
}

size_t
lines_off(const struct lines *l, size_t i, int x)
{
    return x <= 0 ? 0 : text_fit(lines_text(l, i), x, NULL);
}

static void
cut_blanks(struct buf *out, size_t least)
{
    size_t len = out->len;
    while (len > least && out->data[len - 1] == ' ')
        len--;
    buf_truncate(out, len);
}

void
lines_logical(const struct lines *l, struct lines_place from, struct lines_place to,
              struct buf *out)
{
    size_t start = out->len;
    bool some = false;
    for (size_t i = from.line; i < l->n && i <= to.line; i++) {
        const struct line *line = &l->line[i];
        if (line->drawn)
            continue;
        struct str s = lines_text(l, i);
        size_t a = i == from.line && from.off > line->lead ? from.off : line->lead,
               b = i == to.line && to.off < s.len ? to.off : s.len;
        if (some && !line->soft) {
            cut_blanks(out, start);
            buf_addc(out, '\n');
            start = out->len;
        }
        for (unsigned k = 0; some && line->soft && k < line->joint; k++)
            buf_addc(out, ' ');
        if (a < b)
            buf_add_str(out, str_sub(s, a, b - a));
        some = true;
    }
    cut_blanks(out, start);
}

/* ---- visible text ---- */

static bool
is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c >= 0x7f)
            return false;
    }
    return true;
}

static void
expand_tabs(struct buf *out, struct str s)
{
    int col = 0;
    size_t from = 0;
    for (size_t i = 0; i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != '\t' && s.ptr[i] != '\n')
            continue;
        struct str part = str_sub(s, from, i - from);
        buf_add_str(out, part);
        if (i == s.len)
            break;
        if (s.ptr[i] == '\n') {
            buf_addc(out, '\n');
            col = 0;
        } else {
            col += text_width(part);
            int n = TAB - col % TAB;
            buf_add(out, "    ", (size_t)n);
            col += n;
        }
        from = i + 1;
    }
}

void
visible_add(struct buf *out, struct str s)
{
    if (is_plain(s)) {
        buf_add_str(out, s);
        return;
    }
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < s.len;) {
        size_t cr = str_find(s, '\r', i);
        size_t end = cr == (size_t)-1 ? s.len : cr;
        text_visible(&b, str_sub(s, i, end - i));
        if (end < s.len && !(end + 1 < s.len && s.ptr[end + 1] == '\n'))
            buf_adds(&b, "^M");
        i = end + 1;
    }
    expand_tabs(out, buf_str(&b));
    buf_release(&b);
}

bool
fold_end(struct buf *out, struct str s, int columns, bool ascii)
{
    if (text_width(s) <= columns) {
        buf_add_str(out, s);
        return false;
    }
    int dots = ascii ? 2 : 1;
    if (columns >= dots) {
        buf_add_str(out, str_sub(s, 0, text_fit(s, columns - dots, NULL)));
        buf_adds(out, ascii ? ".." : "…");
    }
    return true;
}

#define WORDS_ROOM 24 /* columns below which a word that is cut says more than one left out */

/* Offset from which the rest of s takes at most `columns`. */
static size_t
tail_fit(struct str s, int columns)
{
    size_t off = s.len;
    while (off > 0) {
        size_t before = text_grapheme_before(s, off);
        int w = text_width(str_sub(s, before, off - before));
        if (w > columns)
            break;
        columns -= w;
        off = before;
    }
    return off;
}

/* The end of a head at a blank in its second half, so that no word is cut; else behind a slash there. */
static size_t
word_end(struct str s, size_t end)
{
    size_t slash = 0;
    if (end >= s.len || s.ptr[end] == ' ')
        return end;
    for (size_t i = end; i > end / 2; i--) {
        if (s.ptr[i - 1] == ' ')
            return i - 1;
        if (s.ptr[i - 1] == '/' && !slash)
            slash = i;
    }
    return slash ? slash : end;
}

/* The same for where a tail begins: behind a blank, else at a slash, in its first half. */
static size_t
word_start(struct str s, size_t start)
{
    size_t slash = 0, half = start + (s.len - start) / 2;
    if (!start || s.ptr[start - 1] == ' ')
        return start;
    for (size_t i = start; i < half; i++) {
        if (s.ptr[i] == ' ')
            return i + 1;
        if (s.ptr[i] == '/' && !slash)
            slash = i;
    }
    return slash ? slash : start;
}

bool
fold_middle(struct buf *out, struct str s, int columns, bool ascii)
{
    const char *dots = ascii ? " .. " : " … ";
    int room = columns - text_width(str_from(dots));
    if (text_width(s) <= columns) {
        buf_add_str(out, s);
        return false;
    }
    if (room < 2)
        return fold_end(out, s, columns, ascii);
    size_t head = text_fit(s, room - room / 2, NULL), tail = tail_fit(s, room / 2);
    bool words = room >= WORDS_ROOM;
    buf_add_str(out, str_sub(s, 0, words ? word_end(s, head) : head));
    buf_adds(out, dots);
    tail = words ? word_start(s, tail) : tail;
    buf_add_str(out, str_sub(s, tail, s.len));
    return true;
}

/* ---- paragraphs ---- */

void
flow_init(struct flow *f)
{
    *f = (struct flow){0};
    buf_init(&f->text, BUF_MAX);
}

void
flow_release(struct flow *f)
{
    buf_release(&f->text);
    free(f->runs);
    flow_init(f);
}

void
flow_clear(struct flow *f)
{
    buf_clear(&f->text);
    f->n = 0;
}

void
flow_add(struct flow *f, enum style st, struct str s)
{
    size_t before = f->text.len;
    visible_add(&f->text, s);
    if (f->text.len == before)
        return;
    if (f->n && f->runs[f->n - 1].style == st) {
        f->runs[f->n - 1].end = f->text.len;
        return;
    }
    ARRAY_GROW(f->runs, f->n, f->cap);
    f->runs[f->n++] = (struct run){f->text.len, st};
}

int
flow_width(const struct flow *f)
{
    return text_width(buf_str(&f->text));
}

/* Puts the slice [off, off + len) of the flow on the last line; *run is where the search begins. */
static void
put_slice(const struct flow *f, struct lines *out, size_t off, size_t len, size_t *run)
{
    size_t end = off + len;
    while (off < end && *run < f->n) {
        if (f->runs[*run].end <= off) {
            ++*run;
            continue;
        }
        size_t n = (f->runs[*run].end < end ? f->runs[*run].end : end) - off;
        lines_raw(out, f->runs[*run].style, str_sub(buf_str(&f->text), off, n));
        off += n;
    }
}

/* Where a row of code is broken that is full at `fit`: behind the last blank in its second half, else there. No byte is lost. */
static size_t
code_break(struct str line, size_t fit)
{
    size_t at = fit;
    while (at > fit / 2 && line.ptr[at - 1] != ' ')
        at--;
    bool only_indent = !str_trim(str_sub(line, 0, at)).len;
    return at <= fit / 2 || only_indent || line.ptr[fit] == ' ' ? fit : at;
}

static bool
break_line(struct str *rest, int columns, struct str *ret)
{
    if (!rest->ptr)
        return false;
    size_t nl = str_find(*rest, '\n', 0);
    struct str line = nl == (size_t)-1 ? *rest : str_sub(*rest, 0, nl);
    size_t fit = text_fit(line, columns, NULL);
    if (fit == line.len) {
        *ret = line;
        *rest = nl == (size_t)-1 ? (struct str){0} : str_sub(*rest, nl + 1, rest->len);
        return true;
    }
    int w;
    fit = fit == 0 ? text_grapheme(line, 0, &w) : code_break(line, fit);
    *ret = str_sub(line, 0, fit);
    *rest = str_sub(*rest, fit, rest->len);
    return true;
}

/* The same, but that one blank at the end of a full row is not the first of the next. */
static bool
break_prose(struct str *rest, int columns, struct str *ret)
{
    if (!break_line(rest, columns, ret))
        return false;
    if (rest->len > 1 && rest->ptr == ret->ptr + ret->len && rest->ptr[0] == ' ' &&
        rest->ptr[1] != ' ' && rest->ptr[1] != '\n')
        *rest = str_sub(*rest, 1, rest->len);
    return true;
}

static void
emit(struct flow *f, struct lines *out, const struct indent *in,
     bool (*next)(struct str *rest, int columns, struct str *ret))
{
    struct str rest = buf_str(&f->text), line;
    const char *base = rest.ptr, *after = NULL;
    size_t run = 0;
    bool first = true;
    if (!rest.len)
        return;
    for (;;) {
        struct str mark = first ? in->first : in->rest;
        int room = in->width - text_width(mark);
        if (!next(&rest, room < 1 ? 1 : room, &line))
            break;
        bool soft =
            first ? in->soft : after && memchr(after, '\n', (size_t)(line.ptr - after)) == NULL;
        lines_begin(out, soft);
        if (line.len || str_trim(mark).len)
            lines_raw(out, in->style, mark);
        struct line *made = &out->line[out->n - 1];
        made->lead = (uint16_t)(made->n_spans && !(first && in->keep) ? mark.len : 0);
        if (soft && after)
            made->joint = (uint8_t)(line.ptr - after < UINT8_MAX ? line.ptr - after : UINT8_MAX);
        put_slice(f, out, (size_t)(line.ptr - base), line.len, &run);
        after = line.ptr + line.len;
        first = false;
    }
    flow_clear(f);
}

void
flow_wrap(struct flow *f, struct lines *out, const struct indent *in)
{
    emit(f, out, in, text_wrap);
}

void
flow_break(struct flow *f, struct lines *out, const struct indent *in)
{
    emit(f, out, in, in->drop ? break_prose : break_line);
}

int
flow_cut(struct flow *f, struct lines *out, int columns, bool ascii)
{
    struct str s = buf_str(&f->text);
    size_t run = 0;
    int width = text_width(s), dots = ascii ? 2 : 1;
    if (width <= columns) {
        put_slice(f, out, 0, s.len, &run);
    } else if (columns >= dots) {
        put_slice(f, out, 0, text_fit(s, columns - dots, &width), &run);
        lines_raw(out, ST_DIM, ascii ? STR("..") : STR("…"));
        width += dots;
    } else {
        width = 0;
    }
    flow_clear(f);
    return width;
}
