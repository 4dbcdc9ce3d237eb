/* What the linear front end says of each event, and how text becomes safe, plain and, where it must, ASCII. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "headless_linear_private.h"

#define DIFF_LINES 60
#define OUTPUT_LINES 12
#define INPUT_LINES 20
#define WHICH_COLUMNS 60

/* ---- text ---- */

static const char *
ascii_mark(int32_t cp)
{
    static const struct {
        int32_t cp;
        const char *text;
    } marks[] = {{0xA0, " "},    {0x2010, "-"},   {0x2011, "-"},  {0x2012, "-"},  {0x2013, "-"},
                 {0x2014, "--"}, {0x2018, "'"},   {0x2019, "'"},  {0x201C, "\""}, {0x201D, "\""},
                 {0x2022, "*"},  {0x2026, "..."}, {0x2190, "<-"}, {0x2192, "->"}, {0x21D2, "=>"},
                 {0x2264, "<="}, {0x2265, ">="},  {0x2713, "v"},  {0x2714, "v"},  {0x2717, "x"},
                 {0xD7, "x"},    {0xB0, "deg"},   {0xB7, "*"},    {0xDF, "ss"},   {0x2502, "|"},
                 {0x2500, "-"},  {0x2514, "`"},   {0x251C, "|"},  {0x20AC, "EUR"}};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (marks[i].cp == cp)
            return marks[i].text;
    return NULL;
}

/* A character without its accent, or ? where there is nothing near it. */
static void
add_ascii(struct buf *out, struct str grapheme)
{
    static const char latin[] = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty";
    int32_t cp;
    text_decode(grapheme, 0, &cp);
    const char *mark = ascii_mark(cp);
    if (cp < 0x80)
        buf_addc(out, (char)cp);
    else if (mark)
        buf_adds(out, mark);
    else if (cp >= 0xC0 && cp <= 0xFF)
        buf_addc(out, latin[cp - 0xC0]);
    else
        buf_addc(out, '?');
}

/* How many bytes at the end of s are the beginning of a character. */
static size_t
open_end(struct str s)
{
    for (size_t n = 1; n <= 3 && n <= s.len; n++) {
        unsigned char c = (unsigned char)s.ptr[s.len - n];
        if ((c & 0xC0) == 0x80)
            continue;
        size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        return want > n ? n : 0;
    }
    return 0;
}

static void
put(struct linear *l, struct str text)
{
    struct buf safe;
    if (!text.len)
        return;
    buf_init(&safe, BUF_MAX);
    text_visible(&safe, text);
    struct str s = buf_str(&safe);
    int width;
    if (l->ascii)
        for (size_t at = 0; at < s.len;) {
            size_t n = text_grapheme(s, at, &width);
            add_ascii(&l->out, str_sub(s, at, n));
            at += n;
        }
    else
        buf_add_str(&l->out, s);
    l->mid_line = text.ptr[text.len - 1] != '\n';
    buf_release(&safe);
}

void
linear_text(struct linear *l, struct str text)
{
    buf_add_str(&l->part, text);
    struct str whole = buf_str(&l->part);
    size_t rest = open_end(whole);
    put(l, str_sub(whole, 0, whole.len - rest));
    buf_remove_front(&l->part, whole.len - rest);
}

void
linear_fresh_line(struct linear *l)
{
    if (l->part.len) { /* its rest never came */
        put(l, buf_str(&l->part));
        buf_clear(&l->part);
    }
    if (l->mid_line || l->prompted)
        put(l, STR("\n"));
    l->mid_line = l->prompted = false;
}

