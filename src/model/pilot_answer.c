#include "model/pilot_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/uuid.h"
#include "model/pilot_call.h"

#define EXCERPT_LINES 12
#define EXCERPT_LINE_MAX 200
#define UNKNOWN_SHOWN 200

struct answer {
    const struct model_request *req;
    struct script *out;
    struct pilot_state at;
    struct buf text; /* said before the next call, or at the end */
};

/* ---- words ---- */

static void
add_cut(struct buf *out, struct str s, size_t max)
{
    struct str start = text_start(s, max);
    buf_add_str(out, start);
    if (start.len < s.len)
        buf_adds(out, "...");
}

static void
add_excerpt(struct buf *out, struct str text)
{
    const char *fence = str_contains(text, STR("```")) ? "~~~~~" : "```";
    struct str rest = text, line;
    size_t n = 0;
    while (rest.len && rest.ptr[rest.len - 1] == '\n')
        rest.len--;
    buf_addf(out, "%s\n", fence);
    while (str_split(&rest, '\n', &line)) {
        if (n++ >= EXCERPT_LINES)
            continue;
        add_cut(out, line, EXCERPT_LINE_MAX);
        buf_addc(out, '\n');
    }
    buf_addf(out, "%s\n", fence);
    if (n > EXCERPT_LINES)
        buf_addf(out, "and %zu more lines.\n", n - EXCERPT_LINES);
}

static bool
was_refused(const struct pilot_past *past)
{
    return past->result && str_starts(past->result->text, "permission denied");
}

/* Behind the reason a denial goes on with what a model has to hear; whoever reads the pilot's answer is the person. */
static struct str
without_advice(struct str denial)
{
    static const char advice[] = ". Do not try to get around this";
    size_t at = denial.len;
    for (size_t i = 0; i + sizeof advice - 1 <= denial.len; i++)
        if (str_starts(str_sub(denial, i, denial.len), advice))
            at = i;
    return str_sub(denial, 0, at);
}

static void
say_result(struct answer *a, size_t i)
{
    const struct pilot_step *step = &a->at.plan.steps[i];
    const struct pilot_past *past = &a->at.past[i];
    struct str result = past->result ? past->result->text : STR("(no result came back)");
    if (!past->result || past->result->is_error) {
        buf_adds(&a->text, was_refused(past) ? "That was not allowed, so it did not happen:\n\n"
                                             : "That did not work:\n\n");
        add_excerpt(&a->text, was_refused(past) ? without_advice(result) : result);
    } else if (step->verb == PILOT_REPLACE || step->verb == PILOT_WRITE) {
        buf_addf(&a->text, "`%s` is %s.\n", pilot_step_file(step),
                 step->verb == PILOT_WRITE ? "written" : "changed");
    } else if (step->verb == PILOT_TODO) {
        buf_adds(&a->text, "The list is kept.\n");
    } else {
        add_excerpt(&a->text, result);
    }
    buf_addc(&a->text, '\n');
}

static void
announce(struct buf *out, const struct pilot_step *step, const char *tool)
{
    static const struct {
        const char *tool, *words;
    } rows[] = {{"Read", "Reading"},   {"Grep", "Searching"}, {"Glob", "Looking for files"},
                {"Edit", "Editing"},   {"Write", "Writing"},  {"TodoWrite", "Keeping the list"},
                {"Bash", "Running it"}};
    const char *words = "Going on";
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(tool, rows[i].tool) == 0)
            words = rows[i].words;
    if (pilot_step_file(step))
        buf_addf(out, "%s `%s`.", words, pilot_step_file(step));
    else if (step->verb == PILOT_FIND || step->verb == PILOT_GLOB)
        buf_addf(out, "%s: `%s`%s%s.", words, step->a, step->b ? " in " : "",
                 step->b ? step->b : "");
    else
        buf_addf(out, "%s.", step->verb == PILOT_LIST ? "Listing the files" : words);
}

static void
talk(struct buf *out, const struct pilot_step *step)
{
    if (step->verb == PILOT_TOUR) {
        buf_adds(out, pilot_tour_text);
        return;
    }
    if (step->verb == PILOT_UNKNOWN) {
        buf_adds(out, "I do not understand \"");
        add_cut(out, str_from(step->a), UNKNOWN_SHOWN);
        buf_adds(out, "\".\n\n");
    }
    buf_adds(out, pilot_help);
    buf_addc(out, '\n');
}

/* ---- the end ---- */

static bool
is_done(const struct answer *a, size_t i)
{
    const struct pilot_past *past = &a->at.past[i];
    return past->result && !past->result->is_error;
}

static const char *
outcome(const struct answer *a, size_t i)
{
    const struct pilot_past *past = &a->at.past[i];
    if (a->at.plan.steps[i].verb == PILOT_UNKNOWN)
        return "not understood";
    if (!past->use)
        return "left out";
    if (was_refused(past))
        return "not allowed";
    return is_done(a, i) ? "" : "failed";
}

