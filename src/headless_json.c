#include "headless_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/uuid.h"

static void
open_message(struct jw *w, const char *type, const char *subtype, const struct headless_ids *ids)
{
    jw_object(w);
    jw_kcstr(w, "type", type);
    if (subtype)
        jw_kcstr(w, "subtype", subtype);
    jw_kcstr(w, "session_id", ids->session_id);
}

static void
close_message(struct jw *w, const char *uuid)
{
    char fresh[UUID_LEN + 1];
    if (!uuid) {
        uuid_make(fresh);
        uuid = fresh;
    }
    jw_kcstr(w, "uuid", uuid);
    jw_end(w);
}

static void
raw_or(struct jw *w, const char *key, const char *json, struct str fallback)
{
    jw_kraw(w, key, json ? str_from(json) : fallback);
}

static void
write_init(const struct event *e, const struct headless_ids *ids, struct jw *w)
{
    open_message(w, "system", "init", ids);
    jw_kcstr(w, "cwd", e->u.session.cwd);
    jw_kcstr(w, "model", e->u.session.model);
    jw_kcstr(w, "permissionMode", perm_mode_name(e->u.session.mode));
    raw_or(w, "tools", e->u.session.tools_json, STR("[]"));
    jw_kraw(w, "mcp_servers", STR("[]"));
    jw_kraw(w, "slash_commands", STR("[]"));
    jw_kraw(w, "agents", STR("[]"));
    jw_kraw(w, "skills", STR("[]"));
    jw_kraw(w, "plugins", STR("[]"));
    jw_kcstr(w, "output_style", "default");
    jw_kcstr(w, "fast_mode_state", e->u.session.fast ? "on" : "off");
    jw_kcstr(w, "apiKeySource", e->u.session.offline ? "none" : "env");
    jw_kcstr(w, "provider", e->u.session.provider);
    jw_kcstr(w, "yare_version", e->u.session.version);
    close_message(w, NULL);
}

/* The Messages API shape with what an API answer carries beside it. */
static void
write_message(const struct event *e, const struct headless_ids *ids, struct jw *w)
{
    struct str json = str_from(e->u.message.json);
    open_message(w, e->u.message.assistant ? "assistant" : "user", NULL, ids);
    jw_key(w, "message");
    if (e->u.message.assistant && json.len > 1) {
        struct buf whole;
        struct jw m;
        buf_init(&whole, BUF_MAX);
        jw_init(&m, &whole);
        jw_object(&m);
        jw_kcstr(&m, "type", "message");
        if (!json_raw_member(json, "model").ptr)
            jw_kcstr(&m, "model", ids->model);
        if (!json_raw_member(json, "id").ptr)
            jw_kcstr(&m, "id", e->u.message.uuid);
        buf_addc(&whole, ',');
        buf_add_str(&whole, str_sub(json, 1, json.len));
        jw_raw(w, buf_str(&whole));
        buf_release(&whole);
    } else {
        jw_raw(w, json);
    }
    jw_kcstr(w, "parent_tool_use_id", NULL);
    if (e->u.message.partial)
        jw_kbool(w, "aborted", true);
    if (e->u.message.hidden && !e->u.message.assistant)
        jw_kbool(w, "isSynthetic", true);
    if (e->u.message.tool_results_json)
        jw_kraw(w, "tool_use_result", str_from(e->u.message.tool_results_json));
    close_message(w, e->u.message.uuid);
}

static void
write_retry(const struct event *e, const struct headless_ids *ids, struct jw *w)
{
    const struct err *err = &e->u.retry.err;
    open_message(w, "system", "api_retry", ids);
    jw_kint(w, "attempt", e->u.retry.attempt);
    jw_kint(w, "max_retries", e->u.retry.max_attempts);
    jw_kint(w, "retry_delay_ms", e->u.retry.delay_ms);
    if (err->http)
        jw_kint(w, "error_status", err->http);
    jw_kcstr(w, "error", err->kind[0] ? err->kind : err_code_name(err->code));
    jw_kcstr(w, "message", err->text);
    close_message(w, NULL);
}

static void
write_denied(const struct event *e, const struct headless_ids *ids, struct jw *w)
{
    open_message(w, "system", "permission_denied", ids);
    jw_kcstr(w, "tool_name", e->u.decided.tool);
    jw_kcstr(w, "tool_use_id", e->u.decided.tool_use_id);
    jw_kcstr(w, "decided_by", e->u.decided.who);
    decision_write(&e->u.decided.decision, w);
    close_message(w, NULL);
}

static void
write_text(const char *subtype, const char *text, const struct headless_ids *ids, struct jw *w)
{
    open_message(w, "system", subtype, ids);
    jw_kcstr(w, "content", text);
    close_message(w, NULL);
}

