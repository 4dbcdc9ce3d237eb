/*
 * git: global options, then a sub-command with a table of its own. Only forms that read are listed; a repository's configuration
 * can make them run programs, which the executor neutralises and the chain limits to the project's own repository.
 */
#include <string.h>
#include <strings.h>

#include "perm/programs_git.h"

static const char *const plain_options[] = {"--no-pager",           "-P",
                                            "--no-optional-locks",  "--literal-pathspecs",
                                            "--no-replace-objects", "--no-lazy-fetch"};

static bool
option_is_plain(struct str s)
{
    for (size_t k = 0; k < ARRAY_LEN(plain_options); k++)
        if (str_is(s, plain_options[k]))
            return true;
    return false;
}

/* "-c KEY=VALUE" that says how something looks, or switches a program off. No key names a program unless its value is one of these. */
static const struct {
    const char *key; /* a closing dot: all keys below it */
    const char *values;
} plain_config[] = {
    {"color.", "auto always never true false"},
    {"core.quotepath", "true false on off yes no 0 1"},
    {"core.pager", "cat"},
    {"pager.", "false no off 0"},
    {"core.fsmonitor", "false"},
    {"column.ui", "auto never always"},
    {"advice.", "true false"},
    {"diff.renames", "true false copies"},
    {"diff.noprefix", "true false"},
    {"diff.mnemonicprefix", "true false"},
    {"diff.algorithm", "myers minimal patience histogram default"},
    {"log.decorate", "short full auto no true false"},
    {"log.showsignature", "false"},
};

static bool
in_list(const char *list, struct str s)
{
    struct str rest = str_from(list), part;
    while (str_split(&rest, ' ', &part))
        if (part.len && str_eq(part, s))
            return true;
    return false;
}

static bool
config_is_plain(const struct perm_word *w)
{
    size_t eq = w->known && !w->glob ? str_find(w->text, '=', 0) : (size_t)-1;
    if (eq == (size_t)-1)
        return false;
    struct str value = str_sub(w->text, eq + 1, w->text.len);
    for (size_t i = 0; i < ARRAY_LEN(plain_config); i++) {
        const char *key = plain_config[i].key;
        size_t n = strlen(key);
        bool same = key[n - 1] == '.' ? eq > n : eq == n;
        if (same && strncasecmp(w->text.ptr, key, n) == 0 && in_list(plain_config[i].values, value))
            return true;
    }
    return false;
}

/* Index of the sub-command behind global options; 0: none. *ret_plain: only options that change nothing were there. */
size_t
git_subcommand(const struct perm_word *argv, size_t n, bool *ret_plain)
{
    static const char *const valued[] = {"-C",
                                         "-c",
                                         "--git-dir",
                                         "--work-tree",
                                         "--namespace",
                                         "--exec-path",
                                         "--super-prefix",
                                         "--config-env",
                                         "--attr-source",
                                         NULL};
    *ret_plain = true;
    for (size_t i = 1; i < n; i++) {
        struct str s = argv[i].text;
        if (!argv[i].known)
            return *ret_plain = false, i;
        if (s.len == 0 || s.ptr[0] != '-')
            return i;
        bool is_plain =
            option_is_plain(s) || (str_is(s, "-c") && i + 1 < n && config_is_plain(&argv[i + 1]));
        bool is_valued = false;
        for (size_t k = 0; valued[k]; k++)
            is_valued = is_valued || str_is(s, valued[k]);
        *ret_plain = *ret_plain && is_plain;
        if (is_valued && !str_is(s, "--exec-path"))
            i++;
    }
    return 0;
}

static bool
operands_ok(const struct judged *j, const struct git_command *g)
{
    const struct word *first = judged_operand(j, 0);
    switch (g->ops) {
    case G_ANY:
    case G_TREE:
        return true;
    case G_NONE:
        return j->o.n_operands == 0;
    case G_ONE:
        return j->o.n_operands == 1 && !j->o.uncounted;
    case G_DRY:
        return j->o.seen['n'];
    case G_LIST:
        return j->o.n_operands == 0 || j->o.seen['l'] || j->o.seen['n'];
    case G_VERB:
        return first ? first->w.known && in_list(g->verbs, first->w.text) : g->verbs[0] == ' ';
    case G_GET:
        /* "git config user.name" prints it, with a second operand it is set. */
        return j->o.seen['l'] || j->o.seen['g'] ||
               (j->o.n_operands == 1 && !j->o.uncounted && first->w.known &&
                memchr(first->w.text.ptr, '.', first->w.text.len)) ||
               (first && first->w.known && in_list(g->verbs, first->w.text));
    }
    return false;
}

