#pragma once
#include "sim/runner.h"

void suites_print(const struct sim_profile *p, const struct totals *t, bool json);
/* Forced refusals at random points, and the same seeds with plain retry. at_least: per cent that must recover. */
int suites_recovery(const struct sim_profile *p, uint64_t from, uint64_t to, int jobs,
                    double at_least);
int suites_long(const struct sim_profile *p, uint64_t seed, unsigned rounds);
