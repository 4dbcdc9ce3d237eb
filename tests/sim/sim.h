#pragma once
/*
 * One simulated session: a person, the real engine, a model behind a simulated server, in one world (sim/world.h). Everything here
 * belongs to whoever has the baton, so nothing is locked. One session a process at a time: `sim` is it.
 *
 *     struct sim_report r;
 *     session_run(&profile, seed, &r);     // r.ok, else r.why
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/message.h"
#include "engine/engine.h"
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
    bool quiet_disk;     /* the journal is not read at the end: a long session */
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
    uint32_t facts_said, facts_kept, pins_said, pins_kept;
};

/* ---- a request as the server reads it ---- */

struct sim_message {
    size_t from, len; /* in view.body */
    struct message *m;
    int64_t tokens, result_tokens;
    unsigned *tags; /* of the person's prompts that stand in it */
    size_t n_tags;
};
struct view {
    struct buf body;  /* without cache marks */
    size_t raw_bytes; /* with them */
    int marks;
    bool has_tools, edits_context;
    struct str system, tools;
    char model[64];
    int max_tokens;
    struct sim_message *msgs;
    size_t n, cap;
    size_t same; /* messages equal to those of the request before */
    int64_t tokens, head_tokens;
};
void view_release(struct view *v);
/* Parses; `before` gives up what is the same. NULL: fine, else what is wrong with the request (static). */
const char *view_read(struct view *v, const struct str *slices, size_t n, struct view *before);
bool view_has_tag(const struct view *v, unsigned tag);
int64_t count_tokens(struct str text);

/* ---- server and wire ---- */

enum plan_end { PLAN_DONE, PLAN_CUT, PLAN_STALL };
struct plan {
    bool no_connection;
    int status;
    char retry_after[64], request_id[32];
    const char *content_type;
    struct buf bytes;
    enum plan_end end;
};

struct server {
    struct view last; /* the main conversation's last request */
    uint64_t head_hash;
    int64_t window;
    size_t max_bytes;
    unsigned n_requests, storm, cuts; /* storm, cuts: how many more of the same come */
    bool calm;                        /* no faults */
    bool beta_known;
    unsigned next_id, steps_left, answers;
    unsigned force_at; /* the request that is forced to be too long; 0: none */
    enum sim_force force;
    bool forcing; /* the force was used, its turn is not over */
    bool once_refused;
    struct known_id {
        char id[24];
        uint64_t input;
    } * ids;
    size_t n_ids, cap_ids;
    unsigned used_ids_from; /* ids before this one belong to another conversation */
};

void server_answer(struct server *s, const struct str *slices, size_t n_slices, const char *betas,
                   struct plan *ret);
void server_count(struct server *s, const struct str *slices, size_t n_slices, struct plan *ret);
void model_answer(struct server *s, const struct view *v, enum sim_fault fault, struct buf *out);
void model_side_answer(struct server *s, const struct view *v, enum sim_fault fault,
                       struct buf *out);
bool model_signature_holds(struct str thinking, struct str signature);
uint64_t server_input_hash(struct str input);

/* ---- the session ---- */

enum said_state { SAID_SENT, SAID_KEPT, SAID_FREED, SAID_DROPPED };
struct said {
    unsigned tag;
    enum said_state state;
    bool steer;
    bool compacted; /* a compaction came after it: it need not stand in requests */
    bool cleared;   /* belongs to a conversation before /clear */
};
struct fact {
    char text[120];
    bool said, pinned; /* acknowledged */
    unsigned tag;
};
#define FACTS_MAX 24

struct sim {
    const struct sim_profile *profile;
    struct sim_report *report;
    struct server server;
    struct engine *e;
    struct engine_config cfg;
    struct engine_seams seams;
    char dir[80], *root, *data, *config, session[40];
    struct said *said;
    size_t n_said, cap_said;
    struct fact facts[FACTS_MAX];
    size_t n_facts;
    char **ran; /* ids of tool calls that ran */
    size_t n_ran, cap_ran;
    int open_blocks, open_tools, open_turns, open_compacts;
    unsigned results_due, results;
    char last_exit[40];
    bool closed, dying, verbose, at_rest, no_pins;
    struct {
        uint64_t id;
        int64_t due_ms;
    } asks[64];
    size_t n_asks;
    FILE *bodies; /* where requests are written to look at them; NULL */
    struct synced {
        uint64_t inode;
        size_t size; /* bytes that are known to be on disk */
    } synced[8];
    size_t n_synced;
};
extern struct sim *sim;

void sim_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sim_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sim_mix(struct str bytes); /* into the outcome */
/* log: what happens is told on stderr. bodies: a file for the requests, or NULL. */
void session_run(const struct sim_profile *p, uint64_t seed, bool log, const char *bodies,
                 struct sim_report *ret);
/* Before a main request is answered: is all in it that has to be? */
void session_check_request(const struct view *v);
/* One session of `rounds` rounds (requests with their tools); called after each prompt. */
typedef void (*session_probe)(const struct sim_report *so_far);
void session_long(const struct sim_profile *p, uint64_t seed, unsigned rounds, session_probe probe,
                  struct sim_report *ret);
/* disk.c: how much of a file was synced; all of it stands as it is now */
size_t disk_synced(const char *path);
void disk_note(const char *path);
/* tools.c */
extern const struct engine_seams sim_seams;
/* profiles.c */
const struct sim_profile *profile_find(const char *name);
