#pragma once
/*
 * Programs that read, change or fill whole folders, or files whose names nobody sees: "docker build .", "python3 -m http.server",
 * "prettier --write .", "git checkout REV -- .", "tar xf". Their effects are not known, but the folder is: where a deny or ask rule
 * for files names something below it, that rule has its say (trees.c, with trees_match.c). What a copy brings (copies.c) and what a patch changes
 * (patches.c) is looked at by name.
 *
 * To add a program: one row in trees_table.c.
 */
#include "perm/chain_ctx.h"

enum tree_does {
    TREE_READS,
    TREE_LISTED,  /* reads files whose names come from a list or its input */
    TREE_WRITES,  /* may change what lies there */
    TREE_FILLS,   /* puts files there whose names are not known */
    TREE_TRACKED, /* may change what git's index lists there */
};
enum tree_where {
    AT_OPERANDS,         /* the folders among its operands */
    AT_OPERANDS_OR_HERE, /* ... and where none of them names anything, the folder it runs in */
    AT_SOURCES,          /* the folders among its operands but for the last */
    AT_TARGET, /* the last operand, where what is copied there is not a file or folder here */
    AT_HERE,   /* the folder it runs in */
    AT_OPTION, /* the value of `option`, else the folder it runs in */
    AT_VALUE,  /* the value of `option` */
};
/* Words: groups parted by blanks, all of which must be met; in a group alternatives parted by '|'. "-f" is that word, "~f" the
 * letter in a bundle of options ("-xzf", for tar "xzf" too), "--name*" whatever begins so. */
struct tree_row {
    const char *program;
    const char *words;  /* NULL: none are needed */
    const char *unless; /* one of these, and the row says nothing; NULL */
    enum tree_does does;
    enum tree_where where;
    const char *option; /* for AT_OPTION and AT_VALUE: alternatives parted by '|' */
    const char *types;  /* only files whose names end so, parted by blanks; NULL: any */
};
struct tree_table {
    const struct tree_row *v;
    size_t n;
};
extern const struct tree_table trees_read, trees_write;

/* ---- judging: each adds findings for leaf l ---- */
void judge_trees(struct chain *c, const struct perm_leaf *l);
void judge_copies(struct chain *c, const struct perm_leaf *l);
void judge_patch(struct chain *c, const struct perm_leaf *l);
void judge_mounts(struct chain *c, const struct perm_leaf *l); /* trees_mounts.c */

/* ---- what `find ... -exec PROGRAM {}` may change (trees_found.c) ---- */
/* l is run by find (or fd) for names that it finds. */
bool trees_is_given_found(const struct chain *c, const struct perm_leaf *l);
/* Rules for Edit are held against what lies below the folders that find starts in; false: it cannot be told what it finds. */
bool trees_found(struct chain *c, const struct perm_leaf *l);
/* Any rule for what lies in the project asks. */
void trees_ask_of_anything(struct chain *c, const struct perm_leaf *l);

/* Of a copy (n_argv > 1): where it goes; *ret_end: the sources are the operands before this word, *ret_skip: but for this one (0: none). */
struct str copies_target(const struct perm_leaf *l, size_t *ret_end, size_t *ret_skip);

/* ---- what they have in common ---- */
/* Deny or ask rules for Read or (edits) Edit exist. */
bool trees_rules_exist(const struct chain *c, bool edits);
/* All groups of words are met, as in a row. */
bool trees_has(const struct perm_leaf *l, const char *words);
/* A deny rule for the tool (Edit, Read) names all that lies in the folder. */
const struct perm_rule *trees_whole_rule(const struct chain *c, const char *tool,
                                         const struct path_names *n);
/* The first rule of the list for Edit that names base/rel under one of base's names, or NULL. */
const struct perm_rule *trees_edit_rule(const struct chain *c, const struct rule_filter *f,
                                        const struct path_names *base, const char *rel);