void
linear_line(struct linear *l, const char *fmt, ...)
{
    struct buf b;
    va_list ap;
    buf_init(&b, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    linear_fresh_line(l);
    put(l, str_trim(buf_str(&b)));
    put(l, STR("\n"));
    buf_release(&b);
}

void
linear_lines(struct linear *l, const char *indent, struct str text, size_t max)
{
    struct str line;
    size_t n = 0;
    linear_fresh_line(l);
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    while (text.len && str_split(&text, '\n', &line)) {
        if (max && n++ >= max)
            continue;
        put(l, str_from(indent));
        put(l, line);
        put(l, STR("\n"));
    }
    if (max && n > max)
        linear_line(l, "%s(%zu more lines)", indent, n - max);
}

void
linear_flush(struct linear *l)
{
    struct err err;
    if (l->out.len && !l->failed && !fs_write_all(STDOUT_FILENO, buf_str(&l->out), &err))
        l->failed = true;
    buf_clear(&l->out);
}

/* ---- events ---- */

static void
show_session(struct linear *l, const struct event *ev)
{
    bool first = !l->greeted;
    l->greeted = true;
    free(l->session_id);
    l->session_id = xstrdup(ev->u.session.id);
    if (ev->u.session.cleared || ev->u.session.resumed)
        l->talked = ev->u.session.resumed;
    l->mode = ev->u.session.mode;
    if (first) {
        linear_line(l, "yare %s, model %s, in %s",
                    ev->u.session.version ? ev->u.session.version : "",
                    ev->u.session.model_shown ? ev->u.session.model_shown
                    : ev->u.session.model     ? ev->u.session.model
                                              : "not known",
                    ev->u.session.cwd ? ev->u.session.cwd : "?");
        if (l->o->replay)
            return;
        if (ev->u.session.offline)
            linear_line(l, "No model is connected: the offline pilot answers. Type help; yare tour "
                           "shows you around.");
        linear_line(l, "/help lists the commands, !COMMAND runs one in the shell, Ctrl+C "
                       "interrupts, Ctrl+D ends.");
        if (!ev->u.session.trusted)
            linear_line(
                l, "This folder is not trusted: its own settings stay off. /trust turns them on.");
    } else if (ev->u.session.cleared || ev->u.session.resumed) {
        linear_line(l, "session %s", ev->u.session.id ? ev->u.session.id : "");
    }
}

static void
show_user(struct linear *l, const struct event *ev)
{
    if (ev->u.user.hidden || (!ev->u.user.replayed && !l->o->replay))
        return; /* the person has typed it here */
    linear_fresh_line(l);
    linear_lines(l, "> ", str_from(ev->u.user.text), 0);
}

static void
show_block(struct linear *l, const struct event *ev)
{
    if (ev->u.block.type == EVBLOCK_THINKING && ev->phase == PHASE_START && !ev->u.block.replayed)
        linear_line(l, "(thinking)");
    if (ev->u.block.type != EVBLOCK_TEXT)
        return;
    if (ev->phase == PHASE_START)
        linear_fresh_line(l);
    else if (ev->phase == PHASE_DELTA)
        linear_text(l, str_from(ev->u.block.text));
    else
        linear_fresh_line(l);
}

static void
note_call(struct linear *l, const struct event *ev)
{
    struct str what = str_from(ev->u.tool.what), line = {0};
    l->call_said = l->n_calls < LINEAR_CALLS;
    if (!l->call_said || !ev->u.tool.id)
        return;
    struct linear_call *c = &l->calls[l->n_calls++];
    (void)str_split(&what, '\n', &line);
    size_t fit = text_fit(text_start(line, sizeof c->what - 4), WHICH_COLUMNS, NULL);
    (void)snprintf(c->id, sizeof c->id, "%s", ev->u.tool.id);
    (void)snprintf(c->what, sizeof c->what, "%.*s%s", (int)fit, line.ptr ? line.ptr : "",
                   fit < line.len ? "..." : "");
}

/* Which call it was, where the line before does not say it. */
static void
add_which(struct linear *l, const char *id, struct buf *out)
{
    size_t i = 0;
    while (i < l->n_calls && strncmp(l->calls[i].id, id, sizeof l->calls[i].id - 1) != 0)
        i++;
    bool alone = l->n_calls == 1 && l->call_said;
    l->call_said = false;
    if (i == l->n_calls)
        return;
    if (!alone && l->calls[i].what[0])
        buf_addf(out, "%s: ", l->calls[i].what);
    l->n_calls--;
    memmove(l->calls + i, l->calls + i + 1, (l->n_calls - i) * sizeof *l->calls);
}

static void
show_tool(struct linear *l, const struct event *ev)
{
    const char *name = ev->u.tool.name ? ev->u.tool.name : "tool";
    const char *what = ev->u.tool.what ? ev->u.tool.what : "";
    if (ev->phase == PHASE_START) {
        linear_line(l, "[%s] %s", name, what);
        note_call(l, ev);
    }
    if (ev->phase != PHASE_END)
        return;
    struct buf which;
    buf_init(&which, BUF_MAX);
    add_which(l, ev->u.tool.id ? ev->u.tool.id : "", &which);
    linear_line(l, "[%s] %s%s%s%s", name, buf_cstr(&which), tool_state_name(ev->u.tool.state),
                ev->u.tool.summary ? ": " : "", ev->u.tool.summary ? ev->u.tool.summary : "");
    buf_release(&which);
    bool shell = strcmp(name, "Bash") == 0;
    if (ev->u.tool.output && (ev->u.tool.is_diff || shell || ev->u.tool.is_error))
        linear_lines(l, "  ", str_from(ev->u.tool.output),
                     ev->u.tool.is_diff ? DIFF_LINES : OUTPUT_LINES);
}

/* The todo list, or how a command in the background ended. */
static void
show_task(struct linear *l, const char *json)
{
    struct cJSON *tree = json ? json_parse(str_from(json), NULL) : NULL;
    const char *ended = json_cstr(tree, "task.state", "running");
    if (strcmp(ended, "running") != 0)
        linear_line(l, "[background %s] %s: %s", json_cstr(tree, "task.id", ""), ended,
                    json_cstr(tree, "task.what", ""));
    for (const struct cJSON *t = json_first(json_at(tree, "todos")); t; t = json_next(t)) {
        const char *status = json_cstr(t, "status", "pending");
        linear_line(l, "%s %s",
                    strcmp(status, "completed") == 0     ? "[done]"
                    : strcmp(status, "in_progress") == 0 ? "[now] "
                                                         : "[    ]",
                    json_cstr(t, "content", ""));
    }
    json_free(tree);
}

static const char *
denied_because(const struct decision *d)
{
    for (size_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].verdict == d->verdict && d->findings[i].reason)
            return d->findings[i].reason;
    return "no reason was given";
}

