/* Judging, parking and answering. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/permit_afk.h"
#include "engine/permit_private.h"
#include "engine/permit_sandbox.h"

struct permit *
permit_new(struct core *c)
{
    struct permit *p = xcalloc(1, sizeof *p);
    p->core = c;
    permit_settings_init(&p->settings);
    buf_init(&p->denials, DENIALS_MAX);
    p->afk = afk_new(c);
    return p;
}

static void
ask_free(struct ask *a)
{
    if (!a)
        return;
    free(a->tool_use_id);
    free(a->tool);
    free(a->what);
    free(a->input);
    free(a->cwd);
    free(a->question);
    for (size_t i = 0; i < a->n_rules; i++)
        free(a->rules[i]);
    buf_release(&a->said);
    free(a);
}

void
permit_free(struct permit *p)
{
    if (!p)
        return;
    while (p->asks) {
        struct ask *a = p->asks;
        p->asks = a->next;
        ask_free(a);
    }
    afk_free(p->afk);
    denials_clear(&p->refused);
    permit_forget_kept(p);
    permit_settings_release(&p->settings);
    buf_release(&p->denials);
    free(p);
}

void
permit_reload(struct permit *p)
{
    p->settings.stale = true;
}

const struct perm_rules *
permit_rules(struct permit *p)
{
    permit_settings_refresh(&p->settings, p->core);
    return &p->settings.rules;
}

void
permit_look(struct permit *p)
{
    permit_settings_refresh(&p->settings, p->core);
}

const struct config *
permit_config(struct permit *p)
{
    if (!permit_settings_hold(&p->settings, p->core))
        permit_look(p);
    return p->settings.config;
}

/* ---- the chain's request ---- */

void
permit_build_request(struct permit *p, const struct permit_call *call, struct permit_request *r)
{
    const struct core *c = p->core;
    memset(r, 0, sizeof *r);
    size_t n = 0;
    for (; n < p->settings.n_dirs && n < ARRAY_LEN(r->dirs); n++)
        r->dirs[n] = p->settings.dirs[n];
    size_t roots = c->paths.spill ? 1 : 0; /* what a fork's markers name lies with its parents */
    r->read_roots[0] = c->paths.spill;
    roots += session_kept_dirs(c, r->read_roots + roots, SESSION_FORKS_MAX);
    r->req = (struct perm_request){
        .tool = call->tool->name,
        .input = call->input,
        .mode = call->person ? PERM_BYPASS : c->mode,
        .rules = &p->settings.rules,
        .root = c->root,
        .cwd = c->cwd,
        .start_cwd = c->original_cwd,
        .home = c->home,
        .config_dir = c->config_dir,
        .data_dir = c->data_dir,
        .additional_dirs = r->dirs,
        .n_additional_dirs = n,
        .read_roots = r->read_roots,
        .n_read_roots = roots,
        .trusted = c->trusted,
        .interactive = call->person || c->interactive,
        .case_insensitive = -1,
        .tool_read_only = (call->tool->flags & TOOL_READ_ONLY) != 0,
        .tool_destructive = (call->tool->flags & TOOL_DESTRUCTIVE) != 0,
        .tool_known = true,
        .mode_scope = c->mode_scope,
    };
}

void
permit_check(struct permit *p, const struct permit_call *call, struct decision *ret)
{
    struct permit_request r;
    permit_settings_refresh(&p->settings, p->core);
    permit_build_request(p, call, &r);
    permit_sandbox_request(p, call, &r.req);
    p->core->seams.perm_check(&r.req, ret);
    /* What was decided is acted on; a chain that said nothing asks. */
    if (ret->verdict == VERDICT_NONE)
        ret->verdict = VERDICT_ASK;
    permit_sandbox_judge(p, call, ret);
    permit_allow_kept(p, call, ret);
    if (ret->verdict == VERDICT_ASK && !r.req.interactive && !perm_chain_classifier_may(ret)) {
        decision_add(ret, "mode", VERDICT_DENY, NULL, NULL,
                     "it needs an approval and nobody is here to answer");
        ret->verdict = VERDICT_DENY;
    }
}

bool
permit_is_read_only(struct permit *p, const struct permit_call *call)
{
    struct permit_request r;
    permit_settings_refresh(&p->settings, p->core);
    permit_build_request(p, call, &r);
    return p->core->seams.bash_read_only(&r.req);
}

