#include "tools/name_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

bool
name_filter_add(struct name_filter *f, struct str pattern, struct err *err)
{
    struct name_pattern p = {.exclude = str_starts(pattern, "!")};

    if (p.exclude)
        pattern = str_sub(pattern, 1, pattern.len);
    while (str_starts(pattern, "./"))
        pattern = str_sub(pattern, 2, pattern.len);
    p.whole_path = str_find(pattern, '/', 0) != (size_t)-1;
    if (str_starts(pattern, "/"))
        pattern = str_sub(pattern, 1, pattern.len);
    if (!glob_expand(pattern, &p.list, &p.n))
        return err_set(err, ERR_LIMIT, "the pattern has too many alternatives");
    ARRAY_GROW(f->patterns, f->n, f->cap);
    f->patterns[f->n++] = p;
    f->has_include |= !p.exclude;
    return true;
}

static bool
pattern_matches(const struct name_pattern *p, struct str path, struct str name)
{
    for (size_t i = 0; i < p->n; i++)
        if (glob_match(str_from(p->list[i]), p->whole_path ? path : name, 0))
            return true;
    return false;
}

bool
name_filter_match(const struct name_filter *f, struct str rel_path)
{
    const char *slash = rel_path.len ? memrchr(rel_path.ptr, '/', rel_path.len) : NULL;
    struct str name =
        slash ? str_sub(rel_path, (size_t)(slash - rel_path.ptr) + 1, rel_path.len) : rel_path;
    bool in = !f->has_include;

    for (size_t i = 0; i < f->n; i++)
        if (pattern_matches(&f->patterns[i], rel_path, name))
            in = !f->patterns[i].exclude;
    return in;
}

void
name_filter_release(struct name_filter *f)
{
    for (size_t i = 0; i < f->n; i++)
        glob_expand_free(f->patterns[i].list, f->patterns[i].n);
    free(f->patterns);
    *f = (struct name_filter){.n = 0};
}
