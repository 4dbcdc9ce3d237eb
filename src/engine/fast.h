#pragma once
/*
 * Fast mode: the same model at a higher speed and price, where the catalogue says that it has one ("fast" of the model, "betas" of its
 * provider). The setting "fastMode" of the person's own, or /fast for this session. The beta header stays once it was named (engine/latches.h);
 * the member of the body goes with the switch, for that is what costs. A server that refuses it is asked without for the rest of the
 * session. Fast mode has limits of its own: where one is reached, requests go at the usual speed until it is over. Engine thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct core;
struct err;
struct failure;

struct fast {
    enum { FAST_BY_SETTING, FAST_ON, FAST_OFF } said; /* with /fast */
    int64_t rests_until;                              /* monotonic ms; 0: it does not */
};

/* The next request goes out fast. */
bool fast_is_on(const struct core *c);
/* A fast request was refused: true where that is for a limit of fast mode's own, which then rests; the person is told. */
bool fast_rests(struct core *c, const struct failure *f, const struct err *err);
/* "on", "off", or the other of both. */
void fast_command(struct core *c, struct str arg);
