#include "engine/pins.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/json.h"
#include "engine/compact_private.h"
#include "engine/core.h"
#include "engine/session_private.h"

static void
release_pin(struct tier_pin *p)
{
    free(p->path);
    free(p->fact);
    *p = (struct tier_pin){0};
}

void
pins_release(struct pins *p)
{
    while (p->n)
        release_pin(&p->list[--p->n]);
}

static void
take_out(struct pins *p, size_t i)
{
    release_pin(&p->list[i]);
    memmove(p->list + i, p->list + i + 1, (p->n - i - 1) * sizeof *p->list);
    memmove(p->told + i, p->told + i + 1, (p->n - i - 1) * sizeof *p->told);
    p->list[--p->n] = (struct tier_pin){0};
}

/* ---- what is meant ---- */

static bool
too_long(struct str text, struct err *err)
{
    if (text.len <= PIN_FACT_MAX)
        return false;
    err_set(err, ERR_LIMIT,
            "%zu bytes are too many for a pin (%d at most): put it into a file and "
            "pin that",
            text.len, PIN_FACT_MAX);
    return true;
}

static bool
find_last(struct core *c, struct tier_pin *ret, struct err *err)
{
    core_need_messages(c);
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        struct str said = compact_newest_words(m);
        if (!said.len)
            continue;
        if (too_long(said, err))
            return false;
        memcpy(ret->uuid, m->uuid, sizeof ret->uuid);
        ret->fact = str_dup(said);
        return true;
    }
    return err_set(err, ERR_INVALID, "there is no message of yours yet");
}

static bool
take_file(struct core *c, const char *name, const char *path, struct tier_pin *ret, struct err *err)
{
    struct stat st;
    if (fs_is_dir(path))
        return err_set(err, ERR_INVALID, "'%.200s' is a folder; pin a file of it", name);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "'%.200s' is no regular file", name);
    if (!compact_may_read(c, path, true))
        return err_set(err, ERR_DENIED, "'%.200s' is kept from the model by a deny rule", path);
    ret->path = xstrdup(path);
    return true;
}

/* One word that is no file is a mistyped name, not a fact. */
static bool
find_file_or_fact(struct core *c, struct str what, struct tier_pin *ret, struct err *err)
{
    char *name = str_dup(what);
    char *path =
        name[0] == '~' && name[1] == '/' ? fs_join(c->home, name + 2) : fs_normalize(c->cwd, name);
    bool ok = true;
    if (path && fs_exists(path))
        ok = take_file(c, name, path, ret, err);
    else if (!strpbrk(name, " \t\n") && strpbrk(name, "/."))
        ok = err_set(err, ERR_INVALID, "'%.200s' is no file; a fact is put in words", name);
    else if (too_long(what, err))
        ok = false;
    else
        ret->fact = str_dup(what);
    free(path);
    free(name);
    return ok;
}

static bool
is_same(const struct tier_pin *a, const struct tier_pin *b)
{
    if (a->path || b->path)
        return a->path && b->path && strcmp(a->path, b->path) == 0;
    return strcmp(a->fact, b->fact) == 0;
}

/* ---- the journal ---- */

static bool
note_pin(struct core *c, const struct tier_pin *p, struct err *err)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "op", "add");
    if (p->path)
        jw_kcstr(&w, "path", p->path);
    if (p->fact)
        jw_kcstr(&w, "fact", p->fact);
    if (p->uuid[0])
        jw_kcstr(&w, "message", p->uuid);
    jw_end(&w);
    bool ok = core_note_kept(c, "pin", buf_str(&b), err);
    buf_release(&b);
    return ok;
}

bool
pins_note_all(struct core *c, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < c->pins.n; i++)
        ok = note_pin(c, &c->pins.list[i], err);
    return ok;
}