/* ---- asks ---- */

struct ask *
permit_find_ask(struct permit *p, uint64_t id)
{
    struct ask *a = p->asks;
    while (a && a->id != id)
        a = a->next;
    return a;
}

static void
remove_ask(struct permit *p, struct ask *gone)
{
    struct ask **at = &p->asks;
    while (*at && *at != gone)
        at = &(*at)->next;
    if (*at)
        *at = gone->next;
    ask_free(gone);
}

static struct tool_ctx
dry_ctx(const struct core *c, const struct permit_call *call)
{
    return (struct tool_ctx){
        .session_id = c->session_id,
        .tool_use_id = call->id,
        .root = c->root,
        .cwd = c->cwd,
        .home = c->home,
        .spill_dir = c->paths.spill,
        .child_env = (const char *const *)c->child_env,
        .files = c->files,
    };
}

static void
fill_preview(struct permit *p, const struct permit_call *call, struct event *e)
{
    if (!call->tool->preview)
        return;
    const struct tool_ctx ctx = dry_ctx(p->core, call);
    struct buf b;
    buf_init(&b, (size_t)1 << 20);
    call->tool->preview(&ctx, call->input, &b);
    if (b.len)
        e->u.ask.diff = buf_take(&b);
    buf_release(&b);
}

static struct ask *
make_ask(struct permit *p, const struct permit_call *call)
{
    struct ask *a = xcalloc(1, sizeof *a);
    a->id = ++p->last_id;
    a->tool_use_id = xstrdup(call->id);
    a->tool = xstrdup(call->tool->name);
    a->what = tool_describe(call->tool, call->input, p->core->cwd);
    a->input = str_dup(call->raw);
    a->cwd = xstrdup(p->core->cwd);
    a->since_ms = clock_mono_ms();
    buf_init(&a->said, BUF_MAX);
    a->next = p->asks;
    p->asks = a;
    return a;
}

static struct event *
ask_event(struct permit *p, const struct permit_call *call, struct ask *a, const struct decision *d)
{
    struct event *e = event_new(EV_PERM_ASK);
    e->u.ask.id = a->id;
    e->u.ask.tool_use_id = xstrdup(call->id);
    e->u.ask.tool = xstrdup(call->tool->name);
    e->u.ask.what = xstrdup(a->what);
    e->u.ask.input = xstrdup(a->input);
    if (call->tool->flags & TOOL_SHELL) {
        struct str command = json_str(call->input, "command");
        e->u.ask.command = command.ptr ? str_dup(command) : NULL;
    }
    fill_preview(p, call, e);
    decision_copy(&e->u.ask.decision, d);
    permit_offer_rules(p, call, d, a, e);
    return e;
}

/* Why it asks and what "always" would do: two requests that read the same are one. */
static void
write_said(const struct event *e, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    decision_write(&e->u.ask.decision, &w);
    jw_key(&w, "rules");
    jw_array(&w);
    for (size_t i = 0; i < e->u.ask.n_rules; i++)
        jw_cstr(&w, e->u.ask.rules[i]);
    jw_end(&w);
    jw_kcstr(&w, "file", e->u.ask.rules_file);
    jw_kcstr(&w, "why", e->u.ask.rules_why);
    jw_end(&w);
}

/* One that stands there already is told anew under its number, where it reads differently now. */
static void
show(struct permit *p, const struct permit_call *call, struct ask *a, const struct decision *d)
{
    struct event *e = ask_event(p, call, a, d);
    struct buf said;
    buf_init(&said, BUF_MAX);
    write_said(e, &said);
    bool same = a->shown && str_eq(buf_str(&said), buf_str(&a->said));
    buf_release(&a->said);
    a->said = said;
    if (same) {
        event_free(e);
        return;
    }
    if (a->shown)
        a->offer++;
    else
        a->since_ms = clock_mono_ms(); /* from now on a person waits for it */
    a->shown = true;
    e->u.ask.offer = a->offer;
    core_emit(p->core, e);
}

/* ---- judging ---- */

