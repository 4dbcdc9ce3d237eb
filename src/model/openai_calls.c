#include "model/openai_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"

#define NAME_MAX_BYTES 1024
#define ID_MAX_BYTES 1024
/* What every server takes back: OpenAI's own limit. One that the server chose may be longer. */
#define MINTED_HEX 24
#define ID_LEGAL_MAX 64

void
openai_calls_init(struct openai_calls *c, const struct openai_offer *offer)
{
    *c = (struct openai_calls){.offer = offer};
}

void
openai_calls_keep(struct openai_calls *c, size_t n)
{
    while (c->n > n) {
        struct openai_call *call = c->calls[--c->n];
        buf_release(&call->wire_id);
        buf_release(&call->name);
        openai_input_release(&call->input);
        free(call);
    }
}

void
openai_calls_release(struct openai_calls *c)
{
    openai_calls_keep(c, 0);
    free(c->calls);
    *c = (struct openai_calls){0};
}

/* ---- names ---- */

/* "functions.Read", "default_api:Read", "Read<|channel|>commentary", " Read ". */
struct str
openai_offered_name(const struct openai_offer *o, struct str name)
{
    name = str_trim(name);
    if (openai_offers(o, name))
        return name;
    for (size_t i = 0; i + 1 < name.len; i++)
        if (name.ptr[i] == '<' && name.ptr[i + 1] == '|')
            name = str_trim(str_sub(name, 0, i));
    if (openai_offers(o, name))
        return name;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        struct str rest = str_sub(name, i + 1, name.len);
        if ((c == '.' || c == ':' || c == '/') && openai_offers(o, rest))
            return rest;
    }
    return (struct str){0};
}

static bool
begins_an_offered_name(const struct openai_offer *o, struct str a, struct str b)
{
    for (const struct cJSON *n = json_first(o->tools); n; n = json_next(n)) {
        struct str t = json_str(n, "name");
        if (t.len >= a.len + b.len && str_eq(str_sub(t, 0, a.len), a) &&
            str_eq(str_sub(t, a.len, b.len), b))
            return true;
    }
    return false;
}

/* ---- ids ---- */

static bool
is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool
is_legal_id(struct str id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!is_word_byte(id.ptr[i]))
            return false;
    return id.len > 0 && id.len <= ID_LEGAL_MAX;
}

static bool
is_used_id(const struct openai_calls *c, struct str id)
{
    if (c->offer->ids && str_set_has(c->offer->ids, id))
        return true;
    for (size_t i = 0; i < c->n; i++)
        if (str_is(id, c->calls[i]->id))
            return true;
    return false;
}

static void
mint_id(struct openai_call *call)
{
    char uuid[UUID_LEN + 1], hex[MINTED_HEX + 1] = "";
    size_t n = 0;
    uuid_make(uuid);
    /* From the end: the beginning of some uuids is a clock. */
    for (size_t i = UUID_LEN; i > 0 && n < MINTED_HEX; i--)
        if (uuid[i - 1] != '-')
            hex[n++] = uuid[i - 1];
    snprintf(call->id, sizeof call->id, "call_%s", hex);
}

void
openai_calls_name(struct openai_calls *c, struct openai_call *call)
{
    struct str meant = openai_offered_name(c->offer, buf_str(&call->name));
    if (call->id[0])
        return;
    if (meant.ptr) {
        char *copy = str_dup(meant);
        buf_clear(&call->name);
        buf_adds(&call->name, copy);
        free(copy);
    }
    /* A name that nobody offered is answered by the engine; it must be one that may go back. */
    if (call->name.len > ID_LEGAL_MAX)
        buf_truncate(&call->name, ID_LEGAL_MAX);
    for (size_t i = 0; i < call->name.len; i++)
        if (!is_word_byte(call->name.data[i]))
            call->name.data[i] = '_';
    if (!call->name.len)
        buf_adds(&call->name, "tool_without_a_name");
    if (is_legal_id(buf_str(&call->wire_id)) && !is_used_id(c, buf_str(&call->wire_id)))
        snprintf(call->id, sizeof call->id, "%s", buf_cstr(&call->wire_id));
    else
        mint_id(call);
}

/* ---- which call an item belongs to ---- */

struct item {
    bool has_index;
    int64_t index;
    struct str id, name, args;
};

static struct openai_call *
begin(struct openai_calls *c, const struct item *it)
{
    if (c->n >= OPENAI_CALLS_MAX) {
        c->overflow = true;
        return NULL;
    }
    ARRAY_GROW(c->calls, c->n, c->cap);
    struct openai_call *call = xcalloc(1, sizeof *call);
    c->calls[c->n++] = call;
    call->has_index = it->has_index;
    call->index = it->index;
    call->block = -1;
    buf_init(&call->wire_id, ID_MAX_BYTES);
    buf_init(&call->name, NAME_MAX_BYTES);
    openai_input_init(&call->input);
    buf_add_str(&call->wire_id, it->id);
    buf_add_str(&call->name, it->name);
    return call;
}

