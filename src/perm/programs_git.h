#pragma once
/*
 * git's sub-commands as rows, shared by the files that judge git:
 *
 *   programs_git_table.c  the rows: only forms that read
 *   programs_git.c        global options, which forms are let through
 *   programs_git_reads.c  which files' text a form prints
 *
 * Letters that no option of git has say what a long option does to the output:
 *   9  names or counts in place of a patch      p  a patch, asked for
 *   4  files that are not tracked               6  the text of other repositories inside this one
 */
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
enum git_prints {
    PRINTS_NAMES, /* names, counts, messages */
    PRINTS_ASKED, /* the text of files with -p and its kin */
    PRINTS_TEXT,  /* the text of files, unless told to print names or counts */
    PRINTS_FILE,  /* the text of the files that its operands name */
};
struct git_command {
    const char *name;
    enum git_ops ops;
    enum git_prints prints;
    const char *verbs; /* blank-separated; "" allows no operand as well */
    struct optspec spec;
};
const struct git_command *git_command_find(struct str s);

/* The paths among the operands from `first` on, and all whose text it prints. */
void git_reads(struct judged *j, const struct git_command *g, size_t first);
/* The same of a form that is not understood. */
void git_reads_unknown(struct sh *sh, size_t leaf, const struct command *c, struct str sub);
