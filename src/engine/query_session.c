/* Questions about sessions: which there are, pages of this one's history, what it says where. History and search read the
 * journal by offsets, so they cost the same in a session of any length. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/engine_private.h"
#include "engine/query_private.h"
#include "engine/resume.h"

#define HITS_MAX 200

/* ---- sessions ---- */

static void
write_session(struct jw *w, const struct session_info *s)
{
    jw_object(w);
    jw_kcstr(w, "id", s->id);
    jw_kcstr(w, "title", s->title ? s->title : "");
    jw_kcstr(w, "first", s->first ? s->first : "");
    jw_kcstr(w, "cwd", s->cwd ? s->cwd : "");
    jw_kint(w, "created_ms", s->created_ms);
    jw_kint(w, "last_ms", s->last_ms);
    jw_kint(w, "messages", s->messages);
    jw_kint(w, "bytes", s->bytes);
    jw_kbool(w, "print", s->print_mode);
    jw_kcstr(w, "excerpt", s->excerpt ? s->excerpt : "");
    jw_end(w);
}

void
query_sessions(struct engine *e, struct str arg, struct buf *out)
{
    struct session_info *s = NULL;
    size_t n = 0;
    bool all = true;
    struct err err = {0};
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    if (!session_search(e->core.data_dir, e->core.root, arg, &s, &n, &all, &err))
        jw_kcstr(&w, "error", err.text);
    jw_key(&w, "sessions");
    jw_array(&w);
    for (size_t i = 0; i < n; i++)
        write_session(&w, &s[i]);
    jw_end(&w);
    jw_kbool(&w, "complete", all);
    jw_end(&w);
    session_list_free(s, n);
}

/* ---- a page of the history ---- */

struct page {
    struct jw *w;
    struct buf *out;
    size_t start;
};

static void
write_event(void *user, struct event *take_e)
{
    struct page *p = user;
    struct buf b;
    if (p->out->len - p->start > RESUME_PAGE_BYTES) {
        event_free(take_e); /* it is made again, with shorter texts */
        return;
    }
    buf_init(&b, BUF_MAX);
    event_write(take_e, &b);
    jw_raw(p->w, buf_str(&b));
    buf_release(&b);
    event_free(take_e);
}

static void
write_page(struct core *c, size_t from, size_t to, size_t text_max, struct buf *out)
{
    struct jw w;
    struct page p = {.w = &w, .out = out, .start = out->len};
    const struct resume_sink sink = {.emit = write_event, .user = &p, .text_max = text_max};
    jw_init(&w, out);
    jw_object(&w);
    jw_kint(&w, "from", (int64_t)from);
    jw_kint(&w, "to", (int64_t)to);
    jw_kint(&w, "total", (int64_t)conversation_len(c->conv));
    jw_key(&w, "events");
    jw_array(&w);
    resume_events(c, from, to, &sink);
    jw_end(&w);
    jw_end(&w);
}

/* arg: the index before which the page ends; empty: the last page. */
void
query_history(struct engine *e, struct str arg, struct buf *out)
{
    struct core *c = &e->core;
    size_t total = conversation_len(c->conv), start = out->len;
    char *text = str_dup(arg);
    size_t to = arg.len ? (size_t)strtoull(text, NULL, 10) : total;
    free(text);
    to = to < total ? to : total;
    size_t from = resume_page_start(c, to), text_max = RESUME_TEXT_MAX;
    for (;;) {
        write_page(c, from, to, text_max, out);
        if (out->len - start <= RESUME_PAGE_BYTES || text_max <= 64)
            return;
        buf_truncate(out, start);
        text_max /= 4;
    }
}

/* ---- finding ---- */

void
query_search(struct engine *e, struct str arg, struct buf *out)
{
    size_t n;
    bool all;
    struct conversation_hit *hits = conversation_search(e->core.conv, arg, HITS_MAX, &n, &all);
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "hits");
    jw_array(&w);
    for (size_t i = 0; i < n; i++) {
        jw_object(&w);
        jw_kint(&w, "index", (int64_t)hits[i].index);
        jw_kcstr(&w, "uuid", hits[i].uuid);
        jw_kcstr(&w, "role", hits[i].user ? "user" : "assistant");
        jw_kcstr(&w, "excerpt", hits[i].excerpt);
        jw_end(&w);
    }
    jw_end(&w);
    jw_kbool(&w, "complete", all);
    jw_end(&w);
    conversation_hits_free(hits, n);
}
