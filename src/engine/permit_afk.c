#include "engine/permit_afk.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/sha256.h"
#include "engine/afk_memory.h"
#include "engine/judge_answer.h"
#include "engine/judge_prompt.h"
#include "engine/permit_private.h"
#include "engine/side.h"

#define TIMEOUT_S 20
#define TIMEOUT_MAX_S 300 /* the ranges are base/config_keys.c's */
#define WAIT_MAX_S 604800
#define QUESTION_MAX ((size_t)256 << 10)
#define DIRS_TOLD 16
#define ANSWER_TOKENS 2000 /* of the classifier, at most */

struct afk {
    struct core *core;
    struct judge *judge;
    char *said[JUDGE_SAID_MAX]; /* oldest first */
    size_t n_said;
    struct judge_past past[JUDGE_PAST_MAX]; /* oldest first */
    size_t n_past;
    char *memory;       /* the person's own instructions; NULL: not read yet */
    char *told;         /* the rules that were said to be set aside */
    bool small_missing; /* the server does not have the small model */
    int64_t since_ms;
};

struct afk *
afk_new(struct core *c)
{
    struct afk *a = xcalloc(1, sizeof *a);
    a->core = c;
    a->judge = judge_new(c->wake, c->cancel);
    a->since_ms = clock_mono_ms();
    return a;
}

static void
forget(struct afk *a)
{
    for (size_t i = 0; i < a->n_said; i++)
        free(a->said[i]);
    for (size_t i = 0; i < a->n_past; i++) {
        free(a->past[i].tool);
        free(a->past[i].what);
    }
    a->n_said = a->n_past = 0;
    free(a->memory);
    free(a->told);
    a->memory = a->told = NULL;
}

void
afk_free(struct afk *a)
{
    if (!a)
        return;
    judge_free(a->judge);
    forget(a);
    free(a);
}

void
afk_new_session(struct afk *a)
{
    judge_forget(a->judge);
    judge_reset(a->judge);
    forget(a);
}

/* ---- what it is told ---- */

void
afk_hear(struct afk *a, const char *text)
{
    if (!str_trim(str_from(text)).len)
        return;
    if (a->n_said == JUDGE_SAID_MAX) {
        free(a->said[0]);
        memmove(a->said, a->said + 1, (a->n_said - 1) * sizeof *a->said);
        a->n_said--;
    }
    a->said[a->n_said++] = xstrdup(text);
}

void
afk_note_past(struct afk *a, const char *tool, const char *what, const char *who, bool allowed)
{
    if (a->n_past == JUDGE_PAST_MAX) {
        free(a->past[0].tool);
        free(a->past[0].what);
        memmove(a->past, a->past + 1, (a->n_past - 1) * sizeof *a->past);
        a->n_past--;
    }
    a->past[a->n_past++] = (struct judge_past){xstrdup(tool), xstrdup(what), who, allowed};
}

static void
write_world(struct permit *p, struct buf *out)
{
    struct afk *a = p->afk;
    const struct core *c = p->core;
    const char *dirs[DIRS_TOLD];
    size_t n = 0;
    for (; n < p->settings.n_dirs && n < DIRS_TOLD; n++)
        dirs[n] = p->settings.dirs[n];
    if (!a->memory)
        a->memory = afk_memory(p->core);
    const struct judge_world w = {
        .root = c->root,
        .home = c->home,
        .dirs = dirs,
        .n_dirs = n,
        .said = (const char *const *)a->said,
        .n_said = a->n_said,
        .memory = str_from(a->memory),
        .config = p->settings.config,
        .rules = &p->settings.rules,
        .trusted = c->trusted,
    };
    judge_prompt_world(&w, out);
}

/* What the classifier is told of the call and of what stands around it. False: the call cannot be told whole. */
static bool
write_told(struct permit *p, const struct permit_call *call, struct buf *out)
{
    const struct core *c = p->core;
    const struct judge_call jc = {
        .tool = call->tool->name,
        .input = call->input,
        .shell = (call->tool->flags & TOOL_SHELL) != 0,
        .root = c->root,
        .cwd = c->cwd,
        .home = c->home,
    };
    buf_adds(out, "\"call\":");
    if (!judge_prompt_call(&jc, out))
        return false;
    buf_addc(out, ',');
    write_world(p, out);
    return !buf_full(out);
}

