#include "perm/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "perm/chain_ctx.h"
#include "perm/danger.h"

/* What was not looked at may be yare's own, or what a deny rule names: no mode lifts that. Once. */
static void
tell_spent(struct chain *c)
{
    if (looks_spent() && !c->spent_told)
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, NULL,
                  "it reaches more files, or more rules speak of them, than one decision looks at");
    c->spent_told = looks_spent();
}

static void
layer_paths_and_dangers(struct chain *c)
{
    layer_paths(c);
    danger_judge(c);
    tell_spent(c);
}

/* The layers in order. Those up to "trust" add findings; the hook, the sandbox and the mode may then take asks away that are
 * not theirs to keep. L6 and L7 work after the chain: perm_chain_apply_classifier and the audit log. */
#define LAYERS(X)                                                                                  \
    X("L1", layer_tool, "tool kind: what the tool is for and the files or hosts it names")         \
    X("rules", layer_rules, "allow, ask and deny rules, on every sub-command and path")            \
    X("L2", layer_shell, "shell syntax: every sub-command, and what is not understood")            \
    X("L3", layer_wrappers, "wrappers: what sudo, xargs, find and their like really run")          \
    X("L4", layer_env, "environment: variables that change what runs")                             \
    X("L5", layer_paths_and_dangers,                                                               \
      "paths: where links lead, protected places, what must not be removed")                       \
    X("trust", layer_trust, "trust: what the project's own files may not widen")                   \
    X("hook", layer_hook, "hooks: what a PreToolUse hook answered")                                \
    X("L8", layer_sandbox, "sandbox: a confined child may run without a question")                 \
    X("mode", layer_mode, "permission mode: what the mode adds or takes")                          \
    X("L6", layer_classifier, "classifier: in auto mode, asks that no person has reserved")        \
    X("L7", NULL, "record: the decision with all its findings goes to the audit log")

#define X(id, run, what) {id, what},
static const struct perm_layer layers[] = {LAYERS(X)};
#undef X
#define X(id, run, what) run,
static void (*const runs[])(struct chain *c) = {LAYERS(X)};
#undef X

const struct perm_layer *
perm_chain_layers(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(layers);
    return layers;
}

/* ---- findings ---- */

/* The length of "ROOT/" at the start of a path below the project, else 0. What could be taken for another place when its beginning is
 * left out stays as it is. */
static size_t
below_root(const struct chain *c, struct str s)
{
    struct str root = str_from(c->root);
    if (!root.len || !str_starts(s, c->root) || s.len < root.len + 2 || s.ptr[root.len] != '/')
        return 0;
    struct str rest = str_sub(s, root.len + 1, s.len);
    if (strchr("/~$\\'", rest.ptr[0]) || str_starts(rest, ".."))
        return 0;
    return root.len + 1;
}

/* Quoted paths below the project, as seen from there: a person reads them in a narrow pane. */
static void
shorten_quoted(const struct chain *c, struct buf *reason)
{
    for (size_t at = 0; (at = str_find(buf_str(reason), '\'', at)) != (size_t)-1;) {
        struct str quoted = str_sub(buf_str(reason), ++at, reason->len);
        size_t n = below_root(c, quoted);
        if (!n)
            continue;
        memmove(reason->data + at, quoted.ptr + n, quoted.len - n);
        buf_truncate(reason, reason->len - n);
    }
}

void
chain_add(struct chain *c, const char *layer, enum verdict v, enum force force,
          const struct perm_rule *rule, const char *part, const char *fmt, ...)
{
    struct buf reason;
    va_list ap;
    buf_init(&reason, 8192);
    va_start(ap, fmt);
    if (!buf_vaddf(&reason, fmt, ap))
        buf_adds(&reason, "too long to be shown");
    va_end(ap);
    shorten_quoted(c, &reason);
    struct str shown = str_from(part);
    shown = str_sub(shown, below_root(c, shown), shown.len);
    shown = str_sub(shown, 0, 2000);
    struct finding *f = decision_take(c->d, layer, v, rule ? rule->text : NULL,
                                      part ? str_dup(shown) : NULL, buf_take(&reason));
    if (rule && rule->file)
        f->file = xstrdup(rule->file);
    if (rule)
        f->line = rule->line;
    ARRAY_GROW(c->force, c->d->n_findings - 1, c->cap_force);
    c->force[c->d->n_findings - 1] = (unsigned char)force;
}

