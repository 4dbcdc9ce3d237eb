#include "engine/permit_sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/permit_private.h"
#include "engine/permit_sandbox_private.h"
#include "perm/confinement.h"
#include "perm/proxy.h"
#include "perm/sandbox_tmp.h"

struct permit_sandbox *
permit_sandbox_new(void)
{
    struct permit_sandbox *s = xcalloc(1, sizeof *s);
    s->switched = -1;
    return s;
}

void
permit_sandbox_free(struct permit_sandbox *s)
{
    if (!s)
        return;
    confinement_unref(s->now);
    confinement_unref(s->run_in);
    if (s->tmp)
        sandbox_tmp_remove(s->tmp);
    free(s->tmp);
    free(s->key);
    free(s->why);
    free(s);
}

/* ---- plan and proxy ---- */

static void
tell_refused(void *user, const char *host, const char *why)
{
    struct core *c = user; /* the proxy's thread: only the queue is touched */
    struct event *e = event_new(EV_NOTICE);
    e->u.notice.text = xasprintf("the sandbox kept a command from %s: %s", host, why);
    if (!queue_try_push(c->out, e))
        event_free(e);
}

static struct proxy *
make_proxy(struct permit *p, struct err *err)
{
    const char *allowed[PERMIT_SANDBOX_LIST_MAX], *denied[PERMIT_SANDBOX_LIST_MAX];
    const struct proxy_options o = {
        .allowed = allowed,
        .n_allowed = permit_sandbox_list(p, "sandbox.network.allowedDomains", true, allowed),
        .denied = denied,
        .n_denied = permit_sandbox_list(p, "sandbox.network.deniedDomains", false, denied),
        .dir = p->core->paths.spill,
        .refused = tell_refused,
        .user = p->core,
    };
    return o.n_allowed ? proxy_new(&o, err) : NULL;
}

static bool
make_tmp(struct permit *p, struct err *err)
{
    struct permit_sandbox *s = p->core->sandbox;
    if (!s->tmp && !p->core->paths.spill)
        return err_set(err, ERR_INVALID, "there is no session yet whose files it could keep");
    char *tmp = s->tmp ? NULL : fs_join(p->core->paths.spill, "tmp");
    if (tmp && fs_mkdirs(tmp, 0700, err))
        s->tmp = xstrdup(tmp);
    free(tmp);
    return s->tmp != NULL;
}

static struct confinement *
make(struct permit *p, enum sandbox_kind kind, struct err *err)
{
    const struct core *c = p->core;
    const char *dirs[64];
    struct err none = {0};
    size_t n = 0;
    for (; n < p->settings.n_dirs && n < ARRAY_LEN(dirs); n++)
        dirs[n] = p->settings.dirs[n];
    if (!make_tmp(p, err))
        return NULL;
    *err = none;
    struct proxy *proxy = kind == SANDBOX_BWRAP ? make_proxy(p, err) : NULL;
    if (!proxy && err->code != ERR_NONE)
        return NULL;
    const char *kept[SESSION_FORKS_MAX];
    size_t n_kept = session_kept_dirs(c, kept, SESSION_FORKS_MAX);
    const struct sandbox_place at = {.root = c->root,
                                     .cwd = c->cwd,
                                     .home = c->home,
                                     .config_dir = c->config_dir,
                                     .data_dir = c->data_dir,
                                     .spill_dir = c->paths.spill,
                                     .kept_dirs = kept,
                                     .n_kept_dirs = n_kept,
                                     .additional_dirs = dirs,
                                     .n_additional_dirs = n,
                                     .tmp = c->sandbox->tmp,
                                     .proxy_socket = proxy ? proxy_socket(proxy) : NULL,
                                     .trusted = c->trusted};
    struct sandbox_plan *plan = sandbox_plan_new(kind, &at, permit_config(p), permit_rules(p), err);
    if (!plan)
        proxy_free(proxy);
    return plan ? confinement_new(plan, proxy) : NULL;
}

