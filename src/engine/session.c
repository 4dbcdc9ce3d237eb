/* The session inside core: journal, passport, resume. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"
#include "engine/core.h"
#include "engine/permit.h"
#include "engine/validator.h"

/* ---- the journal ---- */

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
    jw_kbool(&w, "print", c->print_mode);
    jw_end(&w);
    bool ok = journal_append(c->journal, buf_str(&b), err);
    buf_release(&when);
    buf_release(&b);
    return ok;
}

static bool
need_journal(struct core *c, struct err *err)
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
    return true;
}

int64_t
core_next_place(const struct core *c)
{
    return (int64_t)(conversation_len(c->conv) + c->n_unsaved) + 1;
}

static bool
write_message(struct core *c, const struct message *m, struct err *err)
{
    int64_t offset;
    size_t len;
    if (!need_journal(c, err) || !journal_append_message(c->journal, c->session_id, c->cwd, m, err))
        return false;
    journal_last(c->journal, &offset, &len);
    conversation_add(c->conv, m, offset, len);
    return true;
}

/* What a full disk kept back comes first, in its order. */
static bool
write_unsaved(struct core *c, struct err *err)
{
    while (c->n_unsaved) {
        if (!write_message(c, c->unsaved[0], err))
            return false;
        message_free(c->unsaved[0]);
        memmove(c->unsaved, c->unsaved + 1, --c->n_unsaved * sizeof *c->unsaved);
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
    if (!write_unsaved(c, err) || !write_message(c, take_m, err)) {
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
    if (write_unsaved(c, err) && write_message(c, take_m, err)) {
        keep_in_state(c, take_m);
        return true;
    }
    if (!is_out_of_space(err) || !c->loaded || c->n_unsaved == ARRAY_LEN(c->unsaved)) {
        message_free(take_m);
        return false;
    }
    c->unsaved[c->n_unsaved++] = message_ref(take_m);
    state_append(&c->state, take_m);
    return true;
}

bool
core_sync(struct core *c, struct err *err)
{
    return write_unsaved(c, err) && (!c->journal || journal_sync(c->journal, err));
}

void
core_note(struct core *c, const char *type, const char *subtype, struct str members_json)
{
    struct err err = {0};
    if (c->journal &&
        !journal_append_note(c->journal, c->session_id, type, subtype, members_json, &err))
        log_warn("journal", "%s", err.text);
}

/* ---- the passport ---- */

static void
fill_passport(struct core *c)
{
    struct passport *p = &c->passport;
    p->schema = PASSPORT_SCHEMA;
    memcpy(p->id, c->session_id, sizeof p->id);
    const char *user = getlogin();
    size_t len = user ? strlen(user) : 0;
    memcpy(p->user, user ? user : "", len < sizeof p->user ? len : sizeof p->user - 1);
    p->created_ms = clock_wall_ms();
    free(p->project_root);
    free(p->original_cwd);
    p->project_root = xstrdup(c->root);
    p->original_cwd = xstrdup(c->original_cwd);
    struct buf head;
    buf_init(&head, 512);
    prompt_git_head(c->root, &head);
    free(p->git_head);
    p->git_head = head.len ? xstrdup(buf_cstr(&head)) : NULL;
    buf_release(&head);
}

static void
put_text(char *to, size_t cap, const char *text)
{
    size_t len = strlen(text);
    len = len < cap ? len : cap - 1;
    memcpy(to, text, len);
    to[len] = '\0';
}

void
core_save_passport(struct core *c, enum session_status status, const char *last_error)
{
    struct passport *p = &c->passport;
    free(p->cwd);
    p->cwd = xstrdup(c->cwd);
    put_text(p->mode, sizeof p->mode, perm_mode_name(c->mode));
    free(p->model);
    p->model = xstrdup(c->model);
    p->status = status;
    free(p->last_error);
    p->last_error = xstrdup(last_error);
    if (!c->store || !c->journal || c->passport_foreign)
        return;
    struct buf b;
    buf_init(&b, BUF_MAX);
    passport_write(p, &b);
    if (!str_eq(buf_str(&b), buf_str(&c->saved_passport))) {
        char *key = xasprintf("passport:%s", c->session_id);
        struct err err = {0};
        uint64_t version;
        if (store_put(c->store, key, buf_str(&b), STORE_ANY, &version, &err)) {
            buf_clear(&c->saved_passport);
            buf_add_str(&c->saved_passport, buf_str(&b));
        } else {
            log_warn("store", "%s", err.text); /* the journal is the truth; it can be rebuilt */
        }
        free(key);
    }
    buf_release(&b);
}

/* What the journal says beside its messages. */
struct notes {
    struct buf usage; /* the records, a line each */
    char *title;
};

static void
take_note(void *user, struct str type, struct str record)
{
    struct notes *n = user;
    if (str_is(type, "usage")) {
        buf_add_str(&n->usage, record);
        buf_addc(&n->usage, '\n');
    } else if (str_is(type, "custom-title")) {
        struct cJSON *tree = json_parse(record, NULL);
        const char *title = json_cstr(tree, "customTitle", json_cstr(tree, "title", NULL));
        if (title) {
            free(n->title);
            n->title = xstrdup(title);
        }
        json_free(tree);
    }
}

/* False: it is not there, or cannot be used; then it is rebuilt. One of a newer yare's stays as it is in the store. */
static bool
get_passport(struct core *c)
{
    char *key = xasprintf("passport:%s", c->session_id);
    struct buf b;
    struct passport kept;
    uint64_t version = 0;
    struct err err = {0};
    buf_init(&b, BUF_MAX);
    bool got = c->store && store_get(c->store, key, &b, &version, &err) && version &&
               passport_read(buf_str(&b), &kept, &err);
    if (got) {
        passport_release(&c->passport); /* what it was begun with */
        c->passport = kept;
    }
    if (!got && err.code == ERR_UNSUPPORTED) {
        c->passport_foreign = true;
        core_notice(c,
                    "%s; it is left as it is, and what it counted is counted from the transcript",
                    err.text);
    } else if (!got) {
        log_info("engine", "the passport is rebuilt from the journal (%s)",
                 err.text[0] ? err.text : "not in the store");
    }
    buf_release(&b);
    free(key);
    return got;
}

/* From the store, or rebuilt from the usage records of the journal. */
static void
load_passport(struct core *c, const struct notes *notes)
{
    struct str rest = buf_str(&notes->usage), line;
    if (!get_passport(c))
        while (str_split(&rest, '\n', &line))
            usage_read_note(&c->passport, line);
    usage_load(&c->usage, &c->passport);
    rest = buf_str(&notes->usage);
    while (str_split(&rest, '\n', &line))
        usage_restore(&c->usage, line);
    /* Back to the folder it was in, if that is still there. */
    if (c->passport.cwd && fs_is_within(c->passport.cwd, c->root) && fs_is_dir(c->passport.cwd)) {
        free(c->cwd);
        c->cwd = xstrdup(c->passport.cwd);
    }
}

/* ---- sessions ---- */

void
core_session_close(struct core *c)
{
    struct err err = {0};
    if (!write_unsaved(c, &err))
        log_warn("journal", "%zu messages are lost: %s", c->n_unsaved, err.text);
    while (c->n_unsaved)
        message_free(c->unsaved[--c->n_unsaved]);
    journal_close(c->journal);
    c->journal = NULL;
    conversation_free(c->conv);
    c->conv = NULL;
    free(c->title);
    c->title = NULL;
    c->passport_foreign = false;
    state_release(&c->state);
    passport_release(&c->passport);
    session_paths_release(&c->paths);
    file_state_free(c->files);
    c->files = NULL;
    buf_clear(&c->saved_passport);
}

static void
name_session(struct core *c, const char *id)
{
    if (id)
        put_text(c->session_id, sizeof c->session_id, id);
    else
        uuid_make(c->session_id);
    session_paths_make(c->data_dir, c->root, c->session_id, &c->paths);
}

/* In the place of the one before, if there was one. */
static void
begin_session(struct core *c, const char *id)
{
    core_session_close(c);
    passport_init(&c->passport);
    c->files = file_state_new();
    c->told_mode = PERM_DEFAULT;
    memset(&c->usage, 0, sizeof c->usage);
    name_session(c, id);
    fill_passport(c);
}

void
core_session_new(struct core *c, const char *id)
{
    begin_session(c, id);
    c->resumed = false;
    c->loaded = true;
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
    return core_append(c, m, err) && core_sync(c, err);
}

/* A turn that was cut off leaves calls without results at the end: they are answered and journalled. */
static bool
close_calls(struct core *c, const struct message *last, struct err *err)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    for (size_t i = 0; i < last->n_blocks; i++)
        if (last->blocks[i].kind == BLOCK_TOOL_USE)
            message_add_tool_result(b, last->blocks[i].id,
                                    STR("interrupted: yare ended before this call had its result"),
                                    true);
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

bool
core_rename(struct core *c, const char *title, struct err *err)
{
    struct buf b;
    struct jw w;
    if (!need_journal(c, err))
        return false;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "customTitle", title);
    jw_end(&w);
    bool ok =
        journal_append_note(c->journal, c->session_id, "custom-title", NULL, buf_str(&b), err) &&
        core_sync(c, err);
    buf_release(&b);
    if (ok && title != c->title) {
        free(c->title);
        c->title = xstrdup(title);
    }
    return ok;
}

void
core_mend(struct core *c, const char *when)
{
    struct validator_report r;
    validator_report_init(&r);
    const struct message **msgs = c->state.messages;
    size_t n = c->state.n;
    c->state.messages = NULL; /* they change hands */
    c->state.n = c->state.cap = 0;
    validator_mend(&msgs, &n, &r);
    state_replace_messages(&c->state, msgs, n);
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
    log_info("engine", "%zu messages loaded in %lld ms", c->state.n,
             (long long)(clock_mono_ms() - began));
}

static bool
open_transcript(struct core *c, const char *path, bool fork, struct err *err)
{
    struct notes notes = {0};
    buf_init(&notes.usage, BUF_MAX);
    c->conv = conversation_open(path, take_note, &notes, err);
    c->loaded = false;
    if (c->conv) {
        if (conversation_torn(c->conv))
            core_notice(c, "the transcript's last line was torn; %lld bytes are left out",
                        (long long)conversation_torn(c->conv));
        if (fork)
            buf_clear(&notes.usage); /* paid for in the other session */
        load_passport(c, &notes);
        if (fork && notes.title)
            c->title = xasprintf("%s (copy)", notes.title);
        else
            c->title = xstrdup(notes.title);
    }
    free(notes.title);
    buf_release(&notes.usage);
    return c->conv != NULL;
}

/* A fork writes the messages again, into the new session's own journal. */
static bool
copy_to_fork(struct core *c, struct err *err)
{
    struct conversation *from = c->conv;
    c->conv = NULL;
    bool ok = need_journal(c, err);
    for (size_t i = conversation_live(from); ok && i < conversation_len(from); i++) {
        struct message *m = conversation_message(from, i);
        ok = core_append(c, m, err);
    }
    conversation_free(from);
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
    bool ok = open_transcript(c, from.journal, fork, err) && (!fork || copy_to_fork(c, err)) &&
              close_cut_turn(c, err);
    session_paths_release(&from);
    prompt_build(&c->prompt, c);
    return ok;
}
