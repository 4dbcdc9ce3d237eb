/* Questions of a front end, answered by EV_ANSWER with the same seq: no front end reads journal or store. */
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/json.h"
#include "engine/engine_private.h"
#include "engine/permit.h"

#define FILES_MAX 2000
#define PAGE 50
#define HITS_MAX 200

static void
write_state(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    state_write(&e->core.state, out);
}

static void
write_rules(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    permit_write_rules(e->core.permit, out);
}

static void
write_checkpoints(struct engine *e, struct str arg, struct buf *out)
{
    (void)e;
    (void)arg;
    buf_adds(out, "{\"checkpoints\":[],\"error\":\"checkpoints are not available yet\"}");
}

static void
write_sessions(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    struct session_info *s = NULL;
    size_t n = 0;
    struct err err = {0};
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    if (!session_list(e->core.data_dir, e->core.root, &s, &n, &err))
        jw_kcstr(&w, "error", err.text);
    jw_key(&w, "sessions");
    jw_array(&w);
    for (size_t i = 0; i < n; i++) {
        jw_object(&w);
        jw_kcstr(&w, "id", s[i].id);
        jw_kcstr(&w, "title", s[i].title ? s[i].title : "");
        jw_kcstr(&w, "cwd", s[i].cwd ? s[i].cwd : "");
        jw_kint(&w, "created_ms", s[i].created_ms);
        jw_kint(&w, "last_ms", s[i].last_ms);
        jw_kint(&w, "messages", s[i].messages);
        jw_kbool(&w, "print", s[i].print_mode);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    session_list_free(s, n);
}

struct listing {
    struct jw *w;
    struct str want;
    size_t n;
};

static bool
visit_file(void *user, const char *rel_path, bool is_dir)
{
    struct listing *l = user;
    if (is_dir || (l->want.len && !str_contains(str_from(rel_path), l->want)))
        return true;
    jw_cstr(l->w, rel_path);
    return ++l->n < FILES_MAX;
}

/* Completion: files below the working folder whose path holds the argument. */
static void
write_files(struct engine *e, struct str arg, struct buf *out)
{
    struct jw w;
    jw_init(&w, out);
    struct listing l = {.w = &w, .want = arg};
    jw_object(&w);
    jw_key(&w, "files");
    jw_array(&w);
    const struct glob_walk walk = {
        .root = e->core.cwd, .cancel = e->core.cancel, .visit = visit_file, .user = &l};
    bool all = glob_walk(&walk);
    jw_end(&w);
    jw_kbool(&w, "complete", all);
    jw_end(&w);
}

static void
write_message(struct jw *w, const struct message *m, size_t index)
{
    jw_object(w);
    jw_kint(w, "index", (int64_t)index);
    jw_kcstr(w, "uuid", m->uuid);
    jw_kbool(w, "hidden", m->hidden);
    jw_kbool(w, "partial", m->partial);
    jw_kint(w, "wall_ms", m->wall_ms);
    jw_kraw(w, "message", m->json);
    jw_end(w);
}

/* arg: the index before which the page ends; empty: the last page. */
static void
write_history(struct engine *e, struct str arg, struct buf *out)
{
    const struct state *st = &e->core.state;
    char *text = str_dup(arg);
    size_t end = arg.len ? (size_t)strtoull(text, NULL, 10) : st->n;
    free(text);
    if (end > st->n)
        end = st->n;
    size_t from = end > PAGE ? end - PAGE : 0;
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kint(&w, "total", (int64_t)st->n);
    jw_kint(&w, "from", (int64_t)from);
    jw_key(&w, "messages");
    jw_array(&w);
    for (size_t i = from; i < end; i++)
        write_message(&w, st->messages[i], i);
    jw_end(&w);
    jw_end(&w);
}

static void
write_hit(struct jw *w, const struct message *m, size_t index, struct str text, struct str want)
{
    const char *at = memmem(text.ptr, text.len, want.ptr, want.len);
    size_t off = at ? (size_t)(at - text.ptr) : 0;
    size_t from = off > 60 ? off - 60 : 0;
    jw_object(w);
    jw_kint(w, "index", (int64_t)index);
    jw_kcstr(w, "uuid", m->uuid);
    jw_kcstr(w, "role", m->role == ROLE_USER ? "user" : "assistant");
    jw_kstr(w, "excerpt", str_sub(text, from, 200));
    jw_end(w);
}

static void
write_search(struct engine *e, struct str arg, struct buf *out)
{
    const struct state *st = &e->core.state;
    size_t hits = 0;
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "hits");
    jw_array(&w);
    for (size_t i = 0; arg.len && i < st->n && hits < HITS_MAX; i++) {
        const struct message *m = st->messages[i];
        for (size_t k = 0; k < m->n_blocks; k++) {
            if (!str_contains(m->blocks[k].text, arg))
                continue;
            write_hit(&w, m, i, m->blocks[k].text, arg);
            hits++;
            break;
        }
    }
    jw_end(&w);
    jw_end(&w);
}

void
query_answer(struct engine *e, const struct op *op)
{
    static void (*const writers[])(struct engine *, struct str, struct buf *) = {
        [QUERY_HISTORY] = write_history, [QUERY_SESSIONS] = write_sessions,
        [QUERY_RULES] = write_rules,     [QUERY_FILES] = write_files,
        [QUERY_SEARCH] = write_search,   [QUERY_CHECKPOINTS] = write_checkpoints,
        [QUERY_STATE] = write_state,
    };
    struct buf b;
    buf_init(&b, BUF_MAX);
    if ((size_t)op->query < ARRAY_LEN(writers))
        writers[op->query](e, str_from(op->text), &b);
    struct event *ev = event_new(EV_ANSWER);
    ev->seq = op->seq;
    ev->u.answer.json =
        b.len && !buf_full(&b) ? buf_take(&b) : xstrdup("{\"error\":\"the answer is too large\"}");
    buf_release(&b);
    core_emit(&e->core, ev);
}
