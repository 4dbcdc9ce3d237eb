/* Asks while the person is away: verdicts that come, time that runs out, and what the classifier hears. */
#include <limits.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/permit_afk.h"
#include "engine/permit_private.h"
#include "perm/leaf.h"

#define TOLD_MAX ((size_t)400)

/* A command by its decoded words: what stands beside them in its text is no part of what happened. */
char *
permit_told_what(const struct permit *p, const struct permit_call *call)
{
    const struct core *c = p->core;
    if (!(call->tool->flags & TOOL_SHELL))
        return tool_describe(call->tool, call->input, c->cwd);
    const struct perm_shell_env env = {
        .cwd = c->cwd, .home = c->home, .root = c->root, .shell = "bash"};
    struct perm_analysis a;
    struct buf b, one;
    buf_init(&b, BUF_MAX);
    buf_init(&one, BUF_MAX);
    perm_shell_analyse(json_str(call->input, "command"), &env, &a);
    for (size_t i = 0; i < a.n_leaves && b.len < TOLD_MAX; i++) {
        buf_clear(&one);
        perm_leaf_text(&a.leaves[i], false, &one);
        if (one.len)
            buf_addf(&b, "%s%s", b.len ? "; " : "", buf_cstr(&one));
    }
    perm_analysis_release(&a);
    buf_release(&one);
    return buf_take(&b);
}

uint64_t
permit_next_judged(struct permit *p)
{
    return afk_take(p);
}

enum permit_verdict
permit_judged(struct permit *p, uint64_t ask_id, const struct permit_call *call,
              struct buf *ret_reason)
{
    struct ask *a = permit_find_ask(p, ask_id);
    if (!a)
        return PERMIT_PARKED;
    struct decision d;
    enum permit_verdict v;
    permit_check(p, call, &d); /* the rules may have changed, and the folder */
    if (!perm_chain_classifier_may(&d)) {
        v = permit_settle(p, call, &d, "chain", a, ret_reason, &ask_id);
    } else if (afk_still_asks(p, a, call, &d)) {
        const struct judge_answer answer = a->answer;
        v = permit_act_on_answer(p, call, &d, a, &answer, ret_reason, &ask_id);
    } else {
        v = permit_consult(p, call, &d, a, ret_reason, &ask_id);
    }
    decision_release(&d);
    return v;
}

static int64_t
time_left(struct permit *p, const struct ask *a, int64_t max_ms)
{
    int64_t since = afk_since_ms(p->afk);
    if (a->since_ms > since)
        since = a->since_ms;
    int64_t left = since + max_ms - clock_mono_ms();
    return left > 0 ? left : 0;
}

int
permit_timeout_ms(struct permit *p)
{
    int64_t max_ms = p->asks ? afk_max_wait_ms(p) : 0, least = -1;
    for (const struct ask *a = p->asks; a && max_ms; a = a->next) {
        int64_t left = a->shown && !a->judging ? time_left(p, a, max_ms) : -1;
        if (left >= 0 && (least < 0 || left < least))
            least = left;
    }
    return least > INT_MAX ? INT_MAX : (int)least;
}

uint64_t
permit_next_expired(struct permit *p)
{
    int64_t max_ms = p->asks ? afk_max_wait_ms(p) : 0;
    const struct ask *oldest = NULL;
    for (const struct ask *a = p->asks; a && max_ms; a = a->next)
        if (a->shown && !a->judging && !time_left(p, a, max_ms))
            oldest = a;
    return oldest ? oldest->id : 0;
}

enum permit_verdict
permit_expire(struct permit *p, uint64_t ask_id, const struct permit_call *call,
              struct buf *ret_reason)
{
    struct ask *a = permit_find_ask(p, ask_id);
    if (!a)
        return PERMIT_PARKED;
    struct decision d;
    uint64_t anew = 0;
    permit_check(p, call, &d);
    if (d.verdict == VERDICT_ASK) {
        decision_add(&d, "mode", VERDICT_DENY, NULL, NULL,
                     "not approved while away: nobody answered within %lld s",
                     (long long)(afk_max_wait_ms(p) / 1000));
        d.verdict = VERDICT_DENY;
        d.liftable_by = LIFT_NONE;
    }
    enum permit_verdict v = permit_settle(p, call, &d, "afk.max_wait", a, ret_reason, &anew);
    decision_release(&d);
    return v;
}

void
permit_hear(struct permit *p, const char *text)
{
    afk_hear(p->afk, text);
}

void
permit_mode_changed(struct permit *p)
{
    afk_mode_changed(p);
}

void
permit_new_session(struct permit *p)
{
    afk_new_session(p->afk);
    denials_clear(&p->refused);
    permit_forget_kept(p);
    if (p->core->mode == PERM_AUTO)
        afk_mode_changed(p);
}
