#pragma once
/*
 * Tokens and cost of a session, a row a model in the passport. Sums of the server's own usage figures; where a server gives
 * none an estimate stands in and is marked. An unknown price makes the total unknown (negative), never $0.
 */
#include <stdbool.h>
#include <stdint.h>

#include "engine/event.h"
#include "engine/ledger.h"
#include "model/catalog.h"
#include "store/session.h"

struct usage_meter {
    struct usage total;   /* of the session */
    struct usage submit;  /* of the running submit */
    struct usage running; /* of the running request, cumulative */
    double cost_usd;      /* of the session; negative: some model's price is unknown */
    int64_t requests;
    struct ledger ledger; /* the newest requests one by one */
    /* Of the request that usage_commit adds next; static or outliving it. purpose NULL: LEDGER_MAIN, agent NULL: the main one. */
    const char *purpose, *agent;
    int64_t turn;
    struct ledger_break *broke; /* the break that usage_commit noted, in ledger; NULL */
};

/* From a passport's rows, on resume. */
void usage_load(struct usage_meter *m, const struct passport *p);
/* A request ended with m->running: adds it up, in the meter and in the passport's row of `model`. */
void usage_commit(struct usage_meter *m, struct passport *p, const char *model,
                  const struct model_info *info);
/* What it costs by the catalogue, USD; the offline pilot: 0; negative: unknown. */
double usage_cost_of(const struct model_info *info, const struct usage *u);
/* Session cost with the running request; negative: unknown. */
double usage_cost_now(const struct usage_meter *m, const struct model_info *info);
struct event *usage_event(const struct usage_meter *m, const struct model_info *info,
                          double budget_usd);
/* Appends an amount as a person reads it: "$0.00", "$0.0012", "$1.50 est", "no price known" where it is negative. */
void usage_show_cost(struct buf *out, double usd, bool estimated);
/* modelUsage and usage of a result, as stream-json has them. */
void usage_write_models(const struct passport *p, struct buf *out);
void usage_write(const struct usage *u, struct buf *out);
/* The members of a "usage" record of the journal (without braces), and back from the whole record. Those that the
 * ledger knows are taken from m (turn, purpose, agent). */
void usage_write_note(const struct usage_meter *m, const char *model, const struct usage *u,
                      struct buf *out);
void usage_read_note(struct passport *p, struct str record);
/* The same record, or a "cache-break", into the ledger alone. */
void usage_restore(struct usage_meter *m, struct str record);
