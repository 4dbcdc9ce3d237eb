#include "model/openai_body.h"

#include <string.h>

#include "base/json.h"

static void
write_system(const struct model_request *req, struct buf *out)
{
    for (size_t i = 0; i < req->n_system; i++) {
        if (!str_trim(req->system[i]).len)
            continue;
        if (out->len)
            buf_adds(out, "\n\n");
        buf_add_str(out, req->system[i]);
    }
}

/* ---- the messages ---- */

#define TOKENS_PER_IMAGE 1500
#define BYTES_PER_TOKEN 4
#define SHAPE 2 /* of the wires: what a text was written for */

struct writer {
    struct str head; /* the system prompt, where it has no message of its own; or empty */
    unsigned without;
};

/* The bytes of an image are no text. */
static void
count_images(const struct message *m, struct body_part *part)
{
    for (size_t k = 0; k < m->n_blocks; k++) {
        const struct block *b = &m->blocks[k];
        bool shown = b->kind == BLOCK_TOOL_RESULT && b->raw.len > 4 * b->text.len + 1000;
        if (b->kind != BLOCK_IMAGE && !shown)
            continue;
        part->images++;
        part->image_bytes += b->raw.len;
    }
}

static void
write_message(void *ctx, const struct model_request *req, size_t i, struct buf *out,
              struct body_part *part)
{
    const struct writer *w = ctx;
    openai_message(req->messages[i], i ? req->messages[i - 1] : NULL,
                   i + 1 < req->n_messages ? req->messages[i + 1] : NULL, i ? STR("") : w->head,
                   w->without, out, &part->used);
    count_images(req->messages[i], part);
}

static void
follow(struct body_text *text, const struct model_request *req, struct writer *w)
{
    uint64_t shape =
        str_hash_more(str_hash(w->head), str_make((const char *)&w->without, sizeof w->without));
    body_text_follow(text, req, shape * 8 + SHAPE, write_message, w);
}

/* The system prompt as a message; nothing when there is none. */
static void
write_system_message(struct str system, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kcstr(&w, "role", "system");
    jw_kstr(&w, "content", system);
    jw_end(&w);
}

/* What stands before the text of the messages, and that text. False: the text goes without its first comma. */
static bool
write_head(const struct model_request *req, struct body_text *text, unsigned without,
           struct buf *out, unsigned *used)
{
    struct buf system;
    buf_init(&system, BUF_MAX);
    write_system(req, &system);
    bool own = system.len && !(without & OPENAI_CAP(OPENAI_CAP_system));
    struct writer w = {.head = own ? STR("") : buf_str(&system), .without = without};
    follow(text, req, &w);
    *used |= body_text_all(text).used;
    if (system.len)
        *used |= OPENAI_CAP(OPENAI_CAP_system);
    buf_adds(out, "{\"model\":");
    json_quote(out, str_from(req->model));
    buf_adds(out, ",\"messages\":[");
    if (own)
        write_system_message(buf_str(&system), out);
    out->full |= buf_full(&system);
    buf_release(&system);
    return own;
}

/* ---- the tools ---- */

/* The schema's own bytes; what only the Messages API knows of a tool is left out. */
static void
write_tools(const struct model_request *req, struct buf *out)
{
    struct buf list;
    buf_init(&list, BUF_MAX);
    size_t at = json_skip_blanks(req->tools, 0) + 1;
    for (;;) {
        at = json_skip_blanks(req->tools, at);
        if (at < req->tools.len && req->tools.ptr[at] == ',')
            at = json_skip_blanks(req->tools, at + 1);
        if (at >= req->tools.len || req->tools.ptr[at] != '{')
            break;
        size_t end = json_skip_value(req->tools, at);
        struct str tool = str_sub(req->tools, at, end - at);
        struct str name = json_raw_member(tool, "name"),
                   text = json_raw_member(tool, "description");
        struct str schema = json_raw_member(tool, "input_schema");
        at = end;
        if (!name.len)
            continue;
        struct jw w;
        buf_addc(&list, ',');
        jw_init(&w, &list);
        jw_object(&w);
        jw_kcstr(&w, "type", "function");
        jw_key(&w, "function");
        jw_object(&w);
        jw_kraw(&w, "name", name);
        if (text.len)
            jw_kraw(&w, "description", text);
        jw_kraw(&w, "parameters",
                schema.len > 2 ? schema : STR("{\"type\":\"object\",\"properties\":{}}"));
        jw_end(&w);
        jw_end(&w);
    }
    if (list.len) { /* the first one goes without its comma */
        buf_adds(out, ",\"tools\":[");
        buf_add(out, list.data + 1, list.len - 1);
        buf_addc(out, ']');
    }
    out->full |= buf_full(&list);
    buf_release(&list);
}

