/*
 * Repositories inside the repository: status and diff start git in each one that the index lists, and there its own configuration
 * counts. The index is searched for such entries by their mode; a name that is found by chance leads nowhere.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

enum {
    MODULES_MAX = 64,
    FILES_MAX = 16,
    DEPTH_MAX = 4,
    HEADER = 12,
    MODE_AT = 24,
    AFTER_MODE = 16 /* mode, owner, group, size */
};

/* The name of the entry whose mode stands at `at`, for object names of `hash` bytes. */
static struct str
entry_name(struct str index, size_t at, size_t hash)
{
    size_t flags = at + AFTER_MODE + hash, from = flags + 2;
    if (from >= index.len)
        return (struct str){0};
    if ((unsigned char)index.ptr[flags] & 0x40) /* extended flags */
        from += 2;
    size_t end = from;
    while (end < index.len && index.ptr[end])
        end++;
    return end < index.len && end - from < 4096 ? str_sub(index, from, end - from)
                                                : (struct str){0};
}

static bool
module_runs(const char *root, struct str name, int depth)
{
    if (!name.len || name.ptr[0] == '/' || str_contains(name, STR("..")))
        return false;
    char *text = str_dup(name), *path = fs_join(root, text), *git = fs_join(path, ".git");
    bool runs = fs_exists(git) && repo_config_runs_at(path, depth + 1);
    free(git);
    free(path);
    free(text);
    return runs;
}

/* Where the next such mode stands from `at` on; index.len: nowhere. Looks for the one byte of it that is rare in an index. */
static size_t
next_mode(struct str index, size_t at)
{
    static const char mode[] = {0, 0, (char)0xE0, 0};
    const char *end = index.ptr + index.len - 1, *p = index.ptr + at + 2;
    while (p < end && (p = memchr(p, 0xE0, (size_t)(end - p)))) {
        if (memcmp(p - 2, mode, sizeof mode) == 0)
            return (size_t)(p - 2 - index.ptr);
        p++;
    }
    return index.len;
}

static bool
index_runs(const char *root, struct str index, int depth)
{
    size_t found = 0, at = HEADER + MODE_AT;
    bool compressed = index.len > 7 && index.ptr[7] == 4;
    while (at + 4 < index.len) {
        at = next_mode(index, at);
        if (at == index.len)
            return false;
        /* Names are cut in version 4: any such entry asks. */
        if (compressed || ++found > MODULES_MAX || depth >= DEPTH_MAX ||
            module_runs(root, entry_name(index, at, 20), depth) ||
            module_runs(root, entry_name(index, at, 32), depth))
            return true;
        at++;
    }
    return false;
}

static bool
file_runs(const char *root, const char *git, const char *name, int depth)
{
    struct stat st;
    char *path = fs_join(git, name);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe there holds nobody up */
    bool runs = false;
    free(path);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > HEADER) {
        size_t len = (size_t)st.st_size;
        char *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
        runs = map == MAP_FAILED || index_runs(root, str_make(map, len), depth);
        if (map != MAP_FAILED)
            munmap(map, len);
    }
    if (fd >= 0)
        close(fd);
    return runs;
}

/* A split index keeps most of its entries in a file beside it; which one, only git need know. */
bool
repo_modules_run(const char *root, const char *git, int depth)
{
    bool runs = file_runs(root, git, "index", depth);
    DIR *d = runs ? NULL : opendir(git);
    int left = FILES_MAX;
    for (struct dirent *e; d && !runs && (e = readdir(d));)
        if (str_starts(str_from(e->d_name), "sharedindex."))
            runs = --left < 0 || file_runs(root, git, e->d_name, depth);
    if (d)
        closedir(d);
    return runs;
}