static bool
says_only(const struct pilot_step *step)
{
    return step->verb == PILOT_HELP || step->verb == PILOT_TOUR;
}

static void
add_summary(struct answer *a)
{
    size_t n = a->at.plan.n, done = 0;
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        done += is_done(a, i) || says_only(&a->at.plan.steps[i]);
    if (done == n)
        buf_addf(&a->text, "**All %zu steps are done:**\n\n", n);
    else
        buf_addf(&a->text, "**%zu of %zu steps are done:**\n\n", done, n);
    for (size_t i = 0; i < n; i++) {
        const char *word = outcome(a, i);
        if (says_only(&a->at.plan.steps[i]))
            continue;
        buf_addf(&a->text, "- %s%s%s", *word ? "**" : "", word, *word ? ":** " : "");
        pilot_step_text(&a->at.plan.steps[i], &a->text);
        buf_addc(&a->text, '\n');
    }
}

/* ---- the way through the plan ---- */

/* Index behind the steps that are called together with step i. */
static size_t
group_end(const struct pilot_plan *p, size_t i)
{
    do {
        i++;
    } while (i < p->n && p->steps[i].with_previous);
    return i;
}

static void
call(struct answer *a, size_t i, const char *tool)
{
    char uuid[UUID_LEN + 1];
    struct buf input;
    uuid_make(uuid);
    char *id =
        xasprintf(PILOT_ID_PREFIX "%zu_%d_%.12s", i, a->at.past[i].tries + 1, uuid + UUID_LEN - 12);
    buf_init(&input, BUF_MAX);
    pilot_write_input(&input, a->req, &a->at.plan.steps[i], tool);
    script_tool_use(a->out, id, tool, buf_str(&input));
    buf_release(&input);
    free(id);
}

static const char *
tool_of(const struct answer *a, size_t i)
{
    const struct pilot_step *step = &a->at.plan.steps[i];
    bool known = step->verb == PILOT_REPLACE && pilot_file_known(a->req, step->c);
    return pilot_next_tool(step, &a->at.past[i], known);
}

/* Calls step i's next tool, and those of the steps that go with it. False: it needs none. */
static bool
call_group(struct answer *a, size_t i)
{
    const struct pilot_step *steps = a->at.plan.steps;
    const char *tool = tool_of(a, i);
    size_t end = group_end(&a->at.plan, i);
    if (!tool)
        return false;
    for (size_t k = i; k < end; k++) {
        announce(&a->text, &steps[k], tool);
        buf_adds(&a->text, k + 1 < end ? " " : "");
    }
    script_text(a->out, buf_str(&a->text));
    for (size_t k = i; k < end; k++)
        call(a, k, tool);
    return true;
}

/* Says what the last calls gave. False: one went wrong, and the plan ends here. */
static bool
take_results(struct answer *a, size_t end)
{
    bool go_on = true;
    for (size_t i = a->at.from; i < end; i++) {
        say_result(a, i);
        go_on = go_on && is_done(a, i);
    }
    if (!go_on && end < a->at.plan.n)
        buf_adds(&a->text, "I stop here.\n\n");
    return go_on;
}

/* True: tools were called. */
static bool
go_on(struct answer *a)
{
    const struct pilot_plan *plan = &a->at.plan;
    size_t i = 0;
    if (!a->at.fresh) {
        if (call_group(a, a->at.from))
            return true;
        i = group_end(plan, a->at.from);
        if (!take_results(a, i))
            return false;
    }
    for (; i < plan->n; i++) {
        const struct pilot_step *step = &plan->steps[i];
        if (call_group(a, i))
            return true;
        talk(&a->text, step);
    }
    return false;
}

static int64_t
estimate_tokens(const struct model_request *req)
{
    size_t bytes = req->tools.len;
    for (size_t i = 0; i < req->n_messages; i++)
        bytes += req->messages[i]->json.len;
    for (size_t i = 0; i < req->n_system; i++)
        bytes += req->system[i].len;
    return (int64_t)bytes / 4 + 1;
}

void
pilot_answer(const struct model_request *req, struct script *out)
{
    struct answer a = {.req = req, .out = out};
    int64_t tokens = estimate_tokens(req);
    buf_init(&a.text, BUF_MAX);
    script_start(out, "offline-pilot", tokens);
    pilot_state_init(&a.at, req);
    bool called = go_on(&a);
    if (!called) {
        if (a.at.plan.n == 0)
            buf_adds(&a.text, pilot_help);
        add_summary(&a);
        struct str text = buf_str(&a.text);
        while (text.len && text.ptr[text.len - 1] == '\n') /* a page ends without blank lines */
            text.len--;
        script_text(out, text);
    }
    script_end(out, called ? STOP_TOOL_USE : STOP_END_TURN, tokens);
    pilot_state_release(&a.at);
    buf_release(&a.text);
}
