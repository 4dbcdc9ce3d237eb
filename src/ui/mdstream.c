/* Where streaming Markdown can be cut (see markdown.h). */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/highlight.h"
#include "ui/markdown.h"

/* A block longer than LONG is cut at a line, a line longer than LONG_LINE at a blank: nobody writes such, but tools and
 * models produce them, and no update may cost more than this. */
#define LONG 8192
#define LONG_LINE 8192
#define LONG_TABLE ((size_t)256 << 10)

void
mdstream_init(struct mdstream *m)
{
    *m = (struct mdstream){0};
}

void
mdstream_release(struct mdstream *m)
{
    highlight_free(m->colours);
    mdstream_init(m);
}

/* The line that starts at off, without its newline; *ret_next is the start of the next one. False when no newline came yet. */
static bool
line_at(struct str s, size_t off, struct str *ret, size_t *ret_next)
{
    size_t nl = str_find(s, '\n', off);
    bool whole = nl != (size_t)-1;
    *ret = str_sub(s, off, (whole ? nl : s.len) - off);
    *ret_next = whole ? nl + 1 : s.len;
    if (ret->len && ret->ptr[ret->len - 1] == '\r')
        ret->len--;
    return whole;
}

static bool
is_blank(struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t')
            return false;
    return true;
}

static size_t
indent_of(struct str line)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] == ' ')
        n++;
    return n < line.len && line.ptr[n] == '\t' ? n + 4 : n;
}

/* Length of the run of fence characters at the start of a line (after its indent), 0: no fence. */
static size_t
fence_run(struct str line, char *ret_char)
{
    size_t from = indent_of(line), n = from;
    if (from > 3 || from >= line.len || (line.ptr[from] != '`' && line.ptr[from] != '~'))
        return 0;
    while (n < line.len && line.ptr[n] == line.ptr[from])
        n++;
    *ret_char = line.ptr[from];
    return n - from;
}

static bool
opens_fence(struct str line, char *ret_char, size_t *ret_len)
{
    size_t n = fence_run(line, ret_char);
    if (n < 3)
        return false;
    *ret_len = n;
    return *ret_char == '~' || str_find(line, '`', indent_of(line) + n) == (size_t)-1;
}

