#include "ext/memory_text.h"

#include <string.h>

#include "base/glob.h"

static struct str
line_at(struct str text, size_t at)
{
    size_t end = str_find(text, '\n', at);
    return str_sub(text, at, (end == (size_t)-1 ? text.len : end + 1) - at);
}

/* The run of ` or ~ that opens or closes a fence: its length, 0: the line is no fence. */
static size_t
fence_of(struct str line, char *ret_sign)
{
    size_t i = 0, n = 0;
    while (i < line.len && i < 3 && line.ptr[i] == ' ')
        i++;
    char sign = i < line.len ? line.ptr[i] : '\0';
    if (sign != '`' && sign != '~')
        return 0;
    while (i + n < line.len && line.ptr[i + n] == sign)
        n++;
    *ret_sign = sign;
    return n >= 3 ? n : 0;
}

struct fence {
    char sign;
    size_t len; /* 0: outside */
};

/* True when the line belongs to a fenced block, its fences among it. */
static bool
in_fence(struct fence *f, struct str line)
{
    char sign = '\0';
    size_t n = fence_of(line, &sign);
    if (!f->len) {
        *f = (struct fence){sign, n};
        return n > 0;
    }
    if (n >= f->len && sign == f->sign)
        f->len = 0;
    return true;
}

void
memory_strip(struct str text, struct buf *out)
{
    struct fence fence = {0};
    size_t at = 0;
    while (at < text.len) {
        struct str line = line_at(text, at);
        if (in_fence(&fence, line) || !str_starts(str_trim(line), "<!--")) {
            buf_add_str(out, line);
            at += line.len;
            continue;
        }
        const char *end = memmem(text.ptr + at, text.len - at, "-->", 3);
        if (!end) { /* never closed: no comment, as Markdown has it only to the end of the text */
            buf_add_str(out, line);
            at += line.len;
            continue;
        }
        at = (size_t)(end - text.ptr) + 3;
        struct str rest = line_at(text, at);
        if (str_trim(rest).len == 0)
            at += rest.len;
    }
}

/* Behind a code span that begins at `at` (a run of backticks), or behind the run when it is never closed in this line. */
static size_t
skip_span(struct str line, size_t at)
{
    size_t n = 0;
    while (at + n < line.len && line.ptr[at + n] == '`')
        n++;
    for (size_t i = at + n; i < line.len;) {
        size_t k = 0;
        while (i + k < line.len && line.ptr[i + k] == '`')
            k++;
        if (k == n)
            return i + k;
        i += k ? k : 1;
    }
    return at + n;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The path that begins at `at`, to the next blank; gives the place behind it. */
static size_t
take_path(struct str line, size_t at, struct buf *ret)
{
    while (at < line.len && !is_blank(line.ptr[at])) {
        if (line.ptr[at] == '\\' && at + 1 < line.len && line.ptr[at + 1] == ' ')
            at++;
        buf_addc(ret, line.ptr[at++]);
    }
    while (ret->len && strchr(".,;:!?)]}>\"'", buf_cstr(ret)[ret->len - 1]))
        buf_truncate(ret, ret->len - 1);
    return at;
}

/* In one line, from column `at`; gives the column behind it, or 0: none. */
static size_t
import_in(struct str line, size_t at, struct buf *ret_path)
{
    for (size_t i = 0; i < line.len;) {
        if (line.ptr[i] == '`') {
            i = skip_span(line, i);
            continue;
        }
        if (i >= at && line.ptr[i] == '@' &&
            (i == 0 || is_blank(line.ptr[i - 1]) || line.ptr[i - 1] == '(')) {
            buf_clear(ret_path);
            size_t end = take_path(line, i + 1, ret_path);
            if (ret_path->len)
                return end;
        }
        i++;
    }
    return 0;
}

void
memory_imports_init(struct memory_imports *it, struct str text)
{
    *it = (struct memory_imports){.text = text};
}

bool
memory_imports_next(struct memory_imports *it, struct buf *ret_path)
{
    buf_clear(ret_path);
    while (it->line < it->text.len) {
        struct str line = line_at(it->text, it->line);
        struct fence fence = {it->fence_sign, it->fence_len};
        bool code = in_fence(&fence, line);
        size_t end = code ? 0 : import_in(line, it->column, ret_path);
        if (end) {
            it->column = end;
            return true;
        }
        it->fence_sign = fence.sign;
        it->fence_len = fence.len;
        it->line += line.len;
        it->column = 0;
    }
    return false;
}

bool
memory_has_paths(struct str text, struct str *ret_body)
{
    *ret_body = text;
    struct str first = line_at(text, 0);
    bool found = false;
    if (!str_is(str_trim(first), "---"))
        return false;
    for (size_t at = first.len; at < text.len;) {
        struct str line = line_at(text, at);
        at += line.len;
        if (str_is(str_trim(line), "---")) {
            *ret_body = str_sub(text, at, text.len);
            return found;
        }
        found = found || str_starts(line, "paths:");
    }
    return false; /* never closed: no front matter */
}

/* ---- the globs of "paths:" ---- */

static struct str
without_quotes(struct str s)
{
    s = str_trim(s);
    if (s.len >= 2 && (s.ptr[0] == '"' || s.ptr[0] == '\'') && s.ptr[s.len - 1] == s.ptr[0])
        return str_sub(s, 1, s.len - 2);
    return s;
}

/* Commas inside braces are the glob's own. */
static bool
any_glob_matches(struct str list, struct str path)
{
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; i <= list.len; i++) {
        char ch = i < list.len ? list.ptr[i] : ',';
        depth += ch == '{' ? 1 : ch == '}' ? -1 : 0;
        if (ch != ',' || (depth > 0 && i < list.len))
            continue;
        struct str glob = without_quotes(str_sub(list, from, i - from));
        if (str_starts(glob, "./"))
            glob = str_sub(glob, 2, glob.len);
        if (glob.len && glob_match(glob, path, GLOB_BRACES))
            return true;
        from = i + 1;
    }
    return false;
}

static struct str
without_brackets(struct str s)
{
    s = str_trim(s);
    return s.len >= 2 && s.ptr[0] == '[' && s.ptr[s.len - 1] == ']' ? str_sub(s, 1, s.len - 2) : s;
}

bool
memory_paths_match(struct str text, struct str path)
{
    struct str body, line;
    bool in_list = false;
    if (!memory_has_paths(text, &body))
        return false;
    for (size_t at = line_at(text, 0).len; at < text.len; at += line.len) {
        line = line_at(text, at);
        struct str plain = str_trim(line);
        if (str_is(plain, "---"))
            return false;
        if (str_starts(line, "paths:")) {
            in_list = true;
            plain = without_brackets(str_sub(plain, strlen("paths:"), plain.len));
            if (any_glob_matches(plain, path))
                return true;
        } else if (in_list && str_starts(plain, "-")) {
            if (any_glob_matches(str_sub(plain, 1, plain.len), path))
                return true;
        } else if (plain.len) {
            in_list = false;
        }
    }
    return false;
}
