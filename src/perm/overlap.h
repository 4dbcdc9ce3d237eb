#pragma once
/*
 * Could two path patterns name the same file? For commands whose operands the shell expands ("cat .e*") and for whole
 * trees ("grep -r x ."): a deny rule must see what they may reach, whether or not it exists now. Errs towards yes.
 * Pure, thread-safe.
 */
#include <stdbool.h>

#include "base/buf.h"

/* rule: a gitignore pattern ("**" spans components); shell: a shell glob, where a leading '*' or '?' of a component does not
 * reach names that begin with a dot, and where a closing "**" component, if `tree`, stands for everything below. Neither
 * begins with '/'. */
bool path_overlap(struct str rule, struct str shell, bool tree, bool fold_case);
