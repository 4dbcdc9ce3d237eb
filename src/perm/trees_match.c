/* Which rows of trees_table.c speak of a command: by its program, which a runner may start, and by its words. */
#include "perm/trees_match.h"

#include <string.h>

#include "perm/shell.h"

enum { FIRST_WORDS = 6 };

/* "~f": the letter in a bundle; tar takes its first word for one without a dash. */
static bool
in_bundle(const struct perm_leaf *l, size_t i, char letter)
{
    struct str s = l->argv[i].text;
    bool bundle = s.len > 1 && s.ptr[0] == '-' && s.ptr[1] != '-';
    bool old = i == 1 && s.len && s.ptr[0] != '-' &&
               (leaf_is(l, "tar") || leaf_is(l, "gtar") || leaf_is(l, "bsdtar") ||
                leaf_is(l, "jar") || leaf_is(l, "ar"));
    return (bundle || old) && memchr(s.ptr, letter, s.len);
}

static bool
word_meets(const struct perm_leaf *l, size_t i, struct str want)
{
    struct str s = l->argv[i].text;
    if (want.len == 2 && want.ptr[0] == '~')
        return in_bundle(l, i, want.ptr[1]);
    if (want.len && want.ptr[want.len - 1] == '*')
        return s.len >= want.len - 1 && strncmp(s.ptr, want.ptr, want.len - 1) == 0;
    return str_eq(s, want);
}

bool
trees_word_is(const struct perm_leaf *l, size_t i, struct str group)
{
    struct str want;
    while (str_split(&group, '|', &want))
        if (l->argv[i].known && word_meets(l, i, want))
            return true;
    return false;
}

static bool
has_group(const struct perm_leaf *l, struct str group)
{
    for (size_t i = 1; i < l->n_argv; i++)
        if (trees_word_is(l, i, group))
            return true;
    return false;
}

bool
trees_has(const struct perm_leaf *l, const char *words)
{
    struct str all = str_from(words), group;
    while (str_split(&all, ' ', &group))
        if (!has_group(l, group))
            return false;
    return true;
}

bool
trees_row_word(const struct perm_leaf *l, size_t i, const struct tree_row *r)
{
    struct str all = str_from(r->words), group;
    while (r->words && str_split(&all, ' ', &group))
        if (trees_word_is(l, i, group))
            return true;
    return false;
}

static struct str
behind_slash(struct str s)
{
    size_t cut = s.len;
    while (cut > 0 && s.ptr[cut - 1] != '/')
        cut--;
    return str_sub(s, cut, s.len);
}

/* "@scope/name@1.2" is name, "node_modules/name/bin/name.js" too; of what stands behind the last slash. */
static struct str
package_name(struct str s)
{
    size_t at = str_find(s, '@', 0);
    s = at != (size_t)-1 && at > 0 ? str_sub(s, 0, at) : s;
    size_t dot = str_find(s, '.', 0);
    bool script = str_ends(s, ".js") || str_ends(s, ".cjs") || str_ends(s, ".mjs");
    return script && dot ? str_sub(s, 0, dot) : s;
}

bool
trees_runner(const struct perm_leaf *l)
{
    static const char *const runners[] = {"npx",  "bunx", "pnpx",  "yarn",  "pnpm",   "npm",
                                          "bun",  "uvx",  "pipx",  "uv",    "poetry", "pipenv",
                                          "dlx",  "pdm",  "rye",   "hatch", "bundle", "deno",
                                          "mise", "node", "nodejs"};
    return leaf_is_any(l, runners, ARRAY_LEN(runners));
}

bool
trees_runs(const struct perm_leaf *l, bool runner, const char *program, size_t *ret_at)
{
    *ret_at = 0;
    if (leaf_is(l, program))
        return true;
    for (size_t i = 1; runner && i < l->n_argv && i < FIRST_WORDS; i++) {
        struct str s = behind_slash(l->argv[i].text);
        /* Each word meets each row, and nearly all differ in their first letter. */
        if (l->argv[i].known && s.len && s.ptr[0] == *program && str_is(package_name(s), program)) {
            *ret_at = i;
            return true;
        }
    }
    return false;
}

/* What touches the index alone, and branches that are made where one stands. */
static bool
git_leaves_files(const struct perm_leaf *l)
{
    bool branch = trees_has(l, "-b|-B|-c|-C|--create|--force-create|--orphan") &&
                  trees_has(l, "checkout|switch");
    size_t operands = 0;
    for (size_t i = 1; i < l->n_argv; i++)
        operands += !l->argv[i].known || (l->argv[i].text.len && l->argv[i].text.ptr[0] != '-');
    if (trees_has(l, "restore") && trees_has(l, "--staged|-S"))
        return !trees_has(l, "--worktree|-W|~W");
    return branch && operands <= 2;
}

/* The sub-command is the first word that is no option; a message may hold any word. */
static bool
is_git_row(const struct perm_leaf *l, const struct tree_row *r)
{
    struct str all = str_from(r->words), first;
    bool plain;
    size_t sub = git_subcommand(l->argv, l->n_argv, &plain);
    return sub && str_split(&all, ' ', &first) && trees_word_is(l, sub, first) &&
           !git_leaves_files(l);
}

bool
trees_row_speaks(const struct perm_leaf *l, const struct tree_row *r)
{
    if (leaf_is(l, "git") && !is_git_row(l, r))
        return false;
    return (!r->words || trees_has(l, r->words)) &&
           !(r->unless && has_group(l, str_from(r->unless)));
}
