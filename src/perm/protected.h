#pragma once
/* The names of protected.c as lists, for the sandbox: it makes read-only and unreadable what the chain refuses. Borrowed, constant. */
#include <stdbool.h>
#include <stddef.h>

/* What a path (relative, or below the roots) is protected for, or NULL: the same judgement as path_protected's by name. */
const char *protected_by_name(const char *path);

/* Names that must not come to be in a project (or, home_only, in the home folder), since something would read them. */
struct protected_name {
    const char *name;
    bool folder, home_only;
};
/* The i-th, false past the last. */
bool protected_guarded(size_t i, struct protected_name *ret);

/* Below the home folder, and absolute. */
const char *const *secret_home_names(size_t *ret_n);
const char *const *secret_system_paths(size_t *ret_n);
