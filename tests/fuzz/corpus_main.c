/* Runs a fuzz target over the files of a folder, and over each of them cut short. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run_file(const char *path)
{
    struct buf b;
    struct err err;
    buf_init(&b, (size_t)1 << 20);
    if (!fs_read(path, b.max, &b, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    size_t step = b.len / 200 + 1;
    for (size_t n = 0; n <= b.len; n += step) {
        /* memory of that very size, so that a sanitizer sees a step too far */
        uint8_t *copy = xmalloc(n + 1);
        if (n)
            memcpy(copy, b.data, n);
        (void)LLVMFuzzerTestOneInput(copy, n);
        free(copy);
    }
    buf_release(&b);
}

int
main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        for (struct dirent *e; d && (e = readdir(d));) {
            if (e->d_name[0] == '.')
                continue;
            char *path = fs_join(argv[i], e->d_name);
            run_file(path);
            free(path);
            files++;
        }
        if (d)
            closedir(d);
    }
    printf("%d files\n", files);
    return files ? 0 : 1;
}
