/* One of our messages as chat messages. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/openai_body.h"

#define SHORT_ID 9
#define NO_WORDS "(calls tools)"

struct writer {
    struct buf *out;
    unsigned without, *used;
};

static bool
has(struct writer *w, enum openai_cap cap)
{
    *w->used |= OPENAI_CAP(cap);
    return !(w->without & OPENAI_CAP(cap));
}

static void
begin(struct writer *w, struct jw *j, const char *role)
{
    buf_addc(w->out, ',');
    jw_init(j, w->out);
    jw_object(j);
    jw_kcstr(j, "role", role);
}

/* The id as the server takes it: as it is, or, where only nine letters and digits will do, nine made from it. */
static void
write_id(struct writer *w, struct jw *j, const char *key, struct str id)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char s[SHORT_ID + 1] = "";
    bool fits = id.len == SHORT_ID;
    for (size_t i = 0; fits && i < id.len; i++)
        fits = id.ptr[i] && strchr(digits, id.ptr[i]);
    if (has(w, OPENAI_CAP_long_ids) || fits) {
        jw_kstr(j, key, id);
        return;
    }
    uint64_t h = str_hash(id);
    for (size_t i = 0; i < SHORT_ID; i++, h /= 62)
        s[i] = digits[h % 62];
    jw_kcstr(j, key, s);
}

/* ---- parts ---- */

static void
add_text(struct buf *to, struct str text)
{
    if (!str_trim(text).len)
        return;
    if (to->len)
        buf_adds(to, "\n\n");
    buf_add_str(to, text);
}

static void
add_image_words(struct buf *to, struct str type, struct str data)
{
    char words[160];
    snprintf(words, sizeof words,
             "[an image (%.*s, about %zu kB) stood here; this model takes none]",
             (int)(type.len < 40 ? type.len : 40), type.ptr ? type.ptr : "", data.len * 3 / 4000);
    add_text(to, str_from(words));
}

static bool
is_source(struct str raw, struct str *ret_type, struct str *ret_data, struct cJSON **ret_tree)
{
    *ret_tree = json_parse(raw, NULL);
    *ret_type = json_str(*ret_tree, "source.media_type");
    *ret_data = json_str(*ret_tree, "source.data");
    if (ret_data->len)
        return true;
    *ret_data = json_str(*ret_tree, "source.url");
    return ret_data->len > 0;
}

/* An image as a part of a user message's content array. */
static void
write_image(struct jw *j, struct str type, struct str data)
{
    struct buf url;
    buf_init(&url, BUF_MAX);
    if (type.len)
        buf_addf(&url, "data:%.*s;base64,", (int)type.len, type.ptr);
    buf_add_str(&url, data);
    jw_object(j);
    jw_kcstr(j, "type", "image_url");
    jw_key(j, "image_url");
    jw_object(j);
    jw_kstr(j, "url", buf_str(&url));
    jw_end(j);
    jw_end(j);
    buf_release(&url);
}

/* Calls f for each image in a tool_result's content (raw: the block). */
static void
each_result_image(struct str raw, void (*f)(void *ctx, struct str type, struct str data), void *ctx)
{
    struct str member = json_raw_member(raw, "content");
    if (!member.len || member.ptr[0] != '[')
        return; /* plain text, as nearly always: no tree is made of it */
    struct cJSON *tree = json_parse(raw, NULL);
    const struct cJSON *content = json_get(tree, "content");
    for (const struct cJSON *p = json_is_array(content) ? json_first(content) : NULL; p;
         p = json_next(p)) {
        struct str data = json_str(p, "source.data");
        if (str_is(json_str(p, "type"), "image") && data.len)
            f(ctx, json_str(p, "source.media_type"), data);
    }
    json_free(tree);
}

static void
count_image(void *ctx, struct str type, struct str data)
{
    (void)type;
    (void)data;
    ++*(size_t *)ctx;
}

static void
describe_image(void *ctx, struct str type, struct str data)
{
    add_image_words(ctx, type, data);
}

static void
write_result_image(void *ctx, struct str type, struct str data)
{
    write_image(ctx, type, data);
}

