#include "tools/file_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

void
file_list_add(struct file_list *l, const char *dir, const char *rel, int64_t mtime_ns)
{
    ARRAY_GROW(l->items, l->n, l->cap);
    l->items[l->n++] = (struct file_item){fs_join(dir, rel), mtime_ns};
}

static int
newest_first(const void *a, const void *b)
{
    const struct file_item *x = a, *y = b;

    if (x->mtime_ns != y->mtime_ns)
        return x->mtime_ns < y->mtime_ns ? 1 : -1;
    return strcmp(x->path, y->path);
}

void
file_list_sort(struct file_list *l)
{
    if (l->n > 1)
        qsort(l->items, l->n, sizeof *l->items, newest_first);
}

void
file_list_release(struct file_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i].path);
    free(l->items);
    *l = (struct file_list){.n = 0};
}
