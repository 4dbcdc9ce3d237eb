/* What a search is asked with, a line for each of its words, in the place of its JSON. */
#include <string.h>

#include "base/json.h"
#include "ui/approval_parts.h"

#define KEY_MAX 16
#define LOOKED_MAX ((size_t)8 << 10) /* bytes of an input that is looked into */

/* Short, and on one line: a value must not be able to draw a line that looks like another key. */
static bool
is_plain(const struct cJSON *v)
{
    struct str s = json_value_str(v);
    return json_is_bool(v) || json_is_num(v) || (json_is_str(v) && !memchr(s.ptr, '\n', s.len));
}

static void
add_value(struct buf *out, const struct cJSON *v)
{
    if (json_is_str(v))
        buf_add_str(out, json_value_str(v));
    else
        json_print(v, out);
}

bool
search_lines(struct buf *out, struct str tool, struct str input)
{
    struct err err;
    if ((!str_is(tool, "Grep") && !str_is(tool, "Glob")) || input.len > LOOKED_MAX)
        return false;
    struct cJSON *tree = json_parse(input, &err);
    bool plain = json_is_object(tree) && json_first(tree);
    int wide = 0;
    for (const struct cJSON *m = json_first(tree); m && plain; m = json_next(m)) {
        int n = (int)strlen(json_key(m));
        plain = is_plain(m) && n <= KEY_MAX && !strchr(json_key(m), '\n');
        wide = n > wide ? n : wide;
    }
    for (const struct cJSON *m = json_first(tree); m && plain; m = json_next(m)) {
        buf_addf(out, "%s%-*s ", out->len ? "\n" : "", wide, json_key(m));
        add_value(out, m);
    }
    json_free(tree);
    return plain;
}
