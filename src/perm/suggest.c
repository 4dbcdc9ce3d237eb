/*
 * The rules that "always" would save: one for each part that needs one, no wider than useful. What they would really do is
 * tried before they are offered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "perm/chain_ctx.h"
#include "perm/suggest.h"
#include "perm/url.h"

enum { SUGGEST_MAX = 5 };

struct offer {
    char *rules[SUGGEST_MAX];
    size_t n;
    const char *why;
    bool as_edits; /* commands that edit single files become rules for Edit */
};

static void
offer_clear(struct offer *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->rules[i]);
    o->n = 0;
}

/* Takes the rule; twice the same is one. */
static void
offer_add(struct offer *o, char *take)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcmp(o->rules[i], take) == 0) {
            free(take);
            return;
        }
    if (o->n == SUGGEST_MAX) {
        o->why = "it would need more than five rules";
        free(take);
        return;
    }
    o->rules[o->n++] = take;
}

/* Brackets and backslashes of a rule's body need a backslash of their own. */
static void
add_body(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (strchr("()\\", s.ptr[i]))
            buf_addc(out, '\\');
        buf_addc(out, s.ptr[i]);
    }
}

static char *
make_rule(const char *tool, struct str body, const char *end)
{
    struct buf b;
    buf_init(&b, 8192);
    buf_addf(&b, "%s(", tool);
    add_body(&b, body);
    buf_addf(&b, "%s)", end);
    return buf_take(&b);
}

/* ---- commands ---- */

static bool
rule_text_ok(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f || s.ptr[i] == '*')
            return false;
    return s.len > 0 && s.len < 1000;
}

static const char *
leaf_refused(const struct chain *c, size_t i, struct str prefix)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    if (!l->argv_known || !l->name_known)
        return "a part of it is only known when it runs";
    if (l->bad_env)
        return "it sets variables that change what runs";
    if (l->raises_power)
        return "it runs with more power or somewhere else";
    if (suggest_is_tame(prefix))
        return c->covers[i].why;
    if (rule_program_is_broad(l->argv[0].text))
        return "a rule for an interpreter, a shell or a runner would allow anything";
    for (size_t k = i + 1; k < c->sh.n_leaves; k++)
        if (c->sh.leaves[k].wrapper == i)
            return "it runs other commands in turn";
    if (l->cls == CLASS_DANGER)
        return "it runs what it is given";
    return c->covers[i].why;
}

/* ---- files ---- */

/* Pattern characters of a real name stand for themselves. */
static bool
path_plain(const char *path)
{
    return !strpbrk(path, "*?[]{}\\\n\r\t");
}

static void
offer_path(struct chain *c, bool write, const char *path, struct offer *o)
{
    char *named = fs_normalize(c->cwd, path), *rest = NULL;
    bool inside = path_inside(named, c->root, false) && strcmp(named, c->root) != 0;
    if (!path_plain(named)) {
        o->why = "the file's name cannot be written as a rule";
    } else if (inside) {
        rest = xstrdup(named + strlen(c->root));
        char *dir = fs_dirname(rest);
        bool top = strcmp(dir, "/") == 0;
        offer_add(o,
                  make_rule(write ? "Edit" : "Read", str_from(top ? rest : dir), top ? "" : "/**"));
        free(dir);
    } else {
        char *abs = xasprintf("/%s", named);
        offer_add(o,
                  make_rule(write ? "Edit" : "Read", str_from(abs), fs_is_dir(named) ? "/**" : ""));
        free(abs);
    }
    free(rest);
    free(named);
}

/* ---- leaves ---- */

/* What is written by an editor of single files may be allowed as for the Edit tool. */
static bool
is_editor(const struct chain *c, const struct perm_leaf *l)
{
    bool writes = false, plain = l->cls == CLASS_EDITOR && l->argv_known && !l->effects_unknown;
    for (size_t i = 0; i < l->n_effects && plain; i++) {
        const struct perm_effect *e = &l->effects[i];
        struct path_names n;
        if (e->redirect || e->kind == EFFECT_READ)
            continue;
        plain = e->path && !e->glob && (e->kind == EFFECT_WRITE || e->kind == EFFECT_DELETE);
        if (!plain)
            break;
        path_names_init(&n, c->cwd, e->path, c->fold);
        plain = path_in_roots(c, &n, false);
        path_names_release(&n);
        writes = true;
    }
    return plain && writes;
}

static void
offer_edits(struct chain *c, const struct perm_leaf *l, struct offer *o)
{
    for (size_t i = 0; i < l->n_effects && !o->why; i++)
        if (!l->effects[i].redirect && l->effects[i].kind != EFFECT_READ)
            offer_path(c, true, l->effects[i].path, o);
}

static void
offer_leaf(struct chain *c, size_t i, struct offer *o)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    struct buf prefix;
    buf_init(&prefix, 4096);
    if (l->argv_known && l->name_known)
        suggest_prefix(l, &prefix);
    o->why = leaf_refused(c, i, buf_str(&prefix));
    if (o->why)
        ;
    else if (o->as_edits && is_editor(c, l))
        offer_edits(c, l, o);
    else if (prefix.len)
        offer_add(o, make_rule("Bash", buf_str(&prefix), ":*"));
    else if (rule_text_ok(buf_str(&c->texts[i].exact)))
        offer_add(o, make_rule("Bash", buf_str(&c->texts[i].exact), ""));
    else
        o->why = "its words cannot be written as a rule for exactly this";
    buf_release(&prefix);
}

