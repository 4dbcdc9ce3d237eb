/* Beginning, resuming, forking and closing the session inside core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"
#include "engine/attach.h"
#include "engine/context.h"
#include "engine/permit.h"
#include "engine/session_kept.h"
#include "engine/session_private.h"
#include "engine/toolsum.h"
#include "engine/validator.h"

void
core_session_close(struct core *c)
{
    struct err err = {0};
    if (!session_write_unsaved(c, &err))
        log_warn("journal", "%zu messages are lost: %s", c->unsaved.n, err.text);
    while (c->unsaved.n)
        message_free(c->unsaved.list[--c->unsaved.n]);
    journal_close(c->journal);
    c->journal = NULL;
    conversation_free(c->conv);
    c->conv = NULL;
    free(c->title);
    c->title = NULL;
    session_was_release(&c->was);
    pins_release(&c->pins);
    toolsum_drop(c);
    free(c->todos_due);
    c->todos_due = NULL;
    c->passport_foreign = false;
    outgoing_release(&c->outgoing);
    state_release(&c->state);
    passport_release(&c->passport);
    session_paths_release(&c->paths);
    file_state_unref(c->files);
    c->files = NULL;
    attach_release(c);
    buf_clear(&c->saved_passport);
}

static void
name_session(struct core *c, const char *id)
{
    if (id)
        snprintf(c->session_id, sizeof c->session_id, "%s", id);
    else
        uuid_make(c->session_id);
    session_paths_make(c->data_dir, c->root, c->session_id, &c->paths);
}

static void
write_latches(const void *latches, struct jw *w)
{
    latches_write(latches, w);
}

/* In the place of the one before, if there was one. */
static void
begin_session(struct core *c, const char *id)
{
    core_session_close(c);
    passport_init(&c->passport);
    c->files = file_state_new();
    attach_reset(c);
    c->counted_turn = 0;
    state_ext_add(&c->state, &(struct state_ext){
                                 .name = "latches", .data = &c->latches, .write = write_latches});
    state_ext_add(&c->state, &(struct state_ext){
                                 .name = "allowed", .data = c->permit, .write = permit_write_kept});
    memset(&c->usage, 0, sizeof c->usage);
    memset(&c->latches, 0, sizeof c->latches);
    name_session(c, id);
    session_passport_begin(c);
    permit_new_session(c->permit);
}

void
core_session_new(struct core *c, const char *id)
{
    begin_session(c, id);
    c->resumed = false;
    c->loaded = true;
    if (c->mode == PERM_AUTO)
        latch_set(c, LATCH_AFK);
    prompt_build(&c->prompt, c);
}

/* The request that ends in the last message may have left. What it sent stays as it is, byte for byte, so the next prompt must not
 * join it: a stub stands for the answer that never came, as after a cancel. */
static bool
close_open_request(struct core *c, struct err *err)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_text(b, STR("(interrupted before an answer)"));
    struct message *m = message_build(b);
    if (!m)
        return true;
    m->hidden = m->partial = true;
    core_notice(c, "the last turn was cut off before it was answered");
    return core_append(c, m, err) && core_sync(c, err);
}

/* A turn that was cut off leaves calls without results at the end: they are answered and journalled. */
static bool
close_calls(struct core *c, const struct message *last, struct err *err)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    struct buf ends;
    struct jw w;
    buf_init(&ends, BUF_MAX);
    jw_init(&w, &ends);
    jw_array(&w);
    for (size_t i = 0; i < last->n_blocks; i++) {
        if (last->blocks[i].kind != BLOCK_TOOL_USE)
            continue;
        message_add_tool_result(b, last->blocks[i].id,
                                STR("interrupted: yare ended before this call had its result"),
                                true);
        jw_object(&w);
        jw_kstr(&w, "id", last->blocks[i].id);
        jw_kcstr(&w, "state", tool_state_name(TOOL_CANCELLED));
        jw_end(&w);
    }
    jw_end(&w);
    message_set_ends(b, buf_str(&ends));
    buf_release(&ends);
    struct message *m = message_build(b);
    if (!m)
        return true;
    core_notice(c, "the last turn was cut off; its open calls are closed as interrupted");
    return core_append(c, m, err) && core_sync(c, err);
}

static bool
close_cut_turn(struct core *c, struct err *err)
{
    size_t n = conversation_len(c->conv);
    struct message *last = n ? conversation_message(c->conv, n - 1) : NULL;
    bool ok = true;
    if (last && last->role == ROLE_USER)
        ok = close_open_request(c, err);
    else if (last)
        ok = close_calls(c, last, err);
    message_free(last);
    return ok;
}

