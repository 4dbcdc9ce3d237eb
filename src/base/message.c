#include "base/message.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/uuid.h"

/* The public struct is the head of this one; the rest is what it owns. */
struct owned {
    struct message m;
    atomic_int refs;
    char *json; /* backing of m.json and of the raw slices */
    struct block *blocks;
    char **texts; /* decoded strings the blocks point to */
    size_t n_texts, cap_texts;
};

static struct owned *
owned_of(const struct message *m)
{
    return (struct owned *)(uintptr_t)m;
}

struct message *
message_ref(const struct message *m)
{
    atomic_fetch_add(&owned_of(m)->refs, 1);
    return (struct message *)(uintptr_t)m;
}

void
message_free(const struct message *m)
{
    if (!m || atomic_fetch_sub(&owned_of(m)->refs, 1) != 1)
        return;
    struct owned *o = owned_of(m);
    for (size_t i = 0; i < o->n_texts; i++)
        free(o->texts[i]);
    free(o->texts);
    free(o->blocks);
    free(o->json);
    free(o->m.model);
    free(o->m.api_id);
    free(o->m.ends);
    free(o);
}

uint64_t
message_edition_new(void)
{
    static atomic_uint_least64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

const struct block *
message_result_of(const struct message *m, struct str id)
{
    for (size_t i = 0; m && i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_RESULT && str_eq(m->blocks[i].id, id))
            return &m->blocks[i];
    return NULL;
}

char *
message_text(const struct message *m)
{
    struct buf text;
    buf_init(&text, BUF_MAX);
    for (size_t i = 0; m && i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TEXT)
            buf_add_str(&text, m->blocks[i].text);
    return buf_take(&text);
}

static struct str
keep(struct owned *o, struct str s)
{
    if (!s.ptr)
        return (struct str){0};
    ARRAY_GROW(o->texts, o->n_texts, o->cap_texts);
    char *copy = str_dup(s);
    o->texts[o->n_texts++] = copy;
    return (struct str){copy, s.len};
}

/* The text of a tool_result's content: a string, or the joined text blocks of an array. */
static struct str
result_text(struct owned *o, const struct cJSON *content)
{
    if (json_is_str(content))
        return keep(o, json_value_str(content));
    struct buf joined;
    buf_init(&joined, BUF_MAX);
    for (const struct cJSON *n = json_first(content); n; n = json_next(n)) {
        struct str t = json_str(n, "text");
        if (joined.len && t.len)
            buf_addc(&joined, '\n');
        buf_add_str(&joined, t);
    }
    struct str s = keep(o, buf_str(&joined));
    buf_release(&joined);
    return s;
}

static const struct {
    const char *name;
    enum block_kind kind;
} kinds[] = {
    {"text", BLOCK_TEXT},
    {"thinking", BLOCK_THINKING},
    {"redacted_thinking", BLOCK_REDACTED_THINKING},
    {"tool_use", BLOCK_TOOL_USE},
    {"tool_result", BLOCK_TOOL_RESULT},
    {"image", BLOCK_IMAGE},
};

static void
fill_block(struct owned *o, struct block *b, const struct cJSON *n, struct str raw)
{
    struct str type = json_str(n, "type");
    b->raw = raw;
    b->kind = BLOCK_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].name))
            b->kind = kinds[i].kind;
    switch (b->kind) {
    case BLOCK_TEXT:
        b->text = keep(o, json_str(n, "text"));
        break;
    case BLOCK_THINKING:
        b->text = keep(o, json_str(n, "thinking"));
        b->signature = keep(o, json_str(n, "signature"));
        break;
    case BLOCK_REDACTED_THINKING:
        b->text = keep(o, json_str(n, "data"));
        break;
    case BLOCK_TOOL_USE:
        b->id = keep(o, json_str(n, "id"));
        b->name = keep(o, json_str(n, "name"));
        b->input = json_raw_member(raw, "input");
        if (!b->input.ptr)
            b->input = STR("{}");
        break;
    case BLOCK_TOOL_RESULT:
        b->id = keep(o, json_str(n, "tool_use_id"));
        b->text = result_text(o, json_at(n, "content"));
        b->is_error = json_bool(n, "is_error", false);
        break;
    case BLOCK_IMAGE:
        b->name = keep(o, json_str(n, "source.media_type"));
        b->text = keep(o, json_str(n, "source.data"));
        break;
    case BLOCK_OTHER:
        break;
    }
}

