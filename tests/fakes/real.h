#pragma once
/* A rig with the real tools under the real chain, their commands in the environment of this PATH. Needs cmocka.h included before; the
 * program's main has to answer --supervise (base/supervise.h). */
#include <stdio.h>
#include <stdlib.h>

#include "fakes/rig.h"
#include "perm/chain.h"
#include "tools/tool.h"

/* sandbox: as --sandbox; settings: as --settings, or NULL. Both borrowed until rig_end. */
static inline void
real_rig_init(struct rig *r, const char *sandbox, const char *settings)
{
    static char path[4096];
    static const char *child_env[] = {path, "LC_ALL=C.UTF-8", NULL};
    rig_init(r);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    r->cfg.environ = child_env;
    r->cfg.sandbox = sandbox;
    r->cfg.cli_settings = settings;
    r->cfg.trusted = true;
    r->seams.tool_find = tool_find;
    r->seams.perm_check = perm_chain_check;
    r->seams.perm_suggest = perm_chain_suggest;
}
