/* What a decision leaves behind: words for the model, events, the audit log, the reports of rules and denials. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/permit_afk.h"
#include "engine/permit_private.h"
#include "engine/permit_sandbox.h"

/* ---- words and records ---- */

/* Why not, for the model: the findings that speak for the verdict, in words. */
void
permit_add_reasons(const struct decision *d, struct buf *out)
{
    buf_adds(out, "permission denied");
    const char *sep = ": ";
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct finding *f = &d->findings[i];
        if (f->verdict != VERDICT_DENY && f->verdict != VERDICT_ASK)
            continue;
        buf_adds(out, sep);
        if (f->part && !(f->reason && strstr(f->reason, f->part)))
            buf_addf(out, "'%s': ", f->part);
        buf_adds(out, f->reason ? f->reason : "no reason given");
        if (f->rule)
            buf_addf(out, " (rule %s)", f->rule);
        sep = "; ";
    }
    buf_adds(out, NO_WAY_ROUND);
}

void
permit_for_person(struct str reason, struct buf *out)
{
    struct str rest = reason;
    if (str_ends(rest, NO_WAY_ROUND))
        rest = str_sub(rest, 0, rest.len - strlen(NO_WAY_ROUND));
    if (str_starts(rest, SAID_NO TOLD_YOU)) {
        size_t n = strlen(SAID_NO TOLD_YOU);
        buf_adds(out, "you said no: ");
        buf_add_str(out, str_sub(rest, n, rest.len - n));
    } else if (str_starts(rest, SAID_NO)) {
        buf_adds(out, "you said no");
    } else {
        buf_add_str(out, rest);
    }
}

void
permit_add_denial(struct permit *p, const struct permit_call *call)
{
    struct buf one;
    buf_init(&one, DENIALS_MAX / 4);
    struct jw w;
    jw_init(&w, &one);
    jw_object(&w);
    jw_kcstr(&w, "tool_name", call->tool->name);
    jw_kcstr(&w, "tool_use_id", call->id);
    jw_kraw(&w, "tool_input", call->raw);
    jw_end(&w);
    if (!buf_full(&one) && p->denials.len + one.len + 1 <= DENIALS_MAX) {
        if (p->denials.len)
            buf_addc(&p->denials, ',');
        buf_add_str(&p->denials, buf_str(&one));
    }
    buf_release(&one);
}

static void
audit(struct permit *p, const struct permit_call *call, const struct decision *d, const char *what,
      struct str input, const char *who, bool allowed, int64_t waited_ms)
{
    const struct core *c = p->core;
    const struct audit_entry e = {
        .session_id = c->session_id,
        .tool_use_id = call->id,
        .tool = call->tool->name,
        .what = what,
        .who = who,
        .cwd = c->cwd,
        .input = input,
        .mode = c->mode,
        .decision = d,
        .allowed = allowed,
        .waited_ms = waited_ms,
    };
    struct err err = {0};
    if (audit_append(c->paths.audit, &e, &err))
        p->audit_failed = false;
    else if (!p->audit_failed) {
        p->audit_failed = true;
        core_error(p->core, &err, NULL);
    }
}

void
permit_emit_decided(struct permit *p, const struct permit_call *call, uint64_t ask_id,
                    const struct decision *d, const char *who, bool allowed, int64_t waited_ms)
{
    struct event *e = event_new(EV_PERM_DECIDED);
    e->u.decided.ask_id = ask_id;
    e->u.decided.tool_use_id = xstrdup(call->id);
    e->u.decided.tool = xstrdup(call->tool->name);
    e->u.decided.what = tool_describe(call->tool, call->input, p->core->cwd);
    decision_copy(&e->u.decided.decision, d);
    if (allowed)
        permit_sandbox_settle(p, call, &e->u.decided.decision);
    if (allowed)
        judged_note(&p->core->judged, call->id, d);
    e->u.decided.who = xstrdup(who);
    e->u.decided.allowed = allowed;
    e->u.decided.waited_ms = waited_ms;
    audit(p, call, &e->u.decided.decision, e->u.decided.what, call->raw, who, allowed, waited_ms);
    if (!call->person && (ask_id || !allowed || strcmp(who, "classifier") == 0)) {
        char *told = permit_told_what(p, call);
        afk_note_past(p->afk, call->tool->name, told, who, allowed);
        free(told);
    }
    core_emit(p->core, e);
}

