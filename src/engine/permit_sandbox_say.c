/* What the settings say of the sandbox, and what people are told of it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/permit_private.h"
#include "engine/permit_sandbox_private.h"
#include "perm/confinement.h"

/* ---- what the settings say ---- */

bool
permit_sandbox_flag(struct permit *p, const char *name, bool tighter, bool fallback)
{
    return sandbox_flag(permit_config(p), p->core->trusted, name, tighter, fallback);
}

static bool
is_managed(struct permit *p)
{
    const struct config_source *from =
        config_bool_origin(permit_config(p), "sandbox.enabled", true);
    return from && from->scope == SCOPE_MANAGED;
}

enum sandbox_level
permit_sandbox_level(struct permit *p)
{
    const struct core *c = p->core;
    bool said = permit_sandbox_flag(p, "enabled", true, true) ==
                permit_sandbox_flag(p, "enabled", true, false);
    enum sandbox_level level = !said                                            ? SANDBOX_AFK
                               : permit_sandbox_flag(p, "enabled", true, false) ? SANDBOX_ON
                                                                                : SANDBOX_OFF;
    if (said && level == SANDBOX_ON && is_managed(p))
        return level; /* nobody here may loosen it */
    if (c->sandbox->switched >= 0)
        return (enum sandbox_level)c->sandbox->switched;
    if (c->given.sandbox)
        return strcmp(c->given.sandbox, "off") == 0 ? SANDBOX_OFF : SANDBOX_ON;
    return level;
}

const char *
permit_sandbox_by(struct permit *p)
{
    const struct core *c = p->core;
    if (is_managed(p))
        return "managed settings";
    if (c->sandbox->switched >= 0)
        return "/sandbox";
    if (c->given.sandbox)
        return "--sandbox";
    return permit_sandbox_level(p) == SANDBOX_AFK ? "sandbox.enabled is not set"
                                                  : "sandbox.enabled";
}

size_t
permit_sandbox_list(struct permit *p, const char *path, bool widens, const char **ret)
{
    struct config_item items[PERMIT_SANDBOX_LIST_MAX]; /* the strings live in the config */
    size_t n = config_list(permit_config(p), path, widens && !p->core->trusted, items,
                           PERMIT_SANDBOX_LIST_MAX);
    if (n > PERMIT_SANDBOX_LIST_MAX)
        n = PERMIT_SANDBOX_LIST_MAX;
    for (size_t i = 0; i < n; i++)
        ret[i] = items[i].value.ptr;
    return n;
}

/* ---- for people ---- */

static const char *
level_name(enum sandbox_level level)
{
    return level == SANDBOX_ON ? "on" : level == SANDBOX_AFK ? "auto mode" : "off";
}

static const char *
level_text(enum sandbox_level level)
{
    return level == SANDBOX_ON ? "every command of the model runs inside"
           : level == SANDBOX_AFK
               ? "in auto mode, what only the classifier lets through runs inside"
               : "commands run unconfined";
}

bool
permit_sandbox_switch(struct permit *p, struct str word)
{
    struct permit_sandbox *s = p->core->sandbox;
    int to = str_is(word, "on")        ? SANDBOX_ON
             : str_is(word, "off")     ? SANDBOX_OFF
             : str_is(word, "default") ? -1
                                       : -2;
    if (to == -2)
        return false;
    s->switched = to;
    return true;
}

void
permit_sandbox_say(struct permit *p, struct buf *out)
{
    permit_look(p);
    enum sandbox_level level = permit_sandbox_level(p);
    const struct confinement *in = permit_sandbox_have(p);
    buf_addf(out, "sandbox: %s (%s): %s", level_name(level), permit_sandbox_by(p),
             level_text(level));
    if (level == SANDBOX_OFF) {
        buf_adds(out, "\n/sandbox on or default: for this session");
        return;
    }
    if (!in) {
        buf_addf(out, "\nit cannot be had here: %s", p->core->sandbox->why);
        if (level == SANDBOX_ON)
            buf_adds(out, permit_sandbox_flag(p, "failIfUnavailable", true, false)
                              ? "; commands are refused (sandbox.failIfUnavailable)"
                              : "; commands run unconfined, and ask as without it");
        return;
    }
    struct buf json;
    struct jw w;
    struct err err;
    buf_init(&json, BUF_MAX);
    jw_init(&w, &json);
    jw_array(&w);
    sandbox_describe(confinement_plan(in), sandbox_probe(), &w);
    jw_end(&w);
    struct cJSON *lines = json_parse(buf_str(&json), &err);
    for (const struct cJSON *l = json_first(lines); l; l = json_next(l))
        buf_addf(out, "\n%s: %s", json_cstr(l, "name", ""), json_cstr(l, "value", ""));
    json_free(lines);
    buf_release(&json);
    if (level == SANDBOX_ON && sandbox_plan_proves(confinement_plan(in)) &&
        permit_sandbox_flag(p, "autoAllowBashIfSandboxed", false, true))
        buf_adds(out, "\ncommands inside do not ask for what it holds anyway "
                      "(sandbox.autoAllowBashIfSandboxed)");
    buf_adds(out, "\n/sandbox on, off or default: for this session");
}

void
permit_sandbox_write(struct permit *p, struct jw *w)
{
    permit_look(p);
    enum sandbox_level level = permit_sandbox_level(p);
    const struct confinement *in = level == SANDBOX_OFF ? NULL : permit_sandbox_have(p);
    jw_key(w, "sandbox");
    jw_object(w);
    jw_kcstr(w, "level", level_name(level));
    jw_kcstr(w, "what", level_text(level));
    jw_kcstr(w, "by", permit_sandbox_by(p));
    if (in)
        jw_kcstr(w, "backend", sandbox_kind_name(confinement_plan(in)->kind));
    else if (level != SANDBOX_OFF)
        jw_kcstr(w, "why", p->core->sandbox->why);
    jw_key(w, "lines");
    jw_array(w);
    if (in)
        sandbox_describe(confinement_plan(in), sandbox_probe(), w);
    jw_end(w);
    jw_end(w);
}