/* A line that starts an item of a list. */
static bool
is_item(struct str line)
{
    struct str s = str_sub(line, indent_of(line), line.len);
    size_t n = 0;
    if (!s.len)
        return false;
    if (s.ptr[0] == '-' || s.ptr[0] == '*' || s.ptr[0] == '+')
        return s.len == 1 || s.ptr[1] == ' ' || s.ptr[1] == '\t';
    while (n < s.len && n < 9 && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    if (n == 0 || n >= s.len || (s.ptr[n] != '.' && s.ptr[n] != ')'))
        return false;
    return n + 1 == s.len || s.ptr[n + 1] == ' ' || s.ptr[n + 1] == '\t';
}

static bool
is_table_rule(struct str line)
{
    bool dash = false, bar = false;
    for (size_t i = 0; i < line.len; i++) {
        dash |= line.ptr[i] == '-';
        bar |= line.ptr[i] == '|';
        if (!strchr("-|: \t", line.ptr[i]))
            return false;
    }
    return dash && bar;
}

/* ---- inside a fence ---- */

static bool
closes_fence(const struct mdstream *m, struct str line)
{
    char c;
    size_t n = fence_run(line, &c);
    return n >= m->fence_len && c == m->fence_char &&
           is_blank(str_sub(line, indent_of(line) + n, line.len));
}

/* The code of a line of the fence as visible text. */
static void
add_code(const struct mdstream *m, struct buf *out, struct str line)
{
    size_t cut = indent_of(line);
    if (cut > m->fence_indent)
        cut = m->fence_indent;
    visible_add(out, str_sub(line, cut, line.len));
}

static void
put_code(struct lines *out, struct str code, const uint8_t *styles, const struct md_options *o)
{
    md_code_line(out, STR("  "), STR("  "), code, styles, o);
}

/* A line of a fence that is still open. */
static void
code_line(struct mdstream *m, struct lines *out, struct str line, bool whole,
          const struct md_options *o)
{
    struct buf code;
    uint8_t *styles = NULL;
    buf_init(&code, BUF_MAX);
    add_code(m, &code, line);
    if (whole && m->colours) {
        size_t from = m->code_bytes, len = code.len;
        buf_addc(&code, '\n');
        highlight_add(m->colours, buf_str(&code));
        m->code_bytes += code.len;
        buf_truncate(&code, len);
        styles = xmalloc(len + 1);
        highlight_styles(m->colours, from, len, styles);
    }
    put_code(out, buf_str(&code), styles, o);
    free(styles);
    buf_release(&code);
}

/* All lines of the fence's code with the colours of the whole. */
static void
code_whole(struct mdstream *m, struct lines *out, struct str text, size_t end,
           const struct md_options *o)
{
    struct buf code;
    struct str line;
    buf_init(&code, BUF_MAX);
    for (size_t at = m->code_from, next; at < end; at = next) {
        (void)line_at(text, at, &line, &next);
        add_code(m, &code, line);
        buf_addc(&code, '\n');
    }
    struct str rest = buf_str(&code);
    uint8_t *styles = xmalloc(code.len + 1);
    highlight_add(m->colours, str_sub(rest, m->code_bytes, rest.len));
    highlight_afresh(m->colours);
    highlight_styles(m->colours, 0, code.len, styles);
    lines_back(out, m->code_mark);
    rest.len -= rest.len > 0;
    while (end > m->code_from && str_split(&rest, '\n', &line))
        put_code(out, line, styles + (line.ptr - code.data), o);
    free(styles);
    buf_release(&code);
    highlight_free(m->colours);
    m->colours = NULL;
}

/* A last line that may still become the closing fence is not shown as code for a moment. */
static bool
may_close(const struct mdstream *m, struct str line)
{
    char c;
    size_t n = fence_run(line, &c);
    return n > 0 && c == m->fence_char && indent_of(line) + n == line.len;
}

static void
commit(struct mdstream *m, struct lines *out, size_t done)
{
    m->done = done;
    m->mark = lines_mark(out);
}

/* Where the fence's closing line begins and what follows it; false: it is still open. */
static bool
find_close(const struct mdstream *m, struct str text, size_t from, size_t *ret_end,
           size_t *ret_next)
{
    struct str line;
    for (size_t at = from, next; at < text.len && line_at(text, at, &line, &next); at = next)
        if (closes_fence(m, line))
            return *ret_end = at, *ret_next = next, true;
    return false;
}

/* A fence whose end is there already: parsed once. */
static bool
step_whole_fence(struct mdstream *m, struct lines *out, struct str text, const struct md_options *o)
{
    size_t end, next;
    bool closed = find_close(m, text, m->done, &end, &next);
    if (!closed && o->open)
        return false;
    if (!closed) {
        struct str line;
        size_t from = m->done;
        for (end = next = text.len; from < text.len; from = next)
            if (!line_at(text, from, &line, &next) && may_close(m, line))
                end = from;
    }
    code_whole(m, out, text, end, o);
    m->fence = !closed;
    commit(m, out, next);
    return true;
}

/* False when the text is used up. */
static bool
step_fence(struct mdstream *m, struct lines *out, struct str text, const struct md_options *o)
{
    struct str line;
    size_t next;
    if (m->colours && step_whole_fence(m, out, text, o))
        return m->done < text.len;
    if (m->done >= text.len)
        return false;
    while (line_at(text, m->done, &line, &next)) {
        bool end = closes_fence(m, line);
        if (!end)
            code_line(m, out, line, true, o);
        m->fence = !end;
        commit(m, out, next);
        if (end)
            return true;
    }
    if (m->done < text.len && !may_close(m, line))
        code_line(m, out, line, false, o);
    return false;
}

/* ---- between fences ---- */

static void
gap(struct mdstream *m, struct lines *out)
{
    if (out->n && !m->joined)
        lines_begin(out, false);
    m->joined = false;
}

/* The first word behind a fence of `len` characters. */
static struct str
fence_lang(struct str line, size_t len)
{
    size_t from = indent_of(line);
    struct str info = str_trim(str_sub(line, from + len, line.len)), lang;
    return str_split(&info, ' ', &lang) ? lang : STR("");
}

static void
open_fence(struct mdstream *m, struct lines *out, struct str line, char c, size_t len,
           const struct md_options *o)
{
    size_t from = indent_of(line);
    gap(m, out);
    md_code_label(out, STR("  "), fence_lang(line, len), o);
    m->fence = true;
    m->fence_char = c;
    m->fence_len = len;
    m->fence_indent = from;
    m->code_bytes = 0;
    m->code_mark = lines_mark(out);
}

/* The lines of a block as they are gone through. */
struct scan {
    size_t from, off;
    bool list, table, nested; /* an item, a table rule, an open fence inside an item was seen */
    bool blank;               /* the line before was blank */
};

static bool
ends_before(struct scan *s, struct str line)
{
    char c;
    size_t len, indent = indent_of(line);
    if (s->off == s->from)
        return false;
    if (s->blank && indent < (s->list ? 2 : 4))
        return true;
    return opens_fence(line, &c, &len) && indent < (s->list ? 2 : 4);
}

static void
note_line(struct scan *s, struct str line)
{
    char c;
    size_t len;
    struct str inner = str_trim(line);
    s->list |= is_item(line);
    s->table |= is_table_rule(line);
    if (is_item(line)) {
        size_t mark = str_find(inner, ' ', 0);
        inner = mark == (size_t)-1 ? STR("") : str_trim(str_sub(inner, mark, inner.len));
    }
    if (opens_fence(inner, &c, &len) || (s->nested && fence_run(inner, &c) >= 3))
        s->nested = !s->nested;
    s->blank = is_blank(line);
}

static bool
too_long(const struct scan *s)
{
    size_t n = s->off - s->from;
    if (s->table)
        return n > LONG_TABLE;
    return n > LONG && !s->nested;
}

static size_t
cut_line(struct str text, size_t from)
{
    size_t blank = str_find(text, ' ', from + LONG_LINE);
    if (blank != (size_t)-1 && blank < from + LONG_LINE + 1024)
        return blank + 1;
    if (text.len < from + LONG_LINE + 1024)
        return 0;
    size_t at = from + LONG_LINE;
    while ((text.ptr[at] & 0xC0) == 0x80 && at < from + LONG_LINE + 4)
        at++;
    return at;
}

/* Where the block that starts at `from` ends for certain; 0: not known yet. *ret_joined: it was only cut for its length. */
static size_t
block_end(struct str text, size_t from, bool *ret_joined)
{
    struct scan s = {.from = from, .off = from};
    *ret_joined = false;
    while (s.off < text.len) {
        struct str line;
        size_t next;
        bool whole = line_at(text, s.off, &line, &next);
        if (line.len > LONG_LINE) {
            if (s.off > from)
                return *ret_joined = true, s.off;
            size_t cut = cut_line(text, s.off);
            return *ret_joined = cut != 0, cut;
        }
        if (!is_blank(line) && ends_before(&s, line) && (whole || s.blank))
            return s.off;
        if (s.off > from && too_long(&s))
            return *ret_joined = true, s.off;
        note_line(&s, line);
        if (!whole)
            break;
        s.off = next;
    }
    return 0;
}

static bool
step_block(struct mdstream *m, struct lines *out, struct str text, const struct md_options *o)
{
    struct str line;
    size_t next, len;
    char c;
    if (m->done >= text.len)
        return false;
    bool whole = line_at(text, m->done, &line, &next);
    if (is_blank(line)) {
        if (whole) {
            m->joined = false;
            commit(m, out, next);
        }
        return whole;
    }
    if (opens_fence(line, &c, &len)) {
        struct mdstream before = *m;
        open_fence(m, out, line, c, len, o);
        if (!whole) {
            *m = before;
            return false;
        }
        m->colours = highlight_new(fence_lang(line, len));
        m->code_from = next;
        commit(m, out, next);
        return true;
    }
    bool joined;
    size_t end = block_end(text, m->done, &joined);
    struct mdstream before = *m;
    struct md_options block = *o;
    block.open = o->open && !end;
    gap(m, out);
    md_render(out, str_sub(text, m->done, (end ? end : text.len) - m->done), &block);
    if (!end) {
        *m = before;
        return false;
    }
    m->joined = joined;
    commit(m, out, end);
    return true;
}

void
mdstream_update(struct mdstream *m, struct lines *lines, struct str text,
                const struct md_options *o)
{
    lines_back(lines, m->mark);
    while (m->fence ? step_fence(m, lines, text, o) : step_block(m, lines, text, o))
        ;
}
