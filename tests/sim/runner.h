#pragma once
/* Sessions of many seeds in worker processes, and what they came to. */
#include "sim/sim.h"

#define FAILURES_MAX 32

struct totals {
    uint64_t sessions, failed, stuck;
    struct sim_report sum; /* of all that came back */
    struct sim_report failures[FAILURES_MAX];
    size_t n_failures;
    double seconds; /* on the real clock */
    int64_t slowest_us;
    uint64_t slowest_seed;
    uint64_t outcome; /* over all seeds, whatever their order */
};
void runner_run(const struct sim_profile *p, uint64_t from, uint64_t to, int jobs,
                struct totals *ret);
