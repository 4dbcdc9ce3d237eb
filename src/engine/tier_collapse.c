/*
 * E3: a span becomes two messages: what the person wrote in it, word for word, under a line that says what stood there, and an extract
 * of what was said and seen, with the files and commands by name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str_set.h"
#include "engine/extract.h"
#include "engine/hidden.h"
#include "engine/rebuild.h"
#include "engine/tier_private.h"
#include "engine/tier_spans.h"

#define LEAST 1000                   /* tokens a fold must save */
#define LOOKED_AT ((size_t)64 << 10) /* bytes of one result */
#define NAMES_MAX 1500               /* bytes of the list of files, and of commands */
#define REMINDER_MAX 500

struct fold {
    const struct tier_view *v;
    const struct tier_span *span;
    struct buf names[3]; /* read, changed, run */
    struct str *said, *seen;
    size_t n_said, cap_said, n_seen, cap_seen, said_bytes;
};

/* ---- what is in it ---- */

static void
add_name(struct buf *out, struct str_set *set, const char *text)
{
    struct str s = str_from(text);
    if (!s.len || buf_full(out) || out->len + s.len > NAMES_MAX || !str_set_add(set, s))
        return;
    if (out->len)
        buf_adds(out, ", ");
    buf_add_str(out, s);
}

static void
gather_names(struct fold *f)
{
    struct tier_view part = *f->v;
    part.messages += f->span->from;
    part.n = f->span->to - f->span->from;
    struct tier_calls calls = {0};
    struct str_set sets[3] = {{0}};
    char **kept = NULL;
    size_t n_kept = 0, cap_kept = 0;
    tier_calls_read(&part, part.n, &calls);
    for (size_t i = 0; i < calls.n; i++) {
        const struct tier_call *c = &calls.list[i];
        struct buf b;
        buf_init(&b, 4096);
        if (!c->path)
            tier_call_name(&part, c, 100, &b);
        ARRAY_GROW(kept, n_kept, cap_kept);
        kept[n_kept++] = c->path ? xstrdup(c->path) : buf_take(&b);
        buf_release(&b);
        int k = c->reads ? 0 : c->edits ? 1 : 2;
        add_name(&f->names[k], &sets[k], kept[n_kept - 1]);
    }
    for (int k = 0; k < 3; k++)
        str_set_release(&sets[k]);
    for (size_t i = 0; i < n_kept; i++)
        free(kept[i]);
    free(kept);
    tier_calls_release(&calls);
}

static void
gather_texts(struct fold *f)
{
    for (size_t i = f->span->from; i < f->span->to; i++) {
        const struct message *m = f->v->messages[i];
        for (size_t k = 0; k < m->n_blocks; k++) {
            const struct block *b = &m->blocks[k];
            if (m->role == ROLE_ASSISTANT && b->kind == BLOCK_TEXT && !m->hidden) {
                ARRAY_GROW(f->said, f->n_said, f->cap_said);
                f->said[f->n_said++] = b->text;
                f->said_bytes += b->text.len;
            } else if (b->kind == BLOCK_TOOL_RESULT) {
                ARRAY_GROW(f->seen, f->n_seen, f->cap_seen);
                f->seen[f->n_seen++] = str_sub(b->text, 0, LOOKED_AT);
            }
        }
    }
}

/* ---- the two messages ---- */

static bool
is_told(const struct message *m, size_t block, struct str words)
{
    const struct block *b = &m->blocks[block];
    return m->role == ROLE_USER && b->kind == BLOCK_TEXT && !tier_is_typed(m, block) &&
           str_contains(str_sub(b->text, 0, REMINDER_MAX), words);
}

/* Instructions of folders are told once, so they stay; of modes the last word counts. */
static void
copy_reminders(const struct fold *f, struct message_builder *b)
{
    const struct block *mode = NULL;
    for (size_t i = f->span->from; i < f->span->to; i++) {
        const struct message *m = f->v->messages[i];
        for (size_t k = 0; k < m->n_blocks; k++) {
            if (is_told(m, k, STR(HIDDEN_TAG "\n" HIDDEN_RULES)))
                rebuild_block(b, &m->blocks[k]);
            if (is_told(m, k, STR(HIDDEN_MODE)))
                mode = &m->blocks[k];
        }
    }
    if (mode)
        rebuild_block(b, mode);
}

