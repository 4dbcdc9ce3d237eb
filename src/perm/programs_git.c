/*
 * git: global options, then a sub-command with a table of its own. Only forms that read are listed; a repository's configuration
 * can make them run programs, which the executor neutralises and the chain limits to the project's own repository.
 */
#include <string.h>
#include <strings.h>

#include "perm/programs.h"

enum git_ops {
    G_ANY,  /* operands are revisions and paths */
    G_NONE, /* an operand would change something */
    G_LIST, /* operands only with --list, --contains and the like */
    G_VERB, /* the first operand is a verb that must be one of `verbs` */
    G_GET,  /* git config: only with a reading option */
    G_TREE, /* reads files of the work tree */
    G_ONE,  /* a second operand would change it */
    G_DRY,  /* only with --dry-run */
};
struct git_command {
    const char *name;
    enum git_ops ops;
    const char *verbs; /* blank-separated; "" allows no operand as well */
    struct optspec spec;
};

#define DIFF_SHORTS "puU?sRabwzB?M?C?Dl:S:G:O<W"
#define DIFF_LONGS                                                                                 \
    " patch no-patch unified=? raw patch-with-raw indent-heuristic no-indent-heuristic minimal "   \
    "patience "                                                                                    \
    "histogram diff-algorithm= anchored= stat=? compact-summary numstat shortstat dirstat=? "      \
    "cumulative "                                                                                  \
    "summary patch-with-stat name-only name-status submodule=? color=? no-color color-moved=? "    \
    "no-color-moved color-moved-ws= word-diff=? word-diff-regex= color-words=? no-renames "        \
    "rename-empty "                                                                                \
    "check full-index binary abbrev=? no-abbrev break-rewrites=? find-renames=? find-copies=? "    \
    "find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex skip-to= "      \
    "rotate-to= relative=? no-relative text ignore-cr-at-eol ignore-space-at-eol "                 \
    "ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= "              \
    "inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv "                \
    "ignore-submodules=? src-prefix= dst-prefix= no-prefix default-prefix line-prefix= "           \
    "ita-invisible-in-index merge-base cached staged output=> ext-diff! textconv! no-index/0! "
#define LOG_SHORTS "n:iEFPgctmL:q"
#define LOG_LONGS                                                                                  \
    DIFF_LONGS                                                                                     \
    "oneline pretty=? format=? abbrev-commit no-abbrev-commit encoding= notes=? no-notes "         \
    "show-notes=? graph no-graph decorate=? no-decorate decorate-refs= "                           \
    "decorate-refs-exclude= source "                                                               \
    "follow since= after= until= before= author= committer= grep= grep-reflog= all-match "         \
    "invert-grep "                                                                                 \
    "regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges "            \
    "no-merges "                                                                                   \
    "min-parents= max-parents= first-parent all branches=? tags=? remotes=? glob= exclude= "       \
    "reflog "                                                                                      \
    "max-count= skip= reverse date= relative-date parents children left-right cherry-pick "        \
    "cherry-mark "                                                                                 \
    "cherry left-only right-only boundary simplify-by-decoration simplify-merges "                 \
    "full-history dense "                                                                          \
    "sparse ancestry-path=? date-order topo-order author-date-order walk-reflogs log-size "        \
    "no-walk=? "                                                                                   \
    "stdin/1 show-signature! count no-mailmap mailmap use-mailmap expand-tabs=? "                  \
    "no-expand-tabs cc "                                                                           \
    "combined-all-paths diff-merges= no-diff-merges objects timestamp remerge-diff "

