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

/* The bytes of a list whose elements each stand behind a comma: the first one goes. */
static void
add_list(struct buf *out, const char *key, const struct buf *list)
{
    buf_addf(out, ",\"%s\":[", key);
    if (list->len)
        buf_add(out, list->data + 1, list->len - 1);
    buf_addc(out, ']');
}

static void
write_messages(const struct model_request *req, unsigned without, struct buf *out, unsigned *used)
{
    struct buf system, list;
    struct jw w;
    buf_init(&system, BUF_MAX);
    buf_init(&list, BUF_MAX);
    write_system(req, &system);
    bool own = !(without & OPENAI_CAP(OPENAI_CAP_system));
    if (system.len) {
        *used |= OPENAI_CAP(OPENAI_CAP_system);
        if (own) {
            buf_addc(&list, ',');
            jw_init(&w, &list);
            jw_object(&w);
            jw_kcstr(&w, "role", "system");
            jw_kstr(&w, "content", buf_str(&system));
            jw_end(&w);
        }
    }
    for (size_t i = 0; i < req->n_messages; i++)
        openai_message(req->messages[i], i ? req->messages[i - 1] : NULL,
                       i + 1 < req->n_messages ? req->messages[i + 1] : NULL,
                       i == 0 && !own ? buf_str(&system) : STR(""), without, &list, used);
    add_list(out, "messages", &list);
    out->full |= buf_full(&list) || buf_full(&system);
    buf_release(&system);
    buf_release(&list);
}

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
    if (list.len)
        add_list(out, "tools", &list);
    out->full |= buf_full(&list);
    buf_release(&list);
}

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

void
openai_body(const struct model_request *req, unsigned without, struct buf *out, unsigned *ret_used)
{
    bool tools = req->tools.len > 2;
    *ret_used = tools ? OPENAI_CAP(OPENAI_CAP_tools) : 0;
    buf_adds(out, "{\"model\":");
    json_quote(out, str_from(req->model));
    write_messages(req, without, out, ret_used);
    if (tools && !(without & OPENAI_CAP(OPENAI_CAP_tools))) {
        write_tools(req, out);
        *ret_used |= OPENAI_CAP(OPENAI_CAP_tool_auto);
        if (without & OPENAI_CAP(OPENAI_CAP_tool_auto))
            buf_adds(out, ",\"tool_choice\":\"none\"");
        if (without & OPENAI_CAP(OPENAI_CAP_parallel))
            buf_adds(out, ",\"parallel_tool_calls\":false");
    }
    write_scalars(req, without, out, ret_used);
    buf_addc(out, '}');
    *ret_used &= ~without;
}
