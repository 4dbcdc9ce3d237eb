#pragma once
/*
 * What a permission decision is made of, as plain data that the chain writes, the executor acts on, the panes show
 * and the audit log keeps. The lattice is deny > ask > allow > none; combining is the maximum.
 */
#include <stdbool.h>
#include <stddef.h>

struct jw;

enum verdict { VERDICT_NONE, VERDICT_ALLOW, VERDICT_ASK, VERDICT_DENY };
enum lift { LIFT_NONE, LIFT_PERSON, LIFT_CLASSIFIER }; /* who may turn an ask into an allow */

/* The modes of permission. */
#define PERM_MODES(X)                                                                              \
    X(PERM_DEFAULT, "default", "default")                                                          \
    X(PERM_ACCEPT_EDITS, "acceptEdits", "accept edits")                                            \
    X(PERM_PLAN, "plan", "plan")                                                                   \
    X(PERM_AUTO, "auto", "auto (AFK)")                                                             \
    X(PERM_DONT_ASK, "dontAsk", "don't ask")                                                       \
    X(PERM_BYPASS, "bypassPermissions", "bypass")
enum perm_mode {
#define X(id, name, shown) id,
    PERM_MODES(X)
#undef X
};

/* One reason: which layer spoke, what it said, and of which part. Strings are owned by the finding. */
struct finding {
    char layer[8]; /* "L1".."L8", "rules", "mode", "trust", "hook" */
    enum verdict verdict;
    char *rule; /* as written, or NULL */
    char *file; /* of the rule, or NULL */
    int line;   /* of the rule, 0: none */
    char *part; /* the sub-command or path it speaks of, or NULL */
    char *reason;
    double confidence; /* 0..1; 1 for everything but the classifier */
};

/* What the call does to files and hosts, as far as that is known before it runs. */
struct decision_effect {
    char kind[16]; /* "read", "read tree", "write", "delete", "delete tree", "run", "net" */
    char *path;    /* absolute, or the host; NULL: not known */
    char *leads;   /* where links lead from there, NULL: nowhere else */
};

struct decision {
    enum verdict verdict;  /* never VERDICT_NONE once decided */
    enum lift liftable_by; /* LIFT_NONE unless verdict is ask */
    struct finding *findings;
    size_t n_findings, cap_findings;
    struct decision_effect *effects; /* at most DECISION_EFFECTS_MAX, then effects_more counts */
    size_t n_effects, cap_effects, effects_more;
};
enum { DECISION_EFFECTS_MAX = 200 };

void decision_init(struct decision *d);
void decision_release(struct decision *d);
/* Appends a finding (strings are copied; any but reason may be NULL); returns it for line and file. */
struct finding *decision_add(struct decision *d, const char *layer, enum verdict v,
                             const char *rule, const char *part, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* The same of texts that change hands. */
struct finding *decision_take(struct decision *d, const char *layer, enum verdict v,
                              const char *rule, char *take_part, char *take_reason);
/* Notes an effect once; path and leads may be NULL. */
void decision_add_effect(struct decision *d, const char *kind, const char *path, const char *leads);
void decision_copy(struct decision *dst, const struct decision *src); /* dst is uninitialised */
/* {"decision":..,"liftable_by":..,"findings":[..],"effects":[{"kind","path"?,"leads"?}..]}: members only, inside an object the caller opened. */
void decision_write(const struct decision *d, struct jw *w);

const char *verdict_name(enum verdict v); /* "allow" "ask" "deny" "none" */
const char *lift_name(enum lift l);       /* "classifier" "person" "none" */
const char *perm_mode_name(enum perm_mode m);
const char *perm_mode_shown(enum perm_mode m);
bool perm_mode_parse(const char *s, enum perm_mode *ret); /* names, and "bypass", "manual" */
/* Shift+Tab: default, acceptEdits, plan, auto (, bypass where allowed), default. */
enum perm_mode perm_mode_next(enum perm_mode m, bool bypass_allowed);
