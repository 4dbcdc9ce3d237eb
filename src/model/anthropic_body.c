/* The request body of the Messages API, spliced from slices: what stood in the request before stands byte for byte again. */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "model/catalog.h"
#include "model/provider.h"

#define CACHE_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

/* Of models that think by budget: the least the API takes, and what serves most turns. */
#define BUDGET_MIN 1024
#define BUDGET_MAX 16000

/* Of the wires: what a text was written for. */
#define SHAPE 1

struct splice {
    struct buf *scratch;
    struct str *out;
    size_t n;
};

static void
push(struct splice *s, struct str slice)
{
    assert(s->n < BODY_SLICES); /* a body that is cut would be worse */
    if (slice.len)
        s->out[s->n++] = slice;
}

/* Slices into scratch are noted as offsets first (ptr NULL, len = end): scratch may move while it grows. */
static void
push_scratch(struct splice *s, size_t from)
{
    assert(s->n < BODY_SLICES);
    if (s->scratch->len > from)
        s->out[s->n++] = (struct str){NULL, s->scratch->len};
}

static bool
is_break(const size_t breaks[2], size_t i)
{
    return breaks[0] == i || breaks[1] == i;
}

static void
write_system(struct splice *s, const struct model_request *req)
{
    size_t from = s->scratch->len;
    struct jw w;
    if (!req->n_system)
        return;
    buf_adds(s->scratch, "\"system\":[");
    for (size_t i = 0; i < req->n_system; i++) {
        if (i)
            buf_addc(s->scratch, ',');
        jw_init(&w, s->scratch);
        jw_object(&w);
        jw_kcstr(&w, "type", "text");
        jw_kstr(&w, "text", req->system[i]);
        if (is_break(req->system_break, i))
            buf_adds(s->scratch, CACHE_MARK);
        jw_end(&w);
    }
    buf_adds(s->scratch, "],");
    push_scratch(s, from);
}

/* The API takes no mark on thinking; a block that brought a mark of its own keeps it; a string is no block. */
static bool
can_carry_mark(const struct block *b)
{
    return b->kind != BLOCK_THINKING && b->kind != BLOCK_REDACTED_THINKING && b->raw.len > 2 &&
           b->raw.ptr[0] == '{' && !json_raw_member(b->raw, "cache_control").ptr;
}

/* Where the mark goes in the text: before the closing brace of the last block of message i that can carry it. 0: nowhere. */
static size_t
mark_place(const struct model_request *req, const struct body_text *text, size_t i)
{
    if (i >= req->n_messages)
        return 0;
    const struct message *m = req->messages[i];
    size_t k = m->n_blocks;
    while (k > 0 && !can_carry_mark(&m->blocks[k - 1]))
        k--;
    if (k == 0)
        return 0;
    struct str raw = m->blocks[k - 1].raw;
    return text->parts[i].end - (size_t)(m->json.ptr + m->json.len - (raw.ptr + raw.len)) - 1;
}

static void
write_message(void *ctx, const struct model_request *req, size_t i, struct buf *out,
              struct body_part *part)
{
    (void)ctx;
    (void)part;
    buf_addc(out, ',');
    buf_add_str(out, req->messages[i]->json);
}

static void
write_messages(struct splice *s, const struct model_request *req, struct body_text *text)
{
    body_text_follow(text, req, SHAPE, write_message, NULL);
    struct str all = buf_str(&text->text);
    size_t a = mark_place(req, text, req->message_break[0]),
           b = mark_place(req, text, req->message_break[1]);
    size_t marks[2] = {a < b ? a : b, a < b ? b : a}, at = 1; /* without the first comma */
    push(s, STR("\"messages\":["));
    for (size_t i = 0; i < ARRAY_LEN(marks) && !buf_full(&text->text); i++) {
        if (marks[i] <= at)
            continue;
        push(s, str_sub(all, at, marks[i] - at));
        push(s, STR(CACHE_MARK));
        at = marks[i];
    }
    push(s, str_sub(all, at, all.len));
    push(s, STR("],"));
}

