#pragma once
/*
 * What cannot be taken back: a person says yes to it in every mode, whatever rules, hooks and the sandbox would allow. Removals and devices
 * are layer 5's own (protected.c); here are the programs, the vital files and the flows that no list of effects shows.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct chain;
struct perm_leaf;

/* Adds a finding for each such leaf, and for the command as a whole. */
void danger_judge(struct chain *c);

/* danger_flow.c: code from the network, bombs, pushes that overwrite. Each adds its own findings. */
void danger_judge_flows(struct chain *c);
/* Has the leaf this very word behind the program? A word of letters behind one '-' also inside a bundle ("-xfd" has "-f"). */
bool danger_has(const struct perm_leaf *l, const char *word);
/* A word behind `git push` that overwrites or removes what others have, also abbreviated and in a bundle ("-fu", "--forc", ":main"). */
bool danger_push_forces(struct str word);
/* A setting, behind -c, that makes a plain push such a one. */
bool danger_push_setting(struct str word);
/* danger_text.c: what a command's own words hide in quotes, code and variables. */
void danger_judge_texts(struct chain *c);
/* The program's base name, past busybox, empty where it is not known; *ret_at: where its own words begin. */
struct str danger_name(const struct perm_leaf *l, size_t *ret_at);
bool danger_is(const struct perm_leaf *l, const char *program, size_t *ret_at);