/* The next element's bytes of the raw array text in *rest (which starts behind '[' or a ','). */
static struct str
next_element(struct str *rest)
{
    size_t from = json_skip_blanks(*rest, 0), end = json_skip_value(*rest, from);
    struct str element = str_sub(*rest, from, end - from);
    *rest = str_sub(*rest, json_skip_blanks(*rest, end) + 1, rest->len);
    return element;
}

static void
fill_blocks(struct owned *o, const struct cJSON *content)
{
    struct str raw = json_raw_member(o->m.json, "content");
    if (json_is_str(content)) {
        o->blocks = xcalloc(1, sizeof *o->blocks);
        o->blocks[0] = (struct block){.kind = BLOCK_TEXT, .raw = raw};
        o->blocks[0].text = keep(o, json_value_str(content));
        o->m.n_blocks = 1;
    } else {
        struct str rest = str_sub(raw, 1, raw.len);
        o->blocks = xcalloc(json_len(content), sizeof *o->blocks);
        for (const struct cJSON *n = json_first(content); n; n = json_next(n))
            fill_block(o, &o->blocks[o->m.n_blocks++], n, next_element(&rest));
    }
    o->m.blocks = o->blocks;
}

struct message *
message_parse(struct str json, struct err *err)
{
    struct cJSON *tree = json_parse(json, err);
    if (!tree)
        return NULL;
    struct str role = json_str(tree, "role");
    const struct cJSON *content = json_at(tree, "content");
    struct owned *o = NULL;
    if (!str_is(role, "user") && !str_is(role, "assistant")) {
        err_set(err, ERR_INVALID, "a message's role must be \"user\" or \"assistant\"");
        goto out;
    }
    if (!json_is_str(content) && !json_is_array(content)) {
        err_set(err, ERR_INVALID, "a message's content must be a string or an array");
        goto out;
    }
    o = xcalloc(1, sizeof *o);
    atomic_init(&o->refs, 1);
    o->json = str_dup(json);
    o->m.json = str_trim(str_make(o->json, json.len));
    o->m.role = str_is(role, "user") ? ROLE_USER : ROLE_ASSISTANT;
    o->m.wall_ms = clock_wall_ms();
    uuid_make(o->m.uuid);
    o->m.model = json_cstr(tree, "model", NULL) ? xstrdup(json_cstr(tree, "model", NULL)) : NULL;
    o->m.api_id = json_cstr(tree, "id", NULL) ? xstrdup(json_cstr(tree, "id", NULL)) : NULL;
    fill_blocks(o, content);
out:
    json_free(tree);
    return o ? &o->m : NULL;
}

struct message_builder {
    enum role role;
    struct buf json;
    size_t n;
    char *ends;
};

struct message_builder *
message_builder_new(enum role role)
{
    struct message_builder *b = xcalloc(1, sizeof *b);
    b->role = role;
    buf_init(&b->json, BUF_MAX);
    buf_addf(&b->json, "{\"role\":\"%s\",\"content\":[", role == ROLE_USER ? "user" : "assistant");
    return b;
}

void
message_builder_free(struct message_builder *b)
{
    if (!b)
        return;
    buf_release(&b->json);
    free(b->ends);
    free(b);
}

void
message_set_ends(struct message_builder *b, struct str json)
{
    free(b->ends);
    b->ends = str_dup(json);
}

static struct jw
begin_block(struct message_builder *b, const char *type)
{
    struct jw w;
    if (b->n++)
        buf_addc(&b->json, ',');
    jw_init(&w, &b->json);
    jw_object(&w);
    jw_kcstr(&w, "type", type);
    return w;
}

