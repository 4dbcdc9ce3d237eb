#pragma once
/* outputs.c: what a program of unknown effects writes for sure. See there; a new program is a row of its table. */
struct chain;
struct perm_leaf;

/* Adds findings for each file that leaf l names as one that it writes. */
void judge_outputs(struct chain *c, const struct perm_leaf *l);
