/* What kind of call was refused, and what is told when a kind was refused too often. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/permit_private.h"
#include "perm/leaf.h"

#define KIND_MAX ((size_t)600)
#define PROGRAMS_MAX 6

/* ---- kinds ---- */

/* The words of the deny rules that spoke. */
static void
kind_of_rules(const struct decision *d, struct buf *out)
{
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct finding *f = &d->findings[i];
        if (f->verdict != VERDICT_DENY || !f->rule)
            continue;
        if (!str_contains(buf_str(out), str_from(f->rule)))
            buf_addf(out, "%s%s", out->len ? " and " : "", f->rule);
    }
}

/* A rule that leaves room is a kind; one for exactly this call is none. */
static void
kind_of_offer(struct permit *p, const struct permit_call *call, struct buf *out)
{
    struct permit_request r;
    char *rules[5] = {0};
    const char *why;
    permit_build_request(p, call, &r);
    size_t n = p->core->seams.perm_suggest(&r.req, rules, &why);
    for (size_t i = 0; i < n; i++) {
        if (!(call->tool->flags & TOOL_SHELL) || str_ends(str_from(rules[i]), ":*)"))
            buf_addf(out, "%s%s", out->len ? " and " : "", rules[i]);
        free(rules[i]);
    }
}

static struct str
base_name(struct str s)
{
    for (size_t i = s.len; i-- > 0;)
        if (s.ptr[i] == '/')
            return str_sub(s, i + 1, s.len);
    return s;
}

/* The programs of a command that do more than read. */
static void
kind_of_programs(const struct permit *p, const struct permit_call *call, struct buf *out)
{
    const struct core *c = p->core;
    const struct perm_shell_env env = {
        .cwd = c->cwd, .home = c->home, .root = c->root, .shell = "bash"};
    struct perm_analysis a;
    size_t n = 0;
    perm_shell_analyse(json_str(call->input, "command"), &env, &a);
    for (size_t i = 0; i < a.n_leaves && n < PROGRAMS_MAX; i++) {
        const struct perm_leaf *l = &a.leaves[i];
        if (!l->n_argv || l->cls == CLASS_READER || l->cls == CLASS_GIT_READ)
            continue;
        struct str name = l->name_known ? base_name(l->argv[0].text) : STR("?");
        buf_addf(out, "%sBash(%.*s:*)", n++ ? " and " : "", (int)(name.len < 80 ? name.len : 80),
                 name.ptr);
    }
    perm_analysis_release(&a);
}

static void
kind_of_part(const struct permit_call *call, const struct decision *d, struct buf *out)
{
    const char *part = NULL;
    for (size_t i = 0; i < d->n_findings && !part; i++)
        if (d->findings[i].verdict >= VERDICT_ASK)
            part = d->findings[i].part;
    buf_addf(out, part ? "%s(%.200s)" : "%s", call->tool->name, part);
}

/* Yours. What a rule could be written as, as far as one can be. */
static char *
kind_of(struct permit *p, const struct permit_call *call, const struct decision *d)
{
    struct buf b;
    buf_init(&b, KIND_MAX);
    kind_of_rules(d, &b);
    if (!b.len)
        kind_of_offer(p, call, &b);
    if (!b.len && (call->tool->flags & TOOL_SHELL))
        kind_of_programs(p, call, &b);
    if (!b.len)
        kind_of_part(call, d, &b);
    return buf_take(&b);
}

/* ---- stopping ---- */

bool
permit_is_stopped(struct permit *p, const struct permit_call *call, struct decision *d)
{
    if (call->person || d->verdict < VERDICT_ASK || !p->refused.n)
        return false;
    char *kind = kind_of(p, call, d);
    int n = denials_count(&p->refused, kind);
    if (n >= DENIALS_OF_A_KIND) {
        decision_add(d, "mode", VERDICT_DENY, NULL, NULL,
                     "calls of this kind, %s, were refused %d times in this turn and are not "
                     "tried again; stop, and tell the person what you need and why",
                     kind, n);
        d->verdict = VERDICT_DENY;
        d->liftable_by = LIFT_NONE;
    }
    free(kind);
    return n >= DENIALS_OF_A_KIND;
}

static bool
is_a_deny_rule(const struct decision *d)
{
    for (size_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].verdict == VERDICT_DENY && d->findings[i].rule)
            return true;
    return false;
}

void
permit_note_refusal(struct permit *p, const struct permit_call *call, const struct decision *d,
                    const char *who)
{
    bool classifier = strcmp(who, "classifier") == 0;
    if (!classifier && strcmp(who, "person") != 0 && strcmp(who, "chain") != 0)
        return;
    char *kind = kind_of(p, call, d);
    if (denials_add(&p->refused, kind, classifier)) {
        if (is_a_deny_rule(d))
            core_notice(p->core,
                        "denied %d times by a rule: %s. It is not tried again in this turn; if "
                        "the rule is too wide, change it (/permissions)",
                        DENIALS_OF_A_KIND, kind);
        else
            core_notice(p->core,
                        "refused %d times: %s. It is not tried again in this turn. To settle it, "
                        "add that to permissions.deny, or to permissions.allow, of "
                        ".yare/settings.local.json",
                        DENIALS_OF_A_KIND, kind);
    }
    free(kind);
}
