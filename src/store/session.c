/* Sessions are found from their files alone: there is no index to lose. */
#include "store/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "store/journal.h"
#include "store/journal_scan.h"

enum { ID_MAX = 36, TITLE_COLUMNS = 100, TAIL = 65536 };

static char *
project_dir(const char *data_dir, const char *project_root)
{
    char *slug = fs_slug(project_root), *dir = xasprintf("%s/projects/%s", data_dir, slug);
    free(slug);
    return dir;
}

void
session_paths_make(const char *data_dir, const char *project_root, const char *id,
                   struct session_paths *ret)
{
    ret->dir = project_dir(data_dir, project_root);
    ret->journal = xasprintf("%s/%s.jsonl", ret->dir, id);
    ret->side = fs_join(ret->dir, id);
    ret->spill = fs_join(ret->side, "tool-results");
    ret->audit = fs_join(ret->side, "audit.jsonl");
}

void
session_paths_release(struct session_paths *p)
{
    free(p->dir);
    free(p->journal);
    free(p->side);
    free(p->spill);
    free(p->audit);
    *p = (struct session_paths){0};
}

/* ---- one session ---- */

static char *
first_line(struct str text)
{
    struct str line;
    int width;
    text = str_trim(text);
    if (!str_split(&text, '\n', &line))
        return NULL;
    line = str_trim(line);
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    text_visible(&shown, str_sub(line, 0, text_fit(line, TITLE_COLUMNS, &width)));
    return buf_take(&shown);
}

/* The first line that the person typed, out of a user record; NULL when it holds none (results of tools). */
static char *
prompt_of(const struct journal_index *ix, size_t i)
{
    struct str meta = journal_member(ix, i, "isMeta");
    struct str raw = journal_member(ix, i, "message");
    struct message *m = str_is(meta, "true") || !raw.ptr ? NULL : message_parse(raw, NULL);
    char *line = NULL;
    for (size_t k = 0; m && k < m->n_blocks && !line; k++)
        if (m->blocks[k].kind == BLOCK_TEXT && str_trim(m->blocks[k].text).len)
            line = first_line(m->blocks[k].text);
    message_free(m);
    return line;
}

static void
take_title(struct session_info *s, char **prompt, const struct journal_index *ix, size_t i)
{
    const char *type = ix->entries[i].type;
    if (!strcmp(type, "user") && !*prompt)
        *prompt = prompt_of(ix, i);
    if (strcmp(type, "custom-title"))
        return;
    char *title = journal_decode(journal_member(ix, i, "customTitle"));
    if (!title)
        title = journal_decode(journal_member(ix, i, "title"));
    if (title) {
        free(s->title);
        s->title = first_line(str_from(title));
    }
    free(title);
}

static void
take_record(struct session_info *s, const struct journal_index *ix, size_t i)
{
    struct journal_want want[] = {{.key = "timestamp"}, {.key = "cwd"}, {.key = "print"}};
    const char *type = ix->entries[i].type;
    bool message = !strcmp(type, "user") || !strcmp(type, "assistant");
    s->messages += message && str_ends(str_trim(journal_record(ix, i)), "}");
    if (i != 0 && i + 1 != ix->n && s->cwd && s->created_ms)
        return; /* what follows is in the first and the last record */
    journal_scan(journal_record(ix, i), want, ARRAY_LEN(want));
    int64_t at = journal_time(want[0].raw);
    if (!s->created_ms)
        s->created_ms = at;
    if (at)
        s->last_ms = at;
    if (!s->cwd)
        s->cwd = journal_decode(want[1].raw);
    if (!strcmp(type, "session"))
        s->print_mode = str_is(want[2].raw, "true");
}

static bool
load_info(const char *path, const char *id, struct session_info *ret, struct err *err)
{
    struct journal_index ix;
    struct stat st;
    struct session_info s = {0};
    char *prompt = NULL;
    if (!journal_index_load(path, &ix, err))
        return false;
    memcpy(s.id, id, strnlen(id, ID_MAX));
    s.path = xstrdup(path);
    for (size_t i = 0; i < ix.n; i++) {
        take_record(&s, &ix, i);
        take_title(&s, &prompt, &ix, i);
    }
    if (stat(path, &st) == 0) {
        int64_t changed = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        s.bytes = st.st_size;
        if (!s.last_ms)
            s.last_ms = changed;
        if (!s.created_ms)
            s.created_ms = s.last_ms;
    }
    if (!s.title)
        s.title = prompt ? prompt : xstrdup("(no prompt yet)");
    else
        free(prompt);
    if (!s.cwd)
        s.cwd = xstrdup("");
    journal_index_release(&ix);
    *ret = s;
    return true;
}

/* Two folders may share a slug ("/a/b" and "/a-b"). A session is another project's only when its folder still stands and
 * lies elsewhere. */
static bool
belongs(const struct session_info *s, const char *project_root)
{
    char *root = fs_resolve(project_root, NULL);
    char *cwd = s->cwd[0] && fs_is_dir(s->cwd) ? fs_resolve(s->cwd, NULL) : NULL;
    bool yes = !cwd || !root || fs_is_within(cwd, root);
    free(cwd);
    free(root);
    return yes;
}

/* ---- a project's sessions ---- */

struct found { /* a journal, by its name alone */
    char id[ID_MAX + 1];
    char *path;
    int64_t last_ms;
};

static bool
is_journal(const char *name, char ret_id[ID_MAX + 1])
{
    struct str s = str_from(name);
    if (!str_ends(s, ".jsonl") || s.len - 6 > ID_MAX || s.len == 6 || name[0] == '.')
        return false;
    memset(ret_id, 0, ID_MAX + 1);
    memcpy(ret_id, name, s.len - 6);
    return true;
}

