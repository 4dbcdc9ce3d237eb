#pragma once
/*
 * The newest requests of a session one by one, for the meters: who asked what model for what, what it cost, and where the
 * prompt cache did not hold, with the reason. Bounded, no pointers in it, so it may be cleared and copied as bytes. Engine
 * thread.
 *
 *     ledger_watch(&l, &parts);   // before a request of the main loop: what it is made of
 *     ledger_add(&l, &row);       // its usage came
 *
 * The journal's "usage" records carry the same members; ledger_read_note takes them back on resume.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/stream.h"

#define LEDGER_ROWS 200
#define LEDGER_BREAKS 32
#define LEDGER_AGENTS 32
#define LEDGER_MAIN "main" /* the purpose of the conversation's own requests */

struct ledger_row {
    int64_t turn, wall_ms;
    char purpose[16], model[96];
    char agent[48]; /* "": the main agent */
    struct usage usage;
    double cost_usd; /* negative: unknown */
};
struct ledger_break {
    int64_t turn, tokens; /* tokens: paid again though they had been cached */
    double cost_usd;      /* what that cost more; negative: unknown */
    bool expected;        /* it follows from what the person or yare did: another model, /compact */
    char reason[120];
};
struct ledger_agent { /* sums; agents[0] is the main one */
    char name[48];
    struct usage usage;
    int64_t requests;
    double cost_usd;
};
/* Hashes of what a request is made of, in the order in which the cache compares them; which of them changed explains a break. */
struct ledger_part {
    /* "tool Bash", "system prompt (dynamic)", "memory", "beta header afk-mode-..." */
    char name[56];
    uint64_t hash; /* 0: there is no such part */
};
#define LEDGER_PARTS 200 /* the last one takes the rest */
struct ledger_parts {
    struct ledger_part part[LEDGER_PARTS];
    size_t n;
    char model[96];    /* "": not known */
    int64_t cache_min; /* shorter prompts are not cached */
    int64_t wall_ms;   /* when it left; 0: not known */
    bool rewritten;    /* messages that the request before had are not in it as they were */
};
void ledger_part_add(struct ledger_parts *p, const char *kind, const char *name, struct str bytes);
struct ledger {
    struct ledger_row rows[LEDGER_ROWS];
    uint64_t n; /* ever; rows[n % LEDGER_ROWS] is the next to write */
    struct ledger_break breaks[LEDGER_BREAKS];
    uint64_t n_breaks;
    struct ledger_agent agents[LEDGER_AGENTS];
    size_t n_agents;
    struct ledger_parts parts, last_parts;
    /* tokens that the main loop's last request left in the cache, when, and for how long */
    int64_t cached, cached_ms, life_ms;
    /* what will break the cache of the next request: "/compact"; "": nothing is known. expected_all: as ledger_expect says */
    char expected[64];
    bool expected_all;
};

/* What the next request of the main loop is made of. */
void ledger_watch(struct ledger *l, const struct ledger_parts *parts);
/* The next request will find less in the cache, and this is why: "context edited: snip". all: it may find nothing ("/compact"), so
 * that nothing else need explain it. */
void ledger_expect(struct ledger *l, const char *why, bool all);
/* Adds a request. One of the main loop whose cache reads fall well below what was cached before is noted as a break, which is
 * given (its cost is the caller's to fill in); NULL: none. */
struct ledger_break *ledger_add(struct ledger *l, const struct ledger_row *row);
/* The same of a record of the journal: its breaks have records of their own. */
void ledger_add_old(struct ledger *l, const struct ledger_row *row);
/* The i-th kept row or break, the oldest first; NULL past the end. */
const struct ledger_row *ledger_at(const struct ledger *l, size_t i);
const struct ledger_break *ledger_break_at(const struct ledger *l, size_t i);
/* Tokens of a request with its answer: what the context holds after it. */
int64_t ledger_context(const struct ledger_row *row);
/* The members of a row that a "usage" record has beside model and usage (without braces), and a row back from a whole
 * record; false: it is no usage record. The cost is the caller's to fill in. */
void ledger_write_note(const struct ledger_row *row, struct buf *out);
bool ledger_read_note(struct str record, struct ledger_row *ret);
/* The same of a break, record "cache-break". */
void ledger_write_break(const struct ledger_break *b, struct buf *out);
bool ledger_read_break(struct ledger *l, struct str record);