/* A folder other than the first that the leaf may run in must be inside the project, else its repository is another. */
static bool
cwds_inside(struct sh *sh)
{
    const struct cwdset *c = &sh->st.cwd;
    if (!sh->env->root)
        return c->n <= 1;
    struct str root = str_from(sh->env->root);
    while (root.len > 1 && root.ptr[root.len - 1] == '/')
        root.len--;
    for (size_t i = 1; i < c->n; i++) {
        struct str d = str_from(c->dir[i]);
        bool below =
            d.len > root.len && memcmp(d.ptr, root.ptr, root.len) == 0 && d.ptr[root.len] == '/';
        if (!below && !str_eq(d, root))
            return false;
    }
    return true;
}

static void
other_command(struct sh *sh, size_t leaf, const struct command *c, struct str sub)
{
    static const char *const net[] = {"push",      "pull",       "fetch",  "clone",  "ls-remote",
                                      "submodule", "send-email", "remote", "archive"};
    effect_unknown(sh, leaf, "this form of git may change, run or connect");
    for (size_t i = 0; i < ARRAY_LEN(net); i++)
        if (str_is(sub, net[i]))
            effect_net(sh, leaf, str_from(NULL));
    program_guess_reads(sh, leaf, c, 1);
    git_reads_unknown(sh, leaf, c, sub);
}

/* git alone, --version, --help: text. */
static bool
only_help(const struct command *c)
{
    return c->n == 2 && c->argv[1].w.known &&
           (str_is(c->argv[1].w.text, "--version") || str_is(c->argv[1].w.text, "-v"));
}

/* Beside the plain options only -C FOLDER: git goes there first; whose repository that is the chain looks at. */
static bool
goes_to_folder(struct sh *sh, const struct command *c, size_t sub)
{
    for (size_t i = 1; i < sub; i++) {
        const struct word *dir = i + 1 < sub ? &c->argv[i + 1] : NULL;
        if (option_is_plain(c->argv[i].w.text))
            continue;
        if (str_is(c->argv[i].w.text, "-c") && dir && config_is_plain(&dir->w)) {
            i++;
            continue;
        }
        if (!str_is(c->argv[i].w.text, "-C") || !dir || !dir->w.known || dir->w.glob ||
            dir->w.text.len == 0 || sh->st.cwd.n != 1 || sh->st.cwd.unknown)
            return false;
        sh->st.cwd.dir[0] = path_clean(sh->a, sh->st.cwd.dir[0], dir->w.text);
        i++;
        if (!sh->st.cwd.dir[0])
            return false;
    }
    return true;
}

/* Whatever revision it is, what is printed of it is told of as a whole. */
static bool
revision_is_token(const struct judged *j, size_t i, const struct git_command *g)
{
    const struct word *w = judged_operand(j, i);
    bool any = (g->ops == G_ANY || g->ops == G_TREE) && g->prints != PRINTS_FILE;
    return any && w->token && i < j->o.n_before_end && !memchr(w->src.ptr, ':', w->src.len);
}

static void
judge_subcommand(struct sh *sh, size_t leaf, const struct command *c, size_t sub,
                 const struct git_command *g)
{
    struct str name = c->argv[sub].w.text;
    struct judged j = {.sh = sh, .leaf = leaf, .c = c, .cls = CLASS_GIT_READ};
    options_parse(sh, leaf, c, sub + 1, &g->spec, &j.o);
    bool known_operands = true;
    for (size_t i = sub; i < c->n; i++)
        if (str_contains(c->argv[i].w.text, STR("%G")) ||
            str_contains(c->argv[i].w.text, STR("%(signature")))
            j.o.bad = true; /* a signature in a format runs the configured gpg */
    for (size_t i = 0; i < j.o.n_operands;
         i++) /* a revision names no file; a token holds no colon */
        known_operands =
            known_operands && (judged_operand(&j, i)->w.known || revision_is_token(&j, i, g));
    if (j.o.unknown || j.o.bad || j.o.writes || !operands_ok(&j, g) ||
        (!known_operands && g->ops != G_ANY && g->ops != G_TREE)) {
        other_command(sh, leaf, c, name);
        leaf_at(sh, leaf)->cls = CLASS_UNKNOWN;
        return;
    }
    if (!known_operands)
        effect_unknown(sh, leaf, "an operand is not known");
    if (g->ops == G_ANY || g->ops == G_TREE || g->prints == PRINTS_ASKED)
        git_reads(&j, g, g->ops == G_VERB || (str_is(name, "grep") && !j.o.pattern) ? 1 : 0);
    leaf_at(sh, leaf)->cls = CLASS_GIT_READ;
}

