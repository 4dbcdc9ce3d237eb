#include "engine/session_kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/uuid.h"
#include "engine/core.h"

struct line {
    char *calls, *text; /* calls: JSON array of their ids */
};
struct kept {
    struct line *lines;
    size_t n_lines, cap_lines;
    struct {
        char id[UUID_LEN + 1];
        char *dir;
    } forks[SESSION_FORKS_MAX]; /* the nearest last */
    size_t n_forks;
};

static void
drop_lines(struct kept *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(k->lines[i].calls);
        free(k->lines[i].text);
    }
    k->n_lines -= n;
    memmove(k->lines, k->lines + n, k->n_lines * sizeof *k->lines);
}

static void
free_kept(void *data)
{
    struct kept *k = data;
    if (k->n_lines)
        drop_lines(k, k->n_lines);
    free(k->lines);
    for (size_t i = 0; i < k->n_forks; i++)
        free(k->forks[i].dir);
    free(k);
}

static const struct kept *
kept_if(const struct core *c)
{
    return state_ext_get(&c->state, "kept");
}

static struct kept *
kept(struct core *c)
{
    struct kept *k = state_ext_get(&c->state, "kept");
    if (k)
        return k;
    k = xcalloc(1, sizeof *k);
    const struct state_ext ext = {.name = "kept", .data = k, .free_data = free_kept};
    if (!state_ext_add(&c->state, &ext))
        die("no room for what a session keeps in State");
    return k;
}

/* ---- lines ---- */

void
session_kept_line(struct core *c, const char *calls, const char *text)
{
    struct kept *k = kept(c);
    if (k->n_lines >= SESSION_LINES_MAX * 2)
        drop_lines(k, SESSION_LINES_MAX);
    ARRAY_GROW(k->lines, k->n_lines, k->cap_lines);
    k->lines[k->n_lines++] = (struct line){xstrdup(calls), xstrdup(text)};
}

/* `["id",...`: is it that id? */
static bool
begins_with(const char *calls, struct str id)
{
    return calls[0] == '[' && calls[1] == '"' && strncmp(calls + 2, id.ptr, id.len) == 0 &&
           calls[2 + id.len] == '"';
}

const char *
session_kept_line_of(const struct core *c, struct str id, const char **ret_calls)
{
    const struct kept *k = kept_if(c);
    for (size_t i = k && id.len ? k->n_lines : 0; i-- > 0;)
        if (begins_with(k->lines[i].calls, id)) {
            *ret_calls = k->lines[i].calls;
            return k->lines[i].text;
        }
    return NULL;
}

static void
take_line(struct core *c, struct str record)
{
    struct cJSON *t = json_parse(record, NULL);
    struct str calls = json_raw_member(record, "calls");
    const char *text = json_cstr(t, "text", NULL);
    if (text && json_is_array(json_get(t, "calls"))) {
        char *raw = str_dup(calls);
        session_kept_line(c, raw, text);
        free(raw);
    }
    json_free(t);
}

/* ---- forks ---- */

static void
add_fork(struct core *c, const char *id)
{
    struct kept *k = kept(c);
    struct session_paths paths;
    if (k->n_forks == SESSION_FORKS_MAX) {
        free(k->forks[0].dir);
        memmove(k->forks, k->forks + 1, --k->n_forks * sizeof k->forks[0]);
    }
    session_paths_make(c->data_dir, c->root, id, &paths);
    memcpy(k->forks[k->n_forks].id, id, UUID_LEN + 1);
    k->forks[k->n_forks++].dir = xstrdup(paths.spill);
    session_paths_release(&paths);
}

static void
take_fork(struct core *c, struct str record)
{
    struct cJSON *t = json_parse(record, NULL);
    const char *id = json_cstr(t, "from", "");
    if (uuid_valid(id)) /* it becomes part of a path */
        add_fork(c, id);
    json_free(t);
}

void
session_kept_note(struct core *c, struct str type, struct str record)
{
    if (str_is(type, "tool-summary"))
        take_line(c, record);
    else if (str_is(type, "fork"))
        take_fork(c, record);
}

static bool
note_line(struct core *c, const struct line *l, struct err *err)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kraw(&w, "calls", str_from(l->calls));
    jw_kcstr(&w, "text", l->text);
    jw_end(&w);
    bool ok = core_note_kept(c, "tool-summary", buf_str(&b), err);
    buf_release(&b);
    return ok;
}

bool
session_kept_fork(struct core *c, const char *from_id, struct err *err)
{
    struct kept *k = kept(c);
    bool ok = true;
    add_fork(c, from_id);
    for (size_t i = 0; ok && i < k->n_forks; i++) {
        char *members = xasprintf("\"from\":\"%s\"", k->forks[i].id);
        ok = core_note_kept(c, "fork", str_from(members), err);
        free(members);
    }
    for (size_t i = 0; ok && i < k->n_lines; i++)
        ok = note_line(c, &k->lines[i], err);
    return ok;
}

size_t
session_kept_dirs(const struct core *c, const char **ret, size_t n)
{
    const struct kept *k = kept_if(c);
    size_t i = 0;
    for (; k && i < k->n_forks && i < n; i++)
        ret[i] = k->forks[i].dir;
    return i;
}
