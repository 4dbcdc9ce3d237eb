/*
 * Exactly this, until the session ends: the commands that a person said "always" to where no narrow rule would do. They stand in
 * memory alone, are told with who allowed them and when, and are taken back one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/permit_private.h"

#define KEPT_MAX 500 /* calls of one session; past that they ask again */

bool
permit_may_keep(const struct permit_call *call, const struct decision *d)
{
    return (call->tool->flags & TOOL_SHELL) && d->verdict == VERDICT_ASK &&
           d->liftable_by == LIFT_CLASSIFIER && json_str(call->input, "command").len;
}

/* The call as it is compared: tool, folder and input, but for what says nothing of what runs. */
static void
write_key(const struct permit *p, const struct permit_call *call, struct buf *out)
{
    static const char *const idle[] = {"description", "timeout"};
    buf_addf(out, "%s %s", call->tool->name, p->core->cwd);
    for (const struct cJSON *m = json_first(call->input); m; m = json_next(m)) {
        bool counts = json_key(m) != NULL;
        for (size_t i = 0; i < ARRAY_LEN(idle) && counts; i++)
            counts = strcmp(json_key(m), idle[i]) != 0;
        if (!counts)
            continue;
        buf_addc(out, '\n');
        json_quote(out, str_from(json_key(m)));
        buf_addc(out, ' ');
        json_print(m, out);
    }
}

static bool
is_kept(const struct permit *p, const struct permit_call *call)
{
    struct buf key;
    bool found = false;
    buf_init(&key, BUF_MAX);
    write_key(p, call, &key);
    for (size_t i = 0; i < p->n_kept && !found; i++)
        found = str_is(buf_str(&key), p->kept[i].key);
    buf_release(&key);
    return found;
}

bool
permit_keep(struct permit *p, const struct permit_call *call)
{
    struct buf key;
    if (is_kept(p, call))
        return true;
    if (p->n_kept == KEPT_MAX)
        return false;
    buf_init(&key, BUF_MAX);
    write_key(p, call, &key);
    ARRAY_GROW(p->kept, p->n_kept, p->cap_kept);
    p->kept[p->n_kept++] = (struct kept_call){
        .id = ++p->last_kept,
        .at_ms = clock_wall_ms(),
        .key = buf_take(&key),
        .tool = xstrdup(call->tool->name),
        .command = str_dup(json_str(call->input, "command")),
        .cwd = xstrdup(p->core->cwd),
        .background = json_bool(call->input, "run_in_background", false),
    };
    return true;
}

static void
release(struct kept_call *k)
{
    free(k->key);
    free(k->tool);
    free(k->command);
    free(k->cwd);
}

void
permit_forget_kept(struct permit *p)
{
    for (size_t i = 0; i < p->n_kept; i++)
        release(&p->kept[i]);
    free(p->kept);
    p->kept = NULL;
    p->n_kept = p->cap_kept = 0;
}

/* One of --add-dir. What leads there asks again. */
static bool
close_folder(struct permit *p, struct str folder, char **ret_what)
{
    char **v = p->core->given.add_dirs;
    for (; *v; v++) {
        char *dir = permit_settings_dir(p->core, str_from(*v));
        if (!str_is(folder, dir)) {
            free(dir);
            continue;
        }
        *ret_what = dir;
        free(*v);
        for (; *v; v++)
            v[0] = v[1];
        permit_reload(p);
        return true;
    }
    return false;
}

bool
permit_take_back(struct permit *p, struct str number, char **ret_what, struct err *err)
{
    if (str_starts(number, "/") && close_folder(p, number, ret_what))
        return true;
    for (size_t i = 0; i < p->n_kept; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "%lld", (long long)p->kept[i].id);
        if (!str_is(number, id))
            continue;
        *ret_what = xstrdup(p->kept[i].command);
        release(&p->kept[i]);
        p->n_kept--;
        memmove(p->kept + i, p->kept + i + 1, (p->n_kept - i) * sizeof *p->kept);
        return true;
    }
    return err_set(err, ERR_INVALID,
                   "nothing is allowed until the session ends under the number '%.*s'; "
                   "/permissions lists what is",
                   (int)(number.len < 200 ? number.len : 200), number.ptr);
}

void
permit_allow_kept(struct permit *p, const struct permit_call *call, struct decision *d)
{
    if (!p->n_kept || !permit_may_keep(call, d) || !is_kept(p, call))
        return;
    decision_add(d, "session", VERDICT_ALLOW, NULL, NULL,
                 "a person allowed exactly this until the session ends");
    d->verdict = VERDICT_ALLOW;
    d->liftable_by = LIFT_NONE;
}

/* ---- reports ---- */

void
permit_write_kept(const void *permit, struct jw *w)
{
    const struct permit *p = permit;
    jw_array(w);
    for (size_t i = 0; i < p->n_kept; i++) {
        const struct kept_call *k = &p->kept[i];
        jw_object(w);
        jw_kint(w, "id", k->id);
        jw_kcstr(w, "tool", k->tool);
        jw_kcstr(w, "command", k->command);
        jw_kcstr(w, "folder", k->cwd);
        jw_kbool(w, "background", k->background);
        jw_kcstr(w, "who", "person");
        jw_kint(w, "at_ms", k->at_ms);
        jw_end(w);
    }
    for (char *const *v = p->core->given.add_dirs; *v; v++) {
        char *dir = permit_settings_dir(p->core, str_from(*v));
        jw_object(w);
        jw_kcstr(w, "folder", dir);
        jw_kcstr(w, "who", "--add-dir");
        jw_end(w);
        free(dir);
    }
    jw_end(w);
}

/* A command on one line: it must not be able to look like another row. */
static void
add_one_line(struct buf *out, const char *text)
{
    size_t from = out->len;
    text_visible(out, str_from(text));
    for (size_t i = from; i < out->len; i++)
        if (out->data[i] == '\n')
            out->data[i] = ' ';
}

static void
say_folders(const struct permit *p, struct buf *out)
{
    char *const *v = p->core->given.add_dirs;
    if (*v)
        buf_adds(out, "opened by --add-dir until the session ends "
                      "(/permissions remove session FOLDER closes it):\n");
    for (; *v; v++) {
        char *dir = permit_settings_dir(p->core, str_from(*v));
        buf_adds(out, "      ");
        add_one_line(out, dir);
        buf_addc(out, '\n');
        free(dir);
    }
}

void
permit_say_kept(const struct permit *p, struct buf *out)
{
    say_folders(p, out);
    if (!p->n_kept)
        return;
    buf_adds(out, "allowed by a person until the session ends, exactly as it stands here "
                  "(/permissions remove session NUMBER takes it back):\n");
    for (size_t i = 0; i < p->n_kept; i++) {
        const struct kept_call *k = &p->kept[i];
        time_t at = (time_t)(k->at_ms / 1000);
        struct tm tm;
        char when[16] = "";
        if (localtime_r(&at, &tm))
            (void)strftime(when, sizeof when, "%H:%M", &tm);
        buf_addf(out, "%5lld %s  ", (long long)k->id, k->tool);
        add_one_line(out, k->command);
        buf_adds(out, "  (in ");
        add_one_line(out, k->cwd);
        buf_addf(out, "%s, %s)\n", k->background ? ", in the background" : "", when);
    }
}