static bool
find_journals(const char *dir, struct found **ret, size_t *ret_n, struct err *err)
{
    struct found *list = NULL;
    size_t n = 0, cap = 0;
    DIR *d = opendir(dir);
    *ret = NULL;
    *ret_n = 0;
    if (!d)
        return errno == ENOENT || errno == ENOTDIR || err_sys(err, errno, "cannot list '%s'", dir);
    for (struct dirent *e; (e = readdir(d));) {
        char id[ID_MAX + 1];
        if (!is_journal(e->d_name, id))
            continue;
        ARRAY_GROW(list, n, cap);
        list[n].path = fs_join(dir, e->d_name);
        list[n].last_ms = 0;
        memcpy(list[n++].id, id, sizeof id);
    }
    closedir(d);
    *ret = list;
    *ret_n = n;
    return true;
}

static void
free_found(struct found *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].path);
    free(list);
}

static int
newest_info(const void *a, const void *b)
{
    const struct session_info *x = a, *y = b;
    return x->last_ms != y->last_ms ? (x->last_ms < y->last_ms ? 1 : -1) : strcmp(x->id, y->id);
}

bool
session_list(const char *data_dir, const char *project_root, struct session_info **ret,
             size_t *ret_n, struct err *err)
{
    char *dir = project_dir(data_dir, project_root);
    struct found *found;
    size_t n_found, n = 0;
    bool ok = find_journals(dir, &found, &n_found, err);
    free(dir);
    if (!ok)
        return false;
    struct session_info *list = xcalloc(n_found + 1, sizeof *list);
    for (size_t i = 0; i < n_found; i++) {
        /* One that cannot be read does not hide the others. */
        if (!load_info(found[i].path, found[i].id, &list[n], NULL))
            continue;
        if (belongs(&list[n], project_root)) {
            n++;
            continue;
        }
        free(list[n].path);
        free(list[n].title);
        free(list[n].cwd);
    }
    free_found(found, n_found);
    qsort(list, n, sizeof *list, newest_info);
    *ret = list;
    *ret_n = n;
    return true;
}

void
session_list_free(struct session_info *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(s[i].path);
        free(s[i].title);
        free(s[i].cwd);
    }
    free(s);
}

/* ---- finding one ---- */

/* The time of the last record that carries one, read from the end of the file; its own time when there is none. */
static int64_t
last_record_time(const char *path)
{
    struct stat st;
    int64_t at = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        char *tail = xmalloc(TAIL);
        off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
        ssize_t got = pread(fd, tail, TAIL, from);
        struct str rest = str_make(tail, got > 0 ? (size_t)got : 0), line;
        while (str_split(&rest, '\n', &line)) {
            struct journal_want want = {.key = "timestamp"};
            /* a first line that is cut open does not begin like a record */
            journal_scan(line, &want, 1);
            int64_t t = journal_time(want.raw);
            at = t ? t : at;
        }
        free(tail);
        if (!at)
            at = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    }
    close(fd);
    return at;
}

static int
newest_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->last_ms != y->last_ms ? (x->last_ms < y->last_ms ? 1 : -1) : strcmp(x->id, y->id);
}

/* The newest with something in it that a person had in front of them; only so many are opened as it takes. */
static void
find_newest(struct found *found, size_t n, const char *project_root, char ret_id[ID_MAX + 1])
{
    for (size_t i = 0; i < n; i++)
        found[i].last_ms = last_record_time(found[i].path);
    if (n)
        qsort(found, n, sizeof *found, newest_found);
    for (size_t i = 0; i < n && !ret_id[0]; i++) {
        struct session_info s;
        if (!load_info(found[i].path, found[i].id, &s, NULL))
            continue;
        if (!s.print_mode && s.messages > 0 && belongs(&s, project_root))
            memcpy(ret_id, s.id, sizeof s.id);
        free(s.path);
        free(s.title);
        free(s.cwd);
    }
}

static bool
find_by_id(const struct found *found, size_t n, const char *id, char ret_id[ID_MAX + 1],
           struct err *err)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(found[i].id, id, strlen(id)))
            continue;
        memcpy(ret_id, found[i].id, ID_MAX + 1);
        if (!strcmp(found[i].id, id))
            return true;
        hits++;
    }
    return hits <= 1 || err_set(err, ERR_INVALID,
                                "'%s' begins the id of %zu sessions: give more of it", id, hits);
}

static bool
find_by_title(const char *data_dir, const char *project_root, const char *title,
              char ret_id[ID_MAX + 1], struct err *err)
{
    struct session_info *list;
    size_t n;
    if (!session_list(data_dir, project_root, &list, &n, err))
        return false;
    for (size_t i = 0; i < n && !ret_id[0]; i++) /* of two the newer */
        if (text_equal_fold(str_from(list[i].title), str_from(title)))
            memcpy(ret_id, list[i].id, ID_MAX + 1);
    session_list_free(list, n);
    return ret_id[0] ||
           err_set(err, ERR_INVALID, "no session '%s' in this project: `yare sessions` lists them",
                   title);
}

bool
session_find(const char *data_dir, const char *project_root, const char *id_or_title,
             char ret_id[37], struct err *err)
{
    char *dir = project_dir(data_dir, project_root), id[ID_MAX + 1] = "";
    struct found *found;
    size_t n;
    bool ok = find_journals(dir, &found, &n, err), any = id_or_title && *id_or_title;
    free(dir);
    if (!ok)
        return false;
    if (any)
        ok = find_by_id(found, n, id_or_title, id, err);
    else
        find_newest(found, n, project_root, id);
    free_found(found, n);
    if (ok && any && !id[0])
        ok = find_by_title(data_dir, project_root, id_or_title, id, err);
    if (ok)
        memcpy(ret_id, id, sizeof id);
    return ok;
}
