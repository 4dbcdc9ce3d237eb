#include "model/openai_leak.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* The spellings: what stands before a call (or several) and behind it. A missing end is the answer's end: it is a stop token. */
static const struct mark {
    const char *open, *close;
} marks[] = {
    {"<tool_call>", "</tool_call>"},
    {"<function_call>", "</function_call>"},
    {"<functioncall>", "</functioncall>"},
    {"<tools>", "</tools>"},
    {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"},
    {"<|tool_call_begin|>", "<|tool_call_end|>"},
    {"<|tool_call|>", "<|/tool_call|>"},
    {"<|python_tag|>", "<|eom_id|>"},
    {"[TOOL_CALLS]", "[/TOOL_CALLS]"},
    {"<function=", NULL}, /* has no body of its own: the function is the call */
};
/* A bare object, as some models write it without any mark: only where it is all of the answer. */
static const char *const bare[] = {"{\"name\"",     "{ \"name\"",      "{\n\"name\"",
                                   "{\n  \"name\"", "{\n    \"name\"", "[{\"name\""};

static enum openai_leak
compare(struct str s, const char *word)
{
    size_t n = strlen(word);
    if (memcmp(s.ptr, word, s.len < n ? s.len : n) != 0)
        return OPENAI_LEAK_NO;
    return s.len < n ? OPENAI_LEAK_MAYBE : OPENAI_LEAK_YES;
}

enum openai_leak
openai_leak_begins(struct str s, bool alone)
{
    enum openai_leak best = OPENAI_LEAK_NO;
    if (!s.len)
        return OPENAI_LEAK_MAYBE;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        enum openai_leak l = compare(s, marks[i].open);
        best = l > best ? l : best;
    }
    for (size_t i = 0; alone && i < ARRAY_LEN(bare); i++) {
        enum openai_leak l = compare(s, bare[i]);
        best = l > best ? l : best;
    }
    return best;
}

/* ---- a cursor over the text ---- */

struct cursor {
    struct str s;
    size_t at;
    struct openai_calls *calls;
};

static struct str
rest(const struct cursor *c)
{
    return str_sub(c->s, c->at, c->s.len);
}

static void
blanks(struct cursor *c)
{
    c->at = json_skip_blanks(c->s, c->at);
}

static bool
take(struct cursor *c, const char *word)
{
    if (!word || !str_starts(rest(c), word))
        return false;
    c->at += strlen(word);
    return true;
}

static size_t
find_word(struct str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = str_find(s, word[0], 0); at != (size_t)-1 && at + n <= s.len;
         at = str_find(s, word[0], at + 1))
        if (memcmp(s.ptr + at, word, n) == 0)
            return at;
    return (size_t)-1;
}

/* What stands before `word`, which is taken too. */
static bool
take_until(struct cursor *c, const char *word, struct str *ret)
{
    size_t n = find_word(rest(c), word);
    if (n == (size_t)-1)
        return false;
    *ret = str_sub(c->s, c->at, n);
    c->at += n + strlen(word);
    return true;
}

static bool
add(struct cursor *c, struct str name, struct str input)
{
    struct str meant = openai_offered_name(c->calls->offer, name);
    return meant.ptr && openai_calls_whole(c->calls, meant, input) != NULL;
}

/* ---- JSON ---- */

static struct str
member_of(struct str object, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str v = json_raw_member(object, names[i]);
        if (v.ptr)
            return v;
    }
    return (struct str){0};
}

/* {"name": .., "arguments": {..}}, or that under "function". */
static bool
add_object(struct cursor *c, struct str object, bool need_input)
{
    static const char *const inputs[] = {"arguments", "parameters", "input", "args"};
    struct str inner = json_raw_member(object, "function");
    if (inner.len && inner.ptr[0] == '{')
        object = inner;
    struct str input = member_of(object, inputs, ARRAY_LEN(inputs));
    struct cJSON *tree = json_parse(object, NULL);
    struct str name = json_str(tree, "name");
    if (!name.len)
        name = json_str(tree, "function");
    bool ok = name.len && (input.len || !need_input) &&
              (!input.len || strchr("{\"n", input.ptr[0])) &&
              add(c, name, input.len ? input : STR("{}"));
    json_free(tree);
    return ok;
}

static bool
take_object(struct cursor *c, bool need_input)
{
    size_t end = json_skip_value(c->s, c->at);
    struct str object = str_sub(c->s, c->at, end - c->at);
    c->at = end;
    return object.len && object.ptr[0] == '{' && add_object(c, object, need_input);
}

/* Objects, in an array or one behind the other, with blanks, ';' or ',' between them. */
static bool
take_objects(struct cursor *c, bool need_input)
{
    bool array = take(c, "[");
    for (size_t n = 0;; n++) {
        blanks(c);
        if (array ? take(c, "]") : (c->at >= c->s.len || c->s.ptr[c->at] != '{'))
            return n > 0;
        if (!take_object(c, need_input))
            return false;
        blanks(c);
        if (!take(c, ";"))
            take(c, ",");
    }
}

/* ---- parameters as tags ---- */

/* One line end off each side: they stand between the tags and the value. */
static struct str
value_of(struct str s)
{
    if (s.len && s.ptr[0] == '\n')
        s = str_sub(s, 1, s.len);
    if (s.len && s.ptr[s.len - 1] == '\n')
        s.len--;
    return s;
}

