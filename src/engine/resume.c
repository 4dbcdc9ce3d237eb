/* A stored history as events, marked replayed, so that panes show it as they would have. The same pieces make the last page
 * on a resume and the pages that panes ask for. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/compact.h"
#include "engine/engine_private.h"
#include "engine/hidden.h"
#include "engine/resume.h"
#include "engine/session_kept.h"
#include "store/shell_line.h"

struct telling {
    struct core *core;
    const struct resume_sink *sink;
    int64_t place, wall_ms;
};

static void
send(const struct telling *r, struct event *take_e)
{
    take_e->place = r->place;
    if (r->wall_ms)
        take_e->wall_ms = r->wall_ms;
    r->sink->emit(r->sink->user, take_e);
}

/* At most as much as the sink takes of one text; what is left out is said. */
static char *
shown(const struct telling *r, struct str text)
{
    struct str start = text_start(text, r->sink->text_max);
    if (start.len == text.len)
        return str_dup(text);
    return xasprintf("%.*s\n[%zu bytes more]", (int)start.len, start.ptr, text.len - start.len);
}

static void
emit_block(const struct telling *r, enum event_phase phase, enum event_block type, int index,
           const struct block *b)
{
    struct event *e = event_new(EV_BLOCK);
    e->phase = phase;
    e->u.block.type = type;
    e->u.block.index = index;
    e->u.block.replayed = true;
    if (type == EVBLOCK_TOOL_USE) {
        e->u.block.tool_use_id = str_dup(b->id);
        e->u.block.name = str_dup(b->name);
    }
    if (phase == PHASE_DELTA)
        e->u.block.text = shown(r, type == EVBLOCK_TOOL_USE ? b->input : b->text);
    send(r, e);
}

/* The input stays JSON: one that is too large is left out. */
static char *
shown_input(const struct telling *r, struct str input)
{
    return input.len <= r->sink->text_max ? str_dup(input) : xstrdup("{}");
}

/* The state that the journal tells; of older journals what can be told by the result. */
static enum tool_state
state_of(const struct block *result, const struct cJSON *end)
{
    const char *name = json_cstr(end, "state", "");
    for (int s = TOOL_DONE; s <= TOOL_CANCELLED; s++)
        if (strcmp(name, tool_state_name((enum tool_state)s)) == 0)
            return (enum tool_state)s;
    return !result ? TOOL_CANCELLED : result->is_error ? TOOL_FAILED : TOOL_DONE;
}

/* end: what the journal tells beside the result; NULL: nothing. */
static void
fill_end(const struct telling *r, struct event *e, const struct block *result,
         const struct cJSON *end)
{
    e->u.tool.state = state_of(result, end);
    e->u.tool.is_error = !result || result->is_error;
    e->u.tool.bytes = result ? (int64_t)result->text.len : 0;
    e->u.tool.elapsed_ms = json_count(end, "elapsed_ms");
    e->u.tool.summary = xstrdup(json_cstr(end, "summary", NULL));
    e->u.tool.is_diff = json_bool(end, "is_diff", false);
    struct str display = json_str(end, "display");
    if (display.len || result)
        e->u.tool.output = shown(r, display.len ? display : result->text);
    const char *what = json_cstr(end, "what", NULL);
    if (what) {
        free(e->u.tool.what);
        e->u.tool.what = xstrdup(what);
    }
}

static void
emit_tool(const struct telling *r, enum event_phase phase, const struct block *use,
          const struct block *result, const struct cJSON *end)
{
    struct event *e = event_new(EV_TOOL);
    e->phase = phase;
    e->u.tool.id = str_dup(use->id);
    e->u.tool.name = str_dup(use->name);
    e->u.tool.replayed = true;
    const struct tool *t = r->core->seams.tool_find(use->name);
    struct cJSON *tree = json_parse(use->input, NULL);
    e->u.tool.what = tool_describe(t, tree, r->core->cwd);
    json_free(tree);
    if (phase == PHASE_START)
        e->u.tool.input = shown_input(r, use->input);
    if (phase == PHASE_END)
        fill_end(r, e, result, end);
    send(r, e);
}

static const struct cJSON *
end_of(const struct cJSON *ends, struct str id)
{
    for (const struct cJSON *e = json_first(ends); e; e = json_next(e))
        if (str_eq(json_str(e, "id"), id))
            return e;
    return NULL;
}

