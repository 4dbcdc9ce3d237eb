#pragma once
/* The inside of permit.h, for permit*.c alone. */
#include "engine/audit.h"
#include "engine/core.h"
#include "engine/denials.h"
#include "engine/judge.h"
#include "engine/permit.h"
#include "engine/permit_settings.h"
#include "engine/session_kept.h"
#include "perm/chain.h"
#include "tools/tool.h"

/* What the model is told of a denial, apart from the reason itself (permit_for_person leaves it out). */
#define NO_WAY_ROUND ". Do not try to get around this; choose another way or ask the person."
#define SAID_NO "the person said no to this call"
#define TOLD_YOU " and told you: "

#define DENIALS_MAX ((size_t)256 << 10)

struct afk;

/* A call that waits for a person, or first for the classifier. The approval is bound to what was shown: tool, input bytes, folder. */
struct ask {
    uint64_t id;
    bool judging;               /* a verdict is on its way */
    char *question;             /* ... to this (afk_still_asks) */
    struct judge_answer answer; /* the one that came */
    bool shown;                 /* EV_PERM_ASK went out */
    char *tool_use_id, *tool, *what, *input, *cwd;
    char *rules[5];
    size_t n_rules;
    bool session;    /* "always" is exactly this call until the session ends */
    uint64_t offer;  /* which telling of it: an "always" holds for the offer that was seen */
    struct buf said; /* the newest telling: why it asks, what "always" would do */
    int64_t since_ms;
    struct ask *next;
};

/* A command that runs without a question until the session ends. permit_kept.c */
struct kept_call {
    int64_t id; /* what /permissions calls it by; never used twice by an engine */
    int64_t at_ms;
    char *key; /* the call as it is compared */
    char *tool, *command, *cwd;
    bool background;
};

struct permit {
    struct core *core;
    struct permit_settings settings;
    struct ask *asks;
    uint64_t last_id;
    struct buf denials; /* JSON objects, comma-separated */
    bool audit_failed;
    struct afk *afk;        /* permit_afk.h */
    struct denials refused; /* in this turn */
    struct kept_call *kept;
    size_t n_kept, cap_kept;
    int64_t last_kept;
};

/* The chain's request for a call, which must outlive it. permit.c */
struct permit_request {
    struct perm_request req;
    const char *dirs[64];
    const char *read_roots[1 + SESSION_FORKS_MAX];
};
void permit_build_request(struct permit *p, const struct permit_call *call,
                          struct permit_request *r);

struct ask *permit_find_ask(struct permit *p, uint64_t id);
/* The chain's decision, with the settings as they are now; never VERDICT_NONE. An ask that nobody can answer is a denial, unless the
 * classifier may decide it. */
void permit_check(struct permit *p, const struct permit_call *call, struct decision *ret);
/* Acts on what was decided; `a` (NULL: none yet) ends with it, or stays as the ask that is shown. */
enum permit_verdict permit_settle(struct permit *p, const struct permit_call *call,
                                  const struct decision *d, const char *who, struct ask *a,
                                  struct buf *ret_reason, uint64_t *ret_ask);
/* Puts it before the classifier. JUDGING: its verdict is on the way. */
enum permit_verdict permit_consult(struct permit *p, const struct permit_call *call,
                                   struct decision *d, struct ask *a, struct buf *ret_reason,
                                   uint64_t *ret_ask);
enum permit_verdict permit_act_on_answer(struct permit *p, const struct permit_call *call,
                                         struct decision *d, struct ask *a,
                                         const struct judge_answer *answer, struct buf *ret_reason,
                                         uint64_t *ret_ask);
/* permit_away.c: a call for the history that the classifier is told; yours. */
char *permit_told_what(const struct permit *p, const struct permit_call *call);

/* permit_always.c. What "always" would do, into the ask and its event; an offer of before is forgotten. */
void permit_offer_rules(struct permit *p, const struct permit_call *call, const struct decision *d,
                        struct ask *a, struct event *e);
/* The person said always: saves the rules, or remembers the call. */
void permit_keep_answer(struct permit *p, const struct permit_call *call, const struct ask *a);

/* permit_kept.c. May exactly this call be allowed until the session ends? Never what only a person may lift. */
bool permit_may_keep(const struct permit_call *call, const struct decision *d);
/* False: too many are kept. */
bool permit_keep(struct permit *p, const struct permit_call *call);
/* Lets an ask through that a person has answered for the session; never one that only a person may lift, never a denial. */
void permit_allow_kept(struct permit *p, const struct permit_call *call, struct decision *d);
void permit_forget_kept(struct permit *p);

/* permit_denials.c: calls of this kind were refused too often in this turn: d becomes a denial that says so. */
bool permit_is_stopped(struct permit *p, const struct permit_call *call, struct decision *d);
/* A call was refused. who: "person", "classifier", "chain"; others do not count. */
void permit_note_refusal(struct permit *p, const struct permit_call *call, const struct decision *d,
                         const char *who);

/* Why not, in words for the model. */
void permit_add_reasons(const struct decision *d, struct buf *out);
void permit_add_denial(struct permit *p, const struct permit_call *call);
/* The same of a request that another one replaces: what it showed, and nobody said no. how, in the log: "edited", or "again" where
 * the folder changed. */
void permit_emit_replaced(struct permit *p, const struct permit_call *call, const struct ask *a,
                          const struct decision *d, const char *how, int64_t waited_ms);
/* EV_PERM_DECIDED and the audit line. ask_id 0: nobody was asked. */
void permit_emit_decided(struct permit *p, const struct permit_call *call, uint64_t ask_id,
                         const struct decision *d, const char *who, bool allowed,
                         int64_t waited_ms);
