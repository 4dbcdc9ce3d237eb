/* Changing a settings file: one element of a list is spliced into the text or out of it, so that formatting, unknown keys and whatever
 * was edited by hand a moment ago stay byte for byte. */
#include "base/config.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/config_impl.h"
#include "base/fs.h"

enum { LOCK_TIMEOUT_MS = 10000, FILE_MAX = 4 << 20 };

/* ---- the file ---- */

static bool
read_fresh(const char *file, struct buf *text, struct cJSON **ret, struct err *err)
{
    bool found;
    if (!fs_read_if(file, FILE_MAX, text, &found, err))
        return false;
    if (str_starts(buf_str(text), "\xEF\xBB\xBF"))
        buf_remove_front(text, 3);
    if (str_trim(buf_str(text)).len == 0) {
        buf_clear(text);
        buf_adds(text, "{}\n");
    }
    *ret = json_parse(buf_str(text), err);
    if (*ret && !json_is_object(*ret)) {
        json_free(*ret);
        *ret = NULL;
        err_set(err, ERR_PARSE, "settings must be a JSON object");
    }
    return *ret || err_wrap(err, "'%s' is left as it is", file);
}

static bool
change_locked(const char *file, config_change_fn change, const void *arg, struct err *err)
{
    struct buf text, out;
    struct cJSON *tree = NULL;
    buf_init(&text, FILE_MAX + 1);
    buf_init(&out, BUF_MAX);
    bool ok = read_fresh(file, &text, &tree, err) &&
              change(buf_str(&text), tree, file, arg, &out, err) &&
              (!out.len || fs_write_atomic(file, buf_str(&out), 0600, err));
    json_free(tree);
    buf_release(&text);
    buf_release(&out);
    return ok;
}

bool
config_change_file(const char *file, config_change_fn change, const void *arg, struct err *err)
{
    /* The lock is a file beside it, for each write puts a new file in its place. */
    char *dir = fs_dirname(file), *lock = fs_join(dir, ".settings.lock");
    bool ok = fs_mkdirs(dir, 0700, err);
    if (ok) {
        int fd = fs_lock(lock, LOCK_TIMEOUT_MS, err);
        ok = fd >= 0 && change_locked(file, change, arg, err);
        fs_unlock(lock, fd);
    }
    free(lock);
    free(dir);
    return ok;
}

/* ---- lists ---- */

struct element {
    const char *path, *value;
};

static bool
has_value(const struct cJSON *list, const char *value)
{
    for (const struct cJSON *e = json_first(list); e; e = json_next(e))
        if (str_is(json_value_str(e), value))
            return true;
    return false;
}

static void
indent(struct buf *out, size_t depth)
{
    buf_addf(out, "\n%*s", (int)(depth * 2), "");
}

/* `"a": {"b": ["value"]}` for what is missing of the path, or the value alone when nothing is. */
static void
add_item(struct buf *out, struct str missing, size_t depth, const char *value)
{
    struct str key;
    size_t opened = 0;
    char close[16];
    while (str_split(&missing, '.', &key) && opened < sizeof close) {
        json_quote(out, key);
        close[opened] = missing.ptr ? '}' : ']';
        buf_adds(out, missing.ptr ? ": {" : ": [");
        indent(out, depth + ++opened);
    }
    json_quote(out, str_from(value));
    while (opened) {
        indent(out, depth + --opened);
        buf_addc(out, close[opened]);
    }
}

/* Puts the item behind the last one of the container at `open`, spaced as the first one is. */
static void
splice(struct str text, size_t open, struct str missing, size_t depth, const char *value,
       struct buf *out)
{
    struct config_shape shape = config_shape_at(text, open);
    if (shape.first == CONFIG_NONE) {
        buf_add_str(out, str_sub(text, 0, open + 1));
        indent(out, depth);
        add_item(out, missing, depth, value);
        indent(out, depth - 1);
    } else {
        buf_add_str(out, str_sub(text, 0, shape.last_end));
        buf_addc(out, ',');
        buf_add_str(out, str_sub(text, open + 1, shape.first - open - 1));
        add_item(out, missing, depth, value);
        buf_add_str(out, str_sub(text, shape.last_end, shape.close - shape.last_end));
    }
    buf_add_str(out, str_sub(text, shape.close, text.len));
}

