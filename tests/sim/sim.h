#pragma once
/*
 * One simulated session: a person, the real engine, a model behind a simulated server, in one world (sim/world.h). What a suite wants
 * of it, and what it came to. One session a process at a time: `sim` of sim/session.h is it.
 *
 *     struct sim_report r;
 *     session_run(&profile, seed, false, NULL, &r);     // r.ok, else r.why
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/loop.h"

/* X(id, name, how often of 1000 requests in the suite of faults) */
#define SIM_FAULTS(X)                                                                              \
    X(F_TOO_LONG_ONCE, "413_once", 10)       /* one refusal, the next passes */                    \
    X(F_WINDOW_SHRINKS, "window_shrinks", 6) /* the server takes less from here on */              \
    X(F_BYTES_SHRINK, "bytes_shrink", 4)     /* ... by the size of the body, 413 */                \
    X(F_RATE_SECONDS, "429_seconds", 12)                                                           \
    X(F_RATE_DATE, "429_date", 8)                                                                  \
    X(F_RATE_BARE, "429_bare", 8)                                                                  \
    X(F_SPEND_CAP, "429_spend_cap", 3)                                                             \
    X(F_OVERLOADED, "529_storm", 8)                                                                \
    X(F_SERVER, "500", 10)                                                                         \
    X(F_GATEWAY, "504", 6)                                                                         \
    X(F_NO_CONNECTION, "no_connection", 8)                                                         \
    X(F_CUT, "cut", 40)                                                                            \
    X(F_STALL, "stall", 8)                                                                         \
    X(F_ERROR_EVENT, "error_event", 10)                                                            \
    X(F_TOO_LONG_EVENT, "too_long_event", 3)                                                       \
    X(F_JUNK, "junk", 8)                                                                           \
    X(F_BAD_INPUT, "bad_tool_input", 15)                                                           \
    X(F_REPEATED_ID, "repeated_id", 15)                                                            \
    X(F_REFUSAL, "refusal", 6)                                                                     \
    X(F_EMPTY, "empty_end_turn", 12)                                                               \
    X(F_PAUSE, "pause_turn", 10)                                                                   \
    X(F_MAX_TOKENS, "max_tokens", 15)                                                              \
    X(F_FULL, "context_exceeded", 4)                                                               \
    X(F_BETA, "unknown_beta", 3)                                                                   \
    X(F_BLOCK, "bad_block", 4)                                                                     \
    X(F_MODEL, "unknown_model", 1)                                                                 \
    X(F_SIDE, "side_call_fails", 150) /* of 1000 summaries: none, refused, rambling */
enum sim_fault {
#define X(id, ...) id,
    SIM_FAULTS(X)
#undef X
        F_COUNT,
    F_NONE = F_COUNT
};
extern const char *const sim_fault_names[F_COUNT];

#define SIM_TRANSITIONS 6
#define SIM_TIERS 9
extern const char *const sim_transition_names[SIM_TRANSITIONS];
extern const char *const sim_tier_names[SIM_TIERS];

/* What a suite wants of its sessions. */
struct sim_profile {
    const char *name;
    unsigned fault[F_COUNT];
    int64_t window; /* tokens; 0: drawn, 16,000 to 60,000 */
    unsigned prompts_min, prompts_max;
    unsigned steps_max;  /* rounds of tools a prompt takes */
    unsigned result_max; /* bytes of a command's output */
    unsigned huge_max;   /* ... of one in twenty */
    unsigned trouble;    /* of 1000 events: the person does something */
    unsigned kills, compacts, clears, pins, modes, hooks; /* of 1000, before each prompt */
    unsigned asks, denies;                                /* of 1000 calls */
    unsigned facts;                                       /* said in the course of the session */
    unsigned caps;       /* of 1000 sessions: a cap of turns, or of money */
    unsigned new_pins;   /* of 1000 pins where nothing said is left: words that were never typed */
    int64_t force_least; /* tokens of messages there are before that */
    bool force_too_long; /* at a random request: what the recovery suite counts */
    bool plain_retry;    /* the client sends the same request again, and no more is done */
    bool strict;         /* the last, calm prompt must complete */
    bool
        no_summary; /* the model never writes one, and no turn may end because the context is full */
    bool quiet_disk; /* the journal is not read at the end: a long session */
};

/* How a request was forced to be too long (recovery). */
enum sim_force { FORCE_ONCE, FORCE_WINDOW, FORCE_BYTES, FORCE_COUNT };
extern const char *const sim_force_names[FORCE_COUNT];

struct sim_report { /* goes through a pipe at once: keep it below 4 KiB */
    uint64_t seed;
    bool ok, stuck;
    char why[400];
    uint32_t exits[LOOP_EXIT_COUNT], transitions[SIM_TRANSITIONS], tiers[SIM_TIERS],
        tiers_failed[SIM_TIERS], faults[F_COUNT];
    uint32_t counts; /* of tokens, by the server */
    uint32_t requests, side_requests, submits, rounds, calls, messages, kills, resumes, pins,
        retries, cache_breaks;
    uint32_t checks; /* facts looked for in requests */
    int64_t virtual_ms, real_us, body_bytes, tokens, tokens_cached;
    uint64_t steps, outcome; /* outcome: a hash over all that was sent and said */
    /* recovery */
    uint32_t forced[FORCE_COUNT], recovered[FORCE_COUNT];
    uint32_t facts_said, facts_kept, pins_said, pins_kept,
        pins_late; /* late: no request came after */
};

/* log: what happens is told on stderr. bodies: a file for the requests, or NULL. */
void session_run(const struct sim_profile *p, uint64_t seed, bool log, const char *bodies,
                 struct sim_report *ret);
/* One session of `rounds` rounds (requests with their tools); called after each prompt. */
typedef void (*session_probe)(const struct sim_report *so_far);
void session_long(const struct sim_profile *p, uint64_t seed, unsigned rounds, session_probe probe,
                  struct sim_report *ret);
/* profiles.c */
const struct sim_profile *profile_find(const char *name); /* NULL: none */