void
message_add_text(struct message_builder *b, struct str text)
{
    if (str_trim(text).len == 0)
        return;
    struct jw w = begin_block(b, "text");
    jw_kstr(&w, "text", text);
    jw_end(&w);
}

void
message_add_thinking(struct message_builder *b, struct str thinking, struct str signature)
{
    struct jw w = begin_block(b, "thinking");
    jw_kstr(&w, "thinking", thinking);
    jw_kstr(&w, "signature", signature);
    jw_end(&w);
}

void
message_add_redacted(struct message_builder *b, struct str data)
{
    struct jw w = begin_block(b, "redacted_thinking");
    jw_kstr(&w, "data", data);
    jw_end(&w);
}

/* Line breaks would tear a journal line; outside strings they mean nothing, inside they cannot stand raw. */
static void
add_one_line(struct jw *w, struct str json)
{
    if (str_find(json, '\n', 0) == (size_t)-1 && str_find(json, '\r', 0) == (size_t)-1) {
        jw_raw(w, json);
        return;
    }
    char *copy = str_dup(json);
    for (size_t i = 0; i < json.len; i++)
        if (copy[i] == '\n' || copy[i] == '\r')
            copy[i] = ' ';
    jw_raw(w, str_make(copy, json.len));
    free(copy);
}

/* Brackets open at once outside strings. The message adds four levels around an input, and the whole must stay within
 * JSON_DEPTH when it is read back. */
static bool
too_deep(struct str json)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        if (c == '\\' && quoted)
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']'))
            depth--;
        if (depth > JSON_DEPTH - 8)
            return true;
    }
    return false;
}

void
message_add_tool_use(struct message_builder *b, struct str id, struct str name, struct str input)
{
    struct cJSON *tree = json_parse(input, NULL);
    struct jw w = begin_block(b, "tool_use");
    jw_kstr(&w, "id", id);
    jw_kstr(&w, "name", name);
    jw_key(&w, "input");
    add_one_line(&w, json_is_object(tree) && !too_deep(input) ? str_trim(input) : STR("{}"));
    jw_end(&w);
    json_free(tree);
}

void
message_add_tool_result(struct message_builder *b, struct str tool_use_id, struct str text,
                        bool is_error)
{
    struct jw w = begin_block(b, "tool_result");
    jw_kstr(&w, "tool_use_id", tool_use_id);
    jw_kstr(&w, "content", str_trim(text).len ? text : STR("(no output)"));
    if (is_error)
        jw_kbool(&w, "is_error", true);
    jw_end(&w);
}

void
message_add_tool_result_image(struct message_builder *b, struct str tool_use_id,
                              struct str media_type, struct str base64)
{
    struct jw w = begin_block(b, "tool_result");
    jw_kstr(&w, "tool_use_id", tool_use_id);
    jw_key(&w, "content");
    jw_array(&w);
    jw_object(&w);
    jw_kcstr(&w, "type", "image");
    jw_key(&w, "source");
    jw_object(&w);
    jw_kcstr(&w, "type", "base64");
    jw_kstr(&w, "media_type", media_type);
    jw_kstr(&w, "data", base64);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
}

void
message_add_raw(struct message_builder *b, struct str block_json)
{
    struct jw w;
    if (b->n++)
        buf_addc(&b->json, ',');
    jw_init(&w, &b->json);
    add_one_line(&w, block_json);
}

size_t
message_builder_len(const struct message_builder *b)
{
    return b->n;
}

struct message *
message_build(struct message_builder *take_b)
{
    struct message *m = NULL;
    struct err err;
    if (take_b->n) {
        buf_adds(&take_b->json, "]}");
        bool whole = !buf_full(&take_b->json); /* a piece that did not fit may leave valid JSON */
        m = whole ? message_parse(buf_str(&take_b->json), &err) : NULL;
        if (!m && whole)
            die("a message that was built does not parse"); /* a bug: every part was escaped or checked */
    }
    if (m) {
        m->ends = take_b->ends;
        take_b->ends = NULL;
    }
    message_builder_free(take_b);
    return m;
}
