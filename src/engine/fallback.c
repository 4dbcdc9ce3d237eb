#include "engine/fallback.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/core.h"
#include "engine/failure.h"

/* The i-th name of the list, yours; NULL past its end. */
static char *
name_at(const char *list, size_t i)
{
    struct str rest = str_from(list), name;
    while (str_split(&rest, ',', &name)) {
        name = str_trim(name);
        if (name.len && i-- == 0)
            return str_dup(name);
    }
    return NULL;
}

static bool
is_in_use(struct core *c, const char *name)
{
    const struct model_info *info = catalog_find(name);
    return strcmp(name, c->model) == 0 || (info && info == c->info);
}

/* The name of the next one, yours; NULL: none is left. */
static char *
next_name(struct core *c)
{
    char *name;
    if (!c->fallback.on)
        c->fallback.next = 0; /* the person chose since */
    while ((name = name_at(c->fallback.list, c->fallback.next)) && is_in_use(c, name)) {
        free(name);
        c->fallback.next++;
    }
    return name;
}

bool
fallback_left(struct core *c)
{
    char *name = next_name(c);
    free(name);
    return name != NULL;
}

bool
fallback_next(struct core *c, const struct err *err)
{
    char *name = next_name(c);
    if (!name)
        return false;
    c->fallback.next++;
    core_notice(c, "%s does not answer (%s: %.200s); going on with %s", c->model,
                failure_of(err)->what, err->text, name);
    if (!c->fallback.on) {
        free(c->fallback.first);
        c->fallback.first = xstrdup(c->model);
    }
    core_set_model(c, name);
    c->fallback.on = true;
    c->fallback.since_ms = clock_mono_ms();
    core_emit_session(c, false);
    free(name);
    return true;
}

void
fallback_give_up(struct core *c, const struct err *err)
{
    if (!c->fallback.on || !c->fallback.first || !failure_of(err)->fallback || fallback_left(c))
        return;
    core_notice(c, "no other model answers; the next prompt goes to %s", c->fallback.first);
    core_set_model(c, c->fallback.first); /* also ends the fallback */
    core_emit_session(c, false);
}

void
fallback_return(struct core *c)
{
    int64_t keep = c->seams.fallback_ms ? c->seams.fallback_ms : FALLBACK_BACK_MS;
    if (!c->fallback.on || !c->fallback.first || clock_mono_ms() - c->fallback.since_ms < keep)
        return;
    core_notice(c, "back to %s, which did not answer a while ago", c->fallback.first);
    core_set_model(c, c->fallback.first); /* also ends the fallback */
    core_emit_session(c, false);
}
