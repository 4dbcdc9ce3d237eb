/* Slash commands about whole sessions. */
#include "engine/command_session.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/tasks.h"
#include "store/export.h"

#define SHOWN_SESSIONS 20

/* ---- another session in the place of this one ---- */

static void
show_session(struct engine *e)
{
    engine_publish_id(e);
    core_emit_session(&e->core, true);
    struct core *c = &e->core;
    if (c->resumed)
        resume_replay(c);
    else /* the totals of the session that was left are not this one's */
        core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
    context_emit(c);
}

void
command_clear(struct engine *e, struct str arg)
{
    core_save_passport(&e->core, SESSION_IDLE, NULL);
    core_session_new(&e->core, NULL);
    show_session(e);
    tasks_session_changed(&e->core, str_is(arg, "stop"), ", or with /clear stop");
}

/* Goes over to `id`. When that fails in the middle, the session that was left is opened again. */
static bool
go_to(struct engine *e, const char *id, bool fork)
{
    struct core *c = &e->core;
    struct err err = {0}, again = {0};
    char left[sizeof c->session_id];
    memcpy(left, c->session_id, sizeof left);
    bool had_journal = c->journal != NULL;
    core_save_passport(c, SESSION_IDLE, NULL);
    bool ok = core_session_resume(c, id, fork, &err);
    if (!ok)
        core_refuse_err(c, &err);
    if (!ok && !strcmp(left, c->session_id))
        return false; /* refused before anything changed */
    if (ok &&
        !fork) /* a copy goes on as it was; who reads and plans does not begin to edit by it */
        core_restore_choices(c, c->given.mode || c->mode == PERM_PLAN);
    if (!ok && (!had_journal || !core_session_resume(c, left, false, &again)))
        core_session_new(c, NULL);
    show_session(e);
    tasks_session_changed(c, false, "");
    return ok;
}

void
command_resume(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    if (arg.len > 2 && arg.ptr[0] == '"' && arg.ptr[arg.len - 1] == '"') /* not needed, not wrong */
        arg = str_sub(arg, 1, arg.len - 1);
    char *id = str_dup(arg);
    if (!arg.len)
        core_refuse(c, "which one? /resume ID or NAME (/sessions lists them)");
    else if (strcmp(id, c->session_id) == 0)
        core_notice(c, "that is this session");
    else
        go_to(e, id, false);
    free(id);
}

void
command_fork(struct engine *e, struct str arg)
{
    (void)arg;
    struct core *c = &e->core;
    char from[sizeof c->session_id];
    if (!conversation_len(c->conv)) {
        core_refuse(c, "there is nothing to fork yet");
        return;
    }
    memcpy(from, c->session_id, sizeof from);
    if (go_to(e, from, true))
        core_notice(c, "this is a copy of %.8s, which stays as it was", from);
}

/* ---- its name ---- */

void
command_rename(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    struct err err = {0};
    if (!arg.len) {
        core_notice(c, c->title ? "this session's name is '%s'" : "this session has no name%s",
                    c->title ? c->title : ": /rename NAME");
        return;
    }
    char *title = str_dup(arg);
    if (core_rename(c, title, &err)) {
        core_emit_session(c, false);
        core_notice(c, "this session's name is now '%s'", c->title);
    } else {
        core_refuse_err(c, &err);
    }
    free(title);
}

/* ---- a file of it ---- */

struct wanted {
    enum export_format format;
    bool force, named; /* named: --format */
    struct str file;
};

/* Nobody opens Markdown as a picture. */
static bool
is_known_kind(struct core *c, const struct wanted *w)
{
    static const char *const other[] = {".pdf", ".html", ".htm", ".docx", ".png", ".csv", ".xml"};
    for (size_t i = 0; !w->named && i < ARRAY_LEN(other); i++)
        if (str_ends(w->file, other[i])) {
            core_refuse(c,
                        "/export writes Markdown, JSON (.json) or JSON lines (.jsonl), not %s; for "
                        "one of these under that name: --format md|json|jsonl",
                        other[i]);
            return false;
        }
    return true;
}

/* A blank and "--force" at the end: what was typed goes on where the message said so. */
static struct str
take_last_force(struct str arg, bool *ret_force)
{
    static const char word[] = " --force";
    if (!str_ends(arg, word))
        return arg;
    *ret_force = true;
    return str_trim(str_sub(arg, 0, arg.len - (sizeof word - 1)));
}