static bool
is_alias(struct str s)
{
    return s.len > 6 && strncasecmp(s.ptr, "alias.", 6) == 0;
}

/* "git config alias.p push; git p", "git --config-env=alias.p=VARIABLE p": what the sub-command stands for; `name` is
 * without text where that is not known. */
static void
aliases_elsewhere(struct sh *sh, size_t leaf, const struct command *c, struct str name)
{
    for (size_t i = 1; i < c->n; i++) {
        struct str s = c->argv[i].w.text, next = i + 1 < c->n ? c->argv[i + 1].w.text : STR("");
        size_t eq = str_find(s, '=', 0);
        bool env = str_starts(s, "--config-env");
        if (env && is_alias(eq == (size_t)-1 ? next : str_sub(s, eq + 1, s.len)))
            leaf_inner_text(sh, leaf, STR("\"$alias\""), false);
    }
    for (size_t k = 0; k < leaf; k++) {
        const struct perm_leaf *l = leaf_at(sh, k);
        bool git =
            l->n_argv && (str_is(l->argv[0].text, "git") || str_ends(l->argv[0].text, "/git"));
        for (size_t i = 1; git && i + 1 < l->n_argv; i++) {
            struct perm_word v = l->argv[i + 1];
            struct str set = l->argv[i].text;
            bool other =
                l->argv[i].known && name.len &&
                (set.len != 6 + name.len || strncasecmp(set.ptr + 6, name.ptr, name.len) != 0);
            if (!is_alias(set) || other)
                continue;
            if (!v.known)
                v.text = STR("\"$alias\"");
            else if (str_starts(v.text, "!"))
                v.text = str_sub(v.text, 1, v.text.len);
            else
                v.text = str_from(arena_printf(sh->a, "git %.*s", (int)v.text.len, v.text.ptr));
            leaf_inner_text(sh, leaf, v.text, false);
            l = leaf_at(sh, k); /* the leaves may have moved */
        }
    }
}

/* "-c alias.p=push p" and "-c alias.p=!COMMAND p": what the alias stands for runs. */
static void
aliases(struct sh *sh, size_t leaf, const struct command *c)
{
    for (size_t i = 1; i + 1 < c->n; i++) {
        struct str s = c->argv[i + 1].w.text;
        size_t eq = str_find(s, '=', 0);
        if (!str_is(c->argv[i].w.text, "-c") || !is_alias(s) || eq == (size_t)-1)
            continue;
        struct str v = str_sub(s, eq + 1, s.len);
        bool shell = str_starts(v, "!");
        leaf_at(sh, leaf)->cls = CLASS_DANGER;
        effect_unknown(sh, leaf, "an alias of the command line says what runs");
        leaf_inner_text(sh, leaf,
                        shell ? str_sub(v, 1, v.len)
                              : str_from(arena_printf(sh->a, "git %.*s", (int)v.len, v.ptr)),
                        false);
    }
}

void
judge_git(struct sh *sh, size_t leaf, const struct command *c)
{
    bool plain;
    size_t sub = git_subcommand(leaf_at(sh, leaf)->argv, c->n, &plain);
    if (only_help(c)) {
        leaf_at(sh, leaf)->cls = CLASS_READER;
        return;
    }
    struct str name = sub ? c->argv[sub].w.text : str_from(NULL);
    const struct git_command *g = sub && c->argv[sub].w.known ? git_command_find(name) : NULL;
    struct cwdset cwd = sh->st.cwd;
    if (g && cwds_inside(sh) && (plain || goes_to_folder(sh, c, sub)))
        judge_subcommand(sh, leaf, c, sub, g);
    else
        other_command(sh, leaf, c, name);
    aliases(sh, leaf, c);
    if (!g)
        aliases_elsewhere(sh, leaf, c, sub && c->argv[sub].w.known ? name : str_from(NULL));
    sh->st.cwd = cwd;
}
