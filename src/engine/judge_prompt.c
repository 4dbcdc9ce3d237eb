/* What stands around the call: the person, the rules, what was decided. */
#include "engine/judge_prompt.h"

#include <string.h>

#include "base/config.h"
#include "base/json.h"
#include "base/text.h"
#include "base/verdict.h"
#include "engine/judge_write.h"
#include "perm/rules.h"

#define SAID_BYTES 2000
#define MEMORY_BYTES 6000
#define POLICY_MAX 30
#define RULES_MAX 80
#define LINE_BYTES 300
#define WHAT_BYTES 200
#define FINDINGS_MAX 24

/* ---- strings ---- */

void
judge_put(struct jw *w, const char *key, struct str s, size_t max)
{
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    struct str part = text_start(s, max);
    text_visible(&shown, part);
    if (part.len < s.len)
        buf_adds(&shown, " ... (cut)");
    if (key)
        jw_kstr(w, key, buf_str(&shown));
    else
        jw_str(w, buf_str(&shown));
    buf_release(&shown);
}

/* ---- the person ---- */

static void
write_policy(struct jw *w, const struct config *config)
{
    static const char *const lists[][2] = {
        {"environment", "autoMode.environment"},
        {"allow", "autoMode.allow"},
        {"soft_deny", "autoMode.soft_deny"},
        {"hard_deny", "autoMode.hard_deny"},
    };
    struct config_item items[POLICY_MAX];
    jw_key(w, "policy");
    jw_object(w);
    for (size_t i = 0; config && i < ARRAY_LEN(lists); i++) {
        size_t n = config_list(config, lists[i][1], true, items, POLICY_MAX);
        if (!n)
            continue;
        jw_key(w, lists[i][0]);
        jw_array(w);
        for (size_t k = 0; k < n && k < POLICY_MAX; k++)
            if (!str_is(items[k].value, "$defaults"))
                judge_put(w, NULL, items[k].value, LINE_BYTES);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_person(struct jw *w, const struct judge_world *world)
{
    jw_key(w, "person");
    jw_object(w);
    jw_key(w, "said");
    jw_array(w);
    for (size_t i = 0; i < world->n_said; i++)
        judge_put(w, NULL, str_from(world->said[i]), SAID_BYTES);
    jw_end(w);
    if (world->memory.len)
        judge_put(w, "instructions", world->memory, MEMORY_BYTES);
    write_policy(w, world->config);
    jw_end(w);
}

/* ---- rules ---- */

static bool
counts(const struct judge_world *w, const struct perm_rule *r)
{
    bool repo = r->scope == SCOPE_PROJECT || r->scope == SCOPE_LOCAL;
    return r->verdict != VERDICT_ALLOW || w->trusted || !repo;
}

/* A rule that widens is no argument when it comes from the project: it only says what runs unasked. */
static void
write_rules(struct jw *w, const struct judge_world *world)
{
    static const enum verdict lists[] = {VERDICT_DENY, VERDICT_ASK, VERDICT_ALLOW};
    jw_key(w, "rules");
    jw_object(w);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        size_t n = 0;
        jw_key(w, verdict_name(lists[i]));
        jw_array(w);
        for (size_t k = 0; world->rules && k < world->rules->n && n < RULES_MAX; k++) {
            const struct perm_rule *r = &world->rules->rules[k];
            if (r->verdict != lists[i] || !counts(world, r))
                continue;
            judge_put(w, NULL, str_from(r->text), LINE_BYTES);
            n++;
        }
        jw_end(w);
    }
    jw_end(w);
}

void
judge_prompt_world(const struct judge_world *world, struct buf *out)
{
    struct jw w;
    jw_init(&w, out); /* members of an object that others go on with */
    write_person(&w, world);
    write_rules(&w, world);
    jw_key(&w, "place");
    jw_object(&w);
    judge_put(&w, "project", str_from(world->root), LINE_BYTES);
    jw_key(&w, "also");
    jw_array(&w);
    for (size_t i = 0; i < world->n_dirs; i++)
        judge_put(&w, NULL, str_from(world->dirs[i]), LINE_BYTES);
    jw_end(&w);
    judge_put(&w, "home", str_from(world->home), LINE_BYTES);
    jw_end(&w);
}

/* ---- what was decided ---- */

static void
write_past(struct jw *w, const struct judge_past *p)
{
    jw_object(w);
    judge_put(w, "tool", str_from(p->tool), WHAT_BYTES);
    judge_put(w, "what", str_from(p->what), WHAT_BYTES);
    jw_kcstr(w, "was", p->allowed ? "allowed" : "refused");
    jw_kcstr(w, "by", p->who);
    jw_end(w);
}

static void
write_asks(struct jw *w, const struct decision *d)
{
    size_t n = 0;
    jw_key(w, "asks");
    jw_array(w);
    for (size_t i = 0; i < d->n_findings && n < FINDINGS_MAX; i++) {
        const struct finding *f = &d->findings[i];
        if (f->verdict != VERDICT_ASK)
            continue;
        judge_put(w, NULL, str_from(f->reason), LINE_BYTES);
        n++;
    }
    jw_end(w);
}

void
judge_prompt_history(const struct judge_history *h, const struct decision *d, struct buf *out)
{
    struct jw w;
    jw_init(&w, out); /* members of an object that others go on with */
    jw_key(&w, "history");
    jw_object(&w);
    jw_kint(&w, "blocked_in_a_row", h->row);
    jw_kint(&w, "blocked_in_all", h->total);
    jw_key(&w, "last");
    jw_array(&w);
    for (size_t i = 0; i < h->n_past; i++)
        write_past(&w, &h->past[i]);
    jw_end(&w);
    jw_end(&w);
    write_asks(&w, d);
}
