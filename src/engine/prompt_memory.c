/* The person's instruction files as the first user-role reminder. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "engine/core.h"
#include "engine/hidden.h"
#include "engine/permit.h"
#include "engine/prompt.h"
#include "perm/rules.h"

#define EXCLUDES_MAX 64
#define TOLD_MAX 5

bool
prompt_may_read(struct core *c, const char *path)
{
    char *config_home = fs_join(c->home, ".claude");
    const struct perm_anchor anchor = {
        .root = c->root, .cwd = c->cwd, .home = c->home, .config_home = config_home};
    const struct perm_rules *rules = permit_rules(c->permit);
    bool yes = !perm_rules_match_path(rules, VERDICT_DENY, "Read", &path, 1, &anchor);
    free(config_home);
    return yes;
}

static bool
may_read(void *user, const char *path)
{
    return prompt_may_read(user, path);
}

/* Files that hold nothing or wait for their turn are no news. */
static void
tell_left_out(struct prompt *p)
{
    size_t told = 0;
    for (size_t i = 0; i < p->files.n; i++) {
        const struct memory_file *f = &p->files.files[i];
        if (!f->left_out || f->waits)
            continue;
        if (++told <= TOLD_MAX)
            buf_addf(&p->left_out, "%s'%s': %s", told > 1 ? "; " : "", f->path, f->left_out);
    }
    if (told > TOLD_MAX)
        buf_addf(&p->left_out, "; and %zu more, see /memory", told - TOLD_MAX);
}

void
prompt_memory_options(struct core *c, struct memory_options *ret)
{
    const struct config *config = permit_config(c->permit);
    struct config_item items[EXCLUDES_MAX];
    char **excludes = xcalloc(EXCLUDES_MAX + 1, sizeof *excludes);
    size_t n = config_list(config, "claudeMdExcludes", !c->trusted, items, EXCLUDES_MAX);
    for (size_t i = 0; i < n && i < EXCLUDES_MAX; i++)
        excludes[i] = str_dup(items[i].value);
    const char *claude_dir = getenv("CLAUDE_CONFIG_DIR");
    *ret = (struct memory_options){
        .home = c->home,
        .claude_dir = claude_dir && *claude_dir ? claude_dir : NULL,
        .config_dir = c->config_dir,
        .root = c->root,
        .cwd = c->cwd,
        .both = strcmp(config_str(config, "memory.agents", !c->trusted, ""), "both") == 0,
        .excludes = excludes,
        .may_read = may_read,
        .user = c,
    };
}

void
prompt_memory_options_release(struct memory_options *o)
{
    for (size_t i = 0; o->excludes && o->excludes[i]; i++)
        free(o->excludes[i]);
    free((void *)(uintptr_t)o->excludes);
    o->excludes = NULL;
}

void
prompt_build_memory(struct prompt *p, struct core *c)
{
    struct memory_options o;
    prompt_memory_options(c, &o);
    memory_load(&o, &p->files);
    prompt_memory_options_release(&o);
    tell_left_out(p);
    if (!p->files.text.len)
        return;
    buf_adds(&p->memory, HIDDEN_TAG "\n" HIDDEN_RULES "for you. They hold before "
                                    "your defaults where they apply.\n\n");
    buf_add_str(&p->memory, buf_str(&p->files.text));
    buf_adds(&p->memory, HIDDEN_END);
    buf_release(&p->files.text);
}
