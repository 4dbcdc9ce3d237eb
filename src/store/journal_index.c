/* Opening a journal for reading by its line starts. Only whole lines are mapped: no writer ever cuts those, so that the
 * map cannot lose its pages. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "store/journal.h"
#include "store/journal_scan.h"

/* Where the last whole line ends; 0 when there is none. -1: error. */
static int64_t
end_of_lines(int fd, int64_t size)
{
    char block[65536];
    while (size > 0) {
        int64_t from = size > (int64_t)sizeof block ? size - (int64_t)sizeof block : 0;
        ssize_t n = pread(fd, block, (size_t)(size - from), from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -1 : 0;
        const char *newline = memrchr(block, '\n', (size_t)n);
        if (newline)
            return from + (newline - block) + 1;
        size = from;
    }
    return 0;
}

/* A write that was cut exactly before its newline lost nothing. */
static bool
tail_is_whole(int fd, int64_t from, int64_t size)
{
    int64_t len = size - from;
    if (len <= 0 || len > (int64_t)BUF_MAX)
        return false;
    char *tail = xmalloc((size_t)len);
    struct cJSON *tree = NULL;
    if (pread(fd, tail, (size_t)len, from) == len)
        tree = json_parse(str_make(tail, (size_t)len), NULL);
    bool whole = json_is_object(tree);
    json_free(tree);
    free(tail);
    return whole;
}

static void
add_entry(struct journal_index *ix, size_t *cap, int64_t offset, struct str line)
{
    struct journal_want type = {.key = "type"};
    if (str_trim(line).len == 0)
        return;
    ARRAY_GROW(ix->entries, ix->n, *cap);
    struct journal_entry *e = &ix->entries[ix->n++];
    *e = (struct journal_entry){.offset = offset, .len = (uint32_t)line.len};
    if (line.len > UINT32_MAX) {
        e->len = UINT32_MAX; /* no record of ours: it is kept, nobody reads it */
        return;
    }
    journal_scan(line, &type, 1);
    struct str name = journal_plain(type.raw);
    if (name.len < sizeof e->type && name.len)
        memcpy(e->type, name.ptr, name.len);
}

static void
find_lines(struct journal_index *ix)
{
    const char *base = ix->map;
    size_t cap = 0;
    for (int64_t at = 0; at < ix->size;) {
        const char *newline = memchr(base + at, '\n', (size_t)(ix->size - at));
        int64_t end = newline ? newline - base : ix->size;
        add_entry(ix, &cap, at, str_make(base + at, (size_t)(end - at)));
        at = end + 1;
    }
}

static bool
load(int fd, const char *path, struct journal_index *ix, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_sys(err, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "'%s' is not a regular file", path);
    int64_t end = end_of_lines(fd, st.st_size);
    if (end < 0)
        return err_sys(err, errno, "cannot read '%s'", path);
    if (end < st.st_size) {
        if (tail_is_whole(fd, end, st.st_size)) {
            end = st.st_size;
        } else {
            ix->torn_at = end;
            ix->torn_bytes = st.st_size - end;
        }
    }
    if (end == 0)
        return true;
    void *map = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED)
        return err_sys(err, errno, "cannot map '%s'", path);
    ix->map = map;
    ix->size = end;
    find_lines(ix);
    return true;
}

bool
journal_index_load(const char *path, struct journal_index *ret, struct err *err)
{
    struct journal_index ix = {.torn_at = -1};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_sys(err, errno, "cannot open '%s'", path);
    bool ok = load(fd, path, &ix, err);
    close(fd);
    if (ok)
        *ret = ix;
    else
        journal_index_release(&ix);
    return ok;
}

void
journal_index_release(struct journal_index *ix)
{
    if (ix->map)
        munmap(ix->map, (size_t)ix->size);
    free(ix->entries);
    *ix = (struct journal_index){.torn_at = -1};
}

struct str
journal_record(const struct journal_index *ix, size_t i)
{
    return str_make((const char *)ix->map + ix->entries[i].offset, ix->entries[i].len);
}

struct str
journal_member(const struct journal_index *ix, size_t i, const char *key)
{
    struct journal_want want = {.key = key};
    journal_scan(journal_record(ix, i), &want, 1);
    return want.raw;
}
