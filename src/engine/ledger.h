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
    char reason[96];
};
struct ledger_agent { /* sums; agents[0] is the main one */
    char name[48];
    struct usage usage;
    int64_t requests;
    double cost_usd;
};
/* Hashes of what a request is made of; which of them changed explains a break. model 0: not known. */
struct ledger_parts {
    uint64_t model, system, tools, memory;
    uint64_t history;      /* all messages that are sent */
    uint64_t history_then; /* of them, as many as the request before had */
};
struct ledger {
    struct ledger_row rows[LEDGER_ROWS];
    uint64_t n; /* ever; rows[n % LEDGER_ROWS] is the next to write */
    struct ledger_break breaks[LEDGER_BREAKS];
    uint64_t n_breaks;
    struct ledger_agent agents[LEDGER_AGENTS];
    size_t n_agents;
    struct ledger_parts parts, last_parts;
    /* tokens that the main loop's last request left in the cache, and when */
    int64_t cached, cached_ms;
};

/* What the next request of the main loop is made of. */
void ledger_watch(struct ledger *l, const struct ledger_parts *parts);
/* Adds a request. One of the main loop whose cache reads fall well below what was cached before is noted as a break. */
void ledger_add(struct ledger *l, const struct ledger_row *row);
/* The i-th kept row or break, the oldest first; NULL past the end. */
const struct ledger_row *ledger_at(const struct ledger *l, size_t i);
const struct ledger_break *ledger_break_at(const struct ledger *l, size_t i);
/* Tokens of a request with its answer: what the context holds after it. */
int64_t ledger_context(const struct ledger_row *row);
/* The members of a row that a "usage" record has beside model and usage (without braces), and a row back from a whole
 * record; false: it is no usage record. The cost is the caller's to fill in. */
void ledger_write_note(const struct ledger_row *row, struct buf *out);
bool ledger_read_note(struct str record, struct ledger_row *ret);
