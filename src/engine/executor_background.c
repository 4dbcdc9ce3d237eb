/* Which commands may go on when their time is up, and those that a person sends to the background. */
#include <string.h>

#include "base/json.h"
#include "engine/executor_call.h"
#include "perm/leaf.h"

/* Those whose time-out is meant (sleep), or that hold locks of the repository (git). */
static bool
ends_at_timeout(const struct perm_leaf *leaf)
{
    static const char *const names[] = {"sleep", "git"};
    if (!leaf->n_argv)
        return false;
    struct str name = leaf->argv[0].text;
    const char *slash = name.len ? memrchr(name.ptr, '/', name.len) : NULL;
    if (slash)
        name = str_sub(name, (size_t)(slash - name.ptr) + 1, name.len);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

bool
call_may_outlive(const struct executor *x, const struct call *c)
{
    if (!(c->tool->flags & TOOL_SHELL))
        return false;
    const struct perm_shell_env env = {
        .cwd = x->core->cwd, .home = x->core->home, .root = x->core->root, .shell = "bash"};
    struct perm_analysis a;
    perm_shell_analyse(json_str(c->tree, "command"), &env, &a);
    bool may = !a.unparsable && a.n_leaves > 0;
    for (size_t i = 0; i < a.n_leaves && may; i++)
        may = !ends_at_timeout(&a.leaves[i]);
    perm_analysis_release(&a);
    return may;
}

bool
executor_background_call(struct executor *x, struct str id)
{
    for (size_t i = x->n; i-- > 0;) {
        struct call *c = &x->calls[i];
        bool wanted = id.len ? str_is(id, c->id) : (c->tool && (c->tool->flags & TOOL_SHELL));
        if (!wanted || c->state != TOOL_RUNNING)
            continue;
        if (!(c->tool->flags & TOOL_SHELL))
            return false;
        cancel_fire(c->background, CANCEL_STOP);
        return true;
    }
    return false;
}
