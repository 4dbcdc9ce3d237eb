/* The passport of a session: filled when it begins, saved when it changed, rebuilt from the journal when the store has lost it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/context.h"
#include "engine/session_kept.h"
#include "engine/session_private.h"

static void
put_text(char *to, size_t cap, const char *text)
{
    size_t len = strlen(text);
    len = len < cap ? len : cap - 1;
    memcpy(to, text, len);
    to[len] = '\0';
}

void
session_passport_begin(struct core *c)
{
    struct passport *p = &c->passport;
    p->schema = PASSPORT_SCHEMA;
    memcpy(p->id, c->session_id, sizeof p->id);
    char user[sizeof p->user];
    put_text(p->user, sizeof p->user, getlogin_r(user, sizeof user) == 0 ? user : "");
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

void
session_take_note(void *user, struct str type, struct str record)
{
    struct session_notes *n = user;
    if (n->was)
        session_was_note(n->was, type, record);
    if (n->core)
        context_take_note(n->core, type, record);
    if (n->core)
        session_kept_note(n->core, type, record);
    if (str_is(type, "latches")) {
        buf_clear(&n->latches);
        buf_add_str(&n->latches, record);
    } else if (str_is(type, "usage") || str_is(type, "cache-break")) {
        buf_add_str(&n->usage, record);
        buf_addc(&n->usage, '\n');
    } else if (str_is(type, "pin") && n->pins) {
        pins_read_note(n->pins, record);
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
void
session_passport_load(struct core *c, const struct session_notes *notes)
{
    struct str rest = buf_str(&notes->usage), line;
    if (!get_passport(c))
        while (str_split(&rest, '\n', &line))
            usage_read_note(&c->passport, line);
    latches_restore(c, buf_str(&notes->latches));
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
