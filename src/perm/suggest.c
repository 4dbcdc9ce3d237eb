/*
 * The rules that "always" would save: one for each part that needs one, no wider than useful. What they would really do is
 * tried before they are offered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "perm/chain_ctx.h"
#include "perm/url.h"

enum { SUGGEST_MAX = 5 };

/* How many words name what a program is told to do. */
static const struct {
    const char *words;
    size_t arity;
} arity[] = {
    {"git", 2},
    {"git remote", 3},
    {"git stash", 3},
    {"git worktree", 3},
    {"git submodule", 3},
    {"git config", 3},
    {"npm", 2},
    {"npm run", 3},
    {"yarn", 2},
    {"yarn run", 3},
    {"yarn workspace", 4},
    {"pnpm", 2},
    {"pnpm run", 3},
    {"bun", 2},
    {"bun run", 3},
    {"cargo", 2},
    {"go", 2},
    {"go mod", 3},
    {"make", 2},
    {"cmake", 2},
    {"ninja", 1},
    {"meson", 2},
    {"ctest", 1},
    {"gradle", 2},
    {"mvn", 2},
    {"dotnet", 2},
    {"pip", 2},
    {"pip3", 2},
    {"uv", 2},
    {"poetry", 2},
    {"pytest", 1},
    {"tox", 1},
    {"ruff", 2},
    {"mypy", 1},
    {"eslint", 1},
    {"prettier", 1},
    {"tsc", 1},
    {"jest", 1},
    {"vitest", 2},
    {"gh", 3},
    {"glab", 3},
    {"aws", 3},
    {"gcloud", 3},
    {"terraform", 2},
    {"helm", 2},
    {"systemctl", 2},
    {"brew", 2},
    {"apt-cache", 2},
    {"rustup", 2},
    {"rake", 2},
    {"bundle", 2},
    {"rails", 2},
    {"composer", 2},
    {"mix", 2},
    {"swift", 2},
    {"flutter", 2},
    {"dart", 2},
    {"stack", 2},
    {"cabal", 2},
    {"zig", 2},
    {"docker", 2},
    {"docker compose", 3},
    {"docker image", 3},
    {"docker container", 3},
    {"kubectl", 2},
    {"just", 2},
    {"task", 2},
    {"clang-format", 1},
    {"clang-tidy", 1},
    {"shellcheck", 1},
};
/* Told with these words a program runs whatever comes next. */
static const char *const runners[] = {
    "npm exec",
    "npm x",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "uv run",
    "uv tool",
    "poetry run",
    "bundle exec",
    "cargo run",
    "go run",
    "dotnet run",
    "docker run",
    "docker exec",
    "docker compose",
    "kubectl exec",
    "kubectl run",
    "npm run",
    "pnpm run",
    "yarn run",
    "bun run",
    "make",
    "just",
    "task",
    "git config",
    "git bisect",
    "git submodule foreach",
    "gh api",
    "gh extension",
    "go generate",
    "swift run",
    "mix run",
};

struct offer {
    char *rules[SUGGEST_MAX];
    size_t n;
    const char *why;
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
plain_word(const struct perm_word *w)
{
    if (!w->known || w->glob || !w->text.len || w->text.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < w->text.len; i++) {
        unsigned char c = (unsigned char)w->text.ptr[i];
        if (c <= ' ' || c == 0x7f || strchr("*?[]()\\'\"$`;&|<>{}", c))
            return false;
    }
    return true;
}

/* The first words that name what is done, or nothing. */
static void
prefix_words(const struct perm_leaf *l, struct buf *out)
{
    size_t want = 0;
    for (size_t i = 0; i < l->n_argv && (i == 0 || i < want); i++) {
        if (!plain_word(&l->argv[i])) {
            buf_clear(out);
            return;
        }
        if (i)
            buf_addc(out, ' ');
        buf_add_str(out, l->argv[i].text);
        for (size_t k = 0; k < ARRAY_LEN(arity); k++)
            if (strcmp(arity[k].words, buf_cstr(out)) == 0)
                want = arity[k].arity;
    }
    for (size_t k = 0; k < ARRAY_LEN(runners); k++)
        if (strcmp(runners[k], buf_cstr(out)) == 0)
            want = 0;
    if (!want || l->n_argv < want)
        buf_clear(out);
}

static bool
rule_text_ok(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f || s.ptr[i] == '*')
            return false;
    return s.len > 0 && s.len < 1000;
}

static const char *
leaf_refused(const struct chain *c, size_t i)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    if (!l->argv_known || !l->name_known)
        return "a part of it is only known when it runs";
    if (l->bad_env)
        return "it sets variables that change what runs";
    if (l->raises_power)
        return "it runs with more power or somewhere else";
    if (rule_program_is_broad(l->argv[0].text))
        return "a rule for an interpreter, a shell or a runner would allow anything";
    for (size_t k = i + 1; k < c->sh.n_leaves; k++)
        if (c->sh.leaves[k].wrapper == i)
            return "it runs other commands in turn";
    if (l->cls == CLASS_DANGER)
        return "it runs what it is given";
    return c->covers[i].why;
}

static void
offer_leaf(struct chain *c, size_t i, struct offer *o)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    struct buf prefix;
    o->why = leaf_refused(c, i);
    if (o->why)
        return;
    buf_init(&prefix, 4096);
    prefix_words(l, &prefix);
    if (prefix.len)
        offer_add(o, make_rule("Bash", buf_str(&prefix), ":*"));
    else if (rule_text_ok(buf_str(&c->texts[i].exact)))
        offer_add(o, make_rule("Bash", buf_str(&c->texts[i].exact), ""));
    else
        o->why = "its words cannot be written as a rule for exactly this";
    buf_release(&prefix);
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
            if (!e->path || e->glob || !(write || read) || !(e->redirect || v->free))
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

size_t
perm_chain_suggest(const struct perm_request *req, char *ret_rules[5], const char **ret_why)
{
    struct offer o = {0};
    struct decision d;
    struct chain c;
    *ret_why = NULL;
    perm_chain_check(req, &d);
    bool person = d.verdict == VERDICT_ASK && d.liftable_by == LIFT_PERSON;
    if (d.verdict == VERDICT_DENY)
        o.why = "it is denied, no rule can allow it";
    else if (person)
        o.why = "a person has to look at this one each time";
    decision_release(&d);
    if (!o.why) {
        decision_init(&d);
        chain_init(&c, req, &d);
        offer_tool(&c, &o);
        chain_release(&c);
        decision_release(&d);
    }
    if (!o.why && !o.n)
        o.why = "it needs no rule";
    if (!o.why && !allowed_with(req, &o))
        o.why = "no narrow rule would be enough";
    if (o.why)
        offer_clear(&o);
    *ret_why = o.why;
    for (size_t i = 0; i < o.n; i++)
        ret_rules[i] = o.rules[i];
    return o.n;
}