static bool
type_of(const struct block *b, enum event_block *ret)
{
    switch (b->kind) {
    case BLOCK_TEXT:
        *ret = EVBLOCK_TEXT;
        return true;
    case BLOCK_THINKING:
        *ret = EVBLOCK_THINKING;
        return true;
    case BLOCK_TOOL_USE:
        *ret = EVBLOCK_TOOL_USE;
        return true;
    default:
        return false;
    }
}

/* Those of calls stand with the results, in the message after this one (i == place). */
static struct cJSON *
read_ends(const struct telling *r, size_t i)
{
    char *text = conversation_ends(r->core->conv, i);
    struct cJSON *ends = text ? json_parse(str_from(text), NULL) : NULL;
    free(text);
    return ends;
}

/* The line over this batch of calls, if one was written. */
static void
emit_line(const struct telling *r, const struct message *m)
{
    size_t i = 0;
    while (i < m->n_blocks && m->blocks[i].kind != BLOCK_TOOL_USE)
        i++;
    const char *calls,
        *text = i < m->n_blocks ? session_kept_line_of(r->core, m->blocks[i].id, &calls) : NULL;
    if (!text)
        return;
    struct event *e = event_new(EV_TOOL_SUMMARY);
    e->u.tool_summary.calls = xstrdup(calls);
    e->u.tool_summary.text = xstrdup(text);
    send(r, e);
}

static void
replay_assistant(const struct telling *r, const struct message *m, const struct message *next)
{
    enum event_block type;
    if (m->hidden)
        return; /* it stands for an answer that never came, which no screen showed */
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (!type_of(b, &type))
            continue;
        emit_block(r, PHASE_START, type, (int)i, b);
        emit_block(r, PHASE_DELTA, type, (int)i, b);
        emit_block(r, PHASE_END, type, (int)i, b);
    }
    struct cJSON *ends = NULL;
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind != BLOCK_TOOL_USE)
            continue;
        if (!ends)
            ends = read_ends(r, (size_t)r->place);
        emit_tool(r, PHASE_START, b, NULL, NULL);
        emit_tool(r, PHASE_END, b, message_result_of(next, b->id), end_of(ends, b->id));
    }
    json_free(ends);
    emit_line(r, m);
}

static size_t
count_shell_lines(const struct message *m)
{
    struct str command, output;
    size_t n = 0;
    for (size_t i = 0; i < m->n_blocks; i++)
        n += m->blocks[i].kind == BLOCK_TEXT &&
             shell_line_read(m->blocks[i].text, &command, &output);
    return n;
}

/* How the nth of the commands that the person ran ended. Sessions of before this was written say it of none, or of some; which of
 * them, nobody knows. */
static const struct cJSON *
end_of_shell(const struct cJSON *ends, size_t nth, size_t n)
{
    const struct cJSON *found = NULL;
    size_t seen = 0;
    for (const struct cJSON *e = json_first(ends); e; e = json_next(e)) {
        if (!str_starts(json_str(e, "id"), "person_"))
            continue;
        if (seen++ == nth)
            found = e;
    }
    return seen == n ? found : NULL;
}

static void
emit_shell(const struct telling *r, enum event_phase phase, const char *id, struct str command,
           struct str output, const struct cJSON *end)
{
    struct event *e = event_new(EV_TOOL);
    e->phase = phase;
    e->u.tool.id = xstrdup(id);
    e->u.tool.name = xstrdup("Bash");
    e->u.tool.what = str_dup(command);
    e->u.tool.state = TOOL_RUNNING;
    e->u.tool.replayed = true;
    e->u.tool.bytes = (int64_t)output.len;
    if (phase == PHASE_END) {
        const struct block result = {.text = output};
        e->u.tool.state = state_of(&result, end);
        e->u.tool.is_error = e->u.tool.state != TOOL_DONE;
        e->u.tool.summary = xstrdup(json_cstr(end, "summary", NULL));
        e->u.tool.elapsed_ms = json_count(end, "elapsed_ms");
        e->u.tool.output = shown(r, output);
    }
    send(r, e);
}

