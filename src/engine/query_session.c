/* Questions about sessions: which there are, pages of this one's history, what it says where. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/engine_private.h"
#include "engine/query_private.h"

#define PAGE 50
#define HITS_MAX 200

void
query_sessions(struct engine *e, struct str arg, struct buf *out)
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
void
query_history(struct engine *e, struct str arg, struct buf *out)
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

void
query_search(struct engine *e, struct str arg, struct buf *out)
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