static void
add_part(struct sha256 *h, const char *s)
{
    sha256_add(h, str_from(s ? s : ""));
    sha256_add(h, str_make("", 1)); /* its NUL, so that no two lists of parts read alike */
}

/*
 * What a verdict is kept by: what was told, and what was not. Values of variables and the content of a change stay out of the question, and
 * where a link leads may be another place by now; a call that differs in any of it is another one.
 */
static bool
write_key(struct permit *p, const struct permit_call *call, const struct decision *d,
          struct buf *out)
{
    struct sha256 h;
    char hex[SHA256_HEX + 1];
    if (!write_told(p, call, out))
        return false;
    sha256_init(&h);
    sha256_add(&h, call->raw);
    add_part(&h, "");
    for (size_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].verdict >= VERDICT_ASK)
            add_part(&h, d->findings[i].reason);
    for (size_t i = 0; i < d->n_effects; i++) {
        add_part(&h, d->effects[i].kind);
        add_part(&h, d->effects[i].path);
        add_part(&h, d->effects[i].leads);
    }
    sha256_hex(&h, hex);
    buf_adds(out, hex);
    return !buf_full(out);
}

static void
write_question(struct permit *p, const struct decision *d, struct str told, struct buf *out)
{
    struct judge_history h = {.past = p->afk->past, .n_past = p->afk->n_past};
    judge_counts(p->afk->judge, &h.row, &h.total);
    buf_addc(out, '{');
    judge_prompt_history(&h, d, out);
    buf_addc(out, ',');
    buf_add_str(out, told);
    buf_addc(out, '}');
}

/* ---- asking ---- */

/* What is out of its range was told when the settings were read, and is ignored. */
static long long
seconds(const struct permit *p, const char *key, long long least, long long most,
        long long fallback)
{
    long long s = config_int(p->settings.config, key, !p->core->trusted, fallback);
    return s >= least && s <= most ? s : fallback;
}

/* The model to ask and, where that is a guess, the one to ask should the server not have it. */
static void
choose_model(const struct permit *p, struct judge_question *q)
{
    const struct core *c = p->core;
    const char *name = c->provider->name;
    const char *set = config_str(p->settings.config, "afk.model", !c->trusted, NULL);
    const struct model_info *small = catalog_small(name);
    if (strcmp(name, "offline") == 0)
        return;
    q->model = c->model;
    if (set && set[0]) {
        const struct model_info *info = strcmp(name, "openai") == 0 ? NULL : catalog_find(set);
        q->model = info ? info->id : set;
    } else if (small && !p->afk->small_missing && strcmp(small->id, c->model) != 0) {
        q->model = small->id;
        q->second_model = c->model;
    }
}

bool
afk_ask(struct permit *p, struct ask *a, const struct permit_call *call, const struct decision *d,
        struct judge_answer *ret)
{
    struct buf key, text;
    struct judge_question q = {
        .ticket = a->id,
        .provider = p->core->provider,
        .session_id = p->core->session_id,
        .timeout_ms = (int)seconds(p, "afk.timeout", 1, TIMEOUT_MAX_S, TIMEOUT_S) * 1000,
    };
    buf_init(&key, QUESTION_MAX);
    buf_init(&text, QUESTION_MAX * 2);
    if (write_key(p, call, d, &key))
        write_question(p, d, str_sub(buf_str(&key), 0, key.len - SHA256_HEX), &text);
    q.key = buf_str(&key);
    q.text = buf_full(&text) ? STR("") : buf_str(&text);
    choose_model(p, &q);
    struct err broke = {0};
    bool now = true;
    if (q.model &&
        !spend_allows_call(p->core, "classifier", q.model, q.text.len, ANSWER_TOKENS, &broke)) {
        *ret = (struct judge_answer){.ticket = a->id, .how = JUDGE_ERROR};
        judge_reason_set(ret, str_from(broke.text));
    } else {
        now = judge_start(p->afk->judge, &q, ret);
    }
    free(a->question);
    a->question = now ? NULL : str_dup(q.key);
    a->judging = !now;
    buf_release(&key);
    buf_release(&text);
    return now;
}

bool
afk_still_asks(struct permit *p, const struct ask *a, const struct permit_call *call,
               const struct decision *d)
{
    struct buf key;
    buf_init(&key, QUESTION_MAX);
    bool same = a->question && write_key(p, call, d, &key) && str_is(buf_str(&key), a->question);
    buf_release(&key);
    return same;
}