/* An alias is ours; an id that carries a date means just that day's model. */
static const char *
wire_model(const struct model_request *req, const struct model_info *info)
{
    return info && strncmp(req->model, info->id, strlen(info->id)) != 0 ? info->id : req->model;
}

static void
write_thinking(struct jw *w, const struct model_request *req, const struct model_info *info)
{
    if (info && info->thinking == THINKING_ADAPTIVE) {
        jw_kraw(w, "thinking", STR("{\"type\":\"adaptive\",\"display\":\"summarized\"}"));
    } else if (info && info->thinking == THINKING_BUDGET && req->max_tokens >= 2 * BUDGET_MIN) {
        int64_t half = req->max_tokens / 2;
        jw_key(w, "thinking");
        jw_object(w);
        jw_kcstr(w, "type", "enabled");
        jw_kint(w, "budget_tokens", half < BUDGET_MAX ? half : BUDGET_MAX);
        jw_end(w);
    }
}

/* Models that think by budget know no effort; of an unknown model only the person can know. */
static void
write_effort(struct jw *w, const struct model_request *req, const struct model_info *info)
{
    const char *effort = req->effort ? req->effort : info ? info->effort : NULL;
    if (!effort || (info && info->thinking != THINKING_ADAPTIVE))
        return;
    jw_key(w, "output_config");
    jw_object(w);
    jw_kcstr(w, "effort", effort);
    jw_end(w);
}

static void
write_scalars(struct splice *s, const struct model_request *req)
{
    const struct model_info *info = catalog_find(req->model);
    size_t from = s->scratch->len;
    struct jw w;

    /* The object's brace is closed by the last slice. */
    jw_init(&w, s->scratch);
    jw_kcstr(&w, "model", wire_model(req, info));
    jw_kint(&w, "max_tokens", req->max_tokens);
    jw_kbool(&w, "stream", true);
    write_thinking(&w, req, info);
    write_effort(&w, req, info);
    if (req->fast)
        jw_kcstr(&w, "speed", "fast");
    if (req->context_management)
        jw_kraw(&w, "context_management", str_from(req->context_management));
    push_scratch(s, from);
}

/* What counts as input is the same; a budget of thinking needs a max_tokens, which counting does not take. */
static void
write_count_scalars(struct splice *s, const struct model_request *req)
{
    const struct model_info *info = catalog_find(req->model);
    size_t from = s->scratch->len;
    struct jw w;
    jw_init(&w, s->scratch);
    jw_kcstr(&w, "model", wire_model(req, info));
    if (info && info->thinking == THINKING_ADAPTIVE)
        write_thinking(&w, req, info);
    push_scratch(s, from);
}

static size_t
write_body(const struct model_request *req, struct body_text *text, struct buf *scratch,
           struct str *ret, void (*scalars)(struct splice *s, const struct model_request *req))
{
    struct splice s = {.scratch = scratch, .out = ret};
    size_t at = scratch->len;
    push(&s, STR("{"));
    if (req->tools.len) {
        push(&s, STR("\"tools\":"));
        push(&s, req->tools);
        push(&s, STR(","));
    }
    write_system(&s, req);
    write_messages(&s, req, text);
    scalars(&s, req);
    push(&s, STR("}"));
    for (size_t i = 0; i < s.n; i++) {
        if (ret[i].ptr)
            continue;
        size_t end = ret[i].len;
        ret[i] = str_sub(buf_str(scratch), at, end - at);
        at = end;
    }
    return s.n;
}

size_t
anthropic_body(const struct model_request *req, struct body_text *text, struct buf *scratch,
               struct str ret[BODY_SLICES])
{
    return write_body(req, text, scratch, ret, write_scalars);
}

size_t
anthropic_count_body(const struct model_request *req, struct body_text *text, struct buf *scratch,
                     struct str ret[BODY_SLICES])
{
    return write_body(req, text, scratch, ret, write_count_scalars);
}