static bool
would_fail(const struct permit *p, const struct permit_call *call, struct buf *ret_why)
{
    if (!call->tool->precheck)
        return false;
    const struct tool_ctx ctx = dry_ctx(p->core, call);
    return !call->tool->precheck(&ctx, call->input, ret_why);
}

static enum permit_verdict
deny(struct permit *p, const struct permit_call *call, const struct decision *d, uint64_t ask_id,
     const char *who, int64_t waited_ms)
{
    permit_add_denial(p, call);
    permit_emit_decided(p, call, ask_id, d, who, false, waited_ms);
    permit_note_refusal(p, call, d, who);
    return PERMIT_DENY;
}

enum permit_verdict
permit_settle(struct permit *p, const struct permit_call *call, const struct decision *d,
              const char *who, struct ask *a, struct buf *ret_reason, uint64_t *ret_ask)
{
    uint64_t shown = a && a->shown ? a->id : 0;
    int64_t waited = shown ? clock_mono_ms() - a->since_ms : 0;
    enum permit_verdict v = PERMIT_ALLOW;
    if (d->verdict == VERDICT_DENY) {
        permit_add_reasons(d, ret_reason);
        v = deny(p, call, d, shown, who, waited);
    } else if (d->verdict == VERDICT_ALLOW || call->person) {
        /* A person who types a command has decided; only deny rules stand above that. */
        permit_emit_decided(p, call, shown, d, call->person ? "person" : who, true, waited);
    } else {
        a = a ? a : make_ask(p, call);
        show(p, call, a, d);
        *ret_ask = a->id;
        return PERMIT_PARKED;
    }
    if (a)
        remove_ask(p, a);
    return v;
}

enum permit_verdict
permit_act_on_answer(struct permit *p, const struct permit_call *call, struct decision *d,
                     struct ask *a, const struct judge_answer *answer, struct buf *ret_reason,
                     uint64_t *ret_ask)
{
    bool own = afk_apply(p, d, answer);
    return permit_settle(p, call, d, own ? "classifier" : "chain", a, ret_reason, ret_ask);
}

enum permit_verdict
permit_consult(struct permit *p, const struct permit_call *call, struct decision *d, struct ask *a,
               struct buf *ret_reason, uint64_t *ret_ask)
{
    struct judge_answer answer;
    a = a ? a : make_ask(p, call);
    *ret_ask = a->id;
    if (!afk_ask(p, a, call, d, &answer))
        return PERMIT_JUDGING;
    return permit_act_on_answer(p, call, d, a, &answer, ret_reason, ret_ask);
}

enum permit_verdict
permit_judge(struct permit *p, const struct permit_call *call, struct buf *ret_reason,
             uint64_t *ret_ask)
{
    struct decision d;
    enum permit_verdict v;
    permit_check(p, call, &d);
    if (permit_is_stopped(p, call, &d) || d.verdict != VERDICT_ASK || call->person)
        v = permit_settle(p, call, &d, "chain", NULL, ret_reason, ret_ask);
    else if (would_fail(p, call, ret_reason))
        v = PERMIT_FAIL;
    else if (perm_chain_classifier_may(&d))
        v = permit_consult(p, call, &d, NULL, ret_reason, ret_ask);
    else
        v = permit_settle(p, call, &d, "chain", NULL, ret_reason, ret_ask);
    decision_release(&d);
    return v;
}

static bool
is_as_shown(const struct permit *p, const struct ask *a, const struct permit_call *call)
{
    return strcmp(a->tool, call->tool->name) == 0 && str_is(call->raw, a->input) &&
           strcmp(a->cwd, p->core->cwd) == 0;
}

static void
say_no(const struct op *op, struct buf *ret_reason)
{
    buf_adds(ret_reason, SAID_NO);
    if (op->perm.reason && op->perm.reason[0])
        buf_addf(ret_reason, TOLD_YOU "%s", op->perm.reason);
    else
        buf_adds(ret_reason, "; stop and ask what to do instead");
}