/* A request closes without an answer to what it showed: another one follows, for the call as it is now. */
void
permit_emit_replaced(struct permit *p, const struct permit_call *call, const struct ask *a,
                     const struct decision *d, const char *how, int64_t waited_ms)
{
    struct event *e = event_new(EV_PERM_DECIDED);
    e->u.decided.ask_id = a->id;
    e->u.decided.tool_use_id = xstrdup(call->id);
    e->u.decided.tool = xstrdup(a->tool);
    e->u.decided.what = xstrdup(a->what);
    decision_copy(&e->u.decided.decision, d);
    e->u.decided.who = xstrdup("person");
    e->u.decided.waited_ms = waited_ms;
    audit(p, call, d, a->what, str_from(a->input), how, false, waited_ms);
    core_emit(p->core, e);
}

/* ---- reports ---- */

void
permit_begin_submit(struct permit *p)
{
    buf_clear(&p->denials);
    denials_clear(&p->refused);
}

void
permit_write_denials(const struct permit *p, struct buf *out)
{
    buf_addc(out, '[');
    buf_add_str(out, buf_str(&p->denials));
    buf_addc(out, ']');
}

static void
write_problem(struct jw *w, const struct config_problem *pr)
{
    jw_object(w);
    jw_kcstr(w, "file", pr->file ? pr->file : "");
    jw_kint(w, "line", pr->line);
    jw_kcstr(w, "text", pr->text);
    jw_end(w);
}

/* In a settings file of yare itself that belongs to the person or the project. */
static bool
is_ours(const struct perm_rule *r)
{
    return r->file && r->file[0] && !r->claude &&
           (r->scope == SCOPE_USER || r->scope == SCOPE_PROJECT || r->scope == SCOPE_LOCAL);
}

/* Where a rule of --allowedTools stands; NULL: it is none. */
static char **
find_given(const struct core *c, const struct perm_rule *r)
{
    if (r->scope != SCOPE_CLI || r->verdict != VERDICT_ALLOW || (r->file && r->file[0]))
        return NULL;
    for (char **v = c->given.allowed_tools; *v; v++)
        if (strcmp(*v, r->text) == 0)
            return v;
    return NULL;
}

bool
permit_remove_rule(struct permit *p, const char *list, const char *text, struct err *err)
{
    permit_settings_refresh(&p->settings, p->core);
    const struct perm_rules *rs = &p->settings.rules;
    bool seen = false;
    for (size_t i = 0; i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (strcmp(r->text, text) != 0 || strcmp(verdict_name(r->verdict), list) != 0)
            continue;
        seen = true;
        char **given = find_given(p->core, r);
        if (given) { /* of the command line: for what is left of the session */
            free(*given);
            for (; *given; given++)
                given[0] = given[1];
            permit_reload(p);
            return true;
        }
        if (!is_ours(r))
            continue;
        char *path = xasprintf("permissions.%s", list);
        bool ok = config_remove_from_list(r->file, path, text, err);
        free(path);
        if (ok)
            permit_reload(p);
        return ok;
    }
    if (seen)
        return err_set(err, ERR_INVALID,
                       "'%s' does not stand in a file of yare's own: edit it by hand", text);
    return err_set(err, ERR_INVALID, "no %s rule '%s'; /permissions lists them", list, text);
}

void
permit_write_rules(struct permit *p, struct buf *out)
{
    permit_settings_refresh(&p->settings, p->core);
    const struct perm_rules *rs = &p->settings.rules;
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kcstr(&w, "mode", perm_mode_name(p->core->mode));
    jw_kbool(&w, "trusted", p->core->trusted);
    jw_key(&w, "rules");
    jw_array(&w);
    for (size_t i = 0; i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        jw_object(&w);
        jw_kcstr(&w, "list", verdict_name(r->verdict));
        jw_kcstr(&w, "rule", r->text);
        jw_kcstr(&w, "scope", scope_name(r->scope));
        jw_kcstr(&w, "file", r->file ? r->file : "");
        jw_kint(&w, "line", r->line);
        jw_kbool(&w, "removable", is_ours(r) || find_given(p->core, r));
        jw_end(&w);
    }
    jw_end(&w);
    jw_key(&w, "problems");
    jw_array(&w);
    for (size_t i = 0; i < rs->n_problems; i++)
        write_problem(&w, &rs->problems[i]);
    const struct config_problem *cp;
    size_t n = config_problems(p->settings.config, &cp);
    for (size_t i = 0; i < n; i++)
        write_problem(&w, &cp[i]);
    jw_end(&w);
    jw_key(&w, "session");
    permit_write_kept(p, &w);
    permit_sandbox_write(p, &w);
    jw_end(&w);
}
