/* Files that changed on disk since the model saw them: the change itself, within bounds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/text.h"
#include "engine/attach_private.h"
#include "engine/core.h"
#include "tools/patch.h"

#define LOOKED_AT 200 /* files seen last */
#define TOLD_AT_ONCE 8
#define READ_MAX ((size_t)1 << 20)
#define DIFF_MAX 6000
#define FILES_MAX 1000
#define PAUSE_MAX 10 /* turns between two words on a file that changes all the time */

static struct told_file *
told_of(struct attach_told *t, const char *path)
{
    for (size_t i = 0; i < t->n_files; i++)
        if (strcmp(t->files[i].path, path) == 0)
            return &t->files[i];
    if (t->n_files == FILES_MAX) {
        free(t->files[0].path);
        t->files[0] = t->files[--t->n_files];
    }
    ARRAY_GROW(t->files, t->n_files, t->cap_files);
    t->files[t->n_files] = (struct told_file){.path = xstrdup(path)};
    return &t->files[t->n_files++];
}

/* False: this change was told, or the file was told of so often that it waits. */
static bool
is_due(const struct attach_told *t, const struct told_file *f, int64_t mtime_ns, uint64_t size)
{
    int64_t pause = f->times < PAUSE_MAX ? f->times : PAUSE_MAX;
    if (f->times && f->mtime_ns == mtime_ns && f->size == size)
        return false;
    return !f->times || t->turn - f->turn >= pause;
}

static void
note_told(const struct attach_told *t, struct told_file *f, int64_t mtime_ns, uint64_t size)
{
    f->mtime_ns = mtime_ns;
    f->size = size;
    f->turn = t->turn;
    f->times++;
}

/* A link must not show what its own name would not. */
static bool
may_show(struct core *c, const char *path)
{
    struct err err = {0};
    char *real = fs_resolve(path, &err);
    bool yes = real && prompt_may_read(c, path) && prompt_may_read(c, real);
    free(real);
    return yes;
}

static void
say_diff(struct buf *out, const char *path, struct str diff)
{
    size_t keep = diff.len;
    if (keep > DIFF_MAX) {
        const char *nl = memrchr(diff.ptr, '\n', DIFF_MAX);
        keep = nl ? (size_t)(nl - diff.ptr) + 1 : 0;
    }
    buf_addf(
        out,
        "%s was changed since you last saw it, by the person or a program. Take it as it is now; "
        "do not undo it unasked. The change:\n",
        path);
    buf_add_str(out, str_sub(diff, 0, keep));
    if (keep < diff.len)
        buf_addf(out, "[%zu bytes more: read the file before you rely on it]\n", diff.len - keep);
}

/* The whole change was shown: the model has seen the file as it is now. */
static bool
say_change(struct core *c, const char *path, int64_t mtime_ns, struct str now, struct buf *out)
{
    struct buf before, diff;
    buf_init(&before, BUF_MAX);
    buf_init(&diff, BUF_MAX);
    bool text = file_state_content(c->files, path, &before) && text_valid_utf8(now) &&
                !memchr(now.ptr, 0, now.len) && text_valid_utf8(buf_str(&before));
    if (text)
        patch_unified(buf_str(&before), now, path, &diff);
    bool said = !text || diff.len;
    if (text && diff.len)
        say_diff(out, path, buf_str(&diff));
    else if (!text)
        buf_addf(out,
                 "%s was changed since you last saw it. Read it again before you rely on it.\n",
                 path);
    if (text && diff.len <= DIFF_MAX)
        file_state_note(c->files, path, mtime_ns, now);
    buf_release(&before);
    buf_release(&diff);
    return said;
}

static bool
say_file(struct core *c, const struct file_noted *seen, const struct stat *st, struct buf *out)
{
    int64_t mtime_ns = fs_mtime_ns(st);
    struct told_file *f = told_of(c->told, seen->path);
    struct buf now;
    struct err err = {0};
    bool found = false, said = false;
    if (!is_due(c->told, f, mtime_ns, (uint64_t)st->st_size))
        return false;
    if (!may_show(c, seen->path)) {
        note_told(c->told, f, mtime_ns, (uint64_t)st->st_size);
        return false;
    }
    buf_init(&now, READ_MAX);
    if (!fs_read_if(seen->path, READ_MAX, &now, &found, &err)) {
        buf_addf(out,
                 "%s was changed since you last saw it (%lld bytes now). Read what you need of it "
                 "again.\n",
                 seen->path, (long long)st->st_size);
        said = true;
    } else if (found) {
        enum file_seen is = file_state_check(c->files, seen->path, mtime_ns, buf_str(&now));
        if (is == FILE_FRESH) /* touched only */
            file_state_note(c->files, seen->path, mtime_ns, buf_str(&now));
        else if (is == FILE_CHANGED)
            said = say_change(c, seen->path, mtime_ns, buf_str(&now), out);
    }
    if (said)
        note_told(c->told, f, mtime_ns, (uint64_t)st->st_size);
    buf_release(&now);
    return said;
}

static bool
say_gone(struct core *c, const struct file_noted *seen, struct buf *out)
{
    struct told_file *f = told_of(c->told, seen->path);
    if (f->times && f->mtime_ns == 0)
        return false;
    note_told(c->told, f, 0, 0);
    buf_addf(out, "%s is not there any more: it was deleted or moved.\n", seen->path);
    return true;
}

bool
attach_edited_files(struct core *c, struct buf *out)
{
    struct file_noted seen[LOOKED_AT];
    size_t n = file_state_recent(c->files, seen, LOOKED_AT), told = 0;
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        if (told >= TOLD_AT_ONCE) {
            /* the next turn */
        } else if (stat(seen[i].path, &st) != 0) {
            if (errno == ENOENT || errno == ENOTDIR)
                told += say_gone(c, &seen[i], out);
        } else if (S_ISREG(st.st_mode) &&
                   (fs_mtime_ns(&st) != seen[i].mtime_ns || (uint64_t)st.st_size != seen[i].size)) {
            told += say_file(c, &seen[i], &st, out);
        }
        free(seen[i].path);
    }
    return told > 0;
}