/* Yes: what runs must be what was shown, and a deny that came since then holds. */
static enum permit_verdict
say_yes(struct permit *p, const struct op *op, struct ask *a, const struct permit_call *call,
        const struct decision *d, bool edited, struct buf *ret_reason, uint64_t *ret_ask)
{
    int64_t waited = clock_mono_ms() - a->since_ms;
    if (d->verdict == VERDICT_DENY) {
        permit_add_reasons(d, ret_reason);
        return deny(p, call, d, a->id, "chain", waited);
    }
    if (!is_as_shown(p, a, call) && d->verdict != VERDICT_ALLOW) {
        permit_emit_replaced(p, call, a, d, edited ? "edited" : "again", waited);
        if (!edited) /* who changed a call sees it come back */
            core_notice(p->core, "the working folder changed since it was asked: asking again");
        struct ask *anew = make_ask(p, call);
        show(p, call, anew, d);
        *ret_ask = anew->id;
        return PERMIT_PARKED;
    }
    if (op->perm.answer == PERM_ANSWER_ALWAYS && op->perm.offer != a->offer)
        core_notice(p->core, "allowed once: what \"always\" would do changed just then");
    else if (op->perm.answer == PERM_ANSWER_ALWAYS && is_as_shown(p, a, call))
        permit_keep_answer(p, call, a);
    permit_emit_decided(p, call, a->id, d, "person", true, waited);
    return PERMIT_ALLOW;
}

enum permit_verdict
permit_answer(struct permit *p, const struct op *op, const struct permit_call *call, bool edited,
              struct buf *ret_reason, uint64_t *ret_ask)
{
    struct ask *a = permit_find_ask(p, op->perm.ask_id);
    if (!a)
        return permit_judge(p, call, ret_reason, ret_ask);
    struct decision d;
    enum permit_verdict v;
    afk_drop(p->afk, a->judging ? a->id : 0);
    afk_person_answered(p->afk);
    permit_check(p, call, &d);
    if (op->perm.answer == PERM_ANSWER_NO) {
        say_no(op, ret_reason);
        if (op->perm.reason)
            afk_hear(p->afk, op->perm.reason);
        v = deny(p, call, &d, a->id, "person", clock_mono_ms() - a->since_ms);
    } else {
        v = say_yes(p, op, a, call, &d, edited, ret_reason, ret_ask);
    }
    remove_ask(p, a);
    decision_release(&d);
    return v;
}

enum permit_verdict
permit_reconsider(struct permit *p, uint64_t ask_id, const struct permit_call *call, bool stepped,
                  struct buf *ret_reason)
{
    struct ask *a = permit_find_ask(p, ask_id);
    if (!a)
        return PERMIT_PARKED;
    struct decision d;
    enum permit_verdict v = PERMIT_PARKED;
    afk_drop(p->afk, a->judging ? a->id : 0);
    a->judging = false;
    permit_check(p, call, &d);
    bool by_classifier = perm_chain_classifier_may(&d);
    if (stepped && a->shown && (by_classifier || d.verdict == VERDICT_ALLOW)) {
        decision_add(&d, "mode", VERDICT_ASK, NULL, NULL,
                     "it was asked before the mode was stepped on, and waits for your answer");
        d.verdict = VERDICT_ASK;
        show(p, call, a, &d);
    } else if (by_classifier) {
        v = permit_consult(p, call, &d, a, ret_reason, &ask_id);
    } else {
        v = permit_settle(p, call, &d, "chain", a, ret_reason, &ask_id);
    }
    decision_release(&d);
    return v;
}

void
permit_abort(struct permit *p, uint64_t ask_id)
{
    struct ask *a = permit_find_ask(p, ask_id);
    if (!a)
        return;
    afk_drop(p->afk, a->judging ? a->id : 0);
    if (!a->shown) { /* nobody was asked yet */
        remove_ask(p, a);
        return;
    }
    struct event *e = event_new(EV_PERM_DECIDED);
    e->u.decided.ask_id = a->id;
    e->u.decided.tool_use_id = xstrdup(a->tool_use_id);
    e->u.decided.tool = xstrdup(a->tool);
    e->u.decided.what = xstrdup(a->what);
    decision_init(&e->u.decided.decision);
    decision_add(&e->u.decided.decision, "mode", VERDICT_DENY, NULL, NULL,
                 "the call was given up before anybody answered");
    e->u.decided.decision.verdict = VERDICT_DENY;
    e->u.decided.who = xstrdup("abort");
    e->u.decided.waited_ms = clock_mono_ms() - a->since_ms;
    core_emit(p->core, e);
    remove_ask(p, a);
}