/* Messages never change: what was looked at once is not looked at again. */
void
core_mend(struct core *c, const char *when)
{
    struct state *st = &c->state;
    const struct validator_limits none = {0};
    struct validator_report r;
    const struct message **mended;
    size_t n;
    validator_report_init(&r);
    if (validator_mend_more(&st->proof, st->messages, st->n, st->edition, &none, &r, &mended, &n)) {
        state_replace_messages(st, mended, n);
        for (size_t i = 0; i < n; i++) /* stored results stand in other messages now */
            if (mended[i]->role == ROLE_USER)
                state_index_answers(st, mended[i]);
    }
    if (r.text.len) { /* joined messages alone are no news */
        log_warn("validator", "%s", buf_cstr(&r.text));
        core_notice(c, "the history was mended%s: %s", when, buf_cstr(&r.text));
    }
    validator_report_release(&r);
}

static void
mend_history(struct core *c)
{
    core_mend(c, "");
    for (size_t i = 0; i < c->state.n; i++)
        if (c->state.messages[i]->role == ROLE_USER)
            state_index_answers(&c->state, c->state.messages[i]);
}

void
core_need_messages(struct core *c)
{
    if (c->loaded)
        return;
    int64_t began = clock_mono_ms();
    size_t n = conversation_len(c->conv), lost = 0;
    for (size_t i = conversation_live(c->conv); i < n; i++) {
        struct message *m = conversation_message(c->conv, i);
        lost += !m;
        state_append(&c->state, m);
    }
    c->loaded = true;
    if (lost)
        core_notice(c, "%zu messages of the transcript could not be read and are left out", lost);
    mend_history(c);
    context_redo_edits(c);
    log_info("engine", "%zu messages loaded in %lld ms", c->state.n,
             (long long)(clock_mono_ms() - began));
}

static bool
open_transcript(struct core *c, const char *path, bool fork, struct err *err)
{
    struct session_notes notes = {.core = c, .was = &c->was, .pins = &c->pins};
    buf_init(&notes.usage, BUF_MAX);
    buf_init(&notes.latches, 4096);
    c->conv = conversation_open(path, session_take_note, &notes, err);
    c->loaded = false;
    if (c->conv) {
        if (conversation_torn(c->conv))
            core_notice(c, "the transcript's last line was torn; %lld bytes are left out",
                        (long long)conversation_torn(c->conv));
        size_t unread = conversation_unread(c->conv);
        if (unread)
            core_notice(c,
                        "%zu line%s of the transcript cannot be read; what stood there is left "
                        "out ('%s')",
                        unread, unread == 1 ? "" : "s", path);
        session_was_usage(c, buf_str(&notes.usage));
        attach_todos(c, c->was.todos);
        if (fork)
            buf_clear(&notes.usage); /* paid for in the other session */
        session_passport_load(c, &notes);
        if (fork && notes.title)
            c->title = xasprintf("%s (copy)", notes.title);
        else
            c->title = xstrdup(notes.title);
    }
    free(notes.title);
    buf_release(&notes.usage);
    buf_release(&notes.latches);
    return c->conv != NULL;
}

/* A fork writes the messages again, into the new session's own journal. */
static bool
copy_to_fork(struct core *c, const char *from_id, struct err *err)
{
    struct conversation *from = c->conv;
    c->conv = NULL;
    bool ok = session_need_journal(c, err);
    for (size_t i = conversation_live(from); ok && i < conversation_len(from); i++) {
        struct message *m = conversation_message(from, i);
        if (m)
            m->ends = conversation_ends(from, i);
        ok = core_append(c, m, err);
    }
    conversation_free(from);
    ok = ok && pins_note_all(c, err) && context_note_edits(c, err) &&
         session_kept_fork(c, from_id, err);
    if (ok && c->was.todos) {
        c->todos_due = xstrdup(c->was.todos);
        session_note_todos(c);
    }
    if (ok && c->title)
        ok = core_rename(c, c->title, err);
    return ok && core_sync(c, err);
}

bool
core_session_resume(struct core *c, const char *id, bool fork, struct err *err)
{
    char found[37];
    if (!session_find(c->data_dir, c->root, id, found, err))
        return false;
    if (!found[0])
        return err_set(err, ERR_INVALID, "no session '%s' in this project; see `yare sessions`",
                       id);
    struct session_paths from;
    session_paths_make(c->data_dir, c->root, found, &from);
    /* The writer's lock comes first: a session that another yare has open is refused before anything is dropped. */
    struct journal *j = fork ? NULL : journal_open(from.journal, err);
    if (!fork && !j) {
        session_paths_release(&from);
        return false;
    }
    begin_session(c, fork ? NULL : found);
    c->journal = j;
    c->resumed = true;
    bool ok = open_transcript(c, from.journal, fork, err) &&
              (!fork || copy_to_fork(c, found, err)) && close_cut_turn(c, err);
    session_paths_release(&from);
    if (!ok && fork && c->journal)
        (void)unlink(c->paths.journal); /* half a copy is none */
    prompt_build(&c->prompt, c);
    return ok;
}