/* By the tool's schema: what it calls a string is one, whatever it looks like. */
static void
write_value(struct cursor *c, struct jw *w, struct str tool, struct str key, struct str value)
{
    struct str type = openai_offer_type(c->calls->offer, tool, key);
    struct cJSON *tree = str_is(type, "string") ? NULL : json_parse(str_trim(value), NULL);
    char *k = str_dup(key);
    if (tree && !json_is_str(tree))
        jw_kraw(w, k, str_trim(value));
    else
        jw_kstr(w, k, value);
    json_free(tree);
    free(k);
}

/* <parameter=key>value</parameter> or <arg_key>key</arg_key><arg_value>value</arg_value>, as many as there are. */
static bool
take_parameters(struct cursor *c, struct str tool, struct buf *ret)
{
    struct jw w;
    struct str key, value;
    jw_init(&w, ret);
    jw_object(&w);
    for (;;) {
        blanks(c);
        if (take(c, "<parameter=")) {
            if (!take_until(c, ">", &key) || !take_until(c, "</parameter>", &value))
                return false;
        } else if (take(c, "<arg_key>")) {
            if (!take_until(c, "</arg_key>", &key))
                return false;
            blanks(c);
            if (!take(c, "<arg_value>") || !take_until(c, "</arg_value>", &value))
                return false;
        } else {
            break;
        }
        write_value(c, &w, tool, str_trim(key), value_of(value));
    }
    jw_end(&w);
    return true;
}

static bool
add_with_parameters(struct cursor *c, struct str name)
{
    struct buf input;
    struct str meant = openai_offered_name(c->calls->offer, name);
    buf_init(&input, BUF_MAX);
    bool ok = meant.ptr && take_parameters(c, meant, &input) && !buf_full(&input) &&
              add(c, meant, buf_str(&input));
    buf_release(&input);
    return ok;
}

/* Behind "<function=": name>{..}</function> or name><parameter=..>..</function>. */
static bool
take_function(struct cursor *c)
{
    struct str name;
    if (!take_until(c, ">", &name))
        return false;
    blanks(c);
    if (c->at < c->s.len && c->s.ptr[c->at] == '{') {
        size_t end = json_skip_value(c->s, c->at);
        struct str input = str_sub(c->s, c->at, end - c->at);
        c->at = end;
        if (!add(c, name, input))
            return false;
    } else if (!add_with_parameters(c, name)) {
        return false;
    }
    blanks(c);
    take(c, "</function>");
    return true;
}

/* ---- names before their input ---- */

/* name{..}, name[ARGS]{..}, functions.name:0<|tool_call_argument_begin|>{..}, or name and tags. */
static bool
take_named(struct cursor *c)
{
    size_t from = c->at, end = c->at;
    while (end < c->s.len && !strchr("{[<\n", c->s.ptr[end]))
        end++;
    struct str name = str_trim(str_sub(c->s, from, end - from)), meant = name;
    size_t colon = str_find(name, ':', 0);
    if (colon != (size_t)-1 && !openai_offered_name(c->calls->offer, name).ptr)
        meant = str_sub(name, 0, colon);
    c->at = end;
    blanks(c);
    if (str_starts(rest(c), "<arg_key>"))
        return add_with_parameters(c, meant);
    if (!take(c, "[ARGS]"))
        take(c, "<|tool_call_argument_begin|>");
    blanks(c);
    if (c->at >= c->s.len || c->s.ptr[c->at] != '{')
        return false;
    end = json_skip_value(c->s, c->at);
    struct str input = str_sub(c->s, c->at, end - c->at);
    c->at = end;
    return add(c, meant, input);
}

/* ---- all of it ---- */

static const struct mark *
take_mark(struct cursor *c)
{
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (take(c, marks[i].open))
            return &marks[i];
    return NULL;
}

/* The ends that may stand behind a call, also those of marks around it. */
static void
take_ends(struct cursor *c)
{
    for (size_t i = 0; i < ARRAY_LEN(marks);) {
        blanks(c);
        i = take(c, marks[i].close) ? 0 : i + 1;
    }
    if (take(c, "<|eot_id|>"))
        blanks(c);
}

static bool
take_call(struct cursor *c)
{
    const struct mark *m = take_mark(c);
    blanks(c);
    if (m && !m->close)
        return take_function(c);
    if (c->at >= c->s.len)
        return false;
    if (c->s.ptr[c->at] == '{' || c->s.ptr[c->at] == '[')
        return take_objects(c, m == NULL);
    if (!m)
        return false;
    /* A mark inside a mark, or the function itself. */
    if (openai_leak_begins(rest(c), false) == OPENAI_LEAK_YES)
        return true;
    return take_named(c);
}

bool
openai_leak_parse(struct str s, struct openai_calls *calls)
{
    struct cursor c = {s, 0, calls};
    size_t before = calls->n;
    bool ok = true;
    for (blanks(&c); ok && c.at < s.len; take_ends(&c)) {
        size_t at = c.at;
        ok = take_call(&c) && c.at > at;
    }
    if (!ok || calls->n == before) {
        openai_calls_keep(calls, before);
        return false;
    }
    return true;
}
