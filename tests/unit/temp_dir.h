#pragma once
/* A folder of its own for each test, and files in it. Needs cmocka.h included before. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

static inline char *
temp_dir_make(void)
{
    char template[] = "/tmp/yare-test-XXXXXX";
    assert_non_null(mkdtemp(template));
    return xstrdup(template);
}

static inline int
temp_dir_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void
temp_dir_remove(char *take_dir)
{
    nftw(take_dir, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(take_dir);
}

/* Writes a file below dir, making the folders on the way. */
static inline void
temp_file_write(const char *dir, const char *name, const char *text)
{
    char *path = fs_join(dir, name), *folder = fs_dirname(path);
    struct err err;
    assert_true(fs_mkdirs(folder, 0700, &err));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(folder);
    free(path);
}

static inline char *
temp_file_read(const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    struct buf text;
    struct err err;
    buf_init(&text, BUF_MAX);
    if (!fs_read(path, BUF_MAX - 1, &text, &err))
        fail_msg("%s", err.text);
    free(path);
    return buf_take(&text);
}