static void
write_compaction(const struct event *e, const struct headless_ids *ids, struct jw *w)
{
    if (e->u.compact.failed) {
        write_text("informational", e->u.compact.text, ids, w);
        return;
    }
    open_message(w, "system", "compact_boundary", ids);
    jw_key(w, "compact_metadata");
    jw_object(w);
    jw_kcstr(w, "trigger", strcmp(e->u.compact.tier, "person") == 0 ? "manual" : "auto");
    jw_kint(w, "pre_tokens", e->u.compact.before);
    jw_kint(w, "post_tokens", e->u.compact.after);
    jw_end(w);
    jw_kcstr(w, "content", e->u.compact.text);
    close_message(w, NULL);
}

static void
write_result(const struct event *e, const struct headless_ids *ids, struct jw *w)
{
    open_message(w, "result", e->u.result.subtype, ids);
    jw_kbool(w, "is_error", e->u.result.is_error);
    jw_kint(w, "duration_ms", e->u.result.duration_ms);
    jw_kint(w, "duration_api_ms", e->u.result.api_ms);
    jw_kint(w, "num_turns", e->u.result.turns);
    if (strcmp(e->u.result.subtype, "success") == 0)
        jw_kcstr(w, "result", e->u.result.text ? e->u.result.text : "");
    raw_or(w, "errors", e->u.result.errors, STR("[]"));
    jw_kcstr(w, "stop_reason", e->u.result.stop_reason);
    if (e->u.result.cost_usd >= 0)
        jw_knum(w, "total_cost_usd", e->u.result.cost_usd);
    else
        jw_kcstr(w, "total_cost_usd", NULL);
    raw_or(w, "usage", e->u.result.usage, STR("{}"));
    raw_or(w, "modelUsage", e->u.result.model_usage, STR("{}"));
    raw_or(w, "permission_denials", e->u.result.denials, STR("[]"));
    jw_kcstr(w, "terminal_reason", e->u.result.exit);
    close_message(w, NULL);
}

static void
remember(const struct event *e, struct headless_ids *ids)
{
    free(ids->session_id);
    free(ids->model);
    ids->session_id = xstrdup(e->u.session.id);
    ids->model = xstrdup(e->u.session.model);
}

bool
headless_is_compaction(const struct event *e)
{
    static const char *const tiers[] = {"person", "auto", "reactive"};
    for (size_t i = 0; e->kind == EV_COMPACT && i < ARRAY_LEN(tiers); i++)
        if (e->phase == PHASE_END && !e->agent && strcmp(e->u.compact.tier, tiers[i]) == 0)
            return true;
    return false;
}

void
headless_json_refused(const char *why, struct buf *out)
{
    const struct headless_ids none = {0};
    struct jw w;
    jw_init(&w, out);
    open_message(&w, "result", "error_during_execution", &none);
    jw_kbool(&w, "is_error", true);
    jw_kint(&w, "duration_ms", 0);
    jw_kint(&w, "duration_api_ms", 0);
    jw_kint(&w, "num_turns", 0);
    jw_key(&w, "errors");
    jw_array(&w);
    jw_cstr(&w, why);
    jw_end(&w);
    jw_kcstr(&w, "stop_reason", NULL);
    jw_knum(&w, "total_cost_usd", 0);
    jw_kraw(&w, "usage", STR("{}"));
    jw_kraw(&w, "modelUsage", STR("{}"));
    jw_kraw(&w, "permission_denials", STR("[]"));
    jw_kcstr(&w, "terminal_reason", "model_error");
    close_message(&w, NULL);
}

bool
headless_json(const struct event *e, struct headless_ids *ids, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    switch (e->kind) {
    case EV_SESSION:
        remember(e, ids);
        write_init(e, ids, &w);
        return true;
    case EV_MESSAGE:
        if (!e->u.message.assistant && !e->u.message.tool_results_json && !e->u.message.hidden)
            return false; /* the prompt: who sent it knows it */
        write_message(e, ids, &w);
        return true;
    case EV_RAW:
        open_message(&w, "stream_event", NULL, ids);
        jw_kraw(&w, "event", str_from(e->u.answer.json));
        jw_kcstr(&w, "parent_tool_use_id", NULL);
        close_message(&w, NULL);
        return true;
    case EV_RETRY:
        write_retry(e, ids, &w);
        return true;
    case EV_PERM_DECIDED:
        if (e->u.decided.allowed)
            return false;
        write_denied(e, ids, &w);
        return true;
    case EV_NOTICE:
        write_text("informational", e->u.notice.text, ids, &w);
        return true;
    case EV_ERROR:
        write_text("error", e->u.error.err.text, ids, &w);
        return true;
    case EV_COMPACT:
        if (!headless_is_compaction(e))
            return false;
        write_compaction(e, ids, &w);
        return true;
    case EV_RESULT:
        write_result(e, ids, &w);
        return true;
    default:
        return false;
    }
}
