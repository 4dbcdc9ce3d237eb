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
    free(d->findings);
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
decision_add(struct decision *d, const char *layer, enum verdict v, const char *rule,
             const char *part, const char *fmt, ...)
{
    struct buf reason;
    va_list ap;

    buf_init(&reason, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&reason, fmt, ap);
    va_end(ap);
    struct finding *f = add_finding(d, layer, v);
    f->rule = xstrdup(rule);
    f->part = xstrdup(part);
    f->reason = buf_take(&reason);
    return f;
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
