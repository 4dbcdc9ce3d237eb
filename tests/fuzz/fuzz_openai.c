/* A chat completions server's bytes: the same deltas however they are cut, no call of an answer that broke, and what was built is a message
 * that can be read back and sent again. The same bytes are also read as an error and as a refusal. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/openai_body.h"
#include "model/openai_error.h"
#include "model/openai_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tools[] =
    "[{\"name\":\"Read\",\"input_schema\":{\"properties\":{\"file_path\":{\"type\":\"string\"}}}},"
    "{\"name\":\"Bash\",\"input_schema\":{\"properties\":{\"timeout\":{\"type\":\"integer\"}}}},"
    "{\"name\":\"Write\"}]";

/* What a delta says, but for the ids: those that we mint differ. */
static void
note(struct buf *out, const struct delta *d)
{
    buf_addf(out, "%d %d %d %d %d|", (int)d->kind, d->index, (int)d->block, (int)d->stop,
             d->withdrawn);
    buf_add_str(out, d->name);
    buf_addc(out, '|');
    buf_add_str(out, d->text);
    buf_addc(out, '\n');
}

static enum model_step
drain(struct openai_reader *r, struct buf *out, struct stream_blocks *b, struct err *err)
{
    struct delta d;
    enum model_step step;
    while ((step = openai_reader_next(r, &d, err)) == MODEL_DELTA) {
        note(out, &d);
        stream_blocks_apply(b, &d);
    }
    return step;
}

/* step 0: fed whole */
static enum model_step
collect(struct str bytes, size_t step, bool whole, struct buf *out, struct stream_blocks *b)
{
    struct model_request req = {.tools = {tools, sizeof tools - 1}};
    struct openai_offer offer;
    struct err err = {0};
    enum model_step got = MODEL_IDLE;
    openai_offer_init(&offer, &req, NULL);
    struct openai_reader *r = openai_reader_new(&offer, 9);
    openai_reader_set_request_id(r, "req_1");
    for (size_t at = 0; at < bytes.len && got == MODEL_IDLE;) {
        struct str piece = str_sub(bytes, at, step ? step : bytes.len);
        openai_reader_feed(r, piece);
        got = drain(r, out, b, &err);
        at += piece.len;
    }
    if (got == MODEL_IDLE) {
        openai_reader_end(r, whole);
        got = drain(r, out, b, &err);
    }
    if (got == MODEL_IDLE || (got == MODEL_FAILED && !err.text[0]))
        abort();
    openai_reader_free(r);
    openai_offer_release(&offer);
    return got;
}

static void
send_again(const struct message *m, unsigned without)
{
    struct buf body, scratch;
    struct body_text text = {0};
    struct str slices[BODY_SLICES];
    unsigned used;
    struct model_request req = {.model = "m", .messages = &m, .n_messages = 1};
    buf_init(&body, BUF_MAX);
    buf_init(&scratch, BUF_MAX);
    size_t n = openai_body(&req, &text, without, &scratch, slices, &used);
    for (size_t i = 0; i < n; i++)
        buf_add_str(&body, slices[i]);
    buf_release(&scratch);
    body_text_release(&text);
    struct cJSON *tree = json_parse(buf_str(&body), NULL);
    if (!tree)
        abort();
    json_free(tree);
    buf_release(&body);
}

static void
check_blocks(const struct stream_blocks *b, enum model_step step, unsigned without)
{
    for (size_t i = 0; i < stream_blocks_len(b); i++) {
        const struct stream_block *k = stream_blocks_at(b, i);
        if (k->kind == BLOCK_TOOL_USE && k->complete && (step != MODEL_DONE || !k->id.len))
            abort();
    }
    struct message *m = stream_blocks_message(b, "m", true), *again = NULL;
    if (m) {
        again = message_parse(m->json, NULL);
        if (!again || again->n_blocks != m->n_blocks)
            abort();
        send_again(m, without);
    }
    message_free(m);
    message_free(again);
}

static void
read_as_error(struct str bytes)
{
    struct err err = {0};
    struct cJSON *tree = json_parse(bytes, NULL);
    openai_error_body(400, bytes, 0, "", &err);
    openai_error_words(bytes, "r", &err);
    if (tree && openai_is_error(tree, STR("")))
        openai_error_event(tree, "", &err);
    (void)openai_caps_refused(422, tree, bytes, ~0u);
    json_free(tree);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, pieces;
    if (size < 1)
        return 0;
    size_t step = 1 + data[0] % 16;
    bool clean = data[0] < 192;
    struct str bytes = str_make((const char *)data + 1, size - 1);
    struct stream_blocks *a = stream_blocks_new(), *b = stream_blocks_new();
    buf_init(&whole, BUF_MAX);
    buf_init(&pieces, BUF_MAX);
    enum model_step one = collect(bytes, 0, clean, &whole, a);
    enum model_step two = collect(bytes, step, clean, &pieces, b);
    if (one != two || !str_eq(buf_str(&whole), buf_str(&pieces)))
        abort();
    check_blocks(a, one, data[0] * 0x101u);
    read_as_error(bytes);
    stream_blocks_free(a);
    stream_blocks_free(b);
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
