#include "ui/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"

void
history_init(struct history *h, const char *file, const char *project)
{
    *h = (struct history){.file = xstrdup(file), .project = xstrdup(project)};
    buf_init(&h->draft, BUF_MAX);
}

void
history_release(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->texts[i]);
    free(h->texts);
    free(h->file);
    free(h->project);
    buf_release(&h->draft);
    *h = (struct history){0};
}

static void
keep(struct history *h, struct str text)
{
    if (!text.len || (h->n && str_eq(str_from(h->texts[h->n - 1]), text)))
        return;
    if (h->n == HISTORY_MAX) {
        free(h->texts[0]);
        memmove(h->texts, h->texts + 1, --h->n * sizeof(*h->texts));
    }
    ARRAY_GROW(h->texts, h->n, h->cap);
    h->texts[h->n++] = str_dup(text);
}

/* The end of the file, from a line start on. */
static void
read_tail(const char *file, struct buf *out)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        off_t from = st.st_size > (off_t)HISTORY_BYTES ? st.st_size - (off_t)HISTORY_BYTES : 0;
        size_t want = (size_t)(st.st_size - from);
        char *at = buf_reserve(out, want);
        ssize_t n = at ? pread(fd, at, want, from) : 0;
        buf_commit(out, n > 0 ? (size_t)n : 0);
        size_t line = from ? str_find(buf_str(out), '\n', 0) : (size_t)-1;
        if (line != (size_t)-1)
            buf_remove_front(out, line + 1);
    }
    (void)close(fd);
}

static void
load(struct history *h)
{
    if (h->loaded)
        return;
    h->loaded = true;
    /* what this session said so far stands at the end of the file too */
    for (size_t i = 0; i < h->n && h->file; i++)
        free(h->texts[i]);
    if (!h->file)
        return;
    h->n = 0;
    struct buf b;
    buf_init(&b, HISTORY_BYTES + 1);
    read_tail(h->file, &b);
    struct str rest = buf_str(&b), line;
    while (str_split(&rest, '\n', &line)) {
        struct cJSON *tree = line.len ? json_parse(line, NULL) : NULL;
        struct str project = json_str(tree, "project");
        if (tree && (!project.len || !h->project || str_is(project, h->project)))
            keep(h, json_str(tree, "text"));
        json_free(tree);
    }
    buf_release(&b);
    h->at = h->n;
}

/* For reading too, to see how it ends; O_NONBLOCK, since nobody may write into a pipe that has the file's name. */
static int
open_end(const char *file)
{
    return open(file, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600);
}

/* The line goes behind what there is; a line that was cut off there ends first. */
static bool
append_line(int fd, const char *file, struct buf *line, struct err *err)
{
    struct stat st;
    char last = '\n';
    if (fstat(fd, &st) != 0)
        return err_sys(err, errno, "cannot write the prompt history '%s'", file);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "the prompt history is no regular file: move '%s' away",
                       file);
    if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
        return fs_write_all(fd, STR("\n"), err) && fs_write_all(fd, buf_str(line), err);
    return fs_write_all(fd, buf_str(line), err);
}

static bool
append(const struct history *h, struct str text, struct err *err)
{
    const char *file = h->file;
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kint(&w, "t", clock_wall_ms());
    jw_kstr(&w, "text", text);
    if (h->project)
        jw_kcstr(&w, "project", h->project);
    jw_end(&w);
    buf_addc(&b, '\n');
    int fd = open_end(file);
    if (fd < 0 && errno == ENOENT) {
        char *dir = fs_dirname(file);
        if (fs_mkdirs(dir, 0700, NULL))
            fd = open_end(file);
        free(dir);
    }
    bool ok = fd >= 0 ? append_line(fd, file, &b, err)
                      : err_sys(err, errno, "cannot write the prompt history '%s'", file);
    if (fd >= 0)
        (void)close(fd);
    buf_release(&b);
    return ok;
}

bool
history_add(struct history *h, struct str text, struct err *err)
{
    bool ok = true;
    if (text.len && text.len <= HISTORY_ENTRY) {
        bool again = h->n && str_eq(str_from(h->texts[h->n - 1]), text);
        keep(h, text);
        if (h->file && !again)
            ok = append(h, text, err);
        if (!ok) { /* the file is read over what this session said, but this is not in it */
            load(h);
            keep(h, text);
        }
    }
    history_leave(h);
    return ok;
}

void
history_leave(struct history *h)
{
    h->at = h->n;
    buf_clear(&h->draft);
}

struct str
history_move(struct history *h, int dir, struct str current)
{
    bool fresh = !h->loaded;
    load(h);
    if (fresh || h->at > h->n)
        h->at = h->n;
    if ((dir < 0 && h->at == 0) || (dir > 0 && h->at >= h->n))
        return (struct str){NULL, 0};
    if (h->at == h->n) {
        buf_clear(&h->draft);
        buf_add_str(&h->draft, current);
    }
    h->at = dir < 0 ? h->at - 1 : h->at + 1;
    if (h->at == h->n)
        return str_make(buf_cstr(&h->draft), h->draft.len);
    return str_from(h->texts[h->at]);
}

struct str
history_search(struct history *h, struct str needle, size_t *at)
{
    load(h);
    size_t i = *at > h->n ? h->n : *at;
    char *want = str_dup(needle);
    struct str found = {NULL, 0};
    while (i-- > 0 && !found.ptr) {
        if (strcasestr(h->texts[i], want)) {
            *at = i;
            found = str_from(h->texts[i]);
        }
    }
    free(want);
    return found;
}
