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
#include "store/journal_scan.h"
#include "store/session_impl.h"

enum { TAIL = 65536 };

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

struct found_list {
    struct found *list;
    size_t n, cap;
};

/* The journals of one project's folder join the list. */
static bool
find_journals(const char *dir, struct found_list *l, struct err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return errno == ENOENT || errno == ENOTDIR || err_sys(err, errno, "cannot list '%s'", dir);
    for (struct dirent *e; (e = readdir(d));) {
        char id[ID_MAX + 1];
        if (!is_journal(e->d_name, id))
            continue;
        ARRAY_GROW(l->list, l->n, l->cap);
        l->list[l->n].path = fs_join(dir, e->d_name);
        l->list[l->n].last_ms = 0;
        memcpy(l->list[l->n++].id, id, sizeof id);
    }
    closedir(d);
    return true;
}

static bool
find_all_journals(const char *data_dir, struct found_list *l, struct err *err)
{
    char *projects = fs_join(data_dir, "projects");
    DIR *d = opendir(projects);
    bool ok = d || errno == ENOENT || errno == ENOTDIR ||
              err_sys(err, errno, "cannot list '%s'", projects);
    for (struct dirent *e; d && ok && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        char *dir = fs_join(projects, e->d_name);
        ok = find_journals(dir, l, err);
        free(dir);
    }
    if (d)
        closedir(d);
    free(projects);
    return ok;
}

static int64_t
changed_ms(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

static void
free_found(struct found_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i].path);
    free(l->list);
}

static int
newest_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->last_ms != y->last_ms ? (x->last_ms < y->last_ms ? 1 : -1) : strcmp(x->id, y->id);
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
    bool all;
    return session_search(data_dir, project_root, STR(""), ret, ret_n, &all, err);
}

bool
session_search(const char *data_dir, const char *project_root, struct str words,
               struct session_info **ret, size_t *ret_n, bool *ret_all, struct err *err)
{
    struct found_list found = {0};
    char *dir = project_root ? project_dir(data_dir, project_root) : NULL;
    bool ok = dir ? find_journals(dir, &found, err) : find_all_journals(data_dir, &found, err);
    free(dir);
    size_t n = 0, take = found.n < SESSION_LIST_MAX ? found.n : SESSION_LIST_MAX;
    /* The file's own time decides only which are read at all. */
    for (size_t i = 0; found.n > take && i < found.n; i++)
        found.list[i].last_ms = changed_ms(found.list[i].path);
    if (found.n > take)
        qsort(found.list, found.n, sizeof *found.list, newest_found);
    struct session_info *list = xcalloc(take + 1, sizeof *list);
    for (size_t i = 0; ok && i < take; i++) {
        /* One that cannot be read does not hide the others. */
        if (!session_info_load(found.list[i].path, found.list[i].id, words, &list[n]))
            continue;
        if ((!words.len || list[n].matched) && (!project_root || belongs(&list[n], project_root)))
            n++;
        else
            session_info_release(&list[n]);
    }
    if (n)
        qsort(list, n, sizeof *list, newest_info);
    *ret_all = take == found.n;
    free_found(&found);
    *ret = list;
    *ret_n = n;
    if (ok)
        return true;
    session_list_free(list, n);
    *ret = NULL;
    *ret_n = 0;
    return false;
}

void
session_list_free(struct session_info *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        session_info_release(&s[i]);
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

/* The newest with something in it that a person had in front of them; only so many are opened as it takes. */
static void
find_newest(struct found_list *l, const char *project_root, char ret_id[ID_MAX + 1])
{
    struct found *found = l->list;
    size_t n = l->n;
    for (size_t i = 0; i < n; i++)
        found[i].last_ms = last_record_time(found[i].path);
    if (n)
        qsort(found, n, sizeof *found, newest_found);
    for (size_t i = 0; i < n && !ret_id[0]; i++) {
        struct session_info s;
        if (!session_info_load(found[i].path, found[i].id, STR(""), &s))
            continue;
        if (!s.print_mode && s.messages > 0 && belongs(&s, project_root))
            memcpy(ret_id, s.id, sizeof s.id);
        session_info_release(&s);
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
begins_with(const char *text, const char *words)
{
    size_t len;
    return text && text_find_fold(str_from(text), str_from(words), 0, &len) == 0;
}

static bool
find_by_title(const char *data_dir, const char *project_root, const char *title,
              char ret_id[ID_MAX + 1], struct err *err)
{
    struct session_info *list;
    size_t n, begun = 0;
    if (!session_list(data_dir, project_root, &list, &n, err))
        return false;
    for (size_t i = 0; i < n && !ret_id[0]; i++) /* of two the newer */
        if (text_equal_fold(str_from(list[i].title), str_from(title)))
            memcpy(ret_id, list[i].id, ID_MAX + 1);
    for (size_t i = 0; i < n && !ret_id[0]; i++)
        begun += begins_with(list[i].title, title) || begins_with(list[i].first, title);
    for (size_t i = 0; i < n && begun == 1 && !ret_id[0]; i++)
        if (begins_with(list[i].title, title) || begins_with(list[i].first, title))
            memcpy(ret_id, list[i].id, ID_MAX + 1);
    session_list_free(list, n);
    if (begun > 1)
        return err_set(err, ERR_INVALID, "%zu sessions begin with '%s': give more of it, or the id",
                       begun, title);
    return ret_id[0] ||
           err_set(err, ERR_INVALID, "no session '%s' in this project: `yare sessions` lists them",
                   title);
}

bool
session_find(const char *data_dir, const char *project_root, const char *id_or_title,
             char ret_id[37], struct err *err)
{
    char *dir = project_dir(data_dir, project_root), id[ID_MAX + 1] = "";
    struct found_list found = {0};
    bool ok = find_journals(dir, &found, err), any = id_or_title && *id_or_title;
    free(dir);
    if (ok && any)
        ok = find_by_id(found.list, found.n, id_or_title, id, err);
    else if (ok)
        find_newest(&found, project_root, id);
    free_found(&found);
    if (ok && any && !id[0])
        ok = find_by_title(data_dir, project_root, id_or_title, id, err);
    if (ok)
        memcpy(ret_id, id, sizeof id);
    return ok;
}