static struct message *
user_part(const struct fold *f)
{
    const struct tier_span *s = f->span;
    bool typed = false;
    struct message_builder *b = message_builder_new(ROLE_USER);
    struct buf head;
    buf_init(&head, 4096);
    buf_addf(&head,
             HIDDEN_TAG
             "\n[folded: %zu messages, about %lld tokens] They stood here and were "
             "taken out to make room. What the person wrote in them follows word for word; an "
             "extract of the rest stands in the answer beside this. Files can be read again; "
             "the person can bring the messages back with /context open.\n" HIDDEN_END,
             s->to - s->from, (long long)s->tokens);
    message_add_text(b, buf_str(&head));
    buf_release(&head);
    for (size_t i = s->from; i < s->to; i++) {
        const struct message *m = f->v->messages[i];
        for (size_t k = 0; k < m->n_blocks; k++)
            if (tier_is_typed(m, k)) {
                rebuild_block(b, &m->blocks[k]);
                typed = true;
            }
    }
    copy_reminders(f, b);
    struct message *m = message_build(b);
    if (m) {
        m->hidden = !typed;
        m->wall_ms = f->v->messages[s->from]->wall_ms;
    }
    return m;
}

static void
add_names(struct buf *out, const char *title, const struct buf *names)
{
    if (names->len)
        buf_addf(out, "%s: %.*s\n", title, (int)names->len, names->data);
}

static struct message *
assistant_part(const struct fold *f)
{
    int64_t most = f->span->tokens / 12;
    if (most > TIER_EXTRACT_MAX)
        most = TIER_EXTRACT_MAX;
    size_t room = (size_t)((double)most * f->v->bytes_per_token);
    /* what the model said itself weighs more than what it looked at */
    size_t said =
        f->said_bytes + 4 * f->n_said < room * 2 / 3 ? f->said_bytes + 4 * f->n_said : room * 2 / 3;
    struct buf out;
    buf_init(&out, BUF_MAX);
    buf_addf(&out, TIER_EXTRACT "%zu folded messages]\n", f->span->to - f->span->from);
    add_names(&out, "Files read", &f->names[0]);
    add_names(&out, "Files changed", &f->names[1]);
    add_names(&out, "Other calls", &f->names[2]);
    if (f->n_said)
        buf_adds(&out, "Said:\n");
    extract_sentences(f->said, f->n_said, said, &out);
    if (f->n_seen)
        buf_adds(&out, "Seen in results:\n");
    extract_sentences(f->seen, f->n_seen, room > said ? room - said : 0, &out);
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_text(b, str_trim(buf_str(&out)));
    buf_release(&out);
    struct message *m = message_build(b);
    if (m) {
        m->hidden = true; /* no model wrote it */
        m->wall_ms = f->v->messages[f->span->from]->wall_ms;
    }
    return m;
}

static void
fold_release(struct fold *f)
{
    for (int k = 0; k < 3; k++)
        buf_release(&f->names[k]);
    free(f->said);
    free(f->seen);
}

/* Returns the tokens it saves; 0: it is not worth it, and nothing was added. */
static int64_t
fold_span(const struct tier_view *v, const struct tier_span *s, struct tier_result *ret)
{
    struct fold f = {.v = v, .span = s};
    for (int k = 0; k < 3; k++)
        buf_init(&f.names[k], BUF_MAX);
    gather_names(&f);
    gather_texts(&f);
    struct message *u = user_part(&f), *a = assistant_part(&f);
    int64_t saved = u && a ? s->tokens - tier_tokens(v, u) - tier_tokens(v, a) : 0;
    fold_release(&f);
    if (saved < LEAST || saved < s->tokens / 3) {
        message_free(u);
        message_free(a);
        return 0;
    }
    bool user_first = v->messages[s->from]->role == ROLE_USER;
    struct tier_edit *e = tier_edit_add(ret);
    e->from = s->from;
    e->to = s->to;
    e->with = xcalloc(2, sizeof *e->with);
    e->with[0] = user_first ? u : a;
    e->with[1] = user_first ? a : u;
    e->n_with = 2;
    e->what = xasprintf("%zu messages folded", s->to - s->from);
    e->saved = saved;
    return saved;
}

void
tier_collapse(const struct tier_view *v, struct tier_result *ret)
{
    struct tier_spans spans;
    int64_t used = v->used;
    tier_spans_find(v, &spans);
    for (size_t i = 0; i < spans.n && used > v->goal; i++)
        if (spans.list[i].tokens > 2 * LEAST)
            used -= fold_span(v, &spans.list[i], ret);
    free(spans.list);
    tier_result_finish(v, ret);
}
