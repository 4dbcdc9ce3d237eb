#include "base/git_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

/* A name starts anew each BLOCK entries; between, only what differs from the one before is kept. */
enum { BLOCK = 16, NAME_MAX_LEN = 16 << 10, NAMES_MAX = 512 << 20, FIXED = 40, CHUNK = 64 << 10 };

struct git_index {
    struct buf names; /* for each: shared (2 bytes), length of the rest (2), the rest */
    uint32_t *blocks; /* offsets of the first name of each block */
    size_t n, n_blocks, cap_blocks;
    struct git_index *base; /* of a split index */
};

/* The file, a piece at a time. */
struct input {
    int fd;
    struct buf data;
    size_t at;
    bool end;
};

/* At least n bytes at `at`, or false. */
static bool
need(struct input *in, size_t n)
{
    while (in->data.len - in->at < n && !in->end) {
        buf_remove_front(&in->data, in->at);
        in->at = 0;
        char *room = buf_reserve(&in->data, CHUNK);
        ssize_t got = room ? read(in->fd, room, CHUNK) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        in->end = got <= 0;
        if (got > 0)
            buf_commit(&in->data, (size_t)got);
    }
    return in->data.len - in->at >= n;
}

static uint32_t
be32(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;

    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static void
put16(struct buf *b, size_t v)
{
    buf_addc(b, (char)(v & 0xff));
    buf_addc(b, (char)(v >> 8));
}

static size_t
get16(const char *p)
{
    return (size_t)(unsigned char)p[0] | (size_t)(unsigned char)p[1] << 8;
}

static bool
add_name(struct git_index *ix, struct str name, struct str last)
{
    size_t shared = 0;

    if (ix->n % BLOCK == 0) {
        ARRAY_GROW(ix->blocks, ix->n_blocks, ix->cap_blocks);
        ix->blocks[ix->n_blocks++] = (uint32_t)ix->names.len;
    } else {
        while (shared < name.len && shared < last.len && name.ptr[shared] == last.ptr[shared])
            shared++;
    }
    put16(&ix->names, shared);
    put16(&ix->names, name.len - shared);
    ix->n++;
    return buf_add(&ix->names, name.ptr + shared, name.len - shared);
}

static int
compare(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

    return c ? c : a.len < b.len ? -1 : a.len > b.len;
}

/* Version 4: how many bytes of the last name go. */
static bool
read_varint(struct input *in, size_t *ret)
{
    size_t v = 0;

    for (int i = 0; i < 4 && need(in, 1); i++) {
        unsigned char c = (unsigned char)in->data.data[in->at++];
        v = (i ? v + 1 : 0) << 7 | (c & 0x7f);
        if (!(c & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

/* The bytes up to a NUL, appended to name. */
static bool
read_text(struct input *in, struct buf *name)
{
    for (size_t seen = 0; seen < NAME_MAX_LEN; seen = in->data.len - in->at) {
        if (!need(in, seen + 1))
            return false;
        const char *p = in->data.data + in->at,
                   *nul = memchr(p + seen, '\0', in->data.len - in->at - seen);
        if (!nul)
            continue;
        buf_add(name, p, (size_t)(nul - p));
        in->at += (size_t)(nul - p) + 1;
        return !buf_full(name);
    }
    return false;
}

/* One entry's name; `name` holds the one before. */
static bool
read_entry(struct input *in, unsigned version, size_t hash_len, struct buf *name)
{
    size_t head = FIXED + hash_len + 2, strip = name->len;

    if (!need(in, head))
        return false;
    bool extended = version >= 3 && in->data.data[in->at + head - 2] & 0x40;
    head += extended ? 2 : 0;
    if (!need(in, head))
        return false;
    in->at += head;
    if (version == 4 && (!read_varint(in, &strip) || strip > name->len))
        return false;
    buf_truncate(name, name->len - strip);
    if (!read_text(in, name))
        return false;
    if (version == 4)
        return true;
    size_t used = head + name->len + 1, pad = (8 - used % 8) % 8;
    if (!need(in, pad))
        return false;
    in->at += pad;
    return true;
}

static bool
read_entries(struct git_index *ix, struct input *in, unsigned version, size_t hash_len,
             uint32_t count)
{
    struct buf name, last;
    bool ok = true;

    buf_init(&name, NAME_MAX_LEN);
    buf_init(&last, NAME_MAX_LEN);
    for (uint32_t i = 0; i < count && ok; i++) {
        ok = read_entry(in, version, hash_len, &name);
        int order = ok ? compare(buf_str(&name), buf_str(&last)) : 0;
        if (!ok || (order == 0 && i)) /* the stages of a conflict; what a split index replaces */
            continue;
        ok = name.len == 0 ||
             ((order > 0 || i == 0) && add_name(ix, buf_str(&name), buf_str(&last)));
        if (name.len && ok) {
            buf_clear(&last);
            buf_add_str(&last, buf_str(&name));
        }
    }
    buf_release(&name);
    buf_release(&last);
    return ok;
}

static struct git_index *read_index(const char *git_dir, const char *file, size_t hash_len,
                                    bool may_split, struct err *err);

/* A split index names the shared one it stands on. */
static bool
read_extensions(struct git_index *ix, struct input *in, const char *git_dir, size_t hash_len,
                struct err *err)
{
    while (need(in, 8 + hash_len + 1)) {
        const char *p = in->data.data + in->at;
        size_t len = be32(p + 4);
        bool link = memcmp(p, "link", 4) == 0;
        in->at += 8;
        if (link && len >= hash_len && need(in, hash_len)) {
            char name[16 + 64 + 1] = "sharedindex.";
            size_t at = strlen(name);
            for (size_t i = 0; i < hash_len; i++, at += 2)
                for (int k = 0; k < 2; k++) {
                    unsigned c = (unsigned char)in->data.data[in->at + i];
                    name[at + (size_t)k] = "0123456789abcdef"[k ? c & 15 : c >> 4];
                }
            ix->base = read_index(git_dir, name, hash_len, false, err);
            return ix->base != NULL;
        }
        while (len && need(in, 1)) {
            size_t have = in->data.len - in->at, step = len < have ? len : have;
            in->at += step;
            len -= step;
        }
    }
    return true;
}

static bool
read_all(struct git_index *ix, struct input *in, const char *git_dir, size_t hash_len,
         bool may_split, struct err *err)
{
    if (!need(in, 12) || memcmp(in->data.data, "DIRC", 4) != 0)
        return err_set(err, ERR_PARSE, "the index in '%s' is not one of git's", git_dir);
    uint32_t version = be32(in->data.data + 4), count = be32(in->data.data + 8);
    if (version < 2 || version > 4)
        return err_set(err, ERR_UNSUPPORTED, "the index in '%s' has version %u", git_dir, version);
    in->at = 12;
    if (!read_entries(ix, in, version, hash_len, count))
        return err_set(err, ERR_PARSE, "the index in '%s' is damaged", git_dir);
    return !may_split || read_extensions(ix, in, git_dir, hash_len, err);
}

static struct git_index *
read_index(const char *git_dir, const char *file, size_t hash_len, bool may_split, struct err *err)
{
    struct git_index *ix = xcalloc(1, sizeof *ix);
    char *path = fs_join(git_dir, file);
    struct input in = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    bool ok;

    buf_init(&ix->names, NAMES_MAX);
    buf_init(&in.data, 2 * (size_t)CHUNK + NAME_MAX_LEN);
    if (in.fd < 0)
        ok = (errno == ENOENT && may_split) || err_sys(err, errno, "cannot read '%s'", path);
    else
        ok = read_all(ix, &in, git_dir, hash_len, may_split, err);
    if (in.fd >= 0)
        close(in.fd);
    buf_release(&in.data);
    free(path);
    if (ok)
        return ix;
    git_index_free(ix);
    return NULL;
}

struct git_index *
git_index_read(const char *git_dir, size_t hash_len, struct err *err)
{
    return read_index(git_dir, "index", hash_len, true, err);
}

void
git_index_free(struct git_index *ix)
{
    if (!ix)
        return;
    git_index_free(ix->base);
    buf_release(&ix->names);
    free(ix->blocks);
    free(ix);
}

size_t
git_index_count(const struct git_index *ix)
{
    return ix->n + (ix->base ? ix->base->n : 0);
}

/* The first name of a block, as it lies there. */
static struct str
block_name(const struct git_index *ix, size_t block)
{
    const char *p = ix->names.data + ix->blocks[block];

    return str_make(p + 4, get16(p + 2));
}

/* The block that `key` would lie in: the last whose first name is not past it. */
static size_t
find_block(const struct git_index *ix, struct str key)
{
    size_t lo = 0, hi = ix->n_blocks;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare(block_name(ix, mid), key) <= 0)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The first name that is not before key; false: none. */
static bool
lower_bound(const struct git_index *ix, struct str key, struct buf *name)
{
    if (!ix->n)
        return false;
    const char *p = ix->names.data + ix->blocks[find_block(ix, key)];
    const char *end = ix->names.data + ix->names.len;

    while (p < end) {
        size_t shared = get16(p), rest = get16(p + 2);
        buf_truncate(name, shared);
        buf_add(name, p + 4, rest);
        if (compare(buf_str(name), key) >= 0)
            return true;
        p += 4 + rest;
    }
    return false;
}

bool
git_index_each(const struct git_index *ix, bool (*told)(void *arg, struct str name), void *arg)
{
    struct buf name;
    const char *p = ix->names.data, *end = p + ix->names.len;
    bool more = true;

    buf_init(&name, NAME_MAX_LEN);
    while (p && p < end && more) {
        size_t shared = get16(p), rest = get16(p + 2);
        buf_truncate(&name, shared);
        buf_add(&name, p + 4, rest);
        more = told(arg, buf_str(&name));
        p += 4 + rest;
    }
    buf_release(&name);
    return more && (!ix->base || git_index_each(ix->base, told, arg));
}

bool
git_index_has(const struct git_index *ix, struct str path)
{
    struct buf name;

    buf_init(&name, NAME_MAX_LEN);
    bool has = lower_bound(ix, path, &name) && str_eq(buf_str(&name), path);
    buf_release(&name);
    return has || (ix->base && git_index_has(ix->base, path));
}

bool
git_index_has_below(const struct git_index *ix, struct str path)
{
    struct buf name, key;

    buf_init(&name, NAME_MAX_LEN);
    buf_init(&key, NAME_MAX_LEN);
    buf_add_str(&key, path);
    buf_addc(&key, '/');
    bool has = lower_bound(ix, buf_str(&key), &name) && name.len > key.len &&
               memcmp(name.data, key.data, key.len) == 0;
    buf_release(&name);
    buf_release(&key);
    return has || (ix->base && git_index_has_below(ix->base, path));
}
