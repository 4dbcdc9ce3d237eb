#include "engine/latches.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "engine/core.h"

static const char *const names[] = {
#define X(id, name) [id] = name,
    LATCHES(X)
#undef X
};

const char *
latch_name(enum latch l)
{
    return names[l];
}

static void
note(struct core *c)
{
    struct buf b;
    struct jw w;
    buf_init(&b, 512);
    buf_adds(&b, "\"latches\":");
    jw_init(&w, &b);
    latches_write(&c->latches, &w);
    core_note(c, "latches", NULL, buf_str(&b));
    buf_release(&b);
}

/* A resumed session goes on sending what it sent. */
void
latches_note(struct core *c)
{
    for (size_t i = 0; i < LATCH_COUNT; i++) {
        if (!c->latches.set[i] && !c->latches.refused[i])
            continue;
        note(c);
        return;
    }
}

static void
to_passport(struct core *c)
{
    struct passport *p = &c->passport;
    const bool *set = c->latches.set;
    p->latch_afk = set[LATCH_AFK];
    p->latch_fast = set[LATCH_FAST];
    p->latch_cache_edit = set[LATCH_CACHE_EDITING];
    p->latch_thinking_clear = set[LATCH_THINKING_CLEAR];
}

bool
latch_set(struct core *c, enum latch l)
{
    struct latches *have = &c->latches;
    if (have->set[l])
        return false;
    have->set[l] = true;
    to_passport(c);
    note(c);
    const char *beta = have->refused[l] ? NULL : catalog_beta(c->provider->name, names[l]);
    log_info("latches", "%s is set%s%s", names[l], beta ? ", requests now name " : "",
             beta ? beta : "");
    return beta != NULL;
}

void
latches_clear(struct core *c)
{
    bool any = false;
    for (size_t i = 0; i < LATCH_COUNT; i++)
        any |= c->latches.set[i];
    memset(c->latches.set, 0, sizeof c->latches.set);
    to_passport(c);
    if (any)
        note(c);
    if (c->mode == PERM_AUTO) /* the mode that is on goes on, and says so from the first request */
        latch_set(c, LATCH_AFK);
}

static bool
is_listed(struct str list, const char *name)
{
    struct str part;
    while (str_split(&list, ',', &part))
        if (str_is(str_trim(part), name))
            return true;
    return false;
}

void
latches_betas(const struct core *c, struct buf *out)
{
    for (size_t i = 0; i < LATCH_COUNT; i++) {
        const char *beta = catalog_beta(c->provider->name, names[i]);
        if (!c->latches.set[i] || c->latches.refused[i] || !beta || is_listed(buf_str(out), beta))
            continue;
        if (out->len)
            buf_addc(out, ',');
        buf_adds(out, beta);
    }
}

void
latches_refused(struct core *c, const char *betas)
{
    bool any = false;
    for (size_t i = 0; i < LATCH_COUNT; i++) {
        const char *beta = catalog_beta(c->provider->name, names[i]);
        if (!beta || c->latches.refused[i] || !is_listed(str_from(betas), beta))
            continue;
        c->latches.refused[i] = any = true;
        log_warn("latches", "the server does not know '%s'; it is not sent again", beta);
    }
    if (any)
        note(c);
}

void
latches_write(const struct latches *l, struct jw *w)
{
    jw_object(w);
    for (size_t i = 0; i < LATCH_COUNT; i++)
        jw_kbool(w, names[i], l->set[i]);
    jw_key(w, "refused");
    jw_array(w);
    for (size_t i = 0; i < LATCH_COUNT; i++)
        if (l->refused[i])
            jw_cstr(w, names[i]);
    jw_end(w);
    jw_end(w);
}

static struct latches
of_passport(const struct passport *p)
{
    struct latches l = {0};
    l.set[LATCH_AFK] = p->latch_afk;
    l.set[LATCH_FAST] = p->latch_fast;
    l.set[LATCH_CACHE_EDITING] = p->latch_cache_edit;
    l.set[LATCH_THINKING_CLEAR] = p->latch_thinking_clear;
    return l;
}

void
latches_restore(struct core *c, struct str record)
{
    struct cJSON *t = record.len ? json_parse(record, NULL) : NULL;
    const struct cJSON *n = json_get(t, "latches");
    c->latches = of_passport(&c->passport);
    for (size_t i = 0; json_is_object(n) && i < LATCH_COUNT; i++)
        c->latches.set[i] = json_bool(n, names[i], false);
    for (const struct cJSON *k = json_first(json_get(n, "refused")); k; k = json_next(k))
        for (size_t i = 0; i < LATCH_COUNT; i++)
            c->latches.refused[i] |= str_is(json_value_str(k), names[i]);
    json_free(t);
    to_passport(c);
}
