#include "engine/attach.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "engine/attach_private.h"
#include "engine/core.h"
#include "engine/hidden.h"

struct attach_producer {
    const char *name; /* "edited_text_file", "nested_memory", "todo_reminder" ... */
    int every;        /* at most once in so many turns; 1: each turn */
    /* Appends the text (without tags) when there is news; false: none. Remembers what it told. */
    bool (*produce)(struct core *c, struct buf *out);
};

static const struct attach_producer producers[] = {
    {"task_notification", 1, attach_task_notes},
    {"mode_change", 1, attach_mode},
    {"pins", 1, pins_attach},
    {"edited_text_file", 1, attach_edited_files},
    {"nested_memory", 1, attach_nested_memory},
    {"date_change", 1, attach_date},
    {"plan_mode", 10, attach_plan},
    {"todo_reminder", 10, attach_todo},
};
_Static_assert(ARRAY_LEN(producers) <= ATTACH_PRODUCERS_MAX, "attach_told.spoke is too small");

/* ---- the table ---- */

static size_t
add_block(struct message_builder *b, struct str text)
{
    struct buf block;
    struct str fits = text_start(text, ATTACH_TEXT_MAX);
    buf_init(&block, BUF_MAX);
    buf_adds(&block, HIDDEN_TAG "\n");
    buf_add_str(&block, fits);
    if (fits.len < text.len)
        buf_addf(&block, "\n[%zu bytes more]", text.len - fits.len);
    buf_adds(&block, "\n" HIDDEN_END);
    message_add_text(b, buf_str(&block));
    size_t n = block.len;
    buf_release(&block);
    return n;
}

void
attach_all(struct core *c, struct message_builder *b)
{
    struct attach_told *t = c->told;
    size_t used = 0;
    if (!t)
        return;
    t->turn++;
    for (size_t i = 0; i < ARRAY_LEN(producers); i++) {
        const struct attach_producer *p = &producers[i];
        if (t->spoke[i] && t->turn - t->spoke[i] < p->every)
            continue;
        if (used + ATTACH_TEXT_MAX > ATTACH_ALL_MAX)
            break;
        struct buf text;
        buf_init(&text, BUF_MAX);
        if (p->produce(c, &text) && str_trim(buf_str(&text)).len) {
            used += add_block(b, str_trim(buf_str(&text)));
            t->spoke[i] = t->turn;
            log_debug("attach", "%s: %zu bytes", p->name, text.len);
        }
        buf_release(&text);
    }
}

void
attach_emit(struct core *c, const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind != BLOCK_TEXT || !str_starts(b->text, HIDDEN_TAG) ||
            str_starts(b->text, HIDDEN_FILE)) /* a notice says what was attached */
            continue;
        struct event *e = event_new(EV_USER);
        e->place = core_next_place(c) - 1;
        e->u.user.uuid = xstrdup(m->uuid);
        e->u.user.text = str_dup(b->text);
        e->u.user.hidden = true;
        e->u.user.brief = hidden_brief(b->text);
        core_emit(c, e);
    }
}

/* ---- what was told ---- */

void
attach_release(struct core *c)
{
    struct attach_told *t = c->told;
    c->told = NULL;
    if (!t)
        return;
    for (size_t i = 0; i < t->n_files; i++)
        free(t->files[i].path);
    free(t->files);
    for (size_t i = 0; i < t->n_touched; i++)
        free(t->touched[i]);
    for (size_t i = 0; i < t->n_seen; i++)
        free(t->seen[i]);
    free(t->seen);
    free(t->todos);
    free(t);
}

/* The todo list is the session's and outlives a compaction. */
void
attach_reset(struct core *c)
{
    char *todos = c->told ? c->told->todos : NULL;
    if (c->told)
        c->told->todos = NULL;
    attach_release(c);
    c->told = xcalloc(1, sizeof *c->told);
    c->told->todos = todos;
    attach_today(c->told->date);
    c->told_mode = PERM_DEFAULT;
}