void
pins_read_note(struct pins *p, struct str record)
{
    struct cJSON *t = json_parse(record, NULL);
    const char *op = json_cstr(t, "op", "");
    const char *path = json_cstr(t, "path", NULL), *fact = json_cstr(t, "fact", NULL);
    int64_t number = json_int(t, "number", 0);
    if (strcmp(op, "remove") == 0 && number >= 1 && (size_t)number <= p->n) {
        take_out(p, (size_t)number - 1);
    } else if (strcmp(op, "add") == 0 && (path || fact) && p->n < PINS_MAX) {
        struct tier_pin *pin = &p->list[p->n];
        p->told[p->n++] = false; /* once more: it may have been pinned last of all */
        struct str uuid = json_str(t, "message");
        *pin = (struct tier_pin){.path = xstrdup(path), .fact = path ? NULL : xstrdup(fact)};
        if (uuid.len && uuid.len < sizeof pin->uuid)
            memcpy(pin->uuid, uuid.ptr, uuid.len);
    }
    json_free(t);
}

/* ---- commands ---- */

bool
pins_add(struct core *c, struct str what, struct err *err)
{
    struct pins *p = &c->pins;
    struct tier_pin pin = {0};
    what = str_trim(what);
    if (p->n == PINS_MAX)
        return err_set(err, ERR_LIMIT,
                       "%d things are pinned, which is all there is room for; "
                       "/pin remove N takes one out",
                       PINS_MAX);
    if (!(str_is(what, "last") ? find_last(c, &pin, err) : find_file_or_fact(c, what, &pin, err)))
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (is_same(&p->list[i], &pin)) {
            release_pin(&pin);
            return err_set(err, ERR_INVALID, "that is pinned already, as number %zu", i + 1);
        }
    if (!session_need_journal(c, err) || !note_pin(c, &pin, err)) {
        release_pin(&pin);
        return false;
    }
    p->told[p->n] = pin.uuid[0] != '\0'; /* the model has read that message */
    p->list[p->n++] = pin;
    return true;
}

bool
pins_remove(struct core *c, size_t number, struct err *err)
{
    if (number < 1 || number > c->pins.n)
        return err_set(err, ERR_INVALID, "there is no pin %zu; /pin lists them", number);
    char *members = xasprintf("\"op\":\"remove\",\"number\":%zu", number);
    bool ok = core_note_kept(c, "pin", str_from(members), err);
    free(members);
    if (ok)
        take_out(&c->pins, number - 1);
    return ok;
}

void
pins_say(const struct core *c, struct buf *out)
{
    if (!c->pins.n)
        buf_adds(out, "nothing is pinned; /pin FILE, /pin WORDS, /pin last");
    for (size_t i = 0; i < c->pins.n; i++) {
        const struct tier_pin *p = &c->pins.list[i];
        struct str fact = str_from(p->fact);
        size_t nl = str_find(fact, '\n', 0), len = nl == (size_t)-1 ? fact.len : nl;
        buf_addf(out, "%s%zu  ", i ? "\n" : "", i + 1);
        if (p->path)
            compact_say_pinned(p->path, out);
        else
            buf_addf(out, "%s%.*s%s", p->uuid[0] ? "message: " : "", (int)len, fact.ptr,
                     len < fact.len ? " ..." : "");
    }
}

/* ---- to the model ---- */

bool
pins_attach(struct core *c, struct buf *out)
{
    struct pins *p = &c->pins;
    bool any = false;
    for (size_t i = 0; i < p->n; i++) {
        if (p->told[i])
            continue;
        if (!any)
            buf_adds(out, PINS_OPEN);
        any = p->told[i] = true;
        if (p->list[i].fact)
            buf_addf(out, "\n- %s", p->list[i].fact);
        else
            buf_addf(out, "\n- the file %s: keep to what it says", p->list[i].path);
    }
    return any;
}

void
pins_told(struct core *c)
{
    for (size_t i = 0; i < c->pins.n; i++)
        c->pins.told[i] = true;
}
