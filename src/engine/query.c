/* Questions of a front end, answered by EV_ANSWER with the same seq: no front end reads journal or store. */

#include "engine/engine_private.h"
#include "engine/meters.h"
#include "engine/permit.h"
#include "engine/query_log.h"
#include "engine/query_private.h"

static void
write_state(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    state_write(&e->core.state, out);
}

static void
write_rules(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    permit_write_rules(e->core.permit, out);
}

static void
write_checkpoints(struct engine *e, struct str arg, struct buf *out)
{
    (void)e;
    (void)arg;
    buf_adds(out, "{\"checkpoints\":[],\"error\":\"checkpoints are not available yet\"}");
}

void
query_answer(struct engine *e, const struct op *op)
{
    static void (*const writers[])(struct engine *, struct str, struct buf *) = {
        [QUERY_HISTORY] = query_history,       [QUERY_SESSIONS] = query_sessions,
        [QUERY_RULES] = write_rules,           [QUERY_FILES] = NULL,
        [QUERY_SEARCH] = query_search,         [QUERY_CHECKPOINTS] = write_checkpoints,
        [QUERY_STATE] = write_state,           [QUERY_METERS] = query_meters,
        [QUERY_MODELS] = query_models,         [QUERY_TOOL_LOG] = query_tool_log,
        [QUERY_COMMANDS] = command_write_list, [QUERY_TRUST] = query_trust,
        [QUERY_SETTINGS] = query_settings,
    };
    if (op->query == QUERY_FILES) {
        query_files(e, op); /* answers later */
        return;
    }
    struct buf b;
    buf_init(&b, BUF_MAX);
    if ((size_t)op->query >= ARRAY_LEN(writers) || !writers[op->query])
        buf_adds(&b, "{\"error\":\"this is not available yet\"}");
    else
        writers[op->query](e, str_from(op->text), &b);
    struct event *ev = event_new(EV_ANSWER);
    ev->seq = op->seq;
    ev->u.answer.json =
        b.len && !buf_full(&b) ? buf_take(&b) : xstrdup("{\"error\":\"the answer is too large\"}");
    buf_release(&b);
    core_emit(&e->core, ev);
}
