/* A request as the server reads it: the body taken apart by a scanner of its own, the rules of the API, and how many tokens it has. What
 * is the same as in the request before is not looked at again, so that a long conversation costs what is new. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fakes/legal.h"
#include "sim/session.h"

/* ---- tokens ---- */

static bool
is_word(unsigned char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');
}

/* As tokenizers do it, roughly: a word with its blank is one piece, a longer one several, other marks are pieces of their own. Names of
 * one length have one count: what is random in them must not tell in the outcome. */
int64_t
count_tokens(struct str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.len;) {
        unsigned char c = (unsigned char)s.ptr[i];
        size_t from = i;
        if (c == ' ' && i + 1 < s.len && s.ptr[i + 1] != ' ') {
            i++;
            continue;
        }
        if (is_word(c)) {
            while (i < s.len && is_word((unsigned char)s.ptr[i]))
                i++;
            n += (int64_t)(i - from + 4) / 5;
        } else {
            while (i < s.len && (unsigned char)s.ptr[i] == c && i - from < 8)
                i++;
            n++;
        }
    }
    return n;
}

/* ---- the scanner ---- */

/* Behind the closing quote: one with an even number of backslashes before it. */
static size_t
skip_string(struct str s, size_t i)
{
    size_t from = ++i;
    const char *hit;
    while (i < s.len && (hit = memchr(s.ptr + i, '"', s.len - i)) != NULL) {
        size_t at = (size_t)(hit - s.ptr), n = at;
        while (n > from && s.ptr[n - 1] == '\\')
            n--;
        if ((at - n) % 2 == 0)
            return at + 1;
        i = at + 1;
    }
    return s.len;
}

static size_t
skip_value(struct str s, size_t i)
{
    int depth = 0;
    for (; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '"') {
            i = skip_string(s, i) - 1;
            if (depth == 0)
                return i + 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return i;
            if (--depth == 0)
                return i + 1;
        } else if (c == ',' && depth == 0) {
            return i;
        }
    }
    return i;
}

/* The body without its cache marks, which move from request to request. */
static void
copy_without_marks(struct view *v, const struct str *slices, size_t n)
{
    static const char mark[] = ",\"cache_control\":{";
    struct buf all;
    buf_init(&all, BUF_MAX);
    for (size_t i = 0; i < n; i++)
        buf_add_str(&all, slices[i]);
    v->raw_bytes = all.len;
    size_t at = 0;
    const char *hit;
    while (all.data && (hit = memmem(all.data + at, all.len - at, mark, sizeof mark - 1)) != NULL) {
        size_t from = (size_t)(hit - all.data);
        buf_add(&v->body, all.data + at, from - at);
        at = skip_value(buf_str(&all), from + sizeof mark - 2);
        v->marks++;
    }
    if (all.data)
        buf_add(&v->body, all.data + at, all.len - at);
    buf_release(&all);
}

static void
find_messages(struct view *v, size_t from)
{
    struct str s = buf_str(&v->body);
    for (size_t i = from + 1; i < s.len && s.ptr[i] != ']';) {
        size_t end = skip_value(s, i);
        ARRAY_GROW(v->msgs, v->n, v->cap);
        v->msgs[v->n++] = (struct sim_message){.from = i, .len = end - i};
        i = end + (end < s.len && s.ptr[end] == ',');
    }
}

static bool
take_member(struct view *v, struct str key, size_t from, size_t to)
{
    struct str value = str_sub(buf_str(&v->body), from, to - from);
    if (str_is(key, "messages")) {
        find_messages(v, from);
    } else if (str_is(key, "system")) {
        v->system = value;
    } else if (str_is(key, "tools")) {
        v->tools = value;
        v->has_tools = value.len > 2;
    } else if (str_is(key, "model")) {
        struct str name = str_sub(value, 1, value.len - 2);
        snprintf(v->model, sizeof v->model, "%.*s", (int)name.len, name.ptr);
    } else if (str_is(key, "max_tokens")) {
        v->max_tokens = atoi(value.ptr);
    } else if (str_is(key, "context_management")) {
        v->edits_context = true;
    }
    return true;
}

