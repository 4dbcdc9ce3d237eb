/* Walking JSON by its bytes, without a tree: bounds-checked, for text that was or will be validated. */
#include <string.h>

#include "base/json.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t
json_skip_blanks(struct str s, size_t at)
{
    while (at < s.len && is_blank(s.ptr[at]))
        at++;
    return at;
}

/* memchr does the work: most of a journal is inside long strings. */
size_t
json_skip_string(struct str s, size_t at)
{
    for (at++; at < s.len;) {
        const char *quote = memchr(s.ptr + at, '"', s.len - at);
        if (!quote)
            return s.len;
        size_t end = (size_t)(quote - s.ptr), slashes = 0;
        while (end - slashes > at && s.ptr[end - slashes - 1] == '\\')
            slashes++;
        at = end + 1;
        if (slashes % 2 == 0)
            return at;
    }
    return s.len;
}

size_t
json_skip_value(struct str s, size_t at)
{
    size_t depth = 0;
    while (at < s.len) {
        char c = s.ptr[at];
        if (c == '"') {
            at = json_skip_string(s, at);
            if (depth == 0)
                return at;
            continue;
        }
        bool closing = c == '}' || c == ']';
        if (depth == 0 && (closing || c == ',' || is_blank(c)))
            return at;
        if (c == '{' || c == '[')
            depth++;
        else if (closing && --depth == 0)
            return at + 1;
        at++;
    }
    return at;
}

/* Where the value of `key` begins in the object at `at`; SIZE_MAX when it is not there. Keys are compared by their bytes:
 * written with escapes they do not match, which yare's own records and the API's never are. */
static size_t
raw_find(struct str s, size_t at, struct str key)
{
    at = json_skip_blanks(s, at);
    if (at >= s.len || s.ptr[at] != '{')
        return SIZE_MAX;
    at++;
    for (;;) {
        at = json_skip_blanks(s, at);
        if (at >= s.len || s.ptr[at] != '"')
            return SIZE_MAX;
        size_t end = json_skip_string(s, at);
        bool hit = end >= at + 2 && str_eq(str_sub(s, at + 1, end - at - 2), key);
        at = json_skip_blanks(s, end);
        if (at >= s.len || s.ptr[at] != ':')
            return SIZE_MAX;
        at = json_skip_blanks(s, at + 1);
        if (hit)
            return at;
        at = json_skip_blanks(s, json_skip_value(s, at));
        if (at >= s.len || s.ptr[at] != ',')
            return SIZE_MAX;
        at++;
    }
}

struct str
json_raw_member(struct str s, const char *key)
{
    size_t at = raw_find(s, 0, str_from(key));
    if (at == SIZE_MAX)
        return (struct str){0};
    return str_sub(s, at, json_skip_value(s, at) - at);
}

int
json_line_of(struct str s, const char *path, size_t index)
{
    struct str rest = str_from(path), key;
    size_t at = 0;
    while (*path && str_split(&rest, '.', &key))
        if ((at = raw_find(s, at, key)) == SIZE_MAX)
            return 0;
    at = json_skip_blanks(s, at);
    if (at < s.len && s.ptr[at] == '[') {
        at = json_skip_blanks(s, at + 1);
        for (; index; index--) {
            at = json_skip_blanks(s, json_skip_value(s, at));
            if (at >= s.len || s.ptr[at] != ',')
                return 0;
            at = json_skip_blanks(s, at + 1);
        }
    }
    int line = 1;
    for (size_t i = 0; i < at && i < s.len; i++)
        line += s.ptr[i] == '\n';
    return line;
}
