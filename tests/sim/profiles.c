/* What the suites want of their sessions. */
#include <string.h>

#include "sim/sim.h"

#define X(id, name, often) [id] = often,
#define ALL_FAULTS                                                                                 \
    {                                                                                              \
        SIM_FAULTS(X)                                                                              \
    }

/* Two clients meet the same sessions, so that they can be compared. */
#define TOO_LONG                                                                                   \
    .window = 60000, .prompts_min = 8, .prompts_max = 12, .steps_max = 10, .result_max = 20000,    \
    .huge_max = 40000, .pins = 400, .new_pins = 300, .facts = 6, .force_least = 20000,             \
    .force_too_long = true

static const struct sim_profile profiles[] = {
    {
        .name = "faults",
        .fault = ALL_FAULTS,
        .prompts_min = 1,
        .prompts_max = 6,
        .steps_max = 6,
        .result_max = 12000,
        .huge_max = 120000,
        .trouble = 8,
        .kills = 120,
        .compacts = 80,
        .clears = 40,
        .pins = 200,
        .new_pins = 500,
        .modes = 100,
        .hooks = 60,
        .asks = 60,
        .denies = 20,
        .caps = 100,
        .facts = 6,
    },
    {TOO_LONG, .name = "recovery"},
    {TOO_LONG, .name = "plain", .plain_retry = true},
    {
        .name = "needle",
        .window = 30000,
        .prompts_min = 60,
        .prompts_max = 60,
        .steps_max = 8,
        .result_max = 6000,
        .huge_max = 60000,
        .pins = 170,
        .facts = 20,
    },
    {
        .name = "no_summary",
        .window = 16000,
        .prompts_min = 40,
        .prompts_max = 40,
        .steps_max = 30,
        .result_max = 1000,
        .huge_max = 2000,
        .pins = 170,
        .facts = 10,
        .no_summary = true,
    },
    {
        .name = "long",
        .window = 60000,
        .steps_max = 12,
        .result_max = 20000,
        .huge_max = 200000,
        .pins = 30,
        .facts = 20,
        .quiet_disk = true,
    },
};

const struct sim_profile *
profile_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(profiles); i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}
