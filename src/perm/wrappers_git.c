/* What git itself is told to run: by -c, by options of its sub-commands, by the sub-commands that are made for it. */
#include <string.h>

#include "perm/wrappers.h"

struct git_runs {
    const char *sub;
    const char *
        options; /* whose values are run, with a blank before and behind each; letters may have theirs attached */
    const char *verb; /* the operand behind which a command begins; "": at once; NULL: none does */
    bool words;       /* ... as words, not joined to a string */
};
static const struct git_runs runs[] = {
    {"rebase", " --exec -x ", NULL, false},
    {"filter-branch",
     " --setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter "
     "--msg-filter --commit-filter --tag-name-filter ",
     NULL, false},
    {"bisect", " ", "run", true},
    {"submodule", " ", "foreach", false},
    {"for-each-repo", " ", "", true},
    {"difftool", " --extcmd -x ", NULL, false},
    {"grep", " --open-files-in-pager -O ", NULL, false},
    {"fetch", " --upload-pack ", NULL, false},
    {"pull", " --upload-pack ", NULL, false},
    {"clone", " --upload-pack -u --config -c ", NULL, false},
    {"ls-remote", " --upload-pack --exec ", NULL, false},
    {"fetch-pack", " --upload-pack --exec ", NULL, false},
    {"push", " --receive-pack --exec ", NULL, false},
    {"send-pack", " --receive-pack --exec ", NULL, false},
    {"archive", " --exec ", NULL, false},
    {"send-email", " --sendmail-cmd --to-cmd --cc-cmd --header-cmd --smtp-server ", NULL, false},
    {"interpret-trailers", " --trailer ", NULL, false},
    {"config", " ", "", false},
    {"daemon", " --access-hook ", NULL, false},
    {"instaweb", " --httpd -d --browser -b ", NULL, false},
};

/* "!sh -c x", "key=value": the command itself. */
static void
git_text(struct sh *sh, size_t leaf, struct str s)
{
    size_t eq = str_find(s, '=', 0), blank = str_find(s, ' ', 0);
    if (str_starts(s, "alias.")) /* the judge of git has run it */
        return;
    if (eq != (size_t)-1 && eq < blank)
        s = str_sub(s, eq + 1, s.len);
    bool shell = str_starts(s, "!");
    if (shell)
        s = str_sub(s, 1, s.len);
    if (s.len)
        leaf_inner_text(sh, leaf, s, false);
}

/* Index of the value when argv[i] is the option: i itself when it is attached (*ret_at: where), else the next word; 0: it is not. */
static size_t
option_value(const struct command *c, size_t i, const char *list, size_t *ret_at)
{
    struct str s = c->argv[i].w.text;
    *ret_at = 0;
    size_t eq = str_find(s, '=', 0);
    for (const char *p = list; (p = strchr(p, ' ')) && *++p;) {
        size_t n = strcspn(p, " ");
        if (s.len < n || memcmp(s.ptr, p, n) != 0)
            continue;
        if (s.len == n)
            return i + 1 < c->n ? i + 1 : 0;
        *ret_at = n > 2 ? eq + 1 : n;
        if (n == 2 || eq == n)
            return i;
    }
    /* git takes any clear beginning of a long option */
    for (const char *p = list; eq != (size_t)-1 && eq > 3 && (p = strchr(p, ' ')) && *++p;)
        if (p[1] == '-' && strncmp(p, s.ptr, eq) == 0)
            return *ret_at = eq + 1, i;
    return 0;
}

/* Values of the listed options in argv[from..to) are run. */
static void
run_options(struct sh *sh, size_t leaf, const struct command *c, size_t from, size_t to,
            const char *list)
{
    for (size_t i = from; i < to; i++) {
        size_t at, v = option_value(c, i, list, &at);
        if (!v || v >= c->n)
            continue;
        hide_words(sh, leaf, v, v + 1, true);
        git_text(sh, leaf, str_sub(c->argv[v].w.text, at, c->argv[v].w.text.len));
    }
}

/* bisect run CMD, submodule foreach 'CMD' */
static void
run_operands(struct sh *sh, size_t leaf, const struct command *c, size_t i,
             const struct git_runs *r)
{
    bool found = !*r->verb;
    for (; i < c->n && !found; i++)
        found = str_is(c->argv[i].w.text, r->verb);
    hide_words(sh, leaf, i, found ? c->n : i, true);
    while (found && i < c->n && str_starts(c->argv[i].w.text, "-"))
        i++;
    if (!found || i >= c->n)
        return;
    if (r->words || (*r->verb && i + 1 < c->n))
        leaf_inner(sh, leaf, c, i, false);
    for (; i < c->n && !r->words; i++)
        if (memchr(c->argv[i].w.text.ptr, ' ', c->argv[i].w.text.len))
            git_text(sh, leaf, c->argv[i].w.text);
}

void
wrap_git(struct sh *sh, size_t leaf, const struct command *c)
{
    bool plain;
    const struct perm_leaf *l = leaf_at(sh, leaf);
    size_t sub = git_subcommand(l->argv, l->n_argv, &plain);
    run_options(sh, leaf, c, 1, sub ? sub : c->n, " -c --config-env --exec-path ");
    for (size_t i = 0; sub && i < ARRAY_LEN(runs); i++) {
        if (!str_is(c->argv[sub].w.text, runs[i].sub))
            continue;
        run_options(sh, leaf, c, sub + 1, c->n, runs[i].options);
        if (runs[i].verb)
            run_operands(sh, leaf, c, sub + 1, &runs[i]);
    }
}
