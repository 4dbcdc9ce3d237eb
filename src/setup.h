#pragma once
/*
 * From options and settings to a running engine: folders, trust, provider choice (flag > setting > ANTHROPIC_* > OPENAI_* >
 * offline), mode, session. Complexity digested before the loop starts (MISSION A3).
 */
#include <stdbool.h>

#include "base/err.h"
#include "cli.h"

struct engine;
struct config;
struct store;

struct setup {
    const struct options *options;
    char *cwd, *root, *config_dir, *data_dir;
    struct config *config;
    struct store *store;
    bool trusted,
        wrong_usage; /* wrong_usage: setup_start failed by what was asked for: exit code 2 */
    int max_retries;
};
/* Folders only: cheap enough for before the first frame. */
bool setup_init(struct setup *s, const struct options *o, struct err *err) MUST_CHECK;
void setup_release(struct setup *s);
/* Settings and trust. */
void setup_load(struct setup *s);
/* Everything else; NULL with err. Calls setup_load when that was not done. */
struct engine *setup_start(struct setup *s, struct err *err);
/* The provider that would be used, and why, for `yare doctor`. Static strings. */
const char *setup_provider(struct setup *s, const char **ret_why);
