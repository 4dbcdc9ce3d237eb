/* Writing. Reading is records.c and conversation*.c. */
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/uuid.h"
#include "store/journal_scan.h"
#include "store/records.h"

struct journal {
    char *path;
    int fd;
    char parent[UUID_LEN + 1];
    /* What must happen before the next append. */
    int64_t cut_at;     /* a torn tail begins here; -1: none */
    bool needs_newline; /* the last record is whole but for its newline */
    bool new_file;      /* its folder was not synced yet */
    bool dirty;
    struct buf line; /* the record being written */
    int64_t last_at; /* where the last record was written */
    size_t last_len;
};

/* Where the file system that holds path is mounted: the person has to make room there. Yours. */
static char *
mount_point(const char *path)
{
    char *at = fs_resolve(path, NULL);
    struct stat here, above;
    if (!at || stat(at, &here) != 0) {
        free(at);
        return xstrdup(path);
    }
    while (strcmp(at, "/")) {
        char *up = fs_dirname(at);
        if (stat(up, &above) != 0 || above.st_dev != here.st_dev) {
            free(up);
            break;
        }
        free(at);
        at = up;
    }
    return at;
}

static bool
write_error(const struct journal *j, int errnum, struct err *err)
{
    char *mount = mount_point(j->path);
    err_sys(err, errnum, "cannot write to '%s' (file system '%s')", j->path, mount);
    free(mount);
    return false;
}

/* The record of a line says where the next one hangs. */
static bool
take_parent(struct journal *j, struct str line)
{
    struct journal_want want[] = {
        {.key = "uuid"}, {.key = "parentUuid"}, {.key = "isSidechain"}, {.key = "type"}};
    if (!journal_scan(line, want, ARRAY_LEN(want)) || journal_plain(want[0].raw).len != UUID_LEN ||
        str_is(want[2].raw, "true"))
        return false;
    struct str type = journal_plain(want[3].raw);
    bool message = str_is(type, "user") || str_is(type, "assistant");
    struct str parent = journal_plain(want[message ? 0 : 1].raw);
    if (parent.len == UUID_LEN)
        memcpy(j->parent, parent.ptr, UUID_LEN);
    return true;
}

/* The last of these whole lines that says it. */
static bool
take_last(struct journal *j, struct str block)
{
    while (block.len) {
        const char *newline = memrchr(block.ptr, '\n', block.len);
        size_t start = newline ? (size_t)(newline - block.ptr) + 1 : 0;
        if (take_parent(j, str_sub(block, start, block.len - start)))
            return true;
        block.len = newline ? start - 1 : 0;
    }
    return false;
}

/* Looks back from the end as far as it takes, which is one record as a rule. */
static bool
read_state(struct journal *j, struct err *err)
{
    struct records l;
    if (!records_init(&l, j->fd, j->path, err))
        return false;
    j->cut_at = l.torn_at;
    j->needs_newline = l.no_newline;
    int64_t size = 65536;
    for (bool found = false; !found && l.end > 0; size *= 4) {
        size = size < l.end ? size : l.end;
        char *block = xmalloc((size_t)size);
        if (!records_pread(j->fd, block, (size_t)size, l.end - size)) {
            free(block);
            return err_sys(err, errno, "cannot read '%s'", j->path);
        }
        struct str s = str_make(block, (size_t)size);
        if (size < l.end) { /* the first line is cut open */
            const char *newline = memchr(block, '\n', s.len);
            size_t skip = newline ? (size_t)(newline - block) + 1 : s.len;
            s = str_sub(s, skip, s.len - skip);
        }
        found = take_last(j, s) || size == l.end;
        free(block);
    }
    return true;
}