/* ---- the rest ---- */

static void
write_limit(const struct model_request *req, unsigned without, struct jw *w, unsigned *used)
{
    if (req->max_tokens <= 0 || (without & OPENAI_CAP(OPENAI_CAP_output_limit)))
        return;
    bool old = !(without & OPENAI_CAP(OPENAI_CAP_max_tokens));
    if (!old && (without & OPENAI_CAP(OPENAI_CAP_max_completion_tokens)))
        return;
    *used |= OPENAI_CAP(OPENAI_CAP_output_limit) |
             OPENAI_CAP(old ? OPENAI_CAP_max_tokens : OPENAI_CAP_max_completion_tokens);
    jw_kint(w, old ? "max_tokens" : "max_completion_tokens", req->max_tokens);
}

/* Ours has a step above the highest of most servers. */
static const char *
wire_effort(const char *effort)
{
    return strcmp(effort, "max") == 0 ? "high" : effort;
}

static void
write_scalars(const struct model_request *req, unsigned without, struct buf *out, unsigned *used)
{
    struct jw w;
    buf_addc(out, ',');
    jw_init(&w, out);
    write_limit(req, without, &w, used);
    if (req->effort && !(without & OPENAI_CAP(OPENAI_CAP_effort))) {
        *used |= OPENAI_CAP(OPENAI_CAP_effort);
        jw_kcstr(&w, "reasoning_effort", wire_effort(req->effort));
    }
    bool stream = !(without & OPENAI_CAP(OPENAI_CAP_stream));
    jw_kbool(&w, "stream", stream);
    *used |= stream ? OPENAI_CAP(OPENAI_CAP_stream) : 0;
    if (stream && !(without & OPENAI_CAP(OPENAI_CAP_stream_options))) {
        *used |= OPENAI_CAP(OPENAI_CAP_stream_options);
        jw_kraw(&w, "stream_options", STR("{\"include_usage\":true}"));
    }
}

static void
write_tail(const struct model_request *req, unsigned without, struct buf *out, unsigned *used)
{
    buf_addc(out, ']');
    if (req->tools.len > 2) {
        *used |= OPENAI_CAP(OPENAI_CAP_tools);
        if (!(without & OPENAI_CAP(OPENAI_CAP_tools))) {
            write_tools(req, out);
            *used |= OPENAI_CAP(OPENAI_CAP_tool_auto);
            if (without & OPENAI_CAP(OPENAI_CAP_tool_auto))
                buf_adds(out, ",\"tool_choice\":\"none\"");
            if (without & OPENAI_CAP(OPENAI_CAP_parallel))
                buf_adds(out, ",\"parallel_tool_calls\":false");
        }
    }
    write_scalars(req, without, out, used);
    buf_addc(out, '}');
}

size_t
openai_body(const struct model_request *req, struct body_text *text, unsigned without,
            struct buf *scratch, struct str ret[BODY_SLICES], unsigned *ret_used)
{
    *ret_used = 0;
    size_t begin = scratch->len;
    bool first = !write_head(req, text, without, scratch, ret_used);
    size_t head = scratch->len;
    write_tail(req, without, scratch, ret_used);
    *ret_used &= ~without;
    ret[0] = str_sub(buf_str(scratch), begin, head - begin);
    ret[1] = str_sub(buf_str(&text->text), first, SIZE_MAX);
    ret[2] = str_sub(buf_str(scratch), head, scratch->len - head);
    return 3;
}

int64_t
openai_body_tokens(const struct body_text *text, const struct str *slices, size_t n)
{
    struct body_part all = body_text_all(text);
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += slices[i].len;
    bytes = bytes > all.image_bytes ? bytes - all.image_bytes : 0;
    return (int64_t)(bytes / BYTES_PER_TOKEN + all.images * TOKENS_PER_IMAGE + 1);
}