void
afk_drop(struct afk *a, uint64_t ticket)
{
    judge_drop(a->judge, ticket);
}

/* ---- what comes back ---- */

/* The request is paid for, whatever becomes of the answer. */
static void
pay(struct permit *p, const struct judge_answer *answer)
{
    struct core *c = p->core;
    c->passport.api_ms += answer->took_ms;
    if (answer->model[0])
        side_count(c, "classifier", answer->model, &answer->usage);
}

uint64_t
afk_take(struct permit *p)
{
    struct judge_answer answer;
    while (judge_take(p->afk->judge, &answer)) {
        const struct model_info *small = catalog_small(p->core->provider->name);
        pay(p, &answer);
        if (small && answer.how == JUDGE_VERDICT && strcmp(answer.model, p->core->model) == 0 &&
            strcmp(small->id, answer.model) != 0)
            p->afk->small_missing = !config_str(p->settings.config, "afk.model", false, NULL);
        struct ask *a = p->asks;
        while (a && a->id != answer.ticket)
            a = a->next;
        if (!a || !a->judging)
            continue;
        a->judging = false;
        a->answer = answer;
        return a->id;
    }
    return 0;
}

static void
tell_off(struct permit *p)
{
    if (p->core->interactive) {
        denials_forgive_classifier(&p->refused);
        core_notice(p->core,
                    "the classifier blocked %d calls in a row or %d in all: from now on you are "
                    "asked; an answer of yours, or toggling AFK, brings it back",
                    JUDGE_ROW_MAX, JUDGE_TOTAL_MAX);
    } else {
        core_notice(p->core,
                    "the classifier blocked %d calls in a row or %d in all and is not asked any "
                    "more: what no rule allows is denied",
                    JUDGE_ROW_MAX, JUDGE_TOTAL_MAX);
    }
}

bool
afk_apply(struct permit *p, struct decision *d, const struct judge_answer *answer)
{
    bool verdict = answer->how == JUDGE_VERDICT || answer->how == JUDGE_CACHED;
    const struct perm_opinion o = {
        .verdict = answer->verdict,
        .confidence = answer->confidence,
        .reason = verdict ? answer->reason : NULL,
        .failure = verdict ? NULL : answer->reason,
        .kept = answer->how == JUDGE_CACHED,
    };
    bool sure = verdict && answer->confidence >= PERM_CONFIDENT && perm_chain_classifier_may(d) &&
                strcmp(answer->verdict, "ask") != 0;
    perm_chain_apply_classifier(d, &o, p->core->interactive);
    if (sure && judge_note(p->afk->judge, d->verdict == VERDICT_DENY))
        tell_off(p);
    return sure;
}

void
afk_person_answered(struct afk *a)
{
    judge_reset(a->judge);
}

/* ---- the mode ---- */

/* Which allow rules do not count while the mode lasts, said when that changes. */
static void
tell_suspended(struct permit *p)
{
    struct buf b;
    size_t n = 0;
    buf_init(&b, 4096);
    const struct perm_rules *rs = permit_rules(p);
    for (size_t i = 0; i < rs->n; i++)
        if (perm_rules_suspended(&rs->rules[i], PERM_AUTO))
            buf_addf(&b, "%s%s", n++ ? ", " : "", rs->rules[i].text);
    bool news = !p->afk->told || strcmp(p->afk->told, buf_cstr(&b)) != 0;
    if (n && news)
        core_notice(p->core,
                    "auto mode sets aside what allows too much while it lasts: %s. The classifier "
                    "decides about those calls",
                    buf_cstr(&b));
    free(p->afk->told);
    p->afk->told = xstrdup(buf_cstr(&b));
    buf_release(&b);
}

void
afk_mode_changed(struct permit *p)
{
    struct afk *a = p->afk;
    judge_forget(a->judge);
    judge_reset(a->judge);
    a->since_ms = clock_mono_ms();
    for (struct ask *k = p->asks; k; k = k->next)
        k->judging = false;
    free(a->told);
    a->told = NULL;
    if (p->core->mode == PERM_AUTO)
        tell_suspended(p);
}

int64_t
afk_max_wait_ms(struct permit *p)
{
    if (p->core->mode != PERM_AUTO || !p->settings.config)
        return 0;
    return seconds(p, "afk.max_wait", 0, WAIT_MAX_S, 0) * 1000;
}

int64_t
afk_since_ms(const struct afk *a)
{
    return a->since_ms;
}
