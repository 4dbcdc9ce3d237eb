#include "model/openai_raw.h"

#include "base/json.h"

void
openai_raw_init(struct openai_raw *r)
{
    *r = (struct openai_raw){.shown_index = -1};
    buf_init(&r->json, BUF_MAX);
}

void
openai_raw_release(struct openai_raw *r)
{
    buf_release(&r->json);
}

static void
begin(struct openai_raw *r, struct jw *w, const char *type)
{
    if (r->json.len)
        buf_addc(&r->json, '\n');
    jw_init(w, &r->json);
    jw_object(w);
    jw_kcstr(w, "type", type);
}

static void
write_usage(struct jw *w, const struct usage *u)
{
    jw_key(w, "usage");
    jw_object(w);
    jw_kint(w, "input_tokens", u->input);
    jw_kint(w, "output_tokens", u->output);
    jw_kint(w, "cache_read_input_tokens", u->cache_read);
    jw_kint(w, "cache_creation_input_tokens", u->cache_write);
    jw_end(w);
}

static void
put_message_start(struct openai_raw *r, const struct delta *d)
{
    struct jw w;
    begin(r, &w, "message_start");
    jw_key(&w, "message");
    jw_object(&w);
    jw_kstr(&w, "id", d->id);
    jw_kcstr(&w, "type", "message");
    jw_kcstr(&w, "role", "assistant");
    jw_kstr(&w, "model", d->name);
    jw_kraw(&w, "content", STR("[]"));
    jw_kraw(&w, "stop_reason", STR("null"));
    write_usage(&w, &d->usage);
    jw_end(&w);
    jw_end(&w);
}

static void
put_block_start(struct openai_raw *r, const struct delta *d)
{
    struct jw w;
    begin(r, &w, "content_block_start");
    jw_kint(&w, "index", d->index);
    jw_key(&w, "content_block");
    jw_object(&w);
    if (d->block == BLOCK_TOOL_USE) {
        jw_kcstr(&w, "type", "tool_use");
        jw_kstr(&w, "id", d->id);
        jw_kstr(&w, "name", d->name);
        jw_kraw(&w, "input", STR("{}"));
    } else {
        const char *type = d->block == BLOCK_THINKING ? "thinking" : "text";
        jw_kcstr(&w, "type", type);
        jw_kcstr(&w, type, "");
    }
    jw_end(&w);
    jw_end(&w);
}

static void
put_delta(struct openai_raw *r, int index, const char *type, const char *key, struct str text)
{
    struct jw w;
    begin(r, &w, "content_block_delta");
    jw_kint(&w, "index", index);
    jw_key(&w, "delta");
    jw_object(&w);
    jw_kcstr(&w, "type", type);
    jw_kstr(&w, key, text);
    jw_end(&w);
    jw_end(&w);
}

/* An input of which nothing was shown while it came stands before its block's end. */
static void
put_block_stop(struct openai_raw *r, const struct delta *d)
{
    struct jw w;
    if (d->text.len && r->shown_index != d->index)
        put_delta(r, d->index, "input_json_delta", "partial_json", d->text);
    begin(r, &w, "content_block_stop");
    jw_kint(&w, "index", d->index);
    jw_end(&w);
}

static void
put_message_delta(struct openai_raw *r, const struct delta *d)
{
    struct jw w;
    begin(r, &w, "message_delta");
    jw_key(&w, "delta");
    jw_object(&w);
    jw_kcstr(&w, "stop_reason", d->stop == STOP_NONE ? NULL : stop_reason_name(d->stop));
    jw_kraw(&w, "stop_sequence", STR("null"));
    jw_end(&w);
    write_usage(&w, &d->usage);
    jw_end(&w);
}

static void
put_plain(struct openai_raw *r, const char *type)
{
    struct jw w;
    begin(r, &w, type);
    jw_end(&w);
}

void
openai_raw_put(struct openai_raw *r, const struct delta *d)
{
    buf_clear(&r->json);
    switch (d ? d->kind : DELTA_RAW) {
    case DELTA_MESSAGE_START:
        put_message_start(r, d);
        break;
    case DELTA_BLOCK_START:
        put_block_start(r, d);
        break;
    case DELTA_TEXT:
        put_delta(r, d->index, "text_delta", "text", d->text);
        break;
    case DELTA_THINKING:
        put_delta(r, d->index, "thinking_delta", "thinking", d->text);
        break;
    case DELTA_INPUT_JSON:
        r->shown_index = d->index;
        put_delta(r, d->index, "input_json_delta", "partial_json", d->text);
        break;
    case DELTA_BLOCK_STOP:
        put_block_stop(r, d);
        break;
    case DELTA_USAGE:
        put_message_delta(r, d);
        break;
    case DELTA_PING:
        put_plain(r, "ping");
        break;
    case DELTA_SIGNATURE:
        break; /* none on this wire */
    case DELTA_RAW:
        put_plain(r, "message_stop");
        break;
    }
    r->lines = buf_str(&r->json);
}

bool
openai_raw_next(struct openai_raw *r, struct str *ret)
{
    return r->lines.len && str_split(&r->lines, '\n', ret);
}