/* The deepest container on the path that stands in the text, and what is missing below it. */
static bool
edit(struct str text, const char *file, const char *path, const char *value, struct buf *out,
     struct err *err)
{
    struct str missing = str_from(path), rest = missing, key;
    size_t at = config_find_path(text, ""), depth = 1;
    while (str_split(&rest, '.', &key)) {
        size_t next = config_find_member(text, at, key);
        if (next == CONFIG_NONE)
            break;
        char want = rest.ptr ? '{' : '[';
        if (text.ptr[next] != want)
            return err_set(err, ERR_INVALID, "'%.*s' in '%s' is not %s: mend it by hand",
                           (int)(key.ptr + key.len - path), path, file,
                           want == '{' ? "an object" : "a list");
        at = next;
        missing = rest;
        depth++;
    }
    splice(text, at, missing, depth, value, out);
    return true;
}

/* The scanner compares keys as written; this makes sure that what comes out means what was meant. */
static bool
verify(struct str text, const char *file, const char *path, const char *value, struct err *err)
{
    struct cJSON *tree = json_parse(text, err);
    bool ok = tree && has_value(json_at(tree, path), value);
    if (tree && !ok)
        err_set(err, ERR_INVALID, "the result would lack the new element");
    json_free(tree);
    return ok || err_wrap(err, "cannot add to '%s' in '%s'", path, file);
}

static bool
add_value(struct str text, const struct cJSON *tree, const char *file, const void *arg,
          struct buf *out, struct err *err)
{
    const struct element *e = arg;
    return has_value(json_at(tree, e->path), e->value) ||
           (edit(text, file, e->path, e->value, out, err) &&
            verify(buf_str(out), file, e->path, e->value, err));
}

void
config_cut(struct str text, size_t before, size_t from, size_t end, struct buf *out)
{
    size_t next = json_skip_blanks(text, end);
    bool more = next < text.len && text.ptr[next] == ',';
    buf_add_str(out, str_sub(text, 0, more ? from : before));
    size_t rest = more ? json_skip_blanks(text, next + 1) : end;
    buf_add_str(out, str_sub(text, rest, text.len));
}

static bool
remove_value(struct str text, const struct cJSON *tree, const char *file, const void *arg,
             struct buf *out, struct err *err)
{
    const struct element *gone = arg;
    const char *path = gone->path, *value = gone->value;
    const struct cJSON *list = json_at(tree, path);
    if (!json_is_array(list) || !has_value(list, value))
        return err_set(err, ERR_INVALID, "'%s' is not in '%s' of '%s'", value, path, file);
    size_t open = config_find_path(text, path), before = open + 1;
    size_t at = json_skip_blanks(text, open + 1);
    for (const struct cJSON *e = json_first(list); e; e = json_next(e)) {
        if (str_is(json_value_str(e), value)) {
            config_cut(text, before, at, json_skip_value(text, at), out);
            break;
        }
        before = json_skip_value(text, at);
        at = json_skip_blanks(text, json_skip_blanks(text, before) + 1);
    }
    struct cJSON *after = json_parse(buf_str(out), err);
    bool ok = after && json_len(json_at(after, path)) + 1 == json_len(list);
    if (after && !ok)
        err_set(err, ERR_INVALID, "'%s' in '%s' could not be cut out: mend it by hand", value,
                file);
    json_free(after);
    return ok;
}

bool
config_add_to_list(const char *file, const char *path, const char *value, struct err *err)
{
    return config_change_file(file, add_value, &(struct element){path, value}, err);
}

bool
config_remove_from_list(const char *file, const char *path, const char *value, struct err *err)
{
    return config_change_file(file, remove_value, &(struct element){path, value}, err);
}
