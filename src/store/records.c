#include "store/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"

#define WINDOW ((size_t)256 << 10)

bool
records_pread(int fd, char *to, size_t len, int64_t offset)
{
    while (len) {
        ssize_t n = pread(fd, to, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            return false;
        }
        to += n;
        offset += n;
        len -= (size_t)n;
    }
    return true;
}

/* Where the last whole line ends; 0 when there is none. -1: error. */
static int64_t
end_of_lines(int fd, int64_t size)
{
    char block[65536];
    while (size > 0) {
        int64_t from = size > (int64_t)sizeof block ? size - (int64_t)sizeof block : 0;
        if (!records_pread(fd, block, (size_t)(size - from), from))
            return -1;
        const char *newline = memrchr(block, '\n', (size_t)(size - from));
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
    if (len <= 0 || len > (int64_t)RECORD_MAX)
        return false;
    char *tail = xmalloc((size_t)len);
    struct cJSON *tree = NULL;
    if (records_pread(fd, tail, (size_t)len, from))
        tree = json_parse(str_make(tail, (size_t)len), NULL);
    bool whole = json_is_object(tree);
    json_free(tree);
    free(tail);
    return whole;
}

bool
records_init(struct records *l, int fd, const char *path, struct err *err)
{
    struct stat st;
    *l = (struct records){.fd = fd, .torn_at = -1};
    if (fstat(fd, &st) != 0)
        return err_sys(err, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "'%s' is not a regular file", path);
    l->end = end_of_lines(fd, st.st_size);
    if (l->end < 0)
        return err_sys(err, errno, "cannot read '%s'", path);
    if (l->end == st.st_size)
        return true;
    if (tail_is_whole(fd, l->end, st.st_size)) {
        l->end = st.st_size;
        l->no_newline = true;
    } else {
        l->torn_at = l->end;
        l->torn_bytes = st.st_size - l->end;
    }
    return true;
}

bool
records_open(struct records *l, const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_sys(err, errno, "cannot open '%s'", path);
    if (records_init(l, fd, path, err))
        return true;
    close(fd);
    return false;
}

bool
records_close(struct records *l, const char *path, struct err *err)
{
    int errnum = l->errnum;
    close(l->fd);
    free(l->window);
    *l = (struct records){.fd = -1};
    return errnum ? err_sys(err, errnum, "cannot read '%s'", path) : true;
}

/* Moves what is left to the front and reads on. False: there is no more, or no room for a longer line. */
static bool
fill(struct records *l)
{
    size_t left = l->len - l->at;
    if (left >= RECORD_MAX)
        return false;
    if (l->at && left)
        memmove(l->window, l->window + l->at, left);
    l->base += (int64_t)l->at;
    l->at = 0;
    l->len = left;
    if (left == l->cap) {
        l->cap = l->cap ? l->cap * 2 : WINDOW;
        l->window = xrealloc(l->window, l->cap);
    }
    int64_t from = l->base + (int64_t)left;
    size_t want = l->cap - left;
    if (from >= l->end)
        return false;
    if ((int64_t)want > l->end - from)
        want = (size_t)(l->end - from);
    if (!records_pread(l->fd, l->window + left, want, from)) {
        l->errnum = errno;
        return false;
    }
    l->len += want;
    return true;
}

/* Past a line that is longer than any record may be. */
static void
skip_line(struct records *l)
{
    const char *newline = NULL;
    while (!newline && !l->errnum) {
        l->base += (int64_t)l->len;
        l->at = l->len = 0;
        if (!fill(l))
            return;
        newline = memchr(l->window, '\n', l->len);
    }
    if (newline)
        l->at = (size_t)(newline - l->window) + 1;
}

bool
records_next(struct records *l, struct str *ret, int64_t *ret_offset)
{
    size_t looked = 0;
    for (;;) {
        const char *start = l->window ? l->window + l->at : "", *newline = NULL;
        size_t left = l->len - l->at;
        if (left > looked)
            newline = memchr(start + looked, '\n', left - looked);
        bool last = !newline && l->base + (int64_t)l->len >= l->end;
        if (newline || (last && left)) {
            *ret = str_make(start, newline ? (size_t)(newline - start) : left);
            *ret_offset = l->base + (int64_t)l->at;
            l->at += ret->len + (newline ? 1 : 0);
            looked = 0;
            if (str_trim(*ret).len)
                return true;
            continue;
        }
        if (last)
            return false;
        looked = left;
        if (fill(l))
            continue;
        if (l->errnum || l->len - l->at < RECORD_MAX)
            return false;
        *ret = STR("");
        *ret_offset = l->base + (int64_t)l->at;
        skip_line(l);
        return true;
    }
}
