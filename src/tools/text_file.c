#include "tools/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "tools/at.h"

enum { HEAD = 8192 };

static const char *
special_kind(mode_t mode)
{
    if (S_ISDIR(mode))
        return "is a folder, not a file";
    if (S_ISFIFO(mode))
        return "is a pipe (FIFO), not a regular file";
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return "is a device, not a regular file";
    return S_ISSOCK(mode) ? "is a socket, not a regular file" : "is not a regular file";
}

int
text_file_open(const char *path, struct stat *ret_st, struct err *err)
{
    /* Looked at first, since opening a FIFO or a device can already do something; checked again on the descriptor. */
    if (lstat(path, ret_st) != 0) {
        err_sys(err, errno, "cannot open '%s'", path);
        return -1;
    }
    if (!S_ISREG(ret_st->st_mode)) {
        err_set(err, ERR_INVALID, "'%s' %s", path, special_kind(ret_st->st_mode));
        return -1;
    }
    int fd = at_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
    if (fd < 0)
        return -1;
    if (fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode))
        return fd;
    close(fd);
    err_set(err, ERR_INVALID, "'%s' is not a regular file", path);
    return -1;
}

enum file_kind
text_file_kind(struct str head)
{
    if (str_starts(head, "\x89PNG\r\n\x1a\n"))
        return KIND_PNG;
    if (str_starts(head, "\xff\xd8\xff"))
        return KIND_JPEG;
    if (str_starts(head, "GIF87a") || str_starts(head, "GIF89a"))
        return KIND_GIF;
    if (str_starts(head, "RIFF") && head.len >= 12 && memcmp(head.ptr + 8, "WEBP", 4) == 0)
        return KIND_WEBP;
    if (str_starts(head, "%PDF-"))
        return KIND_PDF;
    if (str_starts(head, "\xff\xfe") || str_starts(head, "\xfe\xff"))
        return KIND_TEXT;
    size_t n = head.len < HEAD ? head.len : HEAD;
    return n && memchr(head.ptr, '\0', n) ? KIND_BINARY : KIND_TEXT;
}

void
text_file_init(struct text_file *f)
{
    *f = (struct text_file){.encoding = TEXT_UTF8};
    buf_init(&f->raw, TEXT_FILE_MAX);
    buf_init(&f->text, (size_t)TEXT_FILE_MAX * 3);
}

void
text_file_release(struct text_file *f)
{
    buf_release(&f->raw);
    buf_release(&f->text);
}

static bool
read_all(int fd, const char *path, struct buf *out, struct err *err)
{
    for (;;) {
        char *at = buf_reserve(out, 65536);
        if (!at)
            return err_set(err, ERR_LIMIT, "'%s' is larger than %d MB, the most that can be edited",
                           path, TEXT_FILE_MAX >> 20);
        ssize_t n = read(fd, at, 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, errno, "cannot read '%s'", path);
        if (n == 0)
            return true;
        buf_commit(out, (size_t)n);
    }
}

bool
text_file_load(const char *path, struct text_file *ret, struct err *err)
{
    struct stat st;
    text_file_init(ret);
    int fd = text_file_open(path, &st, err);
    if (fd < 0)
        return false;
    bool ok = text_file_load_fd(fd, &st, path, ret, err);
    close(fd);
    return ok;
}

bool
text_file_load_fd(int fd, const struct stat *st, const char *path, struct text_file *ret,
                  struct err *err)
{
    text_file_init(ret);
    ret->st = *st;
    if (!read_all(fd, path, &ret->raw, err))
        return false;
    ret->mtime_ns = fs_mtime_ns(&ret->st);
    if (text_file_kind(buf_str(&ret->raw)) != KIND_TEXT)
        return err_set(err, ERR_UNSUPPORTED, "'%s' is a binary file", path);
    text_file_decode(ret);
    if (buf_full(&ret->text))
        return err_set(err, ERR_LIMIT, "'%s' is too large to be decoded", path);
    return true;
}

/* Latin-1 is what more stray bytes than proper sequences make; a stray byte alone is damage in UTF-8. */
static bool
looks_latin1(struct str s)
{
    size_t proper = 0, stray = 0;
    int32_t cp;

    for (size_t i = 0; i < s.len;) {
        if ((unsigned char)s.ptr[i] < 0x80) {
            i++;
            continue;
        }
        size_t n = text_decode(s, i, &cp);
        if (n > 1)
            proper++;
        else
            stray++;
        i += n;
    }
    return stray > proper;
}

static uint32_t
unit16(const char *p, bool big)
{
    const unsigned char *u = (const unsigned char *)p;

    return big ? (uint32_t)u[0] << 8 | u[1] : (uint32_t)u[1] << 8 | u[0];
}

/* One character of raw at off: how many bytes it takes there; its UTF-8 goes to out (at most 4 bytes), length in *ret_n. */
static size_t
raw_char(const struct text_file *f, size_t off, char out[4], size_t *ret_n)
{
    struct str s = buf_str(&f->raw);
    int32_t cp = 0xFFFD;
    size_t used = 1;

    if (f->encoding == TEXT_UTF8) {
        used = text_decode(s, off, &cp);
    } else if (f->encoding == TEXT_LATIN1) {
        cp = (unsigned char)s.ptr[off];
    } else if (off + 2 <= s.len) {
        bool big = f->encoding == TEXT_UTF16BE;
        uint32_t hi = unit16(s.ptr + off, big), lo = 0;
        used = 2;
        if (hi >= 0xD800 && hi < 0xDC00 && off + 4 <= s.len)
            lo = unit16(s.ptr + off + 2, big);
        if (lo >= 0xDC00 && lo < 0xE000) {
            cp = (int32_t)(0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00));
            used = 4;
        } else if (hi < 0xD800 || hi >= 0xE000) {
            cp = (int32_t)hi;
        }
    }
    *ret_n = text_encode(cp, out);
    return used;
}