static size_t
images_in_results(const struct message *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_RESULT)
            each_result_image(m->blocks[i].raw, count_image, &n);
    return n;
}

/* ---- user ---- */

/* The text of a result; images that cannot be sent are named, those that can follow in a user message. */
static void
result_text(struct writer *w, const struct block *b, struct buf *ret)
{
    size_t images = 0;
    if (b->is_error && !str_starts(b->text, "Error") && !str_starts(b->text, "error"))
        buf_adds(ret, "Error: ");
    buf_add_str(ret, b->text);
    each_result_image(b->raw, count_image, &images);
    if (images && !has(w, OPENAI_CAP_images))
        each_result_image(b->raw, describe_image, ret);
    else if (images)
        add_text(ret, STR("[the image follows in the next message]"));
    if (!str_trim(buf_str(ret)).len)
        buf_adds(ret, "(no output)");
}

/* more: what is added behind the text, or NULL */
static void
write_result(struct writer *w, const struct block *b, const struct buf *more)
{
    struct buf text;
    struct jw j;
    buf_init(&text, BUF_MAX);
    result_text(w, b, &text);
    if (more)
        add_text(&text, buf_str(more));
    begin(w, &j, "tool");
    write_id(w, &j, "tool_call_id", b->id);
    jw_kstr(&j, "content", buf_str(&text));
    jw_end(&j);
    buf_release(&text);
}

/* Without tools a result is told. */
static void
tell_result(struct writer *w, const struct block *b, struct buf *words)
{
    struct buf text;
    buf_init(&text, BUF_MAX);
    buf_adds(&text, "[result of a tool call]\n");
    result_text(w, b, &text);
    add_text(words, buf_str(&text));
    buf_release(&text);
}

static void
user_words(struct writer *w, const struct message *m, bool with_images, struct buf *words)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_TEXT)
            add_text(words, b->text);
        else if (b->kind == BLOCK_IMAGE && !with_images)
            add_image_words(words, b->name, b->text);
        else if (b->kind == BLOCK_TOOL_RESULT && !has(w, OPENAI_CAP_tools))
            tell_result(w, b, words);
    }
}

static void
write_parts(struct writer *w, const struct message *m, const struct buf *words)
{
    struct jw j;
    begin(w, &j, "user");
    jw_key(&j, "content");
    jw_array(&j);
    if (words->len) {
        jw_object(&j);
        jw_kcstr(&j, "type", "text");
        jw_kstr(&j, "text", buf_str(words));
        jw_end(&j);
    }
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        struct cJSON *tree = NULL;
        struct str type, data;
        if (b->kind == BLOCK_TOOL_RESULT)
            each_result_image(b->raw, write_result_image, &j);
        else if (b->kind == BLOCK_IMAGE && is_source(b->raw, &type, &data, &tree))
            write_image(&j, type, data);
        json_free(tree);
    }
    jw_end(&j);
    jw_end(&j);
}

static size_t
count_kind(const struct message *m, enum block_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_blocks; i++)
        n += m->blocks[i].kind == kind;
    return n;
}

static void
write_results(struct writer *w, const struct message *m, const struct buf *more)
{
    size_t left = count_kind(m, BLOCK_TOOL_RESULT);
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_RESULT)
            write_result(w, &m->blocks[i], --left == 0 ? more : NULL);
}

/* answered: the results stand already, between the calls. */
static void
write_user(struct writer *w, const struct message *m, struct str head, bool answered)
{
    struct buf words;
    struct jw j;
    size_t n_results = count_kind(m, BLOCK_TOOL_RESULT);
    bool tools = n_results && has(w, OPENAI_CAP_tools);
    bool images =
        count_kind(m, BLOCK_IMAGE) + images_in_results(m) > 0 && has(w, OPENAI_CAP_images);
    buf_init(&words, BUF_MAX);
    add_text(&words, head);
    user_words(w, m, images, &words);
    bool adds = tools && words.len && !images && !has(w, OPENAI_CAP_user_after_tool);
    if (tools && !answered)
        write_results(w, m, adds ? &words : NULL);
    if (images) {
        write_parts(w, m, &words);
    } else if ((words.len || !tools) && (!adds || answered)) {
        begin(w, &j, "user");
        jw_kstr(&j, "content", words.len ? buf_str(&words) : STR("(nothing)"));
        jw_end(&j);
    }
    buf_release(&words);
}