static struct openai_call *
by_id(const struct openai_calls *c, const struct item *it)
{
    for (size_t i = c->n; it->id.len && i-- > 0;) {
        struct openai_call *call = c->calls[i];
        bool same_place = !it->has_index || !call->has_index || it->index == call->index;
        if (same_place && str_eq(buf_str(&call->wire_id), it->id))
            return call;
    }
    return NULL;
}

static struct openai_call *
by_index(const struct openai_calls *c, int64_t index)
{
    for (size_t i = c->n; i-- > 0;)
        if (c->calls[i]->has_index && c->calls[i]->index == index)
            return c->calls[i];
    return NULL;
}

/* The item stands where `call` stood (same index, or no index at all) but does not bear its id. Does another call begin? */
static bool
begins_another(const struct openai_calls *c, const struct openai_call *call, const struct item *it)
{
    struct str name = buf_str(&call->name);
    bool unbegun = call->input.n_pieces == 0;
    bool new_id = it->id.len && call->wire_id.len;
    if (!it->name.len)
        return false; /* what has no name goes on with what has one, whatever its id */
    if (!name.len)
        return false; /* the name came late */
    if (str_eq(name, it->name)) {
        if (openai_input_is_whole(
                &call->input)) /* the same once more is a repeat, unless it bears an id of its own */
            return new_id ||
                   !(str_eq(str_trim(it->args), buf_str(&call->input.joined)) || !it->args.len);
        return unbegun && new_id && !it->has_index;
    }
    if (unbegun && begins_an_offered_name(c->offer, name, it->name) &&
        !openai_offers(c->offer, it->name))
        return false; /* a name in pieces */
    return true;
}

static struct openai_call *
find(struct openai_calls *c, const struct item *it, size_t at, size_t of)
{
    struct openai_call *call = by_id(c, it);
    if (call)
        return call;
    if (it->has_index)
        call = by_index(c, it->index);
    else if (of > 1 && !it->name.len)
        call = at < c->n ? c->calls[at] : NULL;
    else
        call = c->n ? c->calls[c->n - 1] : NULL;
    return call && begins_another(c, call, it) ? NULL : call;
}

static void
take_name(struct openai_call *call, struct str name)
{
    struct str have = buf_str(&call->name);
    if (!name.len || str_eq(have, name) || call->id[0])
        return;
    if (!have.len || call->input.n_pieces == 0)
        buf_add_str(&call->name, name);
    else
        log_debug("openai", "call '%s' is called '%.*s' later", buf_cstr(&call->name),
                  (int)name.len, name.ptr);
}

/* ---- reading an item ---- */

static struct str
first_str(const struct cJSON *t, const char *a, const char *b)
{
    struct str s = json_str(t, a);
    return s.len ? s : json_str(t, b);
}

static void
read_index(const struct cJSON *t, struct item *it)
{
    const struct cJSON *n = json_get(t, "index");
    struct str s = json_value_str(n);
    if (json_is_num(n)) {
        it->has_index = true;
        it->index = json_int(t, "index", 0);
    } else if (s.len && s.ptr[0] >= '0' && s.ptr[0] <= '9') {
        it->has_index = true;
        it->index = strtoll(s.ptr, NULL, 10);
    }
}

/* Arguments are a string; an object is taken by its own bytes, which keeps its large numbers. */
static struct str
read_args(const struct cJSON *t, struct str raw)
{
    static const char *const names[] = {"arguments", "parameters", "input"};
    const struct cJSON *f = json_is_object(json_get(t, "function")) ? json_get(t, "function") : t;
    struct str in = f == t ? raw : json_raw_member(raw, "function");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct cJSON *a = json_get(f, names[i]);
        if (json_is_str(a))
            return json_value_str(a);
        if (json_is_object(a))
            return json_raw_member(in, names[i]);
    }
    return STR("");
}

struct openai_call *
openai_calls_item(struct openai_calls *c, const struct cJSON *t, struct str raw, size_t at,
                  size_t of)
{
    struct item it = {.id = json_str(t, "id"),
                      .name = first_str(t, "function.name", "name"),
                      .args = read_args(t, raw)};
    read_index(t, &it);
    if (!it.id.len && !it.name.len && !it.args.len)
        return NULL;
    struct openai_call *call = find(c, &it, at, of);
    if (!call && !it.name.len && !it.id.len && !str_trim(it.args).len)
        return NULL;
    if (!call)
        call = begin(c, &it);
    else
        take_name(call, it.name);
    if (!call)
        return NULL;
    if (!call->wire_id.len)
        buf_add_str(&call->wire_id, it.id);
    openai_input_add(&call->input, it.args);
    return call;
}

struct openai_call *
openai_calls_whole(struct openai_calls *c, struct str name, struct str input)
{
    const struct item it = {.name = name};
    struct openai_call *call = begin(c, &it);
    if (call)
        openai_input_add(&call->input, input);
    return call;
}