static void
show_decided(struct linear *l, const struct event *ev)
{
    if (ev->u.decided.allowed && ev->u.decided.ask_id && ev->u.decided.who &&
        strcmp(ev->u.decided.who, "person") != 0)
        linear_line(l, "allowed by the %s", ev->u.decided.who);
    if (!ev->u.decided.allowed && !ev->u.decided.ask_id)
        linear_line(l, "not allowed: %s (%s)", ev->u.decided.what ? ev->u.decided.what : "",
                    denied_because(&ev->u.decided.decision));
}

static void
show_result(struct linear *l, const struct event *ev)
{
    struct buf b;
    buf_init(&b, 4096);
    l->n_calls = 0;
    if (ev->u.result.is_error)
        buf_adds(&b, event_end_words(ev->u.result.exit));
    if (l->ctx_window > 0)
        buf_addf(&b, "%scontext %" PRId64 "%%", b.len ? ", " : "",
                 l->ctx_used * 100 / l->ctx_window);
    if (l->cost > 0)
        buf_addf(&b, "%s$%.2f", b.len ? ", " : "", l->cost);
    if (b.len)
        linear_line(l, "(%s)", buf_cstr(&b));
    buf_release(&b);
}

static void
show_small(struct linear *l, const struct event *ev)
{
    switch (ev->kind) {
    case EV_NOTICE:
        linear_lines(l, "", str_from(ev->u.notice.text), 0);
        break;
    case EV_ERROR:
        linear_line(l, "error: %s", ev->u.error.err.text);
        break;
    case EV_RETRY:
        linear_line(l, "attempt %d of %d failed (%s), the next one in %" PRId64 " s",
                    ev->u.retry.attempt, ev->u.retry.max_attempts, ev->u.retry.err.text,
                    (ev->u.retry.delay_ms + 999) / 1000);
        break;
    case EV_COMPACT:
        if (ev->phase == PHASE_END && ev->u.compact.text)
            linear_lines(l, "", str_from(ev->u.compact.text), 0);
        break;
    case EV_MODE:
        if (ev->u.mode.mode != l->mode)
            linear_line(l, "permission mode: %s", perm_mode_shown(ev->u.mode.mode));
        l->mode = ev->u.mode.mode;
        break;
    case EV_OFFER:
        linear_line(l, "%s (%s)", ev->u.offer.text, ev->u.offer.command);
        break;
    case EV_USAGE:
        l->cost = ev->u.usage.cost_usd;
        break;
    case EV_CONTEXT:
        l->ctx_used = ev->u.context.used;
        l->ctx_window = ev->u.context.window;
        break;
    default:
        break;
    }
}