/* Who wanted every command confined hears at once that none is. */
static void
tell_none(struct permit *p)
{
    struct permit_sandbox *s = p->core->sandbox;
    if (s->told || permit_sandbox_level(p) != SANDBOX_ON)
        return;
    s->told = true;
    core_notice(p->core, "there is no sandbox here: %s; commands %s", s->why ? s->why : "",
                permit_sandbox_flag(p, "failIfUnavailable", true, false)
                    ? "are refused (sandbox.failIfUnavailable)"
                    : "run unconfined, and ask as without it");
}

static void
make_anew(struct permit *p)
{
    struct permit_sandbox *s = p->core->sandbox;
    const char *text = p->core->given.sandbox;
    enum sandbox_want want = SANDBOX_WANT_AUTO;
    struct err err = {0};
    confinement_unref(s->now);
    free(s->why);
    s->now = NULL;
    s->why = NULL;
    if (!text || !sandbox_want_parse(text, &want) || want == SANDBOX_WANT_OFF)
        want = SANDBOX_WANT_AUTO; /* /sandbox on after --sandbox off */
    enum sandbox_kind kind = sandbox_choose(want, sandbox_probe(), &s->why);
    if (kind != SANDBOX_NONE)
        s->now = make(p, kind, &err);
    if (kind != SANDBOX_NONE && !s->now)
        s->why = xstrdup(err.text);
    if (!s->now)
        tell_none(p);
    log_info("sandbox", "%s: %s", sandbox_kind_name(kind), s->now ? "made" : err.text);
}

struct confinement *
permit_sandbox_have(struct permit *p)
{
    struct permit_sandbox *s = p->core->sandbox;
    permit_look(p);
    char *key =
        xasprintf("%llu %d %s\n%s", (unsigned long long)p->settings.generation, p->core->trusted,
                  p->core->cwd, p->core->paths.spill ? p->core->paths.spill : "");
    if (!s->key || strcmp(s->key, key) != 0) {
        free(s->key);
        s->key = key;
        make_anew(p);
    } else {
        free(key);
    }
    return s->now;
}

/* ---- which commands ---- */

static bool
concerns(const struct permit_call *call)
{
    return (call->tool->flags & TOOL_SHELL) && !call->person;
}

static bool
asks_out(const struct permit_call *call)
{
    return json_bool(call->input, "dangerouslyDisableSandbox", false);
}

static bool
is_excluded(struct permit *p, const struct permit_call *call)
{
    struct permit_request r;
    permit_build_request(p, call, &r);
    return sandbox_excludes(permit_config(p), &r.req);
}

void
permit_sandbox_request(struct permit *p, const struct permit_call *call, struct perm_request *req)
{
    if (!concerns(call) || permit_sandbox_level(p) != SANDBOX_ON)
        return;
    const struct confinement *in = permit_sandbox_have(p);
    req->sandbox_auto_allow = permit_sandbox_flag(p, "autoAllowBashIfSandboxed", false, true);
    req->sandbox_available = in && sandbox_plan_proves(confinement_plan(in));
    req->sandbox_unsandboxed = asks_out(call) || is_excluded(p, call);
}

static void
say_no(struct decision *d, const char *reason)
{
    decision_add(d, "L8", VERDICT_DENY, NULL, NULL, "%s", reason);
    d->verdict = VERDICT_DENY;
    d->liftable_by = LIFT_NONE;
}

/* The call wants out of a sandbox that it would be in. */
static void
judge_wish(struct permit *p, enum sandbox_level level, struct decision *d)
{
    if (level == SANDBOX_AFK && d->verdict != VERDICT_ASK)
        return; /* it would not be in one */
    if (!permit_sandbox_flag(p, "allowUnsandboxedCommands", false, true)) {
        say_no(d,
               "it asks to run outside the sandbox, and sandbox.allowUnsandboxedCommands is off");
    } else if (p->core->mode == PERM_DONT_ASK) {
        say_no(d, "it asks to run outside the sandbox, and don't ask mode asks nobody");
    } else {
        decision_add(d, "L8", VERDICT_ASK, NULL, NULL,
                     "it asks to run outside the sandbox: only a person lets it");
        d->verdict = VERDICT_ASK;
        d->liftable_by = LIFT_PERSON;
    }
}

