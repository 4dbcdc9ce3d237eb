/* Files that a compaction gives the model again, as they are on disk now. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/compact_private.h"
#include "engine/core.h"
#include "engine/permit.h"
#include "perm/read_filter.h"

#define FILES_MAX 5
#define LOOKED_AT 40 /* names at most */
#define PINNED_MAX ((size_t)64 << 10)
#define NAMED_MAX 20

/* ---- which may be read ---- */

static bool
in_project(const struct core *c, const char *path)
{
    char *root = fs_resolve(c->root, NULL);
    bool in = root && fs_is_within(path, root);
    free(root);
    for (size_t i = 0; !in && c->given.add_dirs && c->given.add_dirs[i]; i++) {
        char *dir = fs_resolve(c->given.add_dirs[i], NULL);
        in = dir && fs_is_within(path, dir);
        free(dir);
    }
    return in;
}

bool
compact_may_read(struct core *c, const char *path, bool person)
{
    struct read_filter *f = read_filter_new(permit_rules(c->permit), c->root, c->cwd,
                                            c->original_cwd, c->home, !person);
    char *real = fs_resolve(path, NULL);
    bool may = real && (person || in_project(c, real));
    if (may && f)
        may = read_filter_allows(f, path) && read_filter_allows(f, real);
    free(real);
    read_filter_free(f);
    return may;
}

/* ---- which were looked at ---- */

struct names {
    char *list[LOOKED_AT];
    size_t n;
};

static void
add_name(const struct core *c, struct names *names, const char *name)
{
    char *path = name && *name ? fs_normalize(c->cwd, name) : NULL;
    for (size_t i = 0; path && i < names->n; i++)
        if (strcmp(names->list[i], path) == 0) {
            free(path);
            path = NULL;
        }
    for (size_t i = 0; path && i < c->pins.n; i++) /* given already */
        if (c->pins.list[i].path && strcmp(c->pins.list[i].path, path) == 0) {
            free(path);
            path = NULL;
        }
    if (path && names->n < LOOKED_AT)
        names->list[names->n++] = path;
    else
        free(path);
}

static bool
is_about_a_file(struct str tool)
{
    static const char *const tools[] = {"Read", "Edit", "Write", "MultiEdit"};
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (str_is(tool, tools[i]))
            return true;
    return false;
}

/* Newest first: by the calls, and what an older compaction gave. */
static void
find_names(const struct core *c, struct names *names)
{
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        for (size_t k = m->n_blocks; k-- > 0;) {
            const struct block *b = &m->blocks[k];
            if (b->kind == BLOCK_TOOL_USE && is_about_a_file(b->name)) {
                struct cJSON *t = json_parse(b->input, NULL);
                add_name(c, names, json_cstr(t, "file_path", NULL));
                json_free(t);
            } else if (b->kind == BLOCK_TEXT && m->role == ROLE_USER &&
                       str_starts(b->text, COMPACT_FILE)) {
                size_t from = sizeof COMPACT_FILE - 1, colon = str_find(b->text, '\n', from);
                struct str name = str_sub(b->text, from, colon - from);
                const char *end = memmem(name.ptr, name.len, ", as it is now:", 15);
                char *s = str_dup(str_sub(name, 0, end ? (size_t)(end - name.ptr) : 0));
                add_name(c, names, s);
                free(s);
            }
        }
    }
}

/* ---- given again ---- */

static const char too_large[] = "too large";

/* Fills content, or gives what the file is in its place: "gone", "no text", too_large. */
static const char *
read_text(const char *real, size_t max, struct stat *ret_stat, struct buf *content)
{
    struct err err = {0};
    if (!real || stat(real, ret_stat) != 0)
        return "gone";
    if (!S_ISREG(ret_stat->st_mode))
        return "no regular file";
    if ((uintmax_t)ret_stat->st_size > max)
        return too_large;
    if (!fs_read(real, max, content, &err))
        return "not to be read";
    if (!content->len)
        return "empty";
    if (!text_valid_utf8(buf_str(content)) || memchr(content->data, 0, content->len))
        return "no text";
    return NULL;
}

/* What stands in the way, as above; NULL: it was given. */
static const char *
add_file(struct core *c, struct message_builder *b, const char *path, size_t max, size_t *ret_bytes)
{
    struct stat st;
    struct buf content, text;
    char *real = fs_resolve(path, NULL);
    buf_init(&content, max);
    buf_init(&text, BUF_MAX);
    const char *fault = read_text(real, max, &st, &content);
    if (!fault) {
        buf_addf(&text, COMPACT_FILE "%s, as it is now:\n", path);
        buf_add_str(&text, buf_str(&content));
        buf_adds(&text, "\n" HIDDEN_END);
        message_add_text(b, buf_str(&text));
        *ret_bytes = text.len;
        file_state_note(c->files, path, fs_mtime_ns(&st), buf_str(&content));
    }
    free(real);
    buf_release(&content);
    buf_release(&text);
    return fault;
}

void
compact_say_pinned(const char *path, struct buf *out)
{
    struct stat st;
    struct buf content;
    char *real = fs_resolve(path, NULL);
    buf_init(&content, PINNED_MAX);
    const char *fault = read_text(real, PINNED_MAX, &st, &content);
    buf_adds(out, path);
    if (fault == too_large)
        buf_addf(out,
                 "  (%lld kB, of which a pin holds %zu: the model is told its name, and may read "
                 "it)",
                 (long long)(st.st_size + 999) / 1000, PINNED_MAX >> 10);
    else if (fault)
        buf_addf(out, "  (%s)", fault);
    free(real);
    buf_release(&content);
}

void
compact_add_pinned_file(struct core *c, struct message_builder *b, const char *path,
                        size_t *max_bytes)
{
    size_t bytes = 0, most = *max_bytes < PINNED_MAX ? *max_bytes : PINNED_MAX;
    bool may = compact_may_read(c, path, true);
    const char *fault = may ? add_file(c, b, path, most, &bytes) : "kept back by a deny rule";
    if (!fault) {
        *max_bytes -= bytes < *max_bytes ? bytes : *max_bytes;
        return;
    }
    bool no_room = most < PINNED_MAX && fault == too_large;
    char *text =
        xasprintf(HIDDEN_TAG "\nThe person pinned %s, whose content is not given here: "
                             "%s%s. %s\n" HIDDEN_END,
                  path, no_room ? "" : "it is ", no_room ? "there is no room for it" : fault,
                  may ? "Keep to what it says; read of it what you need." : "");
    message_add_text(b, str_from(text));
    free(text);
}

void
compact_add_files(struct core *c, struct message_builder *b, size_t max_bytes)
{
    struct names names = {0};
    struct buf named;
    size_t given = 0, told = 0, left = max_bytes, bytes;
    buf_init(&named, BUF_MAX);
    find_names(c, &names);
    for (size_t i = 0; i < names.n; i++) {
        size_t most = max_bytes / 2 < left ? max_bytes / 2 : left;
        if (given < FILES_MAX && most > 200 && compact_may_read(c, names.list[i], false) &&
            !add_file(c, b, names.list[i], most - 200, &bytes)) {
            given++;
            left -= bytes < left ? bytes : left;
        } else if (told++ < NAMED_MAX) {
            buf_addf(&named, "%s%s", named.len ? ", " : "", names.list[i]);
        }
        free(names.list[i]);
    }
    if (named.len) {
        char *text = xasprintf(HIDDEN_TAG "\nYou also read or changed these; read again what you "
                                          "need of them: %s\n" HIDDEN_END,
                               buf_cstr(&named));
        message_add_text(b, str_from(text));
        free(text);
    }
    buf_release(&named);
}