static void
offer_command(struct chain *c, struct offer *o)
{
    if (c->sh.incomplete || c->sh.unparsable) {
        o->why = "the command could not be fully understood";
        return;
    }
    for (size_t i = 0; i < c->sh.n_leaves && !o->why; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        const struct cover *v = &c->covers[i];
        if (v->rule.how == MATCH_NONE && !v->free && !v->editor && !v->carried)
            offer_leaf(c, i, o);
        for (size_t k = 0; k < l->n_effects && !o->why; k++) {
            const struct perm_effect *e = &l->effects[k];
            bool write = e->kind == EFFECT_WRITE,
                 read = e->kind == EFFECT_READ || e->kind == EFFECT_READ_TREE;
            struct path_names n;
            bool own = e->redirect || v->free || (read && o->as_edits && is_editor(c, l));
            if (!e->path || e->glob || !(write || read) || !own)
                continue;
            path_names_init(&n, c->cwd, e->path, c->fold);
            if (!path_device_harmless(n.v[0]) && (write || !path_in_roots(c, &n, true)))
                offer_path(c, write, e->path, o);
            path_names_release(&n);
        }
    }
}

static void
offer_named(struct chain *c, const char *field, struct offer *o)
{
    const char *tool = strcmp(c->req->tool, "Task") == 0 ? "Agent" : c->req->tool;
    struct str name = field ? json_str(c->req->input, field) : (struct str){0};
    if (!field)
        offer_add(o, xstrdup(tool));
    else if (!rule_text_ok(name))
        o->why = "it names nothing that a rule could name";
    else
        offer_add(o, make_rule(tool, name, ""));
}

static void
offer_host(struct chain *c, struct offer *o)
{
    struct url_host h;
    url_host_parse(json_str(c->req->input, "url"), &h);
    if (h.bad || h.userinfo)
        o->why = "the address is not a plain one";
    else {
        char *body = xasprintf("domain:%s", buf_cstr(&h.name));
        offer_add(o, make_rule("WebFetch", str_from(body), ""));
        free(body);
    }
    url_host_release(&h);
}

static void
offer_tool(struct chain *c, struct offer *o)
{
    const char *tool = c->req->tool;
    struct str path =
        json_str(c->req->input, strcmp(tool, "NotebookEdit") == 0 ? "notebook_path" : "file_path");
    if (!path.ptr)
        path = json_str(c->req->input, "path");
    char *name = path.ptr ? str_dup(path) : NULL;
    if (c->kind == TOOL_KIND_SHELL)
        offer_command(c, o);
    else if ((c->kind == TOOL_KIND_EDIT || c->kind == TOOL_KIND_READ) && name)
        offer_path(c, c->kind == TOOL_KIND_EDIT, name, o);
    else if (c->kind == TOOL_KIND_FETCH)
        offer_host(c, o);
    else if (c->kind == TOOL_KIND_MCP || strcmp(tool, "WebSearch") == 0)
        offer_named(c, NULL, o);
    else if (strcmp(tool, "Agent") == 0 || strcmp(tool, "Task") == 0)
        offer_named(c, "subagent_type", o);
    else if (strcmp(tool, "Skill") == 0)
        offer_named(c, "skill", o);
    else
        o->why = "there is no rule for it";
    free(name);
}

/* ---- trying them ---- */

static bool
allowed_with(const struct perm_request *req, const struct offer *o)
{
    struct perm_rules with;
    struct decision d;
    perm_rules_init(&with);
    bool ok = true;
    for (size_t i = 0; req->rules && i < req->rules->n; i++) {
        const struct perm_rule *r = &req->rules->rules[i];
        perm_rules_add(&with, r->verdict, r->text, r->scope, r->claude, r->file, r->line);
    }
    for (size_t i = 0; i < o->n; i++)
        ok = perm_rules_add(&with, VERDICT_ALLOW, o->rules[i], SCOPE_LOCAL, false, NULL, 0) && ok;
    struct perm_request again = *req;
    again.rules = &with;
    perm_chain_check(&again, &d);
    ok = ok && d.verdict == VERDICT_ALLOW;
    decision_release(&d);
    perm_rules_release(&with);
    return ok;
}

#define NOT_ENOUGH "no narrow rule would be enough"

static void
try_offer(const struct perm_request *req, bool asks, struct offer *o)
{
    struct decision d;
    struct chain c;
    decision_init(&d);
    chain_init(&c, req, &d);
    offer_tool(&c, o);
    chain_release(&c);
    decision_release(&d);
    if (!o->why && !o->n)
        o->why = asks ? NOT_ENOUGH : "it needs no rule";
    if (!o->why && !allowed_with(req, o))
        o->why = req->trusted ? NOT_ENOUGH
                              : "this folder is not trusted, a rule saved here does not count";
}

size_t
perm_chain_suggest(const struct perm_request *req, char *ret_rules[5], const char **ret_why)
{
    struct offer o = {0};
    struct decision d;
    *ret_why = NULL;
    perm_chain_check(req, &d);
    bool asks = d.verdict == VERDICT_ASK, person = asks && d.liftable_by == LIFT_PERSON;
    if (d.verdict == VERDICT_DENY)
        o.why = "it is denied, no rule can allow it";
    else if (person)
        o.why = "a person has to look at this one each time";
    decision_release(&d);
    for (int edits = 1; edits >= 0 && !o.why; edits--) {
        o.as_edits = edits;
        try_offer(req, asks, &o);
        if (!o.why || !edits || strcmp(o.why, NOT_ENOUGH) != 0)
            break;
        offer_clear(&o);
        o.why = NULL;
    }
    if (o.why)
        offer_clear(&o);
    *ret_why = o.why;
    for (size_t i = 0; i < o.n; i++)
        ret_rules[i] = o.rules[i];
    return o.n;
}