void
linear_show(struct linear *l, const struct event *ev)
{
    if (ev->agent && ev->kind != EV_PERM_DECIDED && ev->kind != EV_NOTICE && ev->kind != EV_ERROR)
        return; /* of a sub-agent: its result comes as a tool's */
    switch (ev->kind) {
    case EV_SESSION:
        show_session(l, ev);
        break;
    case EV_USER:
        show_user(l, ev);
        break;
    case EV_BLOCK:
        show_block(l, ev);
        break;
    case EV_TOOL:
        show_tool(l, ev);
        break;
    case EV_TASK:
        show_task(l, ev->u.task.json);
        break;
    case EV_PERM_DECIDED:
        show_decided(l, ev);
        break;
    case EV_RESULT:
        show_result(l, ev);
        break;
    default:
        show_small(l, ev);
        break;
    }
}

/* ---- a permission request ---- */

static void
show_findings(struct linear *l, const struct decision *d, bool all)
{
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct finding *f = &d->findings[i];
        if (!all && f->verdict != d->verdict)
            continue;
        linear_line(l, "  %s: %s%s%s (%s%s%s)", verdict_name(f->verdict), f->part ? f->part : "",
                    f->part ? ": " : "", f->reason ? f->reason : "", f->layer,
                    f->rule ? ", rule " : "", f->rule ? f->rule : "");
    }
}

void
linear_show_ask(struct linear *l, bool whole_chain)
{
    const struct event *ev = l->asks[0];
    linear_line(l, "Permission asked: %s%s%s", ev->u.ask.tool ? ev->u.ask.tool : "",
                ev->agent ? ", agent " : "", ev->agent ? ev->agent : "");
    if (ev->u.ask.command)
        linear_lines(l, "  $ ", str_from(ev->u.ask.command), 0);
    else
        linear_line(l, "  %s", ev->u.ask.what ? ev->u.ask.what : "");
    if (ev->u.ask.diff)
        linear_lines(l, "  ", str_from(ev->u.ask.diff), whole_chain ? 0 : DIFF_LINES);
    else if (whole_chain && ev->u.ask.input)
        linear_lines(l, "  ", str_from(ev->u.ask.input), INPUT_LINES);
    show_findings(l, &ev->u.ask.decision, whole_chain);
    if (l->n_asks > 1)
        linear_line(l, "  (%zu more requests wait)", l->n_asks - 1);
}

void
linear_show_rules(struct linear *l)
{
    const struct event *ev = l->asks[0];
    if (ev->u.ask.rules_file)
        linear_line(l, "These rules would be saved in %s:", ev->u.ask.rules_file);
    else
        linear_line(l, "No narrow rule would do; until the session ends exactly this would run:");
    for (size_t i = 0; i < ev->u.ask.n_rules; i++)
        linear_line(l, "  allow %s", ev->u.ask.rules[i]);
}

/* What an answer would do: "always" only where there is something to save, or to allow for the session. */
static struct str
question(const struct linear *l)
{
    const struct event *ask = l->n_asks ? l->asks[0] : NULL;
    bool saves = ask && ask->u.ask.rules_file;
    switch (l->line) {
    case ASK_PERMISSION:
        return !ask || !ask->u.ask.n_rules ? STR("y once, n no, w why: ")
               : saves                     ? STR("y once, a always, n no, w why: ")
                                           : STR("y once, a this session, n no, w why: ");
    case ASK_ALWAYS:
        return saves ? STR("Enter (or y) saves and allows, n goes back: ")
                     : STR("Enter (or y) allows, n goes back: ");
    case ASK_REASON:
        return STR("reason for the model (may be empty): ");
    case ASK_PROMPT:
        break;
    }
    return STR("> ");
}

void
linear_prompt(struct linear *l)
{
    linear_fresh_line(l);
    if (l->line == ASK_PROMPT && l->mode != PERM_DEFAULT)
        put(l, str_from(perm_mode_shown(l->mode)));
    put(l, question(l));
    l->mid_line = false;
    l->prompted = true;
}
