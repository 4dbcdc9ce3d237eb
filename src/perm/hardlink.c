/*
 * Files with more than one name. Which other names a file has cannot be asked of the file system, so that only two things are done: a file
 * that a rule names without a wildcard is known by its number, whatever it is called; and what writes into a file, where the
 * Edit and Write tools put a new one in its place, asks.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

static bool
has_other_names(const char *path, struct stat *st)
{
    return path_stat(path, st) && S_ISREG(st->st_mode) && st->st_nlink > 1;
}

bool
path_has_other_names(const struct path_names *n)
{
    struct stat st;
    return n->n && has_other_names(n->v[n->n - 1], &st);
}

/* The rule's own path in dir, if it is that very file. */
static bool
is_same_file(const struct chain *c, const struct perm_rule *r, const char *dir, const char *name,
             const char *tool, const struct stat *want)
{
    struct rule_filter list = {.list = r->verdict, .fold_case = c->fold};
    const struct perm_rules one = {.rules = (struct perm_rule *)r, .n = 1};
    struct stat st;
    char *path = fs_normalize(dir, name);
    const char *names = path;
    bool same = may_look(LOOK_STAT) && lstat(path, &st) == 0 && st.st_ino == want->st_ino &&
                st.st_dev == want->st_dev &&
                rules_match_path(&one, &list, tool, &names, 1, &c->anchor);
    free(path);
    return same;
}

static bool
names_file(const struct chain *c, const struct perm_rule *r, const char *tool,
           const struct stat *want)
{
    const char *body = r->body;
    if (strncmp(body, "//", 2) == 0)
        return is_same_file(c, r, "/", body + 1, tool, want);
    if (strncmp(body, "~/", 2) == 0)
        return is_same_file(c, r, c->home, body + 2, tool, want);
    if (*body == '/')
        return is_same_file(c, r, c->root, body + 1, tool, want) ||
               is_same_file(c, r, c->config_home, body + 1, tool, want);
    return is_same_file(c, r, c->root, body, tool, want) ||
           is_same_file(c, r, c->cwd, body, tool, want) ||
           (c->start && is_same_file(c, r, c->start, body, tool, want));
}

const struct perm_rule *
path_other_name_rule(const struct chain *c, const struct rule_filter *f, const char *tool,
                     const struct path_names *n)
{
    const struct perm_rules *rs = c->req->rules;
    struct stat st;
    if (!rs || !rs->n || !n->n || !may_pass(rs->n) || !has_other_names(n->v[n->n - 1], &st))
        return NULL;
    for (size_t i = 0; i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        bool speaks = r->body && !r->param && !r->pattern && !strpbrk(r->body, "*?[{\\");
        if (speaks && rule_counts(r, f) && names_file(c, r, tool, &st))
            return r;
    }
    return NULL;
}
