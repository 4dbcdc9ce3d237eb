/* Instructions that wait in a folder, or for files of their "paths:", until a tool looks at such a file. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "engine/attach.h"
#include "engine/attach_private.h"
#include "engine/core.h"
#include "engine/hidden.h"

#define SEEN_MAX 10000

/* True: it was not there. */
static bool
see(struct attach_told *t, const char *path)
{
    size_t lo = 0, hi = t->n_seen;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int order = strcmp(t->seen[mid], path);
        if (order == 0)
            return false;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (t->n_seen == SEEN_MAX)
        return true; /* looked at once more: nothing is told twice */
    ARRAY_GROW(t->seen, t->n_seen, t->cap_seen);
    memmove(t->seen + lo + 1, t->seen + lo, (t->n_seen - lo) * sizeof *t->seen);
    t->seen[lo] = xstrdup(path);
    t->n_seen++;
    return true;
}

void
attach_touched(struct core *c, const char *path)
{
    struct attach_told *t = c->told;
    if (!t || !path || !path[0] || t->n_touched == TOUCHED_MAX)
        return;
    char *whole = fs_normalize(c->cwd, path);
    if (whole && see(t, whole))
        t->touched[t->n_touched++] = whole;
    else
        free(whole);
}

bool
attach_nested_memory(struct core *c, struct buf *out)
{
    struct attach_told *t = c->told;
    struct memory *m = &c->prompt.files;
    struct memory_options o;
    if (!t->n_touched)
        return false;
    prompt_memory_options(c, &o);
    buf_release(&m->text);
    buf_init(&m->text, MEMORY_MAX);
    for (size_t i = 0; i < t->n_touched; i++) {
        char *dir = fs_dirname(t->touched[i]);
        char *mark = xasprintf("%s/", dir); /* no file has such a name */
        memory_touch(&o, m, t->touched[i], !see(t, mark));
        free(mark);
        free(dir);
        free(t->touched[i]);
    }
    t->n_touched = 0;
    prompt_memory_options_release(&o);
    bool any = m->text.len > 0;
    if (any) {
        buf_adds(out, HIDDEN_RULES "for this part of the project. They hold "
                                   "before your defaults where they apply.\n\n");
        buf_add_str(out, buf_str(&m->text));
    }
    buf_release(&m->text);
    return any;
}
