#pragma once
/* File name patterns of Glob and Grep, with braces expanded once for many files: a pattern without "/" speaks of the name at any
 * depth, one with "/" of the path below the folder searched; "!" in front excludes. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct name_filter {
    struct name_pattern {
        char **list;
        size_t n;
        bool exclude, whole_path;
    } * patterns;
    size_t n, cap;
    bool has_include;
};
bool name_filter_add(struct name_filter *f, struct str pattern, struct err *err) MUST_CHECK;
bool name_filter_match(const struct name_filter *f, struct str rel_path);
void name_filter_release(struct name_filter *f);
