/* E2: old results are cleared, whatever they are. The API does it when it is asked to and can; this is the same for other wires. */
#include "base/json.h"
#include "engine/tier_private.h"

void
tier_micro(const struct tier_view *v, struct tier_result *ret)
{
    struct tier_calls calls = {0};
    struct tier_marks marks = {0};
    tier_calls_read(v, v->n, &calls);
    int64_t used = v->used;
    for (size_t i = 0; i + TIER_MICRO_KEEP < calls.n && used > v->goal; i++) {
        const struct tier_call *c = &calls.list[i];
        if (c->result_at >= v->keep_from)
            break;
        if (c->use_at && !tier_is_kept_tool(c->name) && !tier_call_is_pinned(v, c))
            used -= tier_mark_call(v, c, "cleared", "to make room", &marks, ret);
    }
    tier_marks_to_edits(v, &marks, ret);
    tier_calls_release(&calls);
}

static void
write_amount(struct jw *w, const char *key, const char *type, int64_t value)
{
    jw_key(w, key);
    jw_object(w);
    jw_kcstr(w, "type", type);
    jw_kint(w, "value", value);
    jw_end(w);
}

void
tier_micro_api(int64_t trigger, int64_t least, bool thinking, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "edits");
    jw_array(&w);
    if (thinking) { /* must come first */
        jw_object(&w);
        jw_kcstr(&w, "type", "clear_thinking_20251015");
        write_amount(&w, "keep", "thinking_turns", TIER_MICRO_THINKING);
        jw_end(&w);
    }
    jw_object(&w);
    jw_kcstr(&w, "type", "clear_tool_uses_20250919");
    write_amount(&w, "trigger", "input_tokens", trigger);
    write_amount(&w, "keep", "tool_uses", TIER_MICRO_KEEP);
    write_amount(&w, "clear_at_least", "input_tokens", least);
    jw_key(&w, "exclude_tools");
    jw_array(&w);
    jw_cstr(&w, "TodoWrite");
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
}
