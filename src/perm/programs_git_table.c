/* What git's sub-commands do, as data; only forms that read. See programs_git.h. */
#include "perm/programs_git.h"

#define DIFF_SHORTS "puU?sRabwzB?M?C?Dl:S:G:O<W"
#define DIFF_LONGS                                                                                 \
    " patch/p no-patch/s unified/U=? raw/9 patch-with-raw/p indent-heuristic no-indent-heuristic " \
    "minimal "                                                                                     \
    "patience "                                                                                    \
    "histogram diff-algorithm= anchored= stat/9=? compact-summary/9 numstat/9 "                    \
    "shortstat/9 dirstat/9=? cumulative/9 "                                                        \
    "summary/9 patch-with-stat/p name-only/9 name-status/9 submodule/6=? color=? no-color "        \
    "color-moved=? "                                                                               \
    "no-color-moved color-moved-ws= word-diff/p=? word-diff-regex/p= color-words/p=? no-renames "  \
    "rename-empty "                                                                                \
    "check/p full-index binary/p abbrev=? no-abbrev break-rewrites=? find-renames=? "              \
    "find-copies=? "                                                                               \
    "find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex skip-to= "      \
    "rotate-to= relative=? no-relative text ignore-cr-at-eol ignore-space-at-eol "                 \
    "ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= "              \
    "inter-hunk-context= function-context/W exit-code quiet/9 no-ext-diff no-textconv "            \
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
    "no-expand-tabs cc/p "                                                                         \
    "combined-all-paths diff-merges/p= no-diff-merges objects timestamp remerge-diff/p "