static const char *
take_apart(struct view *v)
{
    struct str s = buf_str(&v->body);
    if (s.len < 2 || s.ptr[0] != '{' || s.ptr[s.len - 1] != '}')
        return "the body is no JSON object";
    for (size_t i = 1; i < s.len && s.ptr[i] != '}';) {
        if (s.ptr[i] != '"')
            return "the body has no key where one belongs";
        size_t end = skip_string(s, i);
        struct str key = str_sub(s, i + 1, end - i - 2);
        if (end >= s.len || s.ptr[end] != ':')
            return "a key of the body has no value";
        size_t to = skip_value(s, end + 1);
        take_member(v, key, end + 1, to);
        i = to + (to < s.len && s.ptr[to] == ',');
    }
    return NULL;
}

/* ---- messages ---- */

static void
find_tags(struct sim_message *m, struct str text)
{
    for (size_t i = 0; i + 3 < text.len; i++) {
        if (text.ptr[i] != '[' || text.ptr[i + 1] != 'm')
            continue;
        unsigned tag = 0;
        size_t k = i + 2;
        while (k < text.len && text.ptr[k] >= '0' && text.ptr[k] <= '9')
            tag = tag * 10 + (unsigned)(text.ptr[k++] - '0');
        if (k == i + 2 || k >= text.len || text.ptr[k] != ']')
            continue;
        m->tags = xreallocarray(m->tags, m->n_tags + 1, sizeof *m->tags);
        m->tags[m->n_tags++] = tag;
    }
}

static void
look_at(struct sim_message *m)
{
    for (size_t i = 0; i < m->m->n_blocks; i++) {
        const struct block *b = &m->m->blocks[i];
        if (b->kind == BLOCK_TEXT && m->m->role == ROLE_USER)
            find_tags(m, b->text);
        if (b->kind == BLOCK_TOOL_RESULT)
            m->result_tokens += count_tokens(b->raw);
    }
}

static void
free_message(struct sim_message *m)
{
    message_free(m->m);
    free(m->tags);
    *m = (struct sim_message){0};
}

static const char *
read_messages(struct view *v, struct view *before)
{
    bool same = true;
    for (size_t i = 0; i < v->n; i++) {
        struct sim_message *m = &v->msgs[i], *old = i < before->n ? &before->msgs[i] : NULL;
        struct str json = str_sub(buf_str(&v->body), m->from, m->len);
        if (old && old->m && old->len == m->len &&
            memcmp(before->body.data + old->from, json.ptr, m->len) == 0) {
            size_t from = m->from;
            *m = *old;
            m->from = from;
            *old = (struct sim_message){0};
            v->same += same;
            continue;
        }
        same = false;
        struct err err = {0};
        m->m = message_parse(json, &err);
        if (!m->m)
            return "a message cannot be read";
        m->tokens = count_tokens(json) + 4;
        look_at(m);
    }
    return NULL;
}

static const char *
check_messages(const struct view *v)
{
    const struct message **list = xcalloc(v->n + 1, sizeof *list);
    for (size_t i = 0; i < v->n; i++)
        list[i] = v->msgs[i].m;
    const char *why = legal_check_from(list, v->n, v->same > 2 ? v->same - 2 : 0);
    free(list);
    return why;
}

static void
count_all(struct view *v, const struct view *before)
{
    bool same_head =
        before->head_tokens && str_eq(before->system, v->system) && str_eq(before->tools, v->tools);
    v->head_tokens =
        same_head ? before->head_tokens : count_tokens(v->system) + count_tokens(v->tools) + 10;
    v->tokens = v->head_tokens;
    for (size_t i = 0; i < v->n; i++)
        v->tokens += v->msgs[i].tokens;
}

const char *
view_read(struct view *v, const struct str *slices, size_t n, struct view *before)
{
    buf_init(&v->body, BUF_MAX);
    copy_without_marks(v, slices, n);
    const char *why = take_apart(v);
    if (!why)
        why = read_messages(v, before);
    if (!why && !v->n)
        why = "no messages";
    if (!why)
        why = check_messages(v);
    if (!why && v->marks > 4)
        why = "more than four cache marks";
    count_all(v, before);
    return why;
}

bool
view_has_tag(const struct view *v, unsigned tag)
{
    for (size_t i = v->n; i > 0; i--)
        for (size_t k = 0; k < v->msgs[i - 1].n_tags; k++)
            if (v->msgs[i - 1].tags[k] == tag)
                return true;
    return false;
}

void
view_release(struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        free_message(&v->msgs[i]);
    free(v->msgs);
    buf_release(&v->body);
    *v = (struct view){0};
}