/* ---- assistant ---- */

static void
write_call(struct writer *w, struct jw *j, const struct block *b)
{
    jw_object(j);
    write_id(w, j, "id", b->id);
    jw_kcstr(j, "type", "function");
    jw_key(j, "function");
    jw_object(j);
    jw_kstr(j, "name", b->name);
    jw_kstr(j, "arguments", b->input);
    jw_end(j);
    jw_end(j);
}

static void
write_content(struct writer *w, struct jw *j, const struct buf *words)
{
    if (words->len)
        jw_kstr(j, "content", buf_str(words));
    else if (has(w, OPENAI_CAP_null_content)) {
        jw_key(j, "content");
        jw_null(j);
    } else {
        jw_kcstr(j, "content", has(w, OPENAI_CAP_empty_content) ? "" : NO_WORDS);
    }
}

/* An assistant message with the calls among blocks [from, to). */
static void
write_calls(struct writer *w, const struct message *m, const struct buf *words, size_t from,
            size_t to)
{
    struct jw j;
    begin(w, &j, "assistant");
    write_content(w, &j, words);
    jw_key(&j, "tool_calls");
    jw_array(&j);
    for (size_t i = from; i < to; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_USE)
            write_call(w, &j, &m->blocks[i]);
    jw_end(&j);
    jw_end(&j);
}

/* Where a server takes one call at a time: each is followed by its answer, the words stand with the first. */
static void
write_one_by_one(struct writer *w, const struct message *m, const struct message *next,
                 const struct buf *words)
{
    struct buf none;
    size_t n = 0;
    buf_init(&none, 1);
    for (size_t i = 0; i < m->n_blocks; i++) {
        if (m->blocks[i].kind != BLOCK_TOOL_USE)
            continue;
        write_calls(w, m, n++ ? &none : words, i, i + 1);
        for (size_t k = 0; k < next->n_blocks; k++)
            if (next->blocks[k].kind == BLOCK_TOOL_RESULT &&
                str_eq(next->blocks[k].id, m->blocks[i].id))
                write_result(w, &next->blocks[k], NULL);
    }
    buf_release(&none);
}

static void
tell_calls(const struct message *m, struct buf *words)
{
    struct buf text;
    buf_init(&text, BUF_MAX);
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind != BLOCK_TOOL_USE)
            continue;
        buf_clear(&text);
        buf_addf(&text, "[called %.*s with ", (int)b->name.len, b->name.ptr);
        buf_add_str(&text, b->input);
        buf_adds(&text, "]");
        add_text(words, buf_str(&text));
    }
    buf_release(&text);
}

static bool
splits(struct writer *w, const struct message *m)
{
    return count_kind(m, BLOCK_TOOL_USE) > 1 && !has(w, OPENAI_CAP_parallel);
}

static void
write_assistant(struct writer *w, const struct message *m, const struct message *next)
{
    struct buf words;
    struct jw j;
    buf_init(&words, BUF_MAX);
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TEXT)
            add_text(&words, m->blocks[i].text);
    bool calls = count_kind(m, BLOCK_TOOL_USE) > 0;
    if (calls && !has(w, OPENAI_CAP_tools)) {
        tell_calls(m, &words);
        calls = false;
    }
    if (!calls) {
        begin(w, &j, "assistant");
        jw_kstr(&j, "content", words.len ? buf_str(&words) : STR("(no words)"));
        jw_end(&j);
    } else if (next && splits(w, m)) {
        write_one_by_one(w, m, next, &words);
    } else {
        write_calls(w, m, &words, 0, m->n_blocks);
    }
    buf_release(&words);
}

void
openai_message(const struct message *m, const struct message *before, const struct message *next,
               struct str head, unsigned without, struct buf *out, unsigned *used)
{
    struct writer w = {out, without, used};
    if (m->role == ROLE_ASSISTANT)
        write_assistant(&w, m, next);
    else
        write_user(&w, m, head, before && splits(&w, before) && has(&w, OPENAI_CAP_tools));
}