size_t
chain_lift(struct chain *c, enum force most)
{
    size_t n = 0;
    for (size_t i = 0; i < c->d->n_findings; i++) {
        struct finding *f = &c->d->findings[i];
        if (f->verdict != VERDICT_ASK || c->force[i] > most)
            continue;
        f->verdict = VERDICT_NONE;
        n++;
    }
    return n;
}

/* ---- circumstances ---- */

/* A file with deny rules that cannot be read is not one without: until it is mended a person looks at whatever could be meant,
 * reading too, for that is what most deny rules speak of. */
static void
broken_settings(struct chain *c, const struct perm_rules *rs)
{
    if (rs && rs->broken && c->kind != TOOL_KIND_FREE && c->kind != TOOL_KIND_ASK)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, NULL, NULL,
                  "%s cannot be read, and its rules may deny this: every call asks until it is "
                  "mended",
                  rs->broken);
}

void
layer_trust(struct chain *c)
{
    const struct perm_request *req = c->req;
    const struct perm_rules *rs = req->rules;
    broken_settings(c, rs);
    bool repo_server = req->mcp_scope == SCOPE_PROJECT || req->mcp_scope == SCOPE_LOCAL;
    if (req->mcp_definition_changed)
        chain_add(c, "trust", VERDICT_ASK, FORCE_HARD, NULL, req->tool,
                  "the tool's definition changed since it was approved");
    if (c->kind == TOOL_KIND_MCP && repo_server && !c->trusted)
        chain_add(c, "trust", VERDICT_ASK, FORCE_HARD, NULL, req->tool,
                  "the tool's server comes from the project's own files, and %s", c->distrust);
    for (size_t i = 0; !c->trusted && rs && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (r->verdict == VERDICT_ALLOW && !rule_counts(r, &c->allow)) {
            chain_add(c, "trust", VERDICT_NONE, FORCE_PLAIN, r, NULL,
                      "the project's allow rules do not count: %s", c->distrust);
            break;
        }
    }
    if (c->mode != req->mode)
        chain_add(c, "trust", VERDICT_NONE, FORCE_PLAIN, NULL, NULL,
                  "the project's choice of mode does not count: %s", c->distrust);
}

/* Plan mode: neither a hook nor the sandbox opens it for what may change something. */
static bool
plan_closed(const struct chain *c)
{
    bool changes = c->kind == TOOL_KIND_EDIT || c->kind == TOOL_KIND_MCP ||
                   c->kind == TOOL_KIND_UNKNOWN || !c->clean;
    return c->mode == PERM_PLAN && changes;
}

void
layer_hook(struct chain *c)
{
    if (c->req->hook == VERDICT_DENY)
        chain_add(c, "hook", VERDICT_DENY, FORCE_HARD, NULL, NULL, "a hook says no");
    else if (c->req->hook == VERDICT_ASK)
        chain_add(c, "hook", VERDICT_ASK, FORCE_HARD, NULL, NULL,
                  "a hook wants a person to decide");
    else if (c->req->hook == VERDICT_ALLOW && !plan_closed(c) && chain_lift(c, FORCE_PLAIN))
        chain_add(c, "hook", VERDICT_ALLOW, FORCE_PLAIN, NULL, NULL,
                  "a hook allows what no rule speaks of");
}

void
layer_sandbox(struct chain *c)
{
    const struct perm_request *req = c->req;
    if (c->kind != TOOL_KIND_SHELL || !req->sandbox_auto_allow)
        return;
    if (req->sandbox_unsandboxed || json_bool(req->input, "dangerouslyDisableSandbox", false))
        chain_add(c, "L8", VERDICT_NONE, FORCE_PLAIN, NULL, NULL,
                  "it would run outside the sandbox");
    else if (!req->sandbox_available)
        chain_add(c, "L8", VERDICT_NONE, FORCE_PLAIN, NULL, NULL,
                  "there is no sandbox here that could answer for it");
    else if (!plan_closed(c) && chain_lift(c, FORCE_PLAIN))
        chain_add(c, "L8", VERDICT_ALLOW, FORCE_PLAIN, NULL, NULL, "the sandbox confines it");
}

