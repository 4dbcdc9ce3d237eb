#include "tools/grep_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tools/args.h"
#include "tools/text_file.h"

/* Larger files go through in windows cut at a line end; context lines do not reach over a cut. */
enum { WINDOW = 32 << 20, KEEP = 4 << 20, SHOWN_CHARS = 500, TEXT_MAX = 16 << 20 };

struct finder {
    struct grep_worker *w;
    const struct grep_options *o;
    struct grep_hits *hits;
    const char *shown;
    struct str s; /* the window */
    bool ascii;
    size_t next_at; /* the first line not yet passed, and its number */
    int64_t next_no;
    size_t after_left;
    bool any, done;
};

void
grep_worker_init(struct grep_worker *w, const struct grep_options *o)
{
    *w = (struct grep_worker){.options = o, .matcher = grep_matcher_new(o->pattern)};
    buf_init(&w->data, (size_t)WINDOW + 1);
}

void
grep_worker_release(struct grep_worker *w)
{
    grep_matcher_free(w->matcher);
    buf_release(&w->data);
}

static int64_t
count_lines(const char *p, size_t n)
{
    int64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

static size_t
line_end(const struct finder *f, size_t at)
{
    const char *nl = at < f->s.len ? memchr(f->s.ptr + at, '\n', f->s.len - at) : NULL;

    return nl ? (size_t)(nl - f->s.ptr) : f->s.len;
}

static size_t
line_start(const struct finder *f, size_t at)
{
    const char *nl = at ? memrchr(f->s.ptr, '\n', at) : NULL;

    return nl ? (size_t)(nl - f->s.ptr) + 1 : 0;
}

static struct str
line_text(const struct finder *f, size_t start, size_t end)
{
    if (end > start && f->s.ptr[end - 1] == '\r')
        end--;
    return str_sub(f->s, start, end - start);
}

static void
add_text(struct finder *f, int64_t number, char sep, struct str text)
{
    struct buf *out = &f->hits->text;
    struct str head = str_sub(text, 0, tool_char_offset(text, SHOWN_CHARS));

    if (f->o->show_name)
        buf_addf(out, "%s%c", f->shown, sep);
    if (f->o->line_numbers)
        buf_addf(out, "%lld%c", (long long)number, sep);
    tool_clean_text(out, head);
    if (head.len < text.len)
        buf_addf(out, " [... line cut, %zu bytes in all]", text.len);
    buf_addc(out, '\n');
    f->hits->lines++;
    if ((f->o->max_lines && f->hits->lines >= f->o->max_lines) || buf_full(out))
        f->done = true;
}

/* Each match in a line by itself (-o). */
static void
add_only_matching(struct finder *f, struct str line)
{
    size_t at = 0, start, end;

    while (at <= line.len && !f->done &&
           grep_match(f->w->matcher, line, at, f->ascii, &start, &end) == GREP_FOUND) {
        if (end > start)
            add_text(f, f->next_no, ':', str_sub(line, start, end - start));
        at = end > start ? end : tool_char_offset(str_sub(line, end, line.len), 1) + end;
        if (end == start && at >= line.len)
            break;
    }
}

/* Shows the line at next_at and steps past it. */
static void
pass_line(struct finder *f, char sep)
{
    size_t end = line_end(f, f->next_at);
    struct str line = line_text(f, f->next_at, end);

    if (sep == ':' && f->o->only_matching)
        add_only_matching(f, line);
    else
        add_text(f, f->next_no, sep, line);
    f->next_at = end < f->s.len ? end + 1 : f->s.len;
    f->next_no++;
}

static void
pass_after(struct finder *f, size_t until)
{
    for (; f->after_left && f->next_at < until && !f->done; f->after_left--)
        pass_line(f, '-');
}

/* Lines start..last (offsets; last lies in the last line) matched. */
static void
show_match(struct finder *f, size_t start, size_t last)
{
    size_t from = start;

    pass_after(f, start);
    for (size_t n = f->o->before; n && from > f->next_at; n--)
        from = line_start(f, from - 1);
    if (from > f->next_at && f->any && (f->o->before || f->o->after))
        buf_adds(&f->hits->text, "--\n");
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
show_span(struct finder *f, size_t start, size_t end)
{
    size_t from = line_start(f, start);

    if (from > f->next_at) {
        f->next_no += count_lines(f->s.ptr + f->next_at, from - f->next_at);
        f->next_at = from;
    }
    if (end > start)
        add_text(f, f->next_no, ':', str_sub(f->s, start, end - start));
}

static void
take_match(struct finder *f, size_t start, size_t last)
{
    f->hits->matches++;
    if (f->o->mode == GREP_FILES)
        f->done = true;
    else if (f->o->mode == GREP_CONTENT)
        show_match(f, start, last);
}

/* Does the line match by itself? */
static bool
line_matches(struct finder *f, size_t start, size_t end)
{
    size_t a, b;
    enum grep_found found =
        grep_match(f->w->matcher, line_text(f, start, end), 0, f->ascii, &a, &b);

    f->hits->too_hard |= found == GREP_TOO_HARD;
    return found == GREP_FOUND;
}

static void
search_by_line(struct finder *f)
{
    for (size_t at = 0, end; at < f->s.len && !f->done && !f->hits->too_hard; at = end + 1) {
        end = line_end(f, at);
        if (line_matches(f, at, end))
            take_match(f, at, at);
    }
}

/* Only lines that hold the literal are tried. */
static void
search_by_literal(struct finder *f, struct str literal)
{
    size_t at = 0;

    while (at < f->s.len && !f->done && !f->hits->too_hard) {
        const char *hit = memmem(f->s.ptr + at, f->s.len - at, literal.ptr, literal.len);
        if (!hit)
            return;
        size_t start = line_start(f, (size_t)(hit - f->s.ptr)),
               end = line_end(f, (size_t)(hit - f->s.ptr));
        if (line_matches(f, start, end))
            take_match(f, start, start);
        at = end + 1;
    }
}

/* Looks through the whole window at once; a match that leaves its line is tried again on the line alone. */
static void
search_at_once(struct finder *f)
{
    size_t at = 0, start, end;

    while (at < f->s.len && !f->done) {
        enum grep_found found = grep_match(f->w->matcher, f->s, at, f->ascii, &start, &end);
        f->hits->too_hard |= found == GREP_TOO_HARD;
        if (found != GREP_FOUND || start >= f->s.len)
            return;
        size_t from = line_start(f, start), stop = line_end(f, start);
        if (f->o->multiline) {
            size_t last = end > start ? end - 1 : start;
            bool span = f->o->only_matching && f->o->mode == GREP_CONTENT;
            if (span) {
                f->hits->matches++;
                show_span(f, start, end);
            } else {
                take_match(f, from, last);
            }
            at = span && end > start ? end : line_end(f, last) + 1;
            continue;
        }
        if (end <= stop || line_matches(f, from, stop))
            take_match(f, from, from);
        at = stop + 1;
    }
}

static void
search_window(struct finder *f, struct str s)
{
    f->s = s;
    f->ascii = grep_is_ascii(s);
    f->next_at = 0;
    struct str literal = grep_pattern_literal(f->o->pattern);
    if (literal.len)
        search_by_literal(f, literal);
    else if (grep_pattern_by_line(f->o->pattern))
        search_by_line(f);
    else
        search_at_once(f);
    if (f->o->mode == GREP_CONTENT && !f->done) {
        pass_after(f, s.len);
        f->next_no += count_lines(s.ptr + f->next_at, s.len - f->next_at);
    }
}

/* Fills the window. False at end of file or on error. */
static bool
fill(int fd, struct buf *data, size_t want)
{
    while (data->len < want) {
        size_t room = want - data->len;
        char *at = buf_reserve(data, room);
        ssize_t n = at ? read(fd, at, room) : -1;
        if (n < 0 && at && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buf_commit(data, (size_t)n);
    }
    return true;
}

static bool
skip_as_binary(struct str head)
{
    return head.len == 0 || text_file_kind(head) != KIND_TEXT;
}

static bool
is_utf16(struct str s)
{
    return s.len >= 2 && (memcmp(s.ptr, "\xff\xfe", 2) == 0 || memcmp(s.ptr, "\xfe\xff", 2) == 0);
}

static void
search_utf16(struct finder *f, const char *path)
{
    struct text_file t;

    if (text_file_load(path, &t, NULL))
        search_window(f, buf_str(&t.text));
    text_file_release(&t);
}

static void
search_fd(struct finder *f, int fd, const char *path, size_t size)
{
    struct buf *data = &f->w->data;
    size_t first = size && size < WINDOW ? size + 1 : 65536; /* /proc says 0 */
    bool more;

    buf_clear(data);
    more = fill(fd, data, first < 8192 ? 8192 : first);
    if (skip_as_binary(buf_str(data)))
        return;
    if (is_utf16(buf_str(data))) {
        search_utf16(f, path);
        return;
    }
    if (str_starts(buf_str(data), "\xEF\xBB\xBF"))
        buf_remove_front(data, 3);
    for (;;) {
        if (more)
            more = fill(fd, data, WINDOW);
        struct str s = buf_str(data);
        const char *nl = more && s.len ? memrchr(s.ptr, '\n', s.len) : NULL;
        size_t whole = nl ? (size_t)(nl - s.ptr) + 1 : s.len;
        search_window(f, str_sub(s, 0, whole));
        buf_remove_front(data, whole);
        if (f->done || !more || cancel_fired(f->o->cancel) != CANCEL_NONE)
            return;
    }
}

void
grep_file(struct grep_worker *w, const char *path, const char *shown, struct grep_hits *ret)
{
    struct finder f = {.w = w, .o = w->options, .hits = ret, .shown = shown, .next_no = 1};
    struct stat st;
    int fd = text_file_open(path, &st, NULL);

    *ret = (struct grep_hits){.lines = 0};
    buf_init(&ret->text, TEXT_MAX);
    if (fd < 0)
        return;
    ret->mtime_ns = text_file_mtime(&st);
    search_fd(&f, fd, path, (size_t)st.st_size);
    close(fd);
    if (w->data.cap > KEEP) {
        buf_release(&w->data);
        buf_init(&w->data, (size_t)WINDOW + 1);
    }
}
