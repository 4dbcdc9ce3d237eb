#include "model/anthropic_event.h"

#include "base/json.h"

static void
read_usage(const struct cJSON *u, struct usage *ret)
{
    ret->input = json_count(u, "input_tokens");
    ret->output = json_count(u, "output_tokens");
    ret->cache_read = json_count(u, "cache_read_input_tokens");
    ret->cache_write = json_count(u, "cache_creation_input_tokens");
    ret->fast = str_is(json_str(u, "speed"), "fast");
    ret->cache_write_1h = json_count(u, "cache_creation.ephemeral_1h_input_tokens");
}

/* What context editing left out of the request. */
static void
read_cleared(const struct cJSON *t, struct usage *ret)
{
    const struct cJSON *edits = json_at(t, "context_management.applied_edits");
    for (const struct cJSON *e = json_first(edits); json_is_array(edits) && e; e = json_next(e)) {
        ret->cleared_uses += json_count(e, "cleared_tool_uses");
        ret->cleared_tokens += json_count(e, "cleared_input_tokens");
    }
}

/* Usually {} and built from deltas; some servers send it whole. */
static struct str
whole_input(struct str data)
{
    struct str input = json_raw_member(json_raw_member(data, "content_block"), "input");
    return input.len > 2 && input.ptr[0] == '{' ? input : STR("");
}

static bool
read_block_start(const struct cJSON *t, struct str data, struct delta *d)
{
    static const struct {
        const char *type;
        enum block_kind kind;
    } kinds[] = {{"text", BLOCK_TEXT},
                 {"thinking", BLOCK_THINKING},
                 {"redacted_thinking", BLOCK_REDACTED_THINKING},
                 {"tool_use", BLOCK_TOOL_USE}};
    struct str type = json_str(t, "content_block.type");
    d->kind = DELTA_BLOCK_START;
    d->block = BLOCK_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(type, kinds[i].type))
            d->block = kinds[i].kind;
    d->id = json_str(t, "content_block.id");
    d->name = json_str(t, "content_block.name");
    switch (d->block) {
    case BLOCK_REDACTED_THINKING:
        d->text = json_str(t, "content_block.data");
        break;
    case BLOCK_THINKING:
        d->text = json_str(t, "content_block.thinking");
        break;
    case BLOCK_TOOL_USE:
        d->text = whole_input(data);
        break;
    default:
        d->text = json_str(t, "content_block.text");
        break;
    }
    return true;
}

static bool
read_block_delta(const struct cJSON *t, struct delta *d)
{
    static const struct {
        const char *type, *path;
        enum delta_kind kind;
    } kinds[] = {{"text_delta", "delta.text", DELTA_TEXT},
                 {"thinking_delta", "delta.thinking", DELTA_THINKING},
                 {"signature_delta", "delta.signature", DELTA_SIGNATURE},
                 {"input_json_delta", "delta.partial_json", DELTA_INPUT_JSON}};
    struct str type = json_str(t, "delta.type");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(type, kinds[i].type))
            continue;
        d->kind = kinds[i].kind;
        d->text = json_str(t, kinds[i].path);
        return d->text.len > 0;
    }
    return false; /* citations and what is newer than this program */
}

bool
anthropic_read_event(const struct cJSON *t, struct str data, struct delta *d)
{
    *d = (struct delta){0};
    struct str type = json_str(t, "type");
    d->index = (int)json_int(t, "index", 0);
    if (str_is(type, "message_start")) {
        d->kind = DELTA_MESSAGE_START;
        d->id = json_str(t, "message.id");
        d->name = json_str(t, "message.model");
        read_usage(json_at(t, "message.usage"), &d->usage);
        return true;
    }
    if (str_is(type, "content_block_start"))
        return read_block_start(t, data, d);
    if (str_is(type, "content_block_delta"))
        return read_block_delta(t, d);
    if (str_is(type, "content_block_stop")) {
        d->kind = DELTA_BLOCK_STOP;
        return true;
    }
    if (str_is(type, "message_delta")) {
        d->kind = DELTA_USAGE;
        read_usage(json_at(t, "usage"), &d->usage);
        read_cleared(t, &d->usage);
        d->stop = stop_reason_parse(json_str(t, "delta.stop_reason"));
        return true;
    }
    if (str_is(type, "ping")) {
        d->kind = DELTA_PING;
        return true;
    }
    return false;
}