static const struct git_command commands[] = {
    {"status",
     G_ANY,
     NULL,
     {.shorts = "sbvu?z",
      .longs = "short branch show-stash porcelain=? long verbose untracked-files=? "
               "ignore-submodules=? ignored=? column=? no-column ahead-behind no-ahead-behind "
               "renames no-renames "
               "find-renames=?",
      .exact = true}},
    {"log",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"show",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"rev-list",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"shortlog",
     G_ANY,
     NULL,
     {.shorts = "nsecw?g" LOG_SHORTS,
      .longs = "numbered summary email committer group= " LOG_LONGS,
      .exact = true}},
    {"diff",
     G_TREE,
     NULL,
     {.shorts = DIFF_SHORTS "123",
      .longs = DIFF_LONGS "base ours theirs",
      .numbers = true,
      .exact = true}},
    {"diff-tree",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS "rtmvc",
      .longs = DIFF_LONGS "root no-commit-id pretty=? format=? cc stdin always",
      .exact = true}},
    {"diff-index", G_ANY, NULL, {.shorts = DIFF_SHORTS "m", .longs = DIFF_LONGS, .exact = true}},
    {"diff-files",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS "0123c", .longs = DIFF_LONGS "cc", .exact = true}},
    {"range-diff",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS,
      .longs = DIFF_LONGS "creation-factor= no-dual-color left-only right-only",
      .exact = true}},
    {"blame",
     G_TREE,
     NULL,
     {.shorts = "cbL:lstS<fnsewpMC",
      .longs =
          "incremental root show-stats show-name show-number "
          "show-email porcelain line-porcelain reverse date= score-debug first-parent since= "
          "ignore-rev= ignore-revs-file=< color-lines color-by-age abbrev=? no-progress progress",
      .numbers = true,
      .exact = true}},
    {"annotate", G_TREE, NULL, {.shorts = "L:", .longs = "", .exact = true}},
    {"grep",
     G_TREE,
     NULL,
     {.shorts = "aIihHErFPGnlLcqvwzWpA:B:C:m:e|f~",
      .longs =
          "cached untracked no-exclude-standard "
          "exclude-standard recurse-submodules text textconv! no-textconv ignore-case max-depth= "
          "recursive "
          "no-recursive word-regexp invert-match full-name extended-regexp basic-regexp "
          "perl-regexp "
          "fixed-strings line-number column files-with-matches name-only files-without-match null "
          "only-matching count color=? no-color break heading show-function context= "
          "after-context= "
          "before-context= function-context max-count= threads= and or not all-match quiet "
          "no-index! "
          "open-files-in-pager!",
      .numbers = true,
      .exact = true}},
    {"ls-files",
     G_ANY,
     NULL,
     {.shorts = "cdmoiskutvfzx:X<",
      .longs = "cached deleted modified others ignored stage killed unmerged "
               "resolve-undo directory no-empty-directory eol deduplicate exclude= exclude-from=< "
               "exclude-per-directory= exclude-standard error-unmatch with-tree= "
               "recurse-submodules abbrev=? "
               "full-name format= debug sparse",
      .exact = true}},
    {"ls-tree",
     G_ANY,
     NULL,
     {.shorts = "dlrtz",
      .longs = "long name-only name-status object-only abbrev=? full-name full-tree format=",
      .exact = true}},
    {"rev-parse",
     G_ANY,
     NULL,
     {.shorts = "q",
      .longs =
          "verify quiet short=? abbrev-ref=? symbolic symbolic-full-name show-toplevel git-dir "
          "absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir "
          "is-bare-repository "
          "is-shallow-repository show-cdup show-prefix show-superproject-working-tree all "
          "branches=? tags=? "
          "remotes=? glob= git-path= revs-only no-revs flags no-flags default= path-format= "
          "show-object-format=? since= until= local-env-vars",
      .exact = true}},
    {"branch",
     G_LIST,
     NULL,
     {.shorts = "arlvqi",
      .longs = "all remotes list/l verbose no-color color=? column=? no-column sort= "
               "contains/l=? no-contains/l=? merged/l=? no-merged/l=? points-at/l= format= "
               "abbrev=? no-abbrev "
               "show-current ignore-case omit-empty",
      .exact = true}},
    {"tag",
     G_LIST,
     NULL,
     {.shorts = "lin?",
      .longs = "list/l sort= format= contains/l=? no-contains/l=? merged/l=? no-merged/l=? "
               "points-at/l= column=? no-column color=? ignore-case omit-empty",
      .exact = true}},
    {"remote", G_VERB, " get-url", {.shorts = "v", .longs = "verbose all push", .exact = true}},
    {"stash",
     G_VERB,
     "list show",
     {.shorts = DIFF_SHORTS LOG_SHORTS,
      .longs = LOG_LONGS "include-untracked only-untracked",
      .numbers = true,
      .exact = true}},
    {"reflog",
     G_VERB,
     " show exists HEAD",
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"worktree", G_VERB, "list", {.shorts = "vz", .longs = "porcelain verbose", .exact = true}},
    {"bisect", G_VERB, "log", {.shorts = "", .exact = true}},
    {"describe",
     G_ANY,
     NULL,
     {.longs =
          "dirty=? broken=? all tags contains abbrev=? candidates= exact-match debug long match= "
          "exclude= always first-parent",
      .exact = true}},
    {"cat-file",
     G_ANY,
     NULL,
     {.shorts = "tspe",
      .longs = "batch=? batch-check=? batch-all-objects unordered buffer allow-unknown-type",
      .exact = true}},
    {"for-each-ref",
     G_ANY,
     NULL,
     {.longs =
          "count= sort= format= color=? points-at= merged=? no-merged=? contains=? no-contains=? "
          "ignore-case omit-empty exclude=",
      .exact = true}},
    {"show-ref",
     G_ANY,
     NULL,
     {.shorts = "dhsq",
      .longs = "head dereference heads branches tags hash=? verify abbrev=? quiet exists",
      .exact = true}},
    {"show-branch",
     G_ANY,
     NULL,
     {.shorts = "ra",
      .longs =
          "all remotes current topo-order date-order sparse more=? list merge-base independent "
          "no-name sha1-name topics color=? no-color",
      .exact = true}},
    {"merge-base",
     G_ANY,
     NULL,
     {.shorts = "a", .longs = "all octopus independent is-ancestor fork-point", .exact = true}},
    {"name-rev",
     G_ANY,
     NULL,
     {.longs = "tags refs= exclude= all name-only no-undefined always", .exact = true}},
    {"cherry", G_ANY, NULL, {.shorts = "v", .longs = "abbrev=?", .exact = true}},
    {"count-objects",
     G_NONE,
     NULL,
     {.shorts = "vH", .longs = "verbose human-readable", .exact = true}},
    {"check-ignore",
     G_ANY,
     NULL,
     {.shorts = "qvnz", .longs = "quiet verbose stdin non-matching no-index", .exact = true}},
    {"check-attr",
     G_ANY,
     NULL,
     {.shorts = "az", .longs = "all stdin cached source=", .exact = true}},
    {"config",
     G_GET,
     "list get",
     {.shorts = "lz",
      .longs = "list/l get/g get-all/g get-regexp/g get-urlmatch/g local global system worktree "
               "show-origin show-scope name-only null includes no-includes type= bool int path",
      .exact = true}},
    {"symbolic-ref",
     G_ONE,
     NULL,
     {.shorts = "q", .longs = "short quiet no-recurse", .exact = true}},
    {"clean",
     G_DRY,
     NULL,
     {.shorts = "ndxXfqe:", .longs = "dry-run/n exclude= force quiet", .exact = true}},
    {"submodule",
     G_VERB,
     " status",
     {.shorts = "q", .longs = "cached recursive quiet", .exact = true}},
    {"notes", G_VERB, "list show", {.shorts = "", .exact = true}},
    {"whatchanged",
     G_ANY,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"fsck",
     G_NONE,
     NULL,
     {.shorts = "v",
      .longs = "unreachable dangling no-dangling root tags cache no-reflogs full no-full strict "
               "verbose progress no-progress connectivity-only name-objects",
      .exact = true}},
    {"check-ref-format",
     G_ANY,
     NULL,
     {.longs = "branch normalize allow-onelevel refspec-pattern", .exact = true}},
    {"check-mailmap", G_ANY, NULL, {.longs = "stdin", .exact = true}},
    {"version", G_NONE, NULL, {.longs = "build-options", .exact = true}},
};

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
        bool is_plain = option_is_plain(s), is_valued = false;
        for (size_t k = 0; valued[k]; k++)
            is_valued = is_valued || str_is(s, valued[k]);
        *ret_plain = *ret_plain && is_plain;
        if (is_valued && !str_is(s, "--exec-path"))
            i++;
    }
    return 0;
}

