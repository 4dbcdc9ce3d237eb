/* The request body of the Messages API, spliced from slices: what stood in the request before stands byte for byte again. */
#include <string.h>

#include "base/json.h"
#include "model/catalog.h"
#include "model/provider.h"

static const char cache_mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

struct splice {
    struct buf *scratch;
    struct str *out;
    size_t n, cap;
};

static void
push(struct splice *s, struct str slice)
{
    if (slice.len && s->n < s->cap)
        s->out[s->n++] = slice;
}

/* Slices into scratch are noted as offsets first (ptr NULL, len = end): scratch may move while it grows. */
static void
push_scratch(struct splice *s, size_t from)
{
    if (s->scratch->len > from && s->n < s->cap)
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
            buf_adds(s->scratch, cache_mark);
        jw_end(&w);
    }
    buf_adds(s->scratch, "],");
    push_scratch(s, from);
}

/* The last block's closing brace is where its mark goes; a message with string content cannot carry one. */
static void
write_marked(struct splice *s, const struct message *m)
{
    const struct block *last = &m->blocks[m->n_blocks - 1];
    size_t end = (size_t)(last->raw.ptr + last->raw.len - m->json.ptr);
    if (!last->raw.len || m->json.ptr[end - 1] != '}') {
        push(s, m->json);
        return;
    }
    push(s, str_sub(m->json, 0, end - 1));
    push(s, (struct str){cache_mark, sizeof cache_mark - 1});
    push(s, str_sub(m->json, end - 1, m->json.len));
}

static void
write_messages(struct splice *s, const struct model_request *req)
{
    push(s, STR("\"messages\":["));
    for (size_t i = 0; i < req->n_messages; i++) {
        if (i)
            push(s, STR(","));
        if (is_break(req->message_break, i) && req->messages[i]->n_blocks)
            write_marked(s, req->messages[i]);
        else
            push(s, req->messages[i]->json);
    }
    push(s, STR("],"));
}

static void
write_scalars(struct splice *s, const struct model_request *req)
{
    const struct model_info *info = catalog_find(req->model);
    size_t from = s->scratch->len;
    struct jw w;
    const char *effort = req->effort ? req->effort : info ? info->effort : NULL;

    /* The object's brace is closed by the last slice. */
    jw_init(&w, s->scratch);
    jw_kcstr(&w, "model", info ? info->id : req->model);
    jw_kint(&w, "max_tokens", req->max_tokens);
    jw_kbool(&w, "stream", true);
    if (info && info->thinking == THINKING_ADAPTIVE) {
        jw_kraw(&w, "thinking", STR("{\"type\":\"adaptive\",\"display\":\"summarized\"}"));
    } else if (info && info->thinking == THINKING_BUDGET && req->max_tokens > 2048) {
        int64_t budget = req->max_tokens / 2 < 16000 ? req->max_tokens / 2 : 16000;
        jw_key(&w, "thinking");
        jw_object(&w);
        jw_kcstr(&w, "type", "enabled");
        jw_kint(&w, "budget_tokens", budget);
        jw_end(&w);
    }
    if (effort) {
        jw_key(&w, "output_config");
        jw_object(&w);
        jw_kcstr(&w, "effort", effort);
        jw_end(&w);
    }
    push_scratch(s, from);
}

size_t
anthropic_body(const struct model_request *req, struct buf *scratch, struct str *ret, size_t cap)
{
    struct splice s = {.scratch = scratch, .out = ret, .cap = cap};
    push(&s, STR("{"));
    if (req->tools.len) {
        push(&s, STR("\"tools\":"));
        push(&s, req->tools);
        push(&s, STR(","));
    }
    write_system(&s, req);
    write_messages(&s, req);
    write_scalars(&s, req);
    push(&s, STR("}"));
    size_t at = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (ret[i].ptr)
            continue;
        size_t end = ret[i].len;
        ret[i] = str_sub(buf_str(scratch), at, end - at);
        at = end;
    }
    return s.n;
}
