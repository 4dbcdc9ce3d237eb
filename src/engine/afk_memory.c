#include "engine/afk_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "engine/core.h"
#include "ext/memory.h"

/* The home folder stands in for the project, so that nothing of the real one is found; a project that is the home folder has no files
 * that are not the person's. */
char *
afk_memory(struct core *c)
{
    const char *claude_dir = getenv("CLAUDE_CONFIG_DIR");
    if (strcmp(c->root, c->home) != 0 && fs_is_within(c->config_dir, c->root))
        return xstrdup(""); /* the project's files would be among them */
    const struct memory_options o = {
        .home = c->home,
        .claude_dir = claude_dir && *claude_dir ? claude_dir : NULL,
        .config_dir = c->config_dir,
        .root = c->config_dir,
        .cwd = c->config_dir,
    };
    struct memory m;
    memory_init(&m);
    memory_load(&o, &m);
    char *text = str_dup(buf_str(&m.text));
    memory_release(&m);
    return text;
}