static const struct git_command *
find_command(struct str s)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_is(s, commands[i].name))
            return &commands[i];
    return NULL;
}

static bool
in_list(const char *list, struct str s)
{
    struct str rest = str_from(list), part;
    while (str_split(&rest, ' ', &part))
        if (part.len && str_eq(part, s))
            return true;
    return false;
}

/* An operand that may name a file of the work tree, be it there or not; "a..b" names revisions. */
static bool
may_be_path(struct sh *sh, const struct word *w)
{
    struct str s = w->w.text;
    bool range = str_contains(s, STR("..")) && !str_is(s, "..") && !str_starts(s, "../") &&
                 !str_contains(s, STR("/.."));
    return w->w.known && (w->w.glob || path_exists(sh, w) ||
                          (!range && (memchr(s.ptr, '.', s.len) || memchr(s.ptr, '/', s.len))));
}

/* ":path" and ":0:path" name files of the index, ":/path" and ":(top)path" of the work tree. */
static void
read_index_path(struct judged *j, struct str s)
{
    size_t from = 1, close = str_find(s, ')', 0);
    if (s.len > 1 && (s.ptr[1] == '!' || s.ptr[1] == '^'))
        return;
    if (s.len > 3 && s.ptr[1] >= '0' && s.ptr[1] <= '3' && s.ptr[2] == ':')
        from = 3;
    else if (s.len > 1 && s.ptr[1] == '(' && close != (size_t)-1)
        from = close + 1;
    else if (s.len > 1 && s.ptr[1] == '/')
        from = 2;
    if (from < s.len)
        effect_text(j->sh, j->leaf, EFFECT_READ, str_sub(s, from, s.len));
}

