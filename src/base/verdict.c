#include "base/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

static const char *const mode_names[] = {
#define X(id, name, shown) name,
    PERM_MODES(X)
#undef X
};
static const char *const mode_shown[] = {
#define X(id, name, shown) shown,
    PERM_MODES(X)
#undef X
};

void
decision_init(struct decision *d)
{
    *d = (struct decision){0};
}

void
decision_release(struct decision *d)
{
    for (size_t i = 0; i < d->n_findings; i++) {
        struct finding *f = &d->findings[i];
        free(f->rule);
        free(f->file);
        free(f->part);
        free(f->reason);
    }
    for (size_t i = 0; i < d->n_effects; i++) {
        free(d->effects[i].path);
        free(d->effects[i].leads);
    }
    free(d->findings);
    free(d->effects);
    *d = (struct decision){0};
}

static struct finding *
add_finding(struct decision *d, const char *layer, enum verdict v)
{
    ARRAY_GROW(d->findings, d->n_findings, d->cap_findings);
    struct finding *f = &d->findings[d->n_findings++];
    *f = (struct finding){.verdict = v, .confidence = 1};
    snprintf(f->layer, sizeof f->layer, "%s", layer);
    return f;
}

struct finding *
decision_take(struct decision *d, const char *layer, enum verdict v, const char *rule,
              char *take_part, char *take_reason)
{
    struct finding *f = add_finding(d, layer, v);
    f->rule = xstrdup(rule);
    f->part = take_part;
    f->reason = take_reason;
    return f;
}

struct finding *
decision_add(struct decision *d, const char *layer, enum verdict v, const char *rule,
             const char *part, const char *fmt, ...)
{
    struct buf reason;
    va_list ap;

    buf_init(&reason, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&reason, fmt, ap);
    va_end(ap);
    return decision_take(d, layer, v, rule, xstrdup(part), buf_take(&reason));
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

void
decision_add_effect(struct decision *d, const char *kind, const char *path, const char *leads)
{
    if (leads && path && strcmp(path, leads) == 0)
        leads = NULL;
    for (size_t i = 0; i < d->n_effects; i++)
        if (strcmp(d->effects[i].kind, kind) == 0 && same_text(d->effects[i].path, path) &&
            same_text(d->effects[i].leads, leads))
            return;
    if (d->n_effects == DECISION_EFFECTS_MAX) {
        d->effects_more++;
        return;
    }
    ARRAY_GROW(d->effects, d->n_effects, d->cap_effects);
    struct decision_effect *e = &d->effects[d->n_effects++];
    *e = (struct decision_effect){.path = xstrdup(path), .leads = xstrdup(leads)};
    snprintf(e->kind, sizeof e->kind, "%s", kind);
}

void
decision_copy(struct decision *dst, const struct decision *src)
{
    decision_init(dst);
    dst->verdict = src->verdict;
    dst->liftable_by = src->liftable_by;
    for (size_t i = 0; i < src->n_findings; i++) {
        const struct finding *s = &src->findings[i];
        struct finding *f = add_finding(dst, s->layer, s->verdict);
        f->rule = xstrdup(s->rule);
        f->file = xstrdup(s->file);
        f->line = s->line;
        f->part = xstrdup(s->part);
        f->reason = xstrdup(s->reason);
        f->confidence = s->confidence;
    }
    for (size_t i = 0; i < src->n_effects; i++)
        decision_add_effect(dst, src->effects[i].kind, src->effects[i].path, src->effects[i].leads);
    dst->effects_more = src->effects_more;
}

static void
write_effects(const struct decision *d, struct jw *w)
{
    jw_key(w, "effects");
    jw_array(w);
    for (size_t i = 0; i < d->n_effects; i++) {
        jw_object(w);
        jw_kcstr(w, "kind", d->effects[i].kind);
        if (d->effects[i].path)
            jw_kcstr(w, "path", d->effects[i].path);
        if (d->effects[i].leads)
            jw_kcstr(w, "leads", d->effects[i].leads);
        jw_end(w);
    }
    jw_end(w);
    if (d->effects_more)
        jw_kint(w, "effects_more", (int64_t)d->effects_more);
}

void
decision_write(const struct decision *d, struct jw *w)
{
    jw_kcstr(w, "decision", verdict_name(d->verdict));
    jw_kcstr(w, "liftable_by", lift_name(d->liftable_by));
    jw_key(w, "findings");
    jw_array(w);
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct finding *f = &d->findings[i];
        jw_object(w);
        jw_kcstr(w, "layer", f->layer);
        jw_kcstr(w, "decision", verdict_name(f->verdict));
        if (f->rule)
            jw_kcstr(w, "rule", f->rule);
        if (f->file)
            jw_kcstr(w, "file", f->file);
        if (f->line)
            jw_kint(w, "line", f->line);
        if (f->part)
            jw_kcstr(w, "part", f->part);
        jw_kcstr(w, "reason", f->reason);
        jw_knum(w, "confidence", f->confidence);
        jw_end(w);
    }
    jw_end(w);
    if (d->n_effects)
        write_effects(d, w);
}

const char *
verdict_name(enum verdict v)
{
    static const char *const names[] = {"none", "allow", "ask", "deny"};
    return names[v];
}

const char *
lift_name(enum lift l)
{
    static const char *const names[] = {"none", "person", "classifier"};
    return names[l];
}

const char *
perm_mode_name(enum perm_mode m)
{
    return mode_names[m];
}

const char *
perm_mode_shown(enum perm_mode m)
{
    return mode_shown[m];
}

bool
perm_mode_parse(const char *s, enum perm_mode *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(mode_names); i++)
        if (strcmp(s, mode_names[i]) == 0) {
            *ret = (enum perm_mode)i;
            return true;
        }
    if (strcmp(s, "bypass") == 0)
        *ret = PERM_BYPASS;
    else if (strcmp(s, "manual") == 0)
        *ret = PERM_DEFAULT;
    else
        return false;
    return true;
}

enum perm_mode
perm_mode_next(enum perm_mode m, bool bypass_allowed)
{
    switch (m) {
    case PERM_DEFAULT:
        return PERM_ACCEPT_EDITS;
    case PERM_ACCEPT_EDITS:
        return PERM_PLAN;
    case PERM_PLAN:
        return PERM_AUTO;
    case PERM_AUTO:
        return bypass_allowed ? PERM_BYPASS : PERM_DEFAULT;
    case PERM_DONT_ASK:
    case PERM_BYPASS:
        break;
    }
    return PERM_DEFAULT;
}
