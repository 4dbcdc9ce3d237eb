/* The session's journal as core writes it: opened with the first message, and what a full disk kept back goes in first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/session_private.h"

/* The session's first line. */
static bool
write_session_record(struct core *c, struct err *err)
{
    struct buf when, b;
    buf_init(&when, 64);
    buf_init(&b, BUF_MAX);
    clock_iso8601(clock_wall_ms(), &when);
    struct jw w;
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "type", "session");
    jw_kcstr(&w, "id", c->session_id);
    jw_kcstr(&w, "sessionId", c->session_id);
    jw_kcstr(&w, "cwd", c->cwd);
    jw_kcstr(&w, "root", c->root);
    jw_kcstr(&w, "version", YARE_VERSION);
    jw_kstr(&w, "created", buf_str(&when));
    jw_kstr(&w, "timestamp", buf_str(&when));
    jw_kcstr(&w, "model", c->model);
    jw_kcstr(&w, "provider", c->provider->name);
    if (c->mode_scope ==
        SCOPE_CLI) /* the person's own choice; what a file says is asked of it again */
        jw_kcstr(&w, "mode", perm_mode_name(c->mode));
    jw_kbool(&w, "print", c->print_mode);
    jw_end(&w);
    bool ok = journal_append(c->journal, buf_str(&b), err);
    buf_release(&when);
    buf_release(&b);
    return ok;
}

bool
session_need_journal(struct core *c, struct err *err)
{
    if (c->journal)
        return true;
    c->journal = journal_open(c->paths.journal, err);
    if (!c->journal)
        return err_wrap(err, "cannot write the transcript");
    if (!write_session_record(c, err) ||
        !(c->conv = conversation_open(c->paths.journal, NULL, NULL, err))) {
        journal_close(c->journal); /* the next message tries again */
        c->journal = NULL;
        return err_wrap(err, "cannot write the transcript");
    }
    latches_note(c);
    return true;
}

int64_t
core_next_place(const struct core *c)
{
    return (int64_t)(conversation_len(c->conv) + c->unsaved.n) + 1;
}

void
session_note_todos(struct core *c)
{
    char *members = c->todos_due ? xasprintf("\"todos\":%s", c->todos_due) : NULL;
    if (members)
        core_note(c, "todos", NULL, str_from(members));
    free(members);
    free(c->todos_due);
    c->todos_due = NULL;
}

static bool
write_message(struct core *c, const struct message *m, struct err *err)
{
    int64_t offset;
    size_t len;
    if (!session_need_journal(c, err) ||
        !journal_append_message(c->journal, c->session_id, c->cwd, m, err))
        return false;
    journal_last(c->journal, &offset, &len);
    conversation_add(c->conv, m, offset, len);
    session_note_todos(c);
    return true;
}

/* What a full disk kept back comes first, in its order. */
bool
session_write_unsaved(struct core *c, struct err *err)
{
    while (c->unsaved.n) {
        if (!write_message(c, c->unsaved.list[0], err))
            return false;
        message_free(c->unsaved.list[0]);
        memmove(c->unsaved.list, c->unsaved.list + 1, --c->unsaved.n * sizeof *c->unsaved.list);
    }
    return true;
}

static void
keep_in_state(struct core *c, const struct message *take_m)
{
    if (c->loaded)
        state_append(&c->state, take_m);
    else
        message_free(take_m); /* it is read with the others, when they are needed */
}

bool
core_append(struct core *c, const struct message *take_m, struct err *err)
{
    if (!take_m)
        return true;
    if (!session_write_unsaved(c, err) || !write_message(c, take_m, err)) {
        message_free(take_m);
        return false;
    }
    keep_in_state(c, take_m);
    return true;
}

static bool
is_out_of_space(const struct err *err)
{
    return err->sys == ENOSPC || err->sys == EDQUOT || err->sys == EFBIG;
}

bool
core_append_done(struct core *c, const struct message *take_m, struct err *err)
{
    if (!take_m)
        return true;
    if (session_write_unsaved(c, err) && write_message(c, take_m, err)) {
        keep_in_state(c, take_m);
        return true;
    }
    if (!is_out_of_space(err) || !c->loaded || c->unsaved.n == ARRAY_LEN(c->unsaved.list)) {
        message_free(take_m);
        return false;
    }
    c->unsaved.list[c->unsaved.n++] = message_ref(take_m);
    state_append(&c->state, take_m);
    return true;
}

bool
core_sync(struct core *c, struct err *err)
{
    return session_write_unsaved(c, err) && (!c->journal || journal_sync(c->journal, err));
}

void
core_note(struct core *c, const char *type, const char *subtype, struct str members_json)
{
    struct err err = {0};
    if (c->journal &&
        !journal_append_note(c->journal, c->session_id, type, subtype, members_json, &err))
        log_warn("journal", "%s", err.text);
}

bool
core_note_kept(struct core *c, const char *type, struct str members_json, struct err *err)
{
    return !c->journal ||
           journal_append_note(c->journal, c->session_id, type, NULL, members_json, err);
}

bool
core_rename(struct core *c, const char *title, struct err *err)
{
    bool ok = session_need_journal(c, err) &&
              journal_append_title(c->journal, c->session_id, title, err) && core_sync(c, err);
    if (ok && title != c->title) {
        free(c->title);
        c->title = xstrdup(title);
    }
    return ok;
}