void
permit_sandbox_judge(struct permit *p, const struct permit_call *call, struct decision *d)
{
    enum sandbox_level level = concerns(call) ? permit_sandbox_level(p) : SANDBOX_OFF;
    if (level == SANDBOX_OFF || d->verdict == VERDICT_DENY)
        return;
    if (level == SANDBOX_AFK && p->core->mode != PERM_AUTO)
        return;
    if (!permit_sandbox_have(p)) {
        if (permit_sandbox_flag(p, "failIfUnavailable", true, false) && !is_excluded(p, call)) {
            char *text = xasprintf("commands cannot be confined here, and "
                                   "sandbox.failIfUnavailable wants them to be: %s",
                                   p->core->sandbox->why ? p->core->sandbox->why : "");
            say_no(d, text);
            free(text);
        }
        return;
    }
    bool out = level == SANDBOX_ON && is_excluded(p, call);
    if (asks_out(call) && !out)
        judge_wish(p, level, d);
    else if (d->verdict == VERDICT_ASK)
        decision_add(d, "L8", VERDICT_NONE, NULL, NULL,
                     out || level == SANDBOX_AFK ? "with a person's yes it runs outside the sandbox"
                                                 : "it would run inside the sandbox (%s)",
                     sandbox_kind_name(confinement_plan(p->core->sandbox->now)->kind));
}

/* ---- where it runs ---- */

static bool
let_by_classifier(const struct decision *d)
{
    for (size_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].verdict == VERDICT_ALLOW && !strcmp(d->findings[i].layer, "L6"))
            return true;
    return false;
}

/* Why it runs outside; NULL: it does not. */
static const char *
why_outside(struct permit *p, const struct permit_call *call, const struct decision *d)
{
    enum sandbox_level level = permit_sandbox_level(p);
    if (call->person)
        return "a person typed it";
    if (level == SANDBOX_OFF)
        return "it was switched off";
    if (level == SANDBOX_AFK && !let_by_classifier(d))
        return "it confines what only the classifier lets through";
    if (level == SANDBOX_ON && asks_out(call))
        return "it asked to, and a person let it";
    if (level == SANDBOX_ON && is_excluded(p, call))
        return "sandbox.excludedCommands names it";
    return NULL;
}

void
permit_sandbox_settle(struct permit *p, const struct permit_call *call, struct decision *d)
{
    struct permit_sandbox *s = p->core->sandbox;
    confinement_unref(s->run_in);
    s->run_in = NULL;
    if (!(call->tool->flags & TOOL_SHELL))
        return;
    permit_look(p);
    const char *why = why_outside(p, call, d);
    s->run_in = why ? NULL : confinement_ref(permit_sandbox_have(p));
    if (s->run_in)
        decision_add(d, "L8", VERDICT_NONE, NULL, NULL, "it runs inside the sandbox (%s)",
                     sandbox_kind_name(confinement_plan(s->run_in)->kind));
    else if (why)
        decision_add(d, "L8", VERDICT_NONE, NULL, NULL, "it runs outside the sandbox: %s (%s)", why,
                     permit_sandbox_by(p));
    else
        decision_add(d, "L8", VERDICT_NONE, NULL, NULL,
                     "it runs unconfined, there is no sandbox here: %s", s->why ? s->why : "");
}

struct confinement *
permit_take_confinement(struct permit *p)
{
    struct confinement *in = p->core->sandbox->run_in;
    p->core->sandbox->run_in = NULL;
    return in;
}
