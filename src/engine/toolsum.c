#include "engine/toolsum.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/core.h"
#include "engine/permit.h"
#include "engine/session_kept.h"
#include "engine/side.h"

#define INPUT_MAX 300
#define RESULT_MAX 400
#define CALLS_MAX 40
#define TOKENS 200
#define TIMEOUT_MS 30000

extern const char prompt_toolsum_md[];
extern const size_t prompt_toolsum_md_len;

struct toolsum {
    struct side_call *call;
    char *ids; /* JSON array of the calls */
};

/* ---- the question ---- */

static void
add_start(struct buf *out, struct str s, size_t max)
{
    struct str start = text_start(s, max);
    buf_add_str(out, start);
    if (start.len < s.len)
        buf_adds(out, " ...");
}

/* Writes the calls with their ends; returns how many. */
static size_t
write_calls(const struct message *calls, const struct message *results, struct buf *out,
            struct buf *ids)
{
    struct jw w;
    size_t n = 0;
    jw_init(&w, ids);
    jw_array(&w);
    for (size_t i = 0; i < calls->n_blocks && n < CALLS_MAX; i++) {
        const struct block *b = &calls->blocks[i];
        if (b->kind != BLOCK_TOOL_USE)
            continue;
        const struct block *r = message_result_of(results, b->id);
        buf_addf(out, "%zu. ", ++n);
        buf_add_str(out, b->name);
        buf_addc(out, ' ');
        add_start(out, b->input, INPUT_MAX);
        buf_adds(out, !r ? "\n" : r->is_error ? "\nfailed: " : "\nresult: ");
        if (r)
            add_start(out, r->text, RESULT_MAX);
        buf_adds(out, "\n\n");
        jw_str(&w, b->id);
    }
    jw_end(&w);
    return n;
}

static const char *
model_for(struct core *c)
{
    const struct config *config = permit_config(c->permit);
    const struct model_info *small = catalog_small(c->provider->name);
    /* A gateway, and a server whose model the catalogue does not know, may well lack the small one: there it is asked for when a setting
     * says so. */
    bool likely = c->info && !c->provider->gateway;
    if (c->print_mode || !c->interactive || !small ||
        !config_bool(config, "toolSummary", !c->trusted, likely))
        return NULL;
    return small->id;
}

void
toolsum_begin(struct core *c, const struct message *calls, const struct message *results)
{
    toolsum_late(c);
    size_t uses = 0;
    for (size_t i = 0; calls && i < calls->n_blocks; i++)
        uses += calls->blocks[i].kind == BLOCK_TOOL_USE;
    const char *model = uses >= TOOLSUM_CALLS && results ? model_for(c) : NULL;
    if (!model)
        return;
    struct buf ask, ids;
    buf_init(&ask, BUF_MAX);
    buf_init(&ids, BUF_MAX);
    (void)write_calls(calls, results, &ask, &ids);
    const struct side_question q = {
        .purpose = "tool-summary",
        .model = model,
        .system = str_make(prompt_toolsum_md, prompt_toolsum_md_len),
        .ask = buf_str(&ask),
        .max_tokens = TOKENS,
        .timeout_ms = TIMEOUT_MS,
    };
    c->toolsum = xcalloc(1, sizeof *c->toolsum);
    c->toolsum->call = side_start(c, &q, c->cancel);
    c->toolsum->ids = buf_take(&ids);
    buf_release(&ask);
}

/* ---- the answer ---- */

/* Its first line with something on it, bare. NULL: it says nothing. */
static char *
line_of(struct str text, bool cut)
{
    struct str line;
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        while (line.len && strchr("#*`\"'- ", line.ptr[0]))
            line = str_sub(line, 1, line.len);
        while (line.len && strchr("*`\"'. ", line.ptr[line.len - 1]))
            line.len--;
        if (!line.len)
            continue;
        struct buf shown;
        buf_init(&shown, 4096);
        text_visible(&shown, str_sub(line, 0, TOOLSUM_MAX + 4));
        if (line.len > TOOLSUM_MAX)
            buf_truncate(&shown, text_start(buf_str(&shown), TOOLSUM_MAX).len);
        if (line.len > TOOLSUM_MAX || (cut && !text.len))
            buf_adds(&shown, "...");
        return buf_take(&shown);
    }
    return NULL;
}

static void
tell(struct core *c, const char *ids, const char *text)
{
    struct buf note;
    struct jw w;
    buf_init(&note, BUF_MAX);
    jw_init(&w, &note);
    jw_object(&w);
    jw_kraw(&w, "calls", str_from(ids));
    jw_kcstr(&w, "text", text);
    jw_end(&w);
    core_note(c, "tool-summary", NULL, buf_str(&note));
    buf_release(&note);
    session_kept_line(c, ids, text);
    struct event *e = event_new(EV_TOOL_SUMMARY);
    e->u.tool_summary.calls = xstrdup(ids);
    e->u.tool_summary.text = xstrdup(text);
    core_emit(c, e);
}

static void
end(struct core *c)
{
    free(c->toolsum->ids);
    free(c->toolsum);
    c->toolsum = NULL;
}

void
toolsum_poll(struct core *c)
{
    struct side_answer a;
    if (!c->toolsum || !side_done(c->toolsum->call))
        return;
    side_take(c, c->toolsum->call, &a);
    char *line = a.ok ? line_of(str_from(a.text), a.stop == STOP_MAX_TOKENS) : NULL;
    if (!a.ok)
        log_info("toolsum", "%s", a.err.text);
    if (line)
        tell(c, c->toolsum->ids, line);
    free(line);
    free(a.text);
    end(c);
}

void
toolsum_late(struct core *c)
{
    if (!c->toolsum)
        return;
    log_info("toolsum", "it came too late");
    side_let_go(c, c->toolsum->call);
    end(c);
}

void
toolsum_drop(struct core *c)
{
    if (!c->toolsum)
        return;
    side_drop(c, c->toolsum->call);
    end(c);
}
