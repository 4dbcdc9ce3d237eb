/*
 * The simulator (docs/simulator.md).
 *
 *     sim run --seeds A..B [--suite NAME] [--jobs N] [--json] [--faults NAME=N,...]
 *     sim replay SEED [--suite NAME] [--bodies FILE]     with a log on stderr; the requests in FILE
 *     sim recovery --seeds A..B        the same seeds with plain retry beside it
 *     sim same --seeds A..B            runs them twice: the outcome must be the same
 *     sim long [--rounds N] [--seed S]
 *     sim needle --seeds A..B
 *
 * Sessions run in worker processes; a crash or a hang costs one session and names its seed. Exit 1: something did not hold.
 */
#include "sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/catalog.h"
#include "sim/runner.h"
#include "sim/suites.h"
#include "sim/world.h"

struct args {
    const char *suite, *bodies;
    uint64_t from, to;
    int jobs;
    bool json;
    unsigned rounds;
    double at_least;
    struct sim_profile profile;
};

static int
usage(void)
{
    fputs("sim run|recovery|needle --seeds A..B [--suite NAME] [--jobs N] [--json] [--faults "
          "NAME=N,...] [--at-least PERCENT]\n"
          "sim same --seeds A..B\n"
          "sim replay SEED [--suite NAME] [--bodies FILE]\n"
          "sim long [--rounds N] [--seed S]\n",
          stderr);
    return 2;
}

static bool
take_seeds(struct args *a, const char *text)
{
    char *end;
    a->from = a->to = strtoull(text, &end, 10);
    if (strncmp(end, "..", 2) == 0)
        a->to = strtoull(end + 2, &end, 10);
    return *end == '\0' && a->to >= a->from;
}

static bool
take_faults(struct args *a, const char *text)
{
    struct str rest = str_from(text), part;
    while (str_split(&rest, ',', &part)) {
        size_t eq = str_find(part, '=', 0);
        struct str name = str_sub(part, 0, eq == (size_t)-1 ? part.len : eq);
        bool found = false;
        for (int f = 0; f < F_COUNT; f++)
            if (str_is(name, sim_fault_names[f]) || str_is(name, "all")) {
                a->profile.fault[f] =
                    eq == (size_t)-1 ? 100 : (unsigned)strtoul(part.ptr + eq + 1, NULL, 10);
                found = true;
            }
        if (!found)
            return false;
    }
    return true;
}

static bool
take_option(struct args *a, const char *name, const char *value)
{
    if (strcmp(name, "--seeds") == 0 || strcmp(name, "--seed") == 0)
        return take_seeds(a, value);
    if (strcmp(name, "--bodies") == 0)
        return (a->bodies = value) != NULL;
    if (strcmp(name, "--jobs") == 0)
        return (a->jobs = atoi(value)) > 0;
    if (strcmp(name, "--rounds") == 0)
        return (a->rounds = (unsigned)atoi(value)) > 0;
    if (strcmp(name, "--at-least") == 0)
        return (a->at_least = atof(value)) >= 0;
    if (strcmp(name, "--faults") == 0)
        return take_faults(a, value);
    return strcmp(name, "--suite") == 0;
}

static bool
take_args(struct args *a, int argc, char **argv)
{
    /* The suite first: the rest changes it. */
    for (int i = 0; i + 1 < argc; i++)
        if (strcmp(argv[i], "--suite") == 0)
            a->suite = argv[i + 1];
    const struct sim_profile *p = profile_find(a->suite);
    if (!p)
        return false;
    a->profile = *p;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            a->json = true;
        else if (i + 1 >= argc || !take_option(a, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return true;
}

static int
replay(struct args *a)
{
    struct sim_report r;
    session_run(&a->profile, a->from, true, a->bodies, &r);
    printf("seed %" PRIu64 ": %s%s (outcome %016" PRIx64 ")\n", r.seed,
           r.ok ? "ok" : "FAILED: ", r.why, r.outcome);
    return r.ok ? 0 : 1;
}

static int
run(struct args *a)
{
    struct totals t;
    runner_run(&a->profile, a->from, a->to, a->jobs, &t);
    suites_print(&a->profile, &t, a->json);
    return t.failed ? 1 : 0;
}

/* A seed has one outcome, whatever else the machine does. */
static int
same(struct args *a)
{
    static struct totals first, second;
    runner_run(&a->profile, a->from, a->to, a->jobs, &first);
    runner_run(&a->profile, a->from, a->to, 1, &second);
    bool ok = first.outcome == second.outcome && first.sum.steps == second.sum.steps;
    printf("%s: outcome %016" PRIx64 " and %016" PRIx64 " of %" PRIu64 " sessions\n",
           ok ? "ok" : "FAILED", first.outcome, second.outcome, first.sessions);
    return ok ? 0 : 1;
}

int
main(int argc, char **argv)
{
    struct args a = {.suite = "faults", .from = 1, .to = 100, .jobs = 2, .rounds = 10000};
    const char *what = argc > 1 ? argv[1] : "";
    struct err problem = {0};
    catalog_load(NULL, &problem);
    argc -= 2;
    argv += 2;
    if (strcmp(what, "replay") == 0 && argc > 0 && take_args(&a, argc - 1, argv + 1) &&
        take_seeds(&a, argv[0]))
        return replay(&a);
    if (strcmp(what, "run") != 0 && strcmp(what, "same") != 0 && *what)
        a.suite = what;
    if (strcmp(what, "long") == 0)
        a.from = a.to = 1;
    if (!*what || !take_args(&a, argc, argv))
        return usage();
    if (strcmp(what, "recovery") == 0)
        return suites_recovery(&a.profile, a.from, a.to, a.jobs, a.at_least);
    if (strcmp(what, "long") == 0)
        return suites_long(&a.profile, a.from, a.rounds);
    return strcmp(what, "same") == 0 ? same(&a) : run(&a);
}