/* The nth command that the person ran: the line and its output, as they stood there when it ran. */
static bool
replay_shell(const struct telling *r, const struct message *m, struct str text, size_t nth)
{
    struct str command, output;
    if (m->hidden || !shell_line_read(text, &command, &output))
        return false;
    struct event *e = event_new(EV_USER);
    e->u.user.uuid = xstrdup(m->uuid);
    e->u.user.text = xasprintf("!%.*s", (int)command.len, command.ptr);
    e->u.user.replayed = true;
    send(r, e);
    struct cJSON *ends = read_ends(r, (size_t)r->place - 1);
    char *id = xasprintf("person_%s_%zu", m->uuid, nth);
    emit_shell(r, PHASE_START, id, command, output, NULL);
    emit_shell(r, PHASE_END, id, command, output, end_of_shell(ends, nth, count_shell_lines(m)));
    free(id);
    json_free(ends);
    return true;
}

/* What a compaction left: the line that was shown then, and the summary behind a fold. False: it is no such message. */
static bool
replay_compaction(const struct telling *r, const struct message *m)
{
    char *line = compact_line_of(m);
    if (!line)
        return false;
    struct event *e;
    for (int end = 0; end < 2; end++) {
        e = event_new(EV_COMPACT);
        e->phase = end ? PHASE_END : PHASE_START;
        e->u.compact.tier = "";
        e->u.compact.text = end ? line : NULL;
        send(r, e);
    }
    e = event_new(EV_USER);
    e->u.user.uuid = xstrdup(m->uuid);
    e->u.user.text = shown(r, compact_shown(m));
    e->u.user.hidden = e->u.user.replayed = true;
    e->u.user.brief = hidden_brief(compact_shown(m));
    send(r, e);
    return true;
}

static void
replay_user(const struct telling *r, const struct message *m)
{
    if (m->hidden && replay_compaction(r, m))
        return;
    size_t nth = 0;
    for (size_t i = 0; i < m->n_blocks; i++) {
        if (m->blocks[i].kind != BLOCK_TEXT)
            continue;
        if (replay_shell(r, m, m->blocks[i].text, nth)) {
            nth++;
            continue;
        }
        struct event *e = event_new(EV_USER);
        e->u.user.uuid = xstrdup(m->uuid);
        e->u.user.text = shown(r, m->blocks[i].text);
        e->u.user.hidden = m->hidden || str_starts(m->blocks[i].text, HIDDEN_TAG);
        e->u.user.brief = e->u.user.hidden ? hidden_brief(m->blocks[i].text) : NULL;
        e->u.user.replayed = true;
        send(r, e);
    }
}

void
resume_events(struct core *c, size_t from, size_t to, const struct resume_sink *sink)
{
    struct message *m = conversation_message(c->conv, from);
    for (size_t i = from; i < to; i++) {
        struct message *next = conversation_message(c->conv, i + 1);
        const struct telling r = {
            .core = c, .sink = sink, .place = (int64_t)i + 1, .wall_ms = m ? m->wall_ms : 0};
        if (m && m->role == ROLE_ASSISTANT)
            replay_assistant(&r, m, next);
        else if (m)
            replay_user(&r, m);
        message_free(m);
        m = next;
    }
    message_free(m);
}

/* ---- pages ---- */

/* Results stay with the message that called for them. */
static bool
holds_results(struct core *c, size_t i)
{
    if (i == 0 || !conversation_is_user(c->conv, i))
        return false;
    struct message *m = conversation_message(c->conv, i);
    bool found = false;
    for (size_t k = 0; m && k < m->n_blocks; k++)
        found |= m->blocks[k].kind == BLOCK_TOOL_RESULT;
    message_free(m);
    return found;
}

size_t
resume_page_start(struct core *c, size_t to)
{
    size_t from = to;
    int64_t bytes = 0;
    while (from > 0 && to - from < RESUME_PAGE) {
        int64_t len = conversation_bytes(c->conv, from - 1, from);
        bytes += len < (int64_t)RESUME_TEXT_MAX ? len : (int64_t)RESUME_TEXT_MAX;
        if (from < to && bytes > (int64_t)RESUME_PAGE_BYTES / 2)
            break;
        from--;
    }
    while (holds_results(c, from))
        from--;
    return from;
}

static void
emit_live(void *user, struct event *take_e)
{
    core_emit(user, take_e);
}

void
resume_replay(struct core *c)
{
    const struct resume_sink sink = {.emit = emit_live, .user = c, .text_max = RESUME_TEXT_MAX};
    size_t to = conversation_len(c->conv);
    resume_events(c, resume_page_start(c, to), to, &sink);
    if (c->was.todos) {
        struct event *e = event_new(EV_TASK);
        e->u.task.json = xasprintf("{\"todos\":%s}", c->was.todos);
        core_emit(c, e);
    }
    core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
}