static bool
open_file(struct journal *j, struct err *err)
{
    struct stat st;
    char *dir = fs_dirname(j->path);
    bool ok = fs_mkdirs(dir, 0700, err);
    free(dir);
    if (!ok)
        return false;
    j->fd = open(j->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (j->fd < 0)
        return err_sys(err, errno, "cannot open '%s'", j->path);
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_INVALID,
                             "'%s' is open in another yare: end that one, take a copy with "
                             "--fork-session, or another session (yare sessions lists them)",
                             j->path)
                   : err_sys(err, errno, "cannot lock '%s'", j->path);
    if (fstat(j->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "'%s' is not a regular file", j->path);
    j->new_file = st.st_size == 0;
    return true;
}

struct journal *
journal_open(const char *path, struct err *err)
{
    struct journal *j = xcalloc(1, sizeof *j);
    j->path = xstrdup(path);
    j->fd = -1;
    j->cut_at = -1;
    buf_init(&j->line, BUF_MAX);
    if (!open_file(j, err) || !read_state(j, err)) {
        journal_close(j);
        return NULL;
    }
    return j;
}

void
journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0) {
        /* Whoever needs the answer asks with journal_sync before. */
        (void)!journal_sync(j, NULL);
        close(j->fd);
    }
    buf_release(&j->line);
    free(j->path);
    free(j);
}

bool
journal_sync(struct journal *j, struct err *err)
{
    if (!j->dirty)
        return true;
    if (fdatasync(j->fd) != 0)
        return write_error(j, errno, err);
    if (j->new_file)
        fs_sync_dir_of(j->path);
    j->new_file = j->dirty = false;
    return true;
}

/* ---- appending bytes ---- */

static bool
mend_tail(struct journal *j, struct err *err)
{
    if (j->cut_at >= 0) {
        if (ftruncate(j->fd, (off_t)j->cut_at) != 0)
            return write_error(j, errno, err);
        j->cut_at = -1;
    }
    return true;
}

