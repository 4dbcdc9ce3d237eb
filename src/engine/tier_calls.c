/* The calls of a view: which result answers which tool_use, and what file it is about. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/tier_private.h"

/* ---- inputs ---- */

static char *
string_member(struct str input, const char *key)
{
    struct str raw = json_raw_member(input, key);
    if (raw.len < 2 || raw.ptr[0] != '"')
        return NULL;
    if (!memchr(raw.ptr, '\\', raw.len))
        return str_dup(str_sub(raw, 1, raw.len - 2));
    struct cJSON *t = json_parse(raw, NULL);
    struct str s = json_value_str(t);
    char *out = s.ptr ? str_dup(s) : NULL;
    json_free(t);
    return out;
}

static int64_t
int_member(struct str input, const char *key, int64_t fallback)
{
    struct str raw = json_raw_member(input, key);
    char digits[24];
    if (!raw.len || raw.len >= sizeof digits ||
        (raw.ptr[0] != '-' && (raw.ptr[0] < '0' || raw.ptr[0] > '9')))
        return fallback;
    memcpy(digits, raw.ptr, raw.len);
    digits[raw.len] = '\0';
    return strtoll(digits, NULL, 10);
}

static void
fill_file(struct tier_call *c, struct str input)
{
    c->reads = str_is(c->name, "Read");
    c->edits = str_is(c->name, "Edit") || str_is(c->name, "Write") ||
               str_is(c->name, "MultiEdit") || str_is(c->name, "NotebookEdit");
    if (!c->reads && !c->edits)
        return;
    c->path = string_member(input, "file_path");
    c->first = int_member(input, "offset", 1);
    if (c->first < 1)
        c->first = 1;
    int64_t limit = int_member(input, "limit", 0);
    c->last = limit > 0 && limit < INT64_MAX - c->first ? c->first + limit - 1 : INT64_MAX;
}

/* ---- pairing ---- */

static const struct block *
find_use(const struct message *a, struct str id, size_t *ret)
{
    for (size_t i = 0; i < a->n_blocks; i++) {
        if (a->blocks[i].kind != BLOCK_TOOL_USE || !str_eq(a->blocks[i].id, id))
            continue;
        *ret = i;
        return &a->blocks[i];
    }
    return NULL;
}

/* Results stand in the order of their calls nearly always: the search goes on from the last one found. */
static void
add_call(const struct tier_view *v, size_t at, size_t block, struct tier_calls *ret)
{
    const struct message *m = v->messages[at];
    const struct block *res = &m->blocks[block];
    size_t use;
    const struct block *u = find_use(v->messages[at - 1], res->id, &use);
    if (!u)
        return;
    ARRAY_GROW(ret->list, ret->n, ret->cap);
    struct tier_call *c = &ret->list[ret->n++];
    *c = (struct tier_call){
        .use_at = at - 1,
        .use = use,
        .result_at = at,
        .result = block,
        .name = u->name,
        .digest = str_hash_more(str_hash_more(str_hash(u->name), STR("\n")), u->input),
        .bytes = res->raw.len,
        .failed = res->is_error,
        .image = res->raw.len > 4096 && res->text.len < res->raw.len / 2};
    fill_file(c, u->input);
}

void
tier_calls_read(const struct tier_view *v, size_t end, struct tier_calls *ret)
{
    for (size_t i = 1; i < end && i < v->n; i++) {
        const struct message *m = v->messages[i];
        if (m->role != ROLE_USER || v->messages[i - 1]->role != ROLE_ASSISTANT)
            continue;
        for (size_t k = 0; k < m->n_blocks; k++)
            if (m->blocks[k].kind == BLOCK_TOOL_RESULT)
                add_call(v, i, k, ret);
    }
}

void
tier_calls_release(struct tier_calls *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].path);
    free(c->list);
    *c = (struct tier_calls){0};
}

/* ---- pins ---- */

/* A fact that was never typed in a prompt stands in a reminder. */
static bool
holds_fact(const struct message *m, const char *fact)
{
    for (size_t k = 0; m->role == ROLE_USER && k < m->n_blocks; k++)
        if (m->blocks[k].kind == BLOCK_TEXT && str_contains(m->blocks[k].text, str_from(fact)))
            return true;
    return false;
}

bool
tier_message_is_pinned(const struct tier_view *v, const struct message *m)
{
    for (size_t i = 0; i < v->n_pins; i++) {
        const struct tier_pin *p = &v->pins[i];
        if ((p->uuid[0] && strcmp(p->uuid, m->uuid) == 0) || (p->fact && holds_fact(m, p->fact)))
            return true;
    }
    return false;
}

/* A call may name the file from the working folder. */
static bool
is_file(const char *pin, const char *path)
{
    while (str_starts(str_from(path), "./"))
        path += 2;
    size_t a = strlen(pin), b = strlen(path);
    return b && b <= a && strcmp(pin + a - b, path) == 0 && (a == b || pin[a - b - 1] == '/');
}

bool
tier_call_is_pinned(const struct tier_view *v, const struct tier_call *c)
{
    if (!v->n_pins)
        return false;
    if (tier_message_is_pinned(v, v->messages[c->use_at]) ||
        tier_message_is_pinned(v, v->messages[c->result_at]))
        return true;
    for (size_t i = 0; i < v->n_pins; i++)
        if (v->pins[i].path && c->path && is_file(v->pins[i].path, c->path))
            return true;
    return false;
}

/* ---- names ---- */

/* One line of at most max bytes, the middle left out. */
static void
add_short(struct buf *out, struct str s, size_t max)
{
    size_t half = max / 2 - 2, tail = s.len - half;
    if (s.len > max) {
        while (half > 0 && ((unsigned char)s.ptr[half] & 0xC0) == 0x80)
            half--;
        while (tail < s.len && ((unsigned char)s.ptr[tail] & 0xC0) == 0x80)
            tail++;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.len > max && i == half) {
            buf_adds(out, "...");
            i = tail;
        }
        if (i < s.len)
            buf_addc(out, (unsigned char)s.ptr[i] < ' ' ? ' ' : s.ptr[i]);
    }
}

void
tier_call_name(const struct tier_view *v, const struct tier_call *c, size_t max, struct buf *out)
{
    static const char *const keys[] = {"file_path", "command", "pattern", "path",
                                       "url",       "query",   "prompt"};
    struct str input = v->messages[c->use_at]->blocks[c->use].input;
    add_short(out, c->name, 64);
    char *value = NULL;
    for (size_t i = 0; i < ARRAY_LEN(keys) && !value; i++)
        value = string_member(input, keys[i]);
    if (value && value[0]) {
        buf_addc(out, ' ');
        add_short(out, str_from(value), max);
    }
    free(value);
    if (c->reads && c->last != INT64_MAX)
        buf_addf(out, ", lines %lld-%lld", (long long)c->first, (long long)c->last);
    else if (c->reads && c->first > 1)
        buf_addf(out, ", from line %lld", (long long)c->first);
}
