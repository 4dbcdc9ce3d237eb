#include "model/openai_input.h"

#include "base/json.h"

/* A string in a string in a string: deeper is no accident of encoding. */
#define UNQUOTE_MAX 3

void
openai_input_init(struct openai_input *in)
{
    *in = (struct openai_input){0};
    buf_init(&in->joined, BUF_MAX);
}

void
openai_input_release(struct openai_input *in)
{
    buf_release(&in->joined);
}

static void
scan_byte(struct openai_input *in, char c)
{
    if (in->in_string) {
        in->in_string = in->escaped || c != '"';
        in->escaped = !in->escaped && c == '\\';
    } else if (c == '"') {
        in->in_string = in->has_member = true;
    } else if (c == '{' || c == '[') {
        in->depth++;
    } else if ((c == '}' || c == ']') && in->depth && --in->depth == 0) {
        in->closed = in->scanned + 1;
    }
}

static void
scan(struct openai_input *in)
{
    struct str s = buf_str(&in->joined);
    if (!in->is_object) {
        in->scanned = json_skip_blanks(s, in->scanned);
        in->is_object = in->scanned < s.len && s.ptr[in->scanned] == '{';
    }
    for (; in->is_object && !in->closed && in->scanned < s.len; in->scanned++)
        scan_byte(in, s.ptr[in->scanned]);
}

void
openai_input_add(struct openai_input *in, struct str piece)
{
    if (!piece.len)
        return;
    in->last = in->joined.len;
    buf_add_str(&in->joined, piece);
    if (in->n_pieces++ == 0)
        in->first = piece.len;
    scan(in);
}

static bool
is_object(struct str s)
{
    s = str_trim(s);
    if (!s.len || s.ptr[0] != '{' || s.ptr[s.len - 1] != '}')
        return false;
    struct cJSON *tree = json_parse(s, NULL);
    bool ok = json_is_object(tree);
    json_free(tree);
    return ok;
}

bool
openai_input_is_whole(const struct openai_input *in)
{
    struct str s = buf_str(&in->joined);
    return in->closed && json_skip_blanks(s, in->closed) == s.len;
}

struct str
openai_input_plain(const struct openai_input *in, size_t from)
{
    if (!in->is_object || !in->has_member)
        return STR("");
    size_t end = in->closed ? in->closed : in->joined.len;
    return from < end ? str_sub(buf_str(&in->joined), from, end - from) : STR("");
}

static bool
is_nothing(struct str s)
{
    s = str_trim(s);
    return !s.len || str_is(s, "null") || str_is(s, "[]") || str_is(s, "\"\"");
}

/* Objects one behind the other: the last that says something. The first may be a {} that stood in, the last a repeat. */
static bool
last_of_many(struct str s, struct str *ret)
{
    struct str found = {0};
    for (size_t at = json_skip_blanks(s, 0); at < s.len; at = json_skip_blanks(s, at)) {
        size_t end = json_skip_value(s, at);
        struct str one = str_sub(s, at, end - at);
        if (end <= at || !is_object(one))
            return false;
        if (!found.ptr || json_skip_blanks(one, 1) + 1 < one.len)
            found = one;
        at = end;
    }
    *ret = found;
    return found.ptr != NULL;
}

/* Each piece held all that had come so far: the last one is the input. */
static bool
grew_with_each(const struct openai_input *in, struct str *ret)
{
    struct str all = buf_str(&in->joined), last = str_sub(all, in->last, all.len);
    struct str first = str_sub(all, 0, in->first);
    if (in->n_pieces < 2 || last.len < first.len || !str_eq(str_sub(last, 0, first.len), first) ||
        !is_object(last))
        return false;
    *ret = last;
    return true;
}

static enum openai_input_state
settle(const struct openai_input *in, struct str s, int depth, struct buf *ret)
{
    struct str one;
    s = str_trim(s);
    if (is_nothing(s)) {
        buf_adds(ret, "{}");
        return OPENAI_INPUT_EMPTY;
    }
    if (is_object(s)) {
        buf_add_str(ret, s);
        return OPENAI_INPUT_OBJECT;
    }
    if (s.ptr[0] == '"' && depth < UNQUOTE_MAX) {
        struct cJSON *tree = json_parse(str_sub(s, 0, json_skip_string(s, 0)), NULL);
        enum openai_input_state state = OPENAI_INPUT_BROKEN;
        if (json_is_str(tree))
            state = settle(NULL, json_value_str(tree), depth + 1, ret);
        json_free(tree);
        return state;
    }
    if (last_of_many(s, &one) || (in && grew_with_each(in, &one))) {
        buf_add_str(ret, str_trim(one));
        return OPENAI_INPUT_OBJECT;
    }
    return OPENAI_INPUT_BROKEN;
}

enum openai_input_state
openai_input_settle(const struct openai_input *in, struct buf *ret)
{
    size_t before = ret->len;
    enum openai_input_state state = settle(in, buf_str(&in->joined), 0, ret);
    if (state == OPENAI_INPUT_BROKEN) {
        buf_truncate(ret, before);
        buf_add_str(ret, buf_str(&in->joined));
    }
    return state;
}