/* One write; a second one only asks why the first was short. */
static bool
write_line(struct journal *j, struct err *err)
{
    struct str rest = buf_str(&j->line);
    while (rest.len) {
        ssize_t n = write(j->fd, rest.ptr, rest.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return write_error(j, errno, err);
        if (n == 0)
            return write_error(j, EIO, err);
        rest = str_sub(rest, (size_t)n, rest.len);
    }
    return true;
}

/* Line breaks outside of strings mean nothing; inside, JSON cannot have them raw. */
static bool
make_line(struct journal *j, struct str record)
{
    buf_clear(&j->line);
    if (j->needs_newline)
        buf_addc(&j->line, '\n');
    size_t start = j->line.len;
    buf_add_str(&j->line, record);
    for (size_t i = start; i < j->line.len; i++)
        if (j->line.data[i] == '\n' || j->line.data[i] == '\r')
            j->line.data[i] = ' ';
    buf_addc(&j->line, '\n');
    return !buf_full(&j->line);
}

bool
journal_append(struct journal *j, struct str record, struct err *err)
{
    struct stat st;
    if (!mend_tail(j, err))
        return false;
    if (!make_line(j, record))
        return err_set(err, ERR_LIMIT, "a record of %zu bytes is too large for the journal",
                       record.len);
    if (fstat(j->fd, &st) != 0)
        return write_error(j, errno, err);
    if (!write_line(j, err)) {
        if (ftruncate(j->fd, st.st_size) != 0)
            j->cut_at = st.st_size; /* the next append tries again before it writes */
        return false;
    }
    j->last_at = (int64_t)st.st_size + (j->needs_newline ? 1 : 0);
    j->last_len = j->line.len - 1 - (j->needs_newline ? 1 : 0);
    j->needs_newline = false;
    j->dirty = true;
    return true;
}

/* ---- records ---- */

static void
begin_record(struct journal *j, struct jw *w, struct buf *out, const char *session_id,
             const char *type, const char *uuid, int64_t wall_ms)
{
    struct buf when;
    buf_init(out, BUF_MAX);
    buf_init(&when, 64);
    clock_iso8601(wall_ms > 0 ? wall_ms : clock_wall_ms(), &when);
    jw_init(w, out);
    jw_object(w);
    jw_kcstr(w, "type", type);
    jw_kcstr(w, "uuid", uuid);
    jw_kcstr(w, "parentUuid", j->parent[0] ? j->parent : NULL);
    jw_kcstr(w, "sessionId", session_id);
    jw_kstr(w, "timestamp", buf_str(&when));
    buf_release(&when);
}

static bool
end_record(struct journal *j, struct buf *out, struct err *err)
{
    bool ok = !buf_full(out) ? journal_append(j, buf_str(out), err)
                             : err_set(err, ERR_LIMIT, "a record is too large for the journal");
    buf_release(out);
    return ok;
}

bool
journal_append_message(struct journal *j, const char *session_id, const char *cwd,
                       const struct message *m, struct err *err)
{
    struct buf out;
    struct jw w;
    /* Its own time: a fork writes messages that are older than their record. */
    begin_record(j, &w, &out, session_id, m->role == ROLE_USER ? "user" : "assistant", m->uuid,
                 m->wall_ms);
    jw_kcstr(&w, "cwd", cwd);
    jw_kcstr(&w, "version", YARE_VERSION);
    if (m->model)
        jw_kcstr(&w, "model", m->model);
    if (m->api_id)
        jw_kcstr(&w, "apiId", m->api_id);
    if (m->hidden)
        jw_kbool(&w, "isMeta", true);
    if (m->partial)
        jw_kbool(&w, "partial", true);
    jw_kraw(&w, "message", m->json);
    if (m->ends) /* behind the message: whoever looks for heads stops before it */
        jw_kraw(&w, "toolEnds", str_from(m->ends));
    jw_end(&w);
    if (!end_record(j, &out, err))
        return false;
    journal_set_parent(j, m->uuid);
    return true;
}

/* The members inside the braces of an object. */
static struct str
inner_members(struct str object)
{
    object = str_trim(object);
    if (object.len >= 2 && object.ptr[0] == '{')
        object = str_trim(str_sub(object, 1, object.len - 2));
    return object;
}

bool
journal_append_note(struct journal *j, const char *session_id, const char *type,
                    const char *subtype, struct str members_json, struct err *err)
{
    struct buf out;
    struct jw w;
    char uuid[UUID_LEN + 1];
    struct str members = inner_members(members_json);
    uuid_make(uuid);
    begin_record(j, &w, &out, session_id, type, uuid, 0);
    if (subtype)
        jw_kcstr(&w, "subtype", subtype);
    if (members.len) {
        buf_addc(&out, ',');
        buf_add_str(&out, members);
    }
    jw_end(&w);
    struct cJSON *tree = buf_full(&out) ? NULL : json_parse(buf_str(&out), err);
    if (!tree && !buf_full(&out)) {
        buf_release(&out);
        return err_wrap(err, "a \"%s\" record", type);
    }
    json_free(tree);
    return end_record(j, &out, err);
}

bool
journal_append_title(struct journal *j, const char *session_id, const char *title, struct err *err)
{
    struct buf members;
    struct jw w;
    buf_init(&members, BUF_MAX);
    jw_init(&w, &members);
    jw_object(&w);
    jw_kcstr(&w, "customTitle", title);
    jw_end(&w);
    bool ok = journal_append_note(j, session_id, "custom-title", NULL, buf_str(&members), err);
    buf_release(&members);
    return ok;
}

const char *
journal_parent(const struct journal *j)
{
    return j->parent;
}

void
journal_set_parent(struct journal *j, const char *uuid)
{
    size_t n = uuid ? strlen(uuid) : 0;
    memset(j->parent, 0, sizeof j->parent);
    if (n == UUID_LEN)
        memcpy(j->parent, uuid, n);
}

bool
journal_rewind(struct journal *j, const char *session_id, const char *uuid, struct err *err)
{
    char before[UUID_LEN + 1];
    memcpy(before, j->parent, sizeof before);
    journal_set_parent(j, uuid);
    if (journal_append_note(j, session_id, "system", "rewind", (struct str){0}, err))
        return true;
    journal_set_parent(j, before);
    return false;
}

bool
journal_compacted(struct journal *j, const char *session_id, struct str members_json,
                  struct err *err)
{
    if (!journal_append_note(j, session_id, "system", "compact_boundary", members_json, err))
        return false;
    journal_set_parent(j, NULL);
    return true;
}

void
journal_last(const struct journal *j, int64_t *ret_offset, size_t *ret_len)
{
    *ret_offset = j->last_at;
    *ret_len = j->last_len;
}
