/*
 * Layer 5 for programs whose effects are not known: their operands may be files that they open. yare's own files, folders that hold
 * what a deny rule names, and code that names such a file ask, wherever the command may run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

/* These read or write all that lies in a folder they are given. */
static bool
takes_trees(const struct perm_leaf *l)
{
    static const char *const programs[] = {"tar",  "bsdtar", "gtar",  "zip",         "7z",
                                           "7za",  "rar",    "rsync", "scp",         "sftp",
                                           "cpio", "pax",    "ditto", "git-archive", "restic"};
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (leaf_is(l, programs[i]))
            return true;
    return false;
}

static void
operand_from(struct chain *c, const char *cwd, const char *text, bool tree)
{
    struct path_names n;
    bool own = false;
    if (chain_seen(c, xasprintf("operand %d %s %s", tree, cwd, text)))
        return;
    path_names_init(&n, cwd, text, c->fold);
    for (size_t i = 0; i < n.n; i++) {
        const char *what = path_protected(c, n.v[i], false, &own);
        if (!what || !own)
            continue;
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, text,
                  "what it does to '%s' is not known: %s", n.v[i], what);
        break;
    }
    struct access a = {.kind = EFFECT_READ_TREE, .path = n.v[0], .shown = text};
    if (tree && fs_is_dir(n.v[0]))
        access_rules(c, &a, &n);
    path_names_release(&n);
}

static void
judge_operand(struct chain *c, const struct perm_leaf *l, const char *text, bool tree)
{
    for (size_t i = 0; i < l->n_cwds; i++)
        operand_from(c, l->cwds[i], text, tree);
    if (!l->n_cwds)
        operand_from(c, c->cwd, text, tree);
}

/* A word of code in another language that a deny rule for files would match: it may well be opened. */
static bool
code_names_denied(struct chain *c, const char *cwd, struct str code)
{
    static const char chars[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~-";
    size_t looked = 0;
    for (size_t i = 0; i < code.len;) {
        size_t n = 0;
        while (i + n < code.len && strchr(chars, code.ptr[i + n]) && code.ptr[i + n])
            n++;
        struct str part = str_sub(code, i, n);
        i += n ? n : 1;
        if (!n || (!memchr(part.ptr, '.', n) && !memchr(part.ptr, '/', n)))
            continue;
        if (++looked > 64)
            return false;
        struct path_names names;
        char *text = str_dup(part);
        path_names_init(&names, cwd, text, c->fold);
        const char *const *v = (const char *const *)names.v;
        const struct perm_rule *r =
            rules_match_path(c->req->rules, &c->deny, "Read", v, names.n, &c->anchor);
        if (r)
            chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, r, text,
                      "the code names '%s', which a deny rule is about", text);
        free(text);
        path_names_release(&names);
        if (r)
            return true;
    }
    return false;
}

static bool
code_from(struct chain *c, const struct perm_leaf *l, const char *cwd)
{
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (l->argv[i].known && !chain_seen(c, xasprintf("code %s %.*s", cwd, (int)s.len, s.ptr)) &&
            code_names_denied(c, cwd, s))
            return true;
    }
    return false;
}

static void
judge_code(struct chain *c, const struct perm_leaf *l)
{
    bool found = false;
    if (l->cls != CLASS_DANGER || !rules_any(c->req->rules, &c->deny, "Read"))
        return;
    for (size_t i = 0; i < l->n_cwds && !found; i++)
        found = code_from(c, l, l->cwds[i]);
    if (!l->n_cwds)
        code_from(c, l, c->cwd);
}

void
judge_operands(struct chain *c, const struct perm_leaf *l)
{
    judge_code(c, l);
    bool tree = takes_trees(l);
    for (size_t i = 1; i < l->n_argv; i++) {
        const struct perm_word *w = &l->argv[i];
        if (!w->known || !w->text.len || w->text.len >= 4096 ||
            memchr(w->text.ptr, '\0', w->text.len))
            continue;
        char *text = str_dup(w->text), *value = strchr(text, '=');
        if (text[0] != '-')
            judge_operand(c, l, text, tree);
        if (value && value[1])
            judge_operand(c, l, value + 1, tree);
        free(text);
    }
}
