/* Setting top-level strings of a settings file: one value is spliced in or out at a time, every other byte stays. */
#include "base/config_impl.h"

enum { SETTINGS_MAX = 4 << 20 };

/* Where one member stands; CONFIG_NONE: it is not there. before: the end of the member in front of it, or behind the bracket. */
struct member {
    size_t key, value, end, before;
};

static struct member
find_member(struct str s, size_t open, const char *key)
{
    size_t before = open + 1, at = json_skip_blanks(s, open + 1);
    while (at < s.len && s.ptr[at] == '"') {
        size_t key_end = json_skip_string(s, at), value = json_skip_blanks(s, key_end);
        if (value >= s.len || s.ptr[value] != ':')
            break;
        value = json_skip_blanks(s, value + 1);
        size_t end = json_skip_value(s, value), next = json_skip_blanks(s, end);
        if (str_is(str_sub(s, at + 1, key_end - at - 2), key))
            return (struct member){at, value, end, before};
        if (next >= s.len || s.ptr[next] != ',')
            break;
        before = end;
        at = json_skip_blanks(s, next + 1);
    }
    return (struct member){.key = CONFIG_NONE};
}

static void
replace(struct str s, const struct member *m, const char *value, struct buf *out)
{
    buf_add_str(out, str_sub(s, 0, m->value));
    json_quote(out, str_from(value));
    buf_add_str(out, str_sub(s, m->end, s.len));
}

/* Behind the last member, on a line of its own. */
static void
append(struct str s, size_t open, const struct config_pair *p, struct buf *out)
{
    struct config_shape shape = config_shape_at(s, open);
    bool empty = shape.first == CONFIG_NONE;
    size_t at = empty ? open + 1 : shape.last_end;
    buf_add_str(out, str_sub(s, 0, at));
    buf_adds(out, empty ? "\n  " : ",\n  ");
    json_quote(out, str_from(p->key));
    buf_adds(out, ": ");
    json_quote(out, str_from(p->value));
    if (empty)
        buf_addc(out, '\n');
    buf_add_str(out, str_sub(s, empty ? json_skip_blanks(s, at) : at, s.len));
}

static bool
change(struct buf *text, const char *file, const struct config_pair *p, struct err *err)
{
    struct str s = buf_str(text);
    size_t open = json_skip_blanks(s, 0);
    struct member m = find_member(s, open, p->key);
    struct buf out;
    buf_init(&out, SETTINGS_MAX + 1);
    if (m.key != CONFIG_NONE && !p->value)
        config_cut(s, m.before, m.key, m.end, &out);
    else if (m.key != CONFIG_NONE)
        replace(s, &m, p->value, &out);
    else if (p->value)
        append(s, open, p, &out);
    else
        buf_add_str(&out, s);
    struct cJSON *tree = buf_full(&out) ? NULL : json_parse(buf_str(&out), err);
    struct str now = json_str(tree, p->key);
    bool ok = tree && (p->value ? str_is(now, p->value) : json_get(tree, p->key) == NULL);
    json_free(tree);
    if (!ok)
        err_set(err, ERR_INVALID, "'%s' in '%s' cannot be set: mend it by hand", p->key, file);
    buf_release(text);
    *text = out;
    return ok;
}

struct pairs {
    const struct config_pair *v;
    size_t n;
};

static bool
set_all(struct str text, const struct cJSON *tree, const char *file, const void *arg,
        struct buf *out, struct err *err)
{
    const struct pairs *pairs = arg;
    bool ok = true;
    (void)tree; /* of the text before the first of them */
    buf_add_str(out, text);
    for (size_t i = 0; i < pairs->n && ok; i++)
        ok = change(out, file, &pairs->v[i], err);
    return ok;
}

bool
config_set_strings(const char *file, const struct config_pair *pairs, size_t n, struct err *err)
{
    return config_change_file(file, set_all, &(struct pairs){pairs, n}, err);
}
