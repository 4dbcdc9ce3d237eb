/* Any bytes as an ignore file and as paths that it is asked about (the part after the first NUL, a line each; "/" at the end: a folder).
 * Nothing may crash or take long, an answer may not depend on what was asked before, and short patterns without classes must match
 * as a plain recursive reading of git's rules does. */
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SHORT = 14 };

/* Slow and simple. */
static bool
plain_match(struct str pattern, size_t p, struct str t, bool pathname)
{
    size_t stars = 0;

    if (p == pattern.len)
        return t.len == 0;
    while (p + stars < pattern.len && pattern.ptr[p + stars] == '*')
        stars++;
    if (!stars) {
        bool escaped = pattern.ptr[p] == '\\';
        if (!t.len || (escaped && p + 1 == pattern.len))
            return false;
        if (!escaped && pattern.ptr[p] == '?' ? pathname && t.ptr[0] == '/'
                                              : pattern.ptr[p + escaped] != t.ptr[0])
            return false;
        return plain_match(pattern, p + escaped + 1, str_sub(t, 1, t.len), pathname);
    }
    struct str rest = str_sub(pattern, p + stars, pattern.len);
    bool at_start = p == 0 || pattern.ptr[p - 1] == '/';
    bool slash = str_starts(rest, "/"), quoted = str_starts(rest, "\\/");
    bool deep = pathname && stars > 1 && at_start && (!rest.len || slash || quoted);
    if (deep && !rest.len)
        return true;
    if (deep && slash && plain_match(pattern, p + stars + 1, t, pathname))
        return true;
    for (size_t i = 0; i <= t.len; i++) {
        if (deep ? i < t.len && t.ptr[i] == '/' &&
                       plain_match(pattern, p + stars + (slash ? 1 : 2), str_sub(t, i + 1, t.len),
                                   pathname)
                 : plain_match(pattern, p + stars, str_sub(t, i, t.len), pathname))
            return true;
        if (!deep && pathname && i < t.len && t.ptr[i] == '/')
            return false;
    }
    return false;
}

static void
check_pattern(struct str pattern, struct str path)
{
    bool small = pattern.len <= SHORT && path.len <= SHORT && pattern.len &&
                 !memchr(pattern.ptr, '[', pattern.len);

    for (int pathname = 0; pathname < 2; pathname++) {
        bool got = wildmatch(pattern, path, pathname);
        if (small && got != plain_match(pattern, 0, path, pathname))
            abort();
    }
    glob_match(pattern, path, GLOB_BRACES | GLOB_FOLD_CASE);
}

static void
ask(const struct ignore *ig, struct str text, struct str paths)
{
    struct str path, line;

    for (int n = 0; n < 50 && str_split(&paths, '\n', &path); n++) {
        bool is_dir = str_ends(path, "/");
        path.len -= is_dir;
        enum ignore_verdict first = ignore_check(ig, path, is_dir);
        struct str rest = text;
        for (int k = 0; k < 50 && str_split(&rest, '\n', &line); k++)
            check_pattern(line, path);
        if (ignore_check(ig, path, is_dir) != first)
            abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = size ? memcpy(xmalloc(size), data, size) : NULL;
    const char *nul = size ? memchr(copy, '\0', size) : NULL;
    struct str text = str_make(copy, nul ? (size_t)(nul - copy) : size);
    struct str paths = nul ? str_make(nul + 1, size - text.len - 1) : STR("a/b\nfoo.o\nsrc/");
    struct ignore *top = ignore_new(NULL, ""), *below = ignore_new(top, "src");

    ignore_add_text(top, text);
    ignore_add_text(below, paths);
    ask(below, text, paths);
    ignore_free(below);
    ignore_free(top);
    free(copy);
    return 0;
}