static const struct git_command commands[] = {
    {"status",
     G_ANY,
     PRINTS_ASKED,
     NULL,
     {.shorts = "sbvu?z",
      .longs = "short branch show-stash porcelain=? long verbose/v untracked-files=? "
               "ignore-submodules=? ignored=? column=? no-column ahead-behind no-ahead-behind "
               "renames no-renames "
               "find-renames=?",
      .exact = true}},
    {"log",
     G_ANY,
     PRINTS_ASKED,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"show",
     G_ANY,
     PRINTS_TEXT,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"rev-list",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"shortlog",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "nsecw?g" LOG_SHORTS,
      .longs = "numbered summary email committer group= " LOG_LONGS,
      .exact = true}},
    {"diff",
     G_TREE,
     PRINTS_TEXT,
     NULL,
     {.shorts = DIFF_SHORTS "123",
      .longs = DIFF_LONGS "base ours theirs",
      .numbers = true,
      .exact = true}},
    {"diff-tree",
     G_ANY,
     PRINTS_ASKED,
     NULL,
     {.shorts = DIFF_SHORTS "rtmvc",
      .longs = DIFF_LONGS "root no-commit-id pretty=? format=? cc/p stdin always",
      .exact = true}},
    {"diff-index",
     G_ANY,
     PRINTS_ASKED,
     NULL,
     {.shorts = DIFF_SHORTS "m", .longs = DIFF_LONGS, .exact = true}},
    {"diff-files",
     G_ANY,
     PRINTS_ASKED,
     NULL,
     {.shorts = DIFF_SHORTS "0123c", .longs = DIFF_LONGS "cc/p", .exact = true}},
    {"range-diff",
     G_ANY,
     PRINTS_TEXT,
     NULL,
     {.shorts = DIFF_SHORTS,
      .longs = DIFF_LONGS "creation-factor= no-dual-color left-only right-only",
      .exact = true}},
    {"blame",
     G_TREE,
     PRINTS_FILE,
     NULL,
     {.shorts = "cbL:lstS<fnsewpMC",
      .longs =
          "incremental root show-stats show-name show-number "
          "show-email porcelain line-porcelain reverse date= score-debug first-parent since= "
          "ignore-rev= ignore-revs-file=< color-lines color-by-age abbrev=? no-progress progress",
      .numbers = true,
      .exact = true}},
    {"annotate", G_TREE, PRINTS_FILE, NULL, {.shorts = "L:", .longs = "", .exact = true}},
    {"grep",
     G_TREE,
     PRINTS_TEXT,
     NULL,
     {.shorts = "aIihHErFPGnlLcqvwzWpA:B:C:m:e|f~",
      .longs =
          "cached untracked/4 no-exclude-standard "
          "exclude-standard recurse-submodules/6 text textconv! no-textconv ignore-case max-depth= "
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
     PRINTS_NAMES,
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
     PRINTS_NAMES,
     NULL,
     {.shorts = "dlrtz",
      .longs = "long name-only name-status object-only abbrev=? full-name full-tree format=",
      .exact = true}},
    {"rev-parse",
     G_ANY,
     PRINTS_NAMES,
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
     PRINTS_NAMES,
     NULL,
     {.shorts = "arlvqi",
      .longs = "all remotes list/l verbose no-color color=? column=? no-column sort= "
               "contains/l=? no-contains/l=? merged/l=? no-merged/l=? points-at/l= format= "
               "abbrev=? no-abbrev "
               "show-current ignore-case omit-empty",
      .exact = true}},
    {"tag",
     G_LIST,
     PRINTS_NAMES,
     NULL,
     {.shorts = "lin?",
      .longs = "list/l sort= format= contains/l=? no-contains/l=? merged/l=? no-merged/l=? "
               "points-at/l= column=? no-column color=? ignore-case omit-empty",
      .exact = true}},
    {"remote",
     G_VERB,
     PRINTS_NAMES,
     " get-url",
     {.shorts = "v", .longs = "verbose all push", .exact = true}},
    {"stash",
     G_VERB,
     PRINTS_ASKED,
     "list show",
     {.shorts = DIFF_SHORTS LOG_SHORTS,
      .longs = LOG_LONGS "include-untracked/4 only-untracked/4",
      .numbers = true,
      .exact = true}},
    {"reflog",
     G_VERB,
     PRINTS_ASKED,
     " show exists HEAD",
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"worktree",
     G_VERB,
     PRINTS_NAMES,
     "list",
     {.shorts = "vz", .longs = "porcelain verbose", .exact = true}},
    {"bisect", G_VERB, PRINTS_NAMES, "log", {.shorts = "", .exact = true}},
    {"describe",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.longs =
          "dirty=? broken=? all tags contains abbrev=? candidates= exact-match debug long match= "
          "exclude= always first-parent",
      .exact = true}},
    {"cat-file",
     G_ANY,
     PRINTS_TEXT,
     NULL,
     {.shorts = "tspe",
      .longs = "batch=? batch-check=? batch-all-objects unordered buffer allow-unknown-type",
      .exact = true}},
    {"for-each-ref",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.longs =
          "count= sort= format= color=? points-at= merged=? no-merged=? contains=? no-contains=? "
          "ignore-case omit-empty exclude=",
      .exact = true}},
    {"show-ref",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "dhsq",
      .longs = "head dereference heads branches tags hash=? verify abbrev=? quiet exists",
      .exact = true}},
    {"show-branch",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "ra",
      .longs =
          "all remotes current topo-order date-order sparse more=? list merge-base independent "
          "no-name sha1-name topics color=? no-color",
      .exact = true}},
    {"merge-base",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "a", .longs = "all octopus independent is-ancestor fork-point", .exact = true}},
    {"name-rev",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.longs = "tags refs= exclude= all name-only no-undefined always", .exact = true}},
    {"cherry", G_ANY, PRINTS_NAMES, NULL, {.shorts = "v", .longs = "abbrev=?", .exact = true}},
    {"count-objects",
     G_NONE,
     PRINTS_NAMES,
     NULL,
     {.shorts = "vH", .longs = "verbose human-readable", .exact = true}},
    {"check-ignore",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "qvnz", .longs = "quiet verbose stdin non-matching no-index", .exact = true}},
    {"check-attr",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "az", .longs = "all stdin cached source=", .exact = true}},
    {"config",
     G_GET,
     PRINTS_NAMES,
     "list get",
     {.shorts = "lz",
      .longs = "list/l get/g get-all/g get-regexp/g get-urlmatch/g local global system worktree "
               "show-origin show-scope name-only null includes no-includes type= bool int path",
      .exact = true}},
    {"symbolic-ref",
     G_ONE,
     PRINTS_NAMES,
     NULL,
     {.shorts = "q", .longs = "short quiet no-recurse", .exact = true}},
    {"clean",
     G_DRY,
     PRINTS_NAMES,
     NULL,
     {.shorts = "ndxXfqe:", .longs = "dry-run/n exclude= force quiet", .exact = true}},
    {"submodule",
     G_VERB,
     PRINTS_NAMES,
     " status",
     {.shorts = "q", .longs = "cached recursive quiet", .exact = true}},
    {"notes", G_VERB, PRINTS_NAMES, "list show", {.shorts = "", .exact = true}},
    {"whatchanged",
     G_ANY,
     PRINTS_ASKED,
     NULL,
     {.shorts = DIFF_SHORTS LOG_SHORTS, .longs = LOG_LONGS, .numbers = true, .exact = true}},
    {"fsck",
     G_NONE,
     PRINTS_NAMES,
     NULL,
     {.shorts = "v",
      .longs = "unreachable dangling no-dangling root tags cache no-reflogs full no-full strict "
               "verbose progress no-progress connectivity-only name-objects",
      .exact = true}},
    {"check-ref-format",
     G_ANY,
     PRINTS_NAMES,
     NULL,
     {.longs = "branch normalize allow-onelevel refspec-pattern", .exact = true}},
    {"check-mailmap", G_ANY, PRINTS_NAMES, NULL, {.longs = "stdin", .exact = true}},
    {"var", G_ONE, PRINTS_NAMES, NULL, {.shorts = "", .exact = true}},
    {"version", G_NONE, PRINTS_NAMES, NULL, {.longs = "build-options", .exact = true}},
};

const struct git_command *
git_command_find(struct str s)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_is(s, commands[i].name))
            return &commands[i];
    return NULL;
}