void
text_file_decode(struct text_file *f)
{
    struct str raw = buf_str(&f->raw);
    char c[4];
    size_t n;

    f->encoding = TEXT_UTF8;
    f->bom = 0;
    buf_clear(&f->text);
    if (str_starts(raw, "\xEF\xBB\xBF")) {
        f->bom = 3;
    } else if (str_starts(raw, "\xff\xfe") || str_starts(raw, "\xfe\xff")) {
        f->bom = 2;
        f->encoding = raw.ptr[0] == '\xff' ? TEXT_UTF16LE : TEXT_UTF16BE;
    }
    if (f->encoding == TEXT_UTF8) {
        if (text_valid_utf8(raw)) {
            buf_add_str(&f->text, str_sub(raw, f->bom, raw.len));
            return;
        }
        if (!f->bom && looks_latin1(raw))
            f->encoding = TEXT_LATIN1;
    }
    for (size_t i = f->bom; i < raw.len;) {
        i += raw_char(f, i, c, &n);
        buf_add(&f->text, c, n);
    }
}

static bool
encode_char(const struct text_file *f, int32_t cp, struct buf *out, struct err *err)
{
    char c[4];

    if (f->encoding == TEXT_UTF8) {
        buf_add(out, c, text_encode(cp, c));
        return true;
    }
    if (f->encoding == TEXT_LATIN1) {
        if (cp > 0xFF)
            return err_set(err, ERR_INVALID,
                           "the file is latin-1, which cannot hold the character U+%04X",
                           (unsigned)cp);
        return buf_addc(out, (char)cp);
    }
    uint32_t units[2] = {(uint32_t)cp, 0};
    size_t n = 1;
    if (cp >= 0x10000) {
        units[0] = 0xD800 + (((uint32_t)cp - 0x10000) >> 10);
        units[1] = 0xDC00 + (((uint32_t)cp - 0x10000) & 0x3FF);
        n = 2;
    }
    for (size_t i = 0; i < n; i++) {
        char hi = (char)(units[i] >> 8), lo = (char)(units[i] & 0xFF);
        buf_addc(out, f->encoding == TEXT_UTF16BE ? hi : lo);
        buf_addc(out, f->encoding == TEXT_UTF16BE ? lo : hi);
    }
    return true;
}

static bool
encode(const struct text_file *f, struct str text, struct buf *out, struct err *err)
{
    int32_t cp;

    if (f->encoding == TEXT_UTF8)
        return buf_add_str(out, text);
    for (size_t i = 0; i < text.len;) {
        i += text_decode(text, i, &cp);
        if (!encode_char(f, cp, out, err))
            return false;
    }
    return true;
}

static bool
check_size(const struct buf *raw, struct err *err)
{
    if (buf_full(raw))
        return err_set(err, ERR_LIMIT, "the file would be larger than %d MB", TEXT_FILE_MAX >> 20);
    return true;
}

bool
text_file_encode(const struct text_file *f, struct str text, struct buf *ret_raw, struct err *err)
{
    buf_add(ret_raw, f->raw.data, f->bom);
    if (!encode(f, text, ret_raw, err) && !buf_full(ret_raw))
        return false;
    return check_size(ret_raw, err);
}

bool
text_file_apply(const struct text_file *f, const struct text_change *changes, size_t n,
                struct buf *ret_raw, struct err *err)
{
    size_t raw_at = f->bom, text_at = 0;
    size_t kept = 0; /* raw bytes already copied or dropped */
    bool plain = f->encoding == TEXT_UTF8 && f->text.len + f->bom == f->raw.len;
    char c[4];
    size_t len;

    for (size_t i = 0; i < n; i++) {
        size_t ends[2] = {changes[i].at, changes[i].at + changes[i].len}, raw_ends[2];
        for (int e = 0; e < 2; e++) {
            if (plain) {
                text_at = ends[e];
                raw_at = f->bom + text_at;
            }
            while (text_at < ends[e] && raw_at < f->raw.len) {
                raw_at += raw_char(f, raw_at, c, &len);
                text_at += len;
            }
            raw_ends[e] = raw_at;
        }
        buf_add(ret_raw, f->raw.data + kept, raw_ends[0] - kept);
        if (!encode(f, changes[i].with, ret_raw, err) && !buf_full(ret_raw))
            return false;
        kept = raw_ends[1];
    }
    buf_add(ret_raw, f->raw.data + kept, f->raw.len - kept);
    return check_size(ret_raw, err);
}

bool
text_file_save(const struct text_file *f, const char *path, struct str raw, int64_t *ret_mtime_ns,
               struct err *err)
{
    const char *name;
    int dir = at_open_folder(path, false, &name, err);
    bool ok = dir >= 0 && at_replace(dir, name, path, raw, &f->st, 0, ret_mtime_ns, err);
    if (dir >= 0)
        close(dir);
    return ok;
}
