#include "tools/grep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "tools/at.h"
#include "tools/grep_text.h"
#include "tools/text_file.h"

/* Larger files go through in windows cut at a line end; context lines do not reach over a cut. */
enum { WINDOW = 8 << 20, KEEP = 1 << 20, TEXT_MAX = 4 << 20, FIRST = 64 << 10 };

void
grep_worker_init(struct grep_worker *w, const struct grep_options *o)
{
    *w = (struct grep_worker){.options = o, .matcher = grep_matcher_new(o->pattern)};
    buf_init(&w->data, (size_t)TEXT_FILE_MAX + 1);
    buf_init(&w->decoded, (size_t)TEXT_FILE_MAX * 3);
}

void
grep_worker_release(struct grep_worker *w)
{
    grep_matcher_free(w->matcher);
    buf_release(&w->data);
    buf_release(&w->decoded);
}

/* Reads on until `want` bytes are there. False at end of file or on error. */
static bool
fill(int fd, struct buf *data, size_t want)
{
    while (data->len < want) {
        char *at = buf_reserve(data, want - data->len);
        ssize_t n = at ? read(fd, at, want - data->len) : -1;
        if (n < 0 && at && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buf_commit(data, (size_t)n);
    }
    return true;
}

static bool
skip_as_binary(struct str head)
{
    return head.len == 0 || text_file_kind(head) != KIND_TEXT;
}

/* Most of a text is ASCII, and passed over by eights. */
static bool
is_utf8(struct str s)
{
    uint64_t eight;
    int32_t cp;

    for (size_t i = 0; i < s.len;) {
        if (i + 8 <= s.len) {
            memcpy(&eight, s.ptr + i, 8);
            if (!(eight & 0x8080808080808080)) {
                i += 8;
                continue;
            }
        }
        size_t n = (unsigned char)s.ptr[i] < 0x80 ? 1 : text_decode(s, i, &cp);
        if (n == 1 && (unsigned char)s.ptr[i] >= 0x80)
            return false;
        i += n;
    }
    return true;
}

static bool
is_utf16(struct str s)
{
    return s.len >= 2 && (memcmp(s.ptr, "\xff\xfe", 2) == 0 || memcmp(s.ptr, "\xfe\xff", 2) == 0);
}

/* The whole file as the other tools show it: UTF-16, latin-1, stray bytes. */
static struct str
decode_file(struct grep_worker *w)
{
    struct text_file t;

    text_file_init(&t);
    buf_add_str(&t.raw, buf_str(&w->data));
    text_file_decode(&t);
    buf_clear(&w->decoded);
    buf_add_str(&w->decoded, buf_str(&t.text));
    text_file_release(&t);
    return buf_str(&w->decoded);
}

static void
search_window(struct grep_text *f, struct str s, bool whole_file, bool last)
{
    struct grep_worker *w = f->w;

    if (grep_text_has_none(f, s)) {
        if (!last)
            grep_text_pass(f, s);
        return;
    }
    bool ascii = grep_is_ascii(s);
    if (!ascii && !is_utf8(s)) {
        buf_clear(&w->decoded);
        if (whole_file)
            s = decode_file(w);
        else if (text_repair(&w->decoded, s))
            s = buf_str(&w->decoded);
    }
    grep_text_search(f, s, ascii, last);
}

static void
search_utf16(struct grep_text *f, int fd)
{
    fill(fd, &f->w->data, TEXT_FILE_MAX);
    struct str s = decode_file(f->w);
    grep_text_search(f, s, grep_is_ascii(s), true);
}

static void
search_fd(struct grep_text *f, int fd, size_t size)
{
    struct buf *data = &f->w->data;
    bool known = size > 0 && size < WINDOW; /* /proc says 0 */

    buf_clear(data);
    bool more = fill(fd, data, known ? size : FIRST) && !known;
    size_t bom = str_starts(buf_str(data), "\xEF\xBB\xBF") ? 3 : 0;
    if (skip_as_binary(buf_str(data)))
        return;
    if (is_utf16(buf_str(data))) {
        search_utf16(f, fd);
        return;
    }
    for (bool first = true;; first = false) {
        if (more)
            more = fill(fd, data, WINDOW);
        struct str s = str_sub(buf_str(data), bom, data->len);
        const char *nl = more && s.len ? memrchr(s.ptr, '\n', s.len) : NULL;
        size_t whole = nl ? (size_t)(nl - s.ptr) + 1 : s.len;
        search_window(f, str_sub(s, 0, whole), first && !more, !more);
        if (f->done || !more || cancel_fired(f->o->cancel) != CANCEL_NONE)
            return;
        buf_remove_front(data, bom + whole);
        bom = 0;
    }
}

static int
open_target(const struct grep_target *t, struct stat *ret)
{
    /* Opening a device can already do something; a walk has seen that it is a file. */
    if (t->dir_fd == AT_FDCWD && (lstat(t->name, ret) != 0 || !S_ISREG(ret->st_mode)))
        return -1;
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    struct err err;
    /* The one file that is searched is named past its links: none is followed any more. */
    int fd = t->dir_fd == AT_FDCWD ? at_open(t->name, flags, &err)
                                   : openat(t->dir_fd, t->name, flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode)))
        return fd;
    close(fd);
    return -1;
}

static void
keep_little(struct buf *b)
{
    size_t max = b->max;

    if (b->cap <= KEEP)
        return;
    buf_release(b);
    buf_init(b, max);
}

void
grep_file(struct grep_worker *w, const struct grep_target *t, struct grep_hits *ret)
{
    struct grep_text f = {.w = w, .o = w->options, .hits = ret, .target = t, .next_no = 1};
    struct stat st;
    int fd = open_target(t, &st);

    *ret = (struct grep_hits){.lines = 0};
    buf_init(&ret->text, TEXT_MAX);
    if (fd < 0)
        return;
    ret->mtime_ns = fs_mtime_ns(&st);
    search_fd(&f, fd, (size_t)st.st_size);
    close(fd);
    keep_little(&w->data);
    keep_little(&w->decoded);
}
