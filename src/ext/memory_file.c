#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/glob.h"
#include "ext/memory_private.h"
#include "ext/memory_text.h"

static bool
is_excluded(const struct memory_options *o, const char *path)
{
    for (char *const *g = o->excludes; g && *g; g++) {
        struct str pattern = str_from(*g), at = str_from(path);
        /* both without their leading slash: the matcher wants them so */
        if (str_starts(pattern, "/"))
            pattern = str_sub(pattern, 1, pattern.len);
        if (glob_match(pattern, str_sub(at, 1, at.len), GLOB_BRACES))
            return true;
    }
    return false;
}

static struct memory_file *
find(struct memory *m, const char *path)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->files[i].path, path) == 0)
            return &m->files[i];
    return NULL;
}

/* The rows move as they grow: what it gives is an index. */
static size_t
add_row(struct memory *m, enum memory_kind kind, const char *path, const char *by)
{
    ARRAY_GROW(m->files, m->n, m->cap);
    m->files[m->n] = (struct memory_file){
        .kind = kind, .path = xstrdup(path), .imported_by = by ? xstrdup(by) : NULL};
    return m->n++;
}

/* The first file past the most is told, the others are not looked at. */
static bool
has_room(struct loader *l, enum memory_kind kind, const char *path, const char *by)
{
    if (l->m->n < MEMORY_FILES_MAX)
        return true;
    if (!l->full) {
        size_t row = add_row(l->m, kind, path, by);
        l->m->files[row].left_out =
            xasprintf("only %d files are looked at, none from here on", MEMORY_FILES_MAX);
    }
    l->full = true;
    return false;
}

void
memory_file_leave_out(struct loader *l, enum memory_kind kind, const char *path, const char *by,
                      char *take_why)
{
    if (!has_room(l, kind, path, by)) {
        free(take_why);
        return;
    }
    size_t row = add_row(l->m, kind, path, by);
    l->m->files[row].left_out = take_why;
}

void
memory_file_add_text(struct loader *l, size_t row, struct str text)
{
    struct memory *m = l->m;
    struct buf plain;
    buf_init(&plain, MEMORY_FILE_MAX);
    memory_strip(text, &plain);
    char *head = xasprintf("Contents of %s:\n\n", m->files[row].path);
    if (!str_trim(buf_str(&plain)).len) {
        m->files[row].left_out = xstrdup("it is empty");
        m->files[row].waits = true;
    } else if (m->text.len + strlen(head) + plain.len + 2 > MEMORY_MAX) {
        m->files[row].left_out =
            xasprintf("all instructions together may have %zu MiB", MEMORY_MAX >> 20);
    } else {
        buf_adds(&m->text, head);
        buf_add_str(&m->text, buf_str(&plain));
        buf_adds(&m->text, "\n\n");
        m->files[row].bytes = plain.len;
    }
    free(head);
    buf_release(&plain);
}

/* A name that is no file is no import: people write "@someone". */
static void
follow(struct loader *l, enum memory_kind kind, const char *from, const char *as_written, int hops)
{
    const struct memory_options *o = l->o;
    char *dir = fs_dirname(from), *path;
    if (as_written[0] == '~' && as_written[1] == '/' && o->home)
        path = fs_normalize(o->home, as_written + 2);
    else
        path = fs_normalize(dir, as_written);
    struct err err = {0};
    char *real = fs_resolve(path, &err);
    if (!real || !fs_exists(real) || fs_is_dir(real)) {
        /* nothing to import */
    } else if (hops >= MEMORY_HOPS) {
        if (!find(l->m, path))
            memory_file_leave_out(l, kind, path, from,
                                  xasprintf("imports go %d deep at most", MEMORY_HOPS));
    } else if (l->bound && !fs_is_within(real, l->bound)) {
        if (!find(l->m, path))
            memory_file_leave_out(
                l, kind, path, from,
                xstrdup("it is outside the project; import it from your own memory file instead"));
    } else {
        memory_file_load(l, kind, path, from, hops + 1);
    }
    free(real);
    free(path);
    free(dir);
}

static void
load_imports(struct loader *l, enum memory_kind kind, const char *path, struct str text, int hops)
{
    struct memory_imports it;
    struct buf name;
    buf_init(&name, 4096);
    memory_imports_init(&it, text);
    while (!l->full && memory_imports_next(&it, &name))
        if (!buf_full(&name) && strlen(buf_cstr(&name)) == name.len)
            follow(l, kind, path, buf_cstr(&name), hops);
    buf_release(&name);
}

/* Two names of one file (AGENTS.md as a link to CLAUDE.md) are one file. */
static bool
is_known(struct loader *l, const char *path)
{
    struct stat a, b;
    if (stat(path, &a) != 0)
        return false;
    for (size_t i = 0; i < l->m->n; i++)
        if (!l->m->files[i].left_out && stat(l->m->files[i].path, &b) == 0 &&
            a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            return true;
    return false;
}

char *
memory_file_forbidden(struct loader *l, const char *path)
{
    const struct memory_options *o = l->o;
    struct err err = {0};
    char *why = NULL, *real = fs_resolve(path, &err);
    if (!real)
        why = xstrdup(err.text);
    else if (l->bound && !fs_is_within(real, l->bound))
        why = xasprintf("it is a link to '%s', outside the project", real);
    else if (o->may_read && (!o->may_read(o->user, path) || !o->may_read(o->user, real)))
        why = xstrdup("a rule denies reading it");
    free(real);
    return why;
}

static bool
is_utf16(struct str s)
{
    return str_starts(s, "\xff\xfe") || str_starts(s, "\xfe\xff");
}

void
memory_file_load(struct loader *l, enum memory_kind kind, const char *path, const char *by,
                 int hops)
{
    const struct memory_options *o = l->o;
    struct buf b;
    struct str text;
    struct err err = {0};
    bool found = false;
    if (l->full || is_excluded(o, path) || is_known(l, path))
        return;
    if (fs_exists(path) && !has_room(l, kind, path, by))
        return;
    buf_init(&b, MEMORY_FILE_MAX);
    char *why = fs_exists(path) ? memory_file_forbidden(l, path) : NULL;
    if (why) {
        memory_file_leave_out(l, kind, path, by, why);
    } else if (!fs_read_if(path, MEMORY_FILE_MAX, &b, &found, &err)) {
        memory_file_leave_out(l, kind, path, by, xstrdup(err.text));
    } else if (found && is_utf16(buf_str(&b))) {
        memory_file_leave_out(l, kind, path, by,
                              xstrdup("it is written in UTF-16; save it in UTF-8"));
    } else if (found) {
        size_t row = add_row(l->m, kind, path, by);
        bool waits = memory_has_paths(buf_str(&b), &text) && kind == MEMORY_RULES;
        l->m->files[row].waits = waits;
        if (waits)
            l->m->files[row].left_out = xstrdup("it waits for a file of its paths");
        else
            memory_file_add_text(l, row, kind == MEMORY_RULES ? text : buf_str(&b));
        if (!waits)
            load_imports(l, kind, path, buf_str(&b), hops);
    }
    buf_release(&b);
}