/* Paths among the operands: what lies outside, what exists, what rev:path names. */
static void
read_operands(struct judged *j, size_t first)
{
    for (size_t i = first; i < j->o.n_operands; i++) {
        const struct word *w = judged_operand(j, i);
        struct str s = w->w.text;
        size_t colon = w->w.known ? str_find(s, ':', 0) : (size_t)-1;
        if (i >= j->o.n_before_end && !str_starts(s, ":")) {
            effect_add(j->sh, j->leaf, EFFECT_READ, w);
        } else if (colon != (size_t)-1 && colon > 0 && colon + 1 < s.len) {
            struct str p = str_sub(s, colon + 1, s.len);
            const char *root = j->sh->env->root ? j->sh->env->root : "";
            bool here = str_starts(p, "./") || str_starts(p, "../") || !*root;
            struct str full =
                here ? p : str_from(arena_printf(j->sh->a, "%s/%.*s", root, (int)p.len, p.ptr));
            effect_text(j->sh, j->leaf, EFFECT_READ, full);
        } else if (colon == 0) {
            read_index_path(j, s);
        } else if (may_be_path(j->sh, w)) {
            effect_add(j->sh, j->leaf, EFFECT_READ, w);
        }
    }
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
    for (size_t i = 0; i < j.o.n_operands; i++)
        known_operands = known_operands && judged_operand(&j, i)->w.known;
    if (j.o.unknown || j.o.bad || j.o.writes || !operands_ok(&j, g) ||
        (!known_operands && g->ops != G_ANY && g->ops != G_TREE)) {
        other_command(sh, leaf, c, name);
        if (str_is(name, "grep"))
            effect_text(sh, leaf, EFFECT_READ_TREE, STR("."));
        leaf_at(sh, leaf)->cls = CLASS_UNKNOWN;
        return;
    }
    if (!known_operands)
        effect_unknown(sh, leaf, "an operand is not known");
    if (str_is(name, "grep"))
        effect_text(sh, leaf, EFFECT_READ_TREE, STR("."));
    if (g->ops == G_ANY || g->ops == G_TREE)
        read_operands(&j, str_is(name, "grep") && !j.o.pattern ? 1 : 0);
    leaf_at(sh, leaf)->cls = CLASS_GIT_READ;
}

/* "-c alias.p=push p" and "-c alias.p=!COMMAND p": what the alias stands for runs. */
static void
aliases(struct sh *sh, size_t leaf, const struct command *c)
{
    for (size_t i = 1; i + 1 < c->n; i++) {
        struct str s = c->argv[i + 1].w.text;
        size_t eq = str_find(s, '=', 0);
        bool alias = s.len > 6 && strncasecmp(s.ptr, "alias.", 6) == 0;
        if (!str_is(c->argv[i].w.text, "-c") || !alias || eq == (size_t)-1)
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
    const struct git_command *g = sub && c->argv[sub].w.known ? find_command(name) : NULL;
    struct cwdset cwd = sh->st.cwd;
    if (g && cwds_inside(sh) && (plain || goes_to_folder(sh, c, sub)))
        judge_subcommand(sh, leaf, c, sub, g);
    else
        other_command(sh, leaf, c, name);
    aliases(sh, leaf, c);
    sh->st.cwd = cwd;
}
