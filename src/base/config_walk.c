/* Text that json_parse accepted, walked by its bytes: for line numbers, and for edits that leave every other byte as it
 * is. Keys are compared as written; one that is spelled with escapes is not found, and nothing is done to its file. */
#include "base/config_impl.h"

/* From the end of one member to the beginning of the next; the closing bracket or the end when there is none. */
static size_t
next_item(struct str s, size_t at)
{
    at = json_skip_blanks(s, at);
    return at < s.len && s.ptr[at] == ',' ? json_skip_blanks(s, at + 1) : at;
}

static bool
at_end(struct str s, size_t at)
{
    return at >= s.len || s.ptr[at] == '}' || s.ptr[at] == ']';
}

/* The value behind a key that begins at `at`. */
static size_t
value_of_key(struct str s, size_t at)
{
    at = json_skip_blanks(s, json_skip_string(s, at));
    return at < s.len && s.ptr[at] == ':' ? json_skip_blanks(s, at + 1) : s.len;
}

size_t
config_find_member(struct str s, size_t object, struct str key)
{
    if (object >= s.len || s.ptr[object] != '{')
        return CONFIG_NONE;
    for (size_t at = json_skip_blanks(s, object + 1); !at_end(s, at);) {
        size_t value = value_of_key(s, at), end = json_skip_string(s, at);
        if (value >= s.len)
            break;
        if (end >= at + 2 && str_eq(str_sub(s, at + 1, end - at - 2), key))
            return value;
        at = next_item(s, json_skip_value(s, value));
    }
    return CONFIG_NONE;
}

size_t
config_find_path(struct str s, const char *path)
{
    struct str rest = *path ? str_from(path) : (struct str){0}, key;
    size_t at = json_skip_blanks(s, 0);
    while (at != CONFIG_NONE && str_split(&rest, '.', &key))
        at = config_find_member(s, at, key);
    return at;
}

struct config_shape
config_shape_at(struct str s, size_t open)
{
    struct config_shape shape = {open, CONFIG_NONE, CONFIG_NONE, CONFIG_NONE};
    bool object = s.ptr[open] == '{';
    size_t at = json_skip_blanks(s, open + 1);
    while (!at_end(s, at)) {
        if (shape.first == CONFIG_NONE)
            shape.first = at;
        size_t value = object ? value_of_key(s, at) : at;
        shape.last_end = json_skip_value(s, value);
        at = next_item(s, shape.last_end);
    }
    shape.close = at;
    return shape;
}

struct config_lines
config_lines_of(struct str s, const char *path)
{
    struct config_lines l = {.s = s, .line = 1};
    size_t at = config_find_path(s, path);
    l.at =
        at != CONFIG_NONE && at < s.len && s.ptr[at] == '[' ? json_skip_blanks(s, at + 1) : s.len;
    return l;
}

int
config_next_line(struct config_lines *l)
{
    if (at_end(l->s, l->at))
        return 0;
    for (; l->counted < l->at; l->counted++)
        l->line += l->s.ptr[l->counted] == '\n';
    l->at = next_item(l->s, json_skip_value(l->s, l->at));
    return l->line;
}