/* False: there is no such option, or its value is missing or wrong. */
static bool
take_option(struct str word, struct str *rest, struct wanted *ret)
{
    struct str value;
    if (str_is(word, "--force"))
        return ret->force = true;
    if (!str_is(word, "--format") || !str_split(rest, ' ', &value))
        return false;
    char *name = str_dup(value);
    ret->named = export_format_parse(name, &ret->format);
    free(name);
    return ret->named;
}

static bool
read_arguments(struct core *c, struct str arg, struct wanted *ret)
{
    struct str word;
    *ret = (struct wanted){.format = EXPORT_MARKDOWN};
    arg = take_last_force(arg, &ret->force);
    while (str_starts(arg, "--") && str_split(&arg, ' ', &word)) {
        if (!take_option(word, &arg, ret)) {
            core_refuse(c, "usage: /export [--force] [--format md|json|jsonl] [FILE]");
            return false;
        }
        arg = str_trim(arg);
    }
    ret->file = arg;
    if (!ret->named && str_ends(arg, ".json"))
        ret->format = EXPORT_JSON;
    if (!ret->named && str_ends(arg, ".jsonl"))
        ret->format = EXPORT_JSONL;
    return is_known_kind(c, ret);
}

static char *
when_begun(struct core *c)
{
    struct message *m = conversation_message(c->conv, 0);
    struct buf b;
    buf_init(&b, 64);
    if (m && m->wall_ms)
        clock_iso8601(m->wall_ms, &b);
    message_free(m);
    return buf_take(&b);
}

void
command_export(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    struct wanted w;
    struct err err = {0};
    if (!read_arguments(c, arg, &w))
        return;
    if (!conversation_len(c->conv)) {
        core_refuse(c, "there is nothing to export yet");
        return;
    }
    if (str_is(w.file, "-")) {
        core_refuse(c,
                    "/export writes a file, and '-' is none: name one; for standard output: "
                    "yare export %.8s",
                    c->session_id);
        return;
    }
    char *name = w.file.len
                     ? str_dup(w.file)
                     : xasprintf("session-%.8s.%s", c->session_id, export_format_suffix(w.format));
    char *path =
        name[0] == '~' && name[1] == '/' ? fs_join(c->home, name + 2) : fs_normalize(c->cwd, name);
    char *begun = when_begun(c);
    const struct export_head head = {
        .title = c->title, .id = c->session_id, .cwd = c->original_cwd, .created = begun};
    if (!path)
        core_refuse(c, "'%s' is no path", name);
    else if (export_file(c->conv, &head, w.format, path, w.force, &err))
        core_notice(c, "exported to %s", path);
    else
        core_refuse_err(c, &err);
    free(begun);
    free(path);
    free(name);
}

/* ---- which there are ---- */

static void
add_session(struct buf *out, const struct session_info *s, int64_t now)
{
    /* the clock may have been set back since */
    int64_t minutes = now > s->last_ms ? (now - s->last_ms) / 60000 : 0;
    buf_addf(out, "%.8s  %lld %s ago, %lld messages%s  %s\n", s->id,
             (long long)(minutes < 60     ? minutes
                         : minutes < 2880 ? minutes / 60
                                          : minutes / 1440),
             minutes < 60     ? "min"
             : minutes < 2880 ? "h"
                              : "d",
             (long long)s->messages, s->print_mode ? ", -p" : "", s->title);
    if (s->excerpt)
        buf_addf(out, "          %s\n", s->excerpt);
}

void
command_sessions(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    struct session_info *list;
    struct buf b;
    size_t n;
    bool all;
    struct err err = {0};
    if (!session_search(c->data_dir, c->root, arg, &list, &n, &all, &err)) {
        core_refuse_err(c, &err);
        return;
    }
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < n && i < SHOWN_SESSIONS; i++)
        add_session(&b, &list[i], clock_wall_ms());
    if (n > SHOWN_SESSIONS || !all)
        buf_addf(&b, "and %zu more%s: `yare sessions` lists them\n",
                 n > SHOWN_SESSIONS ? n - SHOWN_SESSIONS : 0, all ? "" : " that are older");
    if (!n)
        buf_adds(&b, arg.len ? "no session holds these words" : "no session yet");
    core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
    session_list_free(list, n);
}
