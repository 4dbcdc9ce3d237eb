#pragma once
/*
 * The budget: what a session and a day may cost, projected before each request, sub-calls included. The request that would cross is
 * not sent; where a person can answer they choose (raise, stop), else the turn ends with exit max_budget. Engine thread.
 *
 *     "budget": {"session": 1.50, "day": 20}      USD; the person's settings alone; --max-budget-usd is the session's
 *
 * What a day cost stands in <data dir>/spend.json, shared by all yares under a lock; a day is one of the person's clock.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct core;
struct op;

struct spend {    /* starts zeroed */
    double given; /* --max-budget-usd; 0: none */
    /* by the person, in this session; 0: as set, negative: no limit */
    double raised_session, raised_day;
    double owed; /* of the day, and not in its file yet */
    bool said_unknown, said_sub, said_day;
    uint64_t asks; /* so many dialogs were shown */
    bool open;     /* a dialog is; what was answered in the last one: */
    bool stopped, raised;
    double raise_to; /* what a yes in the open dialog sets */
    bool raise_day;
};

struct spend_limits {
    double session, day; /* USD; 0: none */
};
void spend_limits(struct core *c, struct spend_limits *ret);
/* What the loop's next request costs at most: its input as estimated, with what the prompt cache is expected to save; of output a quarter of
 * the limit, or twice the most of late. Negative: the price is unknown. */
double spend_of_request(const struct core *c, int max_tokens);
/* May it be sent? False: err says which limit, what was spent and what the request would cost. An unknown price passes, with one
 * notice a session that no budget can hold. */
bool spend_allows(struct core *c, double projected, struct err *err) MUST_CHECK;
/* The same for a call beside the loop, which is then done without; the first time that is told. */
bool spend_allows_call(struct core *c, const char *purpose, const char *model, size_t bytes,
                       int max_tokens, struct err *err) MUST_CHECK;
/* A request was added to the ledger: its cost counts for the day. */
void spend_note(struct core *c);

/* The dialog, as a request in the permission pane: yes raises, no stops. */
void spend_ask(struct core *c, double projected, const struct err *why);
bool spend_answer(struct core *c, const struct op *op); /* false: it answers something else */
void spend_close(struct core *c, bool allowed, const char *who);

/* "/budget 5", "/budget day 20", "/budget": raise or show. */
void spend_command(struct core *c, struct str arg);