#define SUSPENDED_TOLD 5

/* Which of this tool's allow rules do not count now, so that nobody wonders. */
static void
tell_suspended(struct chain *c)
{
    const struct perm_rules *rs = c->req->rules;
    const char *tool = strcmp(c->req->tool, "Task") == 0 ? "Agent" : c->req->tool;
    size_t n = 0;
    for (size_t i = 0; rs && i < rs->n && n < SUSPENDED_TOLD; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!perm_rules_suspended(r, c->mode) || strcmp(r->tool, tool) != 0)
            continue;
        chain_add(c, "mode", VERDICT_NONE, FORCE_PLAIN, r, NULL,
                  "auto mode sets this rule aside: it leaves room for anything");
        n++;
    }
}

void
layer_mode(struct chain *c)
{
    if (c->req->tool)
        tell_suspended(c);
    if (c->mode == PERM_BYPASS && chain_lift(c, FORCE_PERSON))
        chain_add(c, "mode", VERDICT_ALLOW, FORCE_PLAIN, NULL, NULL, "bypass mode asks nobody");
    else if (c->mode == PERM_PLAN && c->kind == TOOL_KIND_EDIT)
        chain_add(c, "mode", VERDICT_NONE, FORCE_PLAIN, NULL, NULL, "plan mode changes nothing");
}

/* ---- the whole ---- */

static void
combine(struct chain *c)
{
    struct decision *d = c->d;
    enum force most = FORCE_PLAIN;
    d->verdict = VERDICT_NONE;
    for (size_t i = 0; i < d->n_findings; i++) {
        enum verdict v = d->findings[i].verdict;
        if (v > d->verdict)
            d->verdict = v;
        if (v == VERDICT_ASK && c->force[i] > most)
            most = c->force[i];
    }
    if (d->verdict == VERDICT_NONE) {
        chain_add(c, "L1", VERDICT_ASK, FORCE_PLAIN, NULL, NULL, "nothing allows it");
        d->verdict = VERDICT_ASK;
    }
    d->liftable_by = LIFT_NONE;
    if (d->verdict == VERDICT_ASK)
        d->liftable_by = most == FORCE_PLAIN ? LIFT_CLASSIFIER : LIFT_PERSON;
}

void
layer_classifier(struct chain *c)
{
    combine(c);
    if (c->mode == PERM_AUTO && c->d->liftable_by == LIFT_CLASSIFIER)
        chain_add(c, "L6", VERDICT_NONE, FORCE_PLAIN, NULL, NULL, "the classifier may decide");
}

void
perm_chain_check(const struct perm_request *req, struct decision *ret)
{
    struct chain c;
    decision_init(ret);
    chain_init(&c, req, ret);
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        if (runs[i])
            runs[i](&c);
    tell_spent(&c);
    combine(&c);
    bool classifier = c.mode == PERM_AUTO && ret->liftable_by == LIFT_CLASSIFIER;
    if (ret->verdict == VERDICT_ASK &&
        (c.mode == PERM_DONT_ASK || (!req->interactive && !classifier))) {
        chain_add(&c, "mode", VERDICT_DENY, FORCE_HARD, NULL, NULL, "%s",
                  c.mode == PERM_DONT_ASK ? "don't ask mode: what would ask is denied"
                                          : "it needs an approval and nobody is here to answer");
        ret->verdict = VERDICT_DENY;
        ret->liftable_by = LIFT_NONE;
    }
    chain_release(&c);
}

bool
perm_chain_bash_read_only(const struct perm_request *req)
{
    struct decision d;
    struct chain c;
    decision_init(&d);
    chain_init(&c, req, &d);
    bool read_only =
        c.has_sh && c.sh.read_only && !looks_spent() && !c.sh.incomplete && !c.sh.unparsable;
    chain_release(&c);
    decision_release(&d);
    return read_only;
}
