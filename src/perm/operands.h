#pragma once
/* operands_programs.c: which programs change what they name, for operands.c. */
#include "perm/chain_ctx.h"

/* Their words are code or statements that open files, whatever else stands in them. */
bool operands_are_code(const struct perm_leaf *l);
/* Words of theirs may be commands of their own that open files: "vim -c ':r FILE'". */
bool operands_hold_commands(const struct perm_leaf *l);
/* They run, check, build or send what their operands name. Those that also rewrite it do so with a word that says so. */
bool operands_are_left(const struct perm_leaf *l);
/* Where even those put what they make. */
bool option_is_output(struct str option);
/* Of these there is no doubt: the file is made or overwritten. */
bool option_is_written(const struct perm_leaf *l, struct str option);
/* wget ADDRESS, curl -O ADDRESS: the file has the last name of the address; empty: it is none. */
struct str operand_download(const struct perm_leaf *l, struct str s);
