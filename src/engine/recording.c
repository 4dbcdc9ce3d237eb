/* Writing a recording: a header, then a line for each event and each new size of the screen. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "engine/event.h"
#include "engine/recording.h"

/* What is looked at of a file that is there already. */
#define FIRST_LINE_MAX ((size_t)1 << 20)

struct recording {
    int fd;
    char *path;
};

static bool
write_line(struct recording *r, struct buf *line, struct err *err)
{
    bool ok = !buf_full(line);
    if (!ok)
        err_set(err, ERR_LIMIT, "an event is too large to be recorded");
    buf_addc(line, '\n');
    ok = ok && fs_write_all(r->fd, buf_str(line), err);
    buf_release(line);
    return ok || err_wrap(err, "cannot record in '%s'", r->path);
}

static void
put_size(struct jw *w, int width, int height)
{
    if (width <= 0 || height <= 0)
        return;
    jw_key(w, "size");
    jw_array(w);
    jw_int(w, width);
    jw_int(w, height);
    jw_end(w);
}

static bool
write_header(struct recording *r, int width, int height, struct err *err)
{
    struct buf line;
    struct jw w;
    buf_init(&line, 1024);
    jw_init(&w, &line);
    jw_object(&w);
    jw_kcstr(&w, "recording", "yare events");
    jw_kint(&w, "format", 1);
    jw_kcstr(&w, "version", YARE_VERSION);
    jw_kint(&w, "wall_ms", clock_wall_ms());
    put_size(&w, width, height);
    jw_end(&w);
    return write_line(r, &line, err);
}

/* The end of a line that a killed yare left half written. */
static bool
close_last_line(struct recording *r, off_t size, struct err *err)
{
    char last = '\n';
    if (pread(r->fd, &last, 1, size - 1) == 1 && last == '\n')
        return true;
    return fs_write_all(r->fd, STR("\n"), err);
}

/* Only a recording is added to; whatever else has bytes in it stays as it is. */
static bool
join_file(struct recording *r, struct err *err)
{
    struct stat st;
    struct buf first;
    if (fstat(r->fd, &st) != 0)
        return err_sys(err, errno, "cannot look at '%s'", r->path);
    if (!S_ISREG(st.st_mode))
        return true; /* a pipe: for whoever reads it */
    if (st.st_size > 0) {
        buf_init(&first, FIRST_LINE_MAX);
        char *to = buf_reserve(&first, FIRST_LINE_MAX);
        ssize_t n = to ? pread(r->fd, to, FIRST_LINE_MAX, 0) : -1;
        if (n > 0)
            buf_commit(&first, (size_t)n);
        size_t nl = str_find(buf_str(&first), '\n', 0);
        bool ours = n > 0 && recording_is_one(
                                 str_sub(buf_str(&first), 0, nl == (size_t)-1 ? first.len : nl));
        buf_release(&first);
        if (!ours)
            return err_set(
                err, ERR_INVALID,
                "'%s' holds something that is no recording: it is left alone, name another "
                "file",
                r->path);
        if (!close_last_line(r, st.st_size, err))
            return err_wrap(err, "cannot record in '%s'", r->path);
    }
    /* It holds the conversation: for nobody else's eyes. Somebody else's file keeps its mode. */
    if (st.st_uid == geteuid() && (st.st_mode & 077) && fchmod(r->fd, 0600) != 0)
        return err_sys(err, errno, "cannot make '%s' private", r->path);
    return true;
}

struct recording *
recording_open(const char *path, int width, int height, struct err *err)
{
    struct recording *r = xcalloc(1, sizeof *r);
    r->path = xstrdup(path);
    r->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (r->fd < 0 && (errno == EACCES || errno == EINVAL || errno == ENXIO))
        r->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY); /* a pipe's writing end */
    if (r->fd < 0)
        err_sys(err, errno, "cannot record in '%s'", path);
    else if (join_file(r, err) && write_header(r, width, height, err))
        return r;
    recording_close(r);
    return NULL;
}

bool
recording_event(struct recording *r, const struct event *e, struct err *err)
{
    struct buf line;
    buf_init(&line, BUF_MAX);
    event_write(e, &line);
    return write_line(r, &line, err);
}

bool
recording_size(struct recording *r, int width, int height, struct err *err)
{
    struct buf line;
    struct jw w;
    buf_init(&line, 1024);
    jw_init(&w, &line);
    jw_object(&w);
    jw_kint(&w, "wall_ms", clock_wall_ms());
    put_size(&w, width, height);
    jw_end(&w);
    return write_line(r, &line, err);
}

void
recording_close(struct recording *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        (void)close(r->fd);
    free(r->path);
    free(r);
}
