/* Lists the files below each folder given, NUL-terminated, by the sequential and by the parallel walk, which must agree. For the
 * comparison with git. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_tree.h"
#include "base/glob.h"

static bool
note(void *user, const char *rel, bool is_dir)
{
    if (!is_dir)
        buf_add(user, rel, strlen(rel) + 1);
    return true;
}

static void
list_parallel(const char *root, struct buf *out)
{
    struct file_tree *t = file_tree_read(&(struct file_tree_options){.root = root, .threads = 4});
    struct buf path;
    size_t rel;

    buf_init(&path, BUF_MAX);
    for (size_t i = 0; i < file_tree_count(t); i++) {
        file_tree_path(t, i, &path, &rel);
        buf_add(out, path.data + rel, path.len - rel + 1);
    }
    buf_release(&path);
    file_tree_free(t);
}

int
main(int argc, char **argv)
{
    int status = argc < 2;

    for (int i = 1; i < argc; i++) {
        struct buf one, many;
        buf_init(&one, BUF_MAX);
        buf_init(&many, BUF_MAX);
        glob_walk(&(struct glob_walk){.root = argv[i], .visit = note, .user = &one});
        list_parallel(argv[i], &many);
        if (!str_eq(buf_str(&one), buf_str(&many))) {
            fprintf(stderr, "%s: the two walks differ\n", argv[i]);
            status = 1;
        }
        if (one.len)
            fwrite(one.data, 1, one.len, stdout);
        putchar('\0');
        buf_release(&one);
        buf_release(&many);
    }
    return status;
}
