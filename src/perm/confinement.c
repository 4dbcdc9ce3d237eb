#include "perm/confinement.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "perm/proxy.h"

struct confinement {
    atomic_int refs;
    struct sandbox_plan *plan;
    struct proxy *proxy;
};

struct confinement *
confinement_new(struct sandbox_plan *take_plan, struct proxy *take_proxy)
{
    struct confinement *in = xcalloc(1, sizeof *in);
    atomic_init(&in->refs, 1);
    in->plan = take_plan;
    in->proxy = take_proxy;
    return in;
}

struct confinement *
confinement_ref(struct confinement *in)
{
    if (in)
        atomic_fetch_add(&in->refs, 1);
    return in;
}

void
confinement_unref(struct confinement *in)
{
    if (!in || atomic_fetch_sub(&in->refs, 1) != 1)
        return;
    proxy_free(in->proxy);
    sandbox_plan_free(in->plan);
    free(in);
}

const struct sandbox_plan *
confinement_plan(const struct confinement *in)
{
    return in->plan;
}

/* What --confine does not know of the proxy: node looks for it only when it is told to, and where the list names this machine,
 * "localhost" is the one outside. The array is yours, its strings are not. */
static const char **
with_environment(const struct confinement *in, const char *const *argv)
{
    static const char *const words[] = {"env", "NODE_USE_ENV_PROXY=1", "NO_PROXY=", "no_proxy="};
    size_t n = 0, before = !in->proxy ? 0 : proxy_names_localhost(in->proxy) ? 4 : 2;
    while (argv[n])
        n++;
    const char **all = xcalloc(before + n + 1, sizeof *all);
    memcpy(all, words, before * sizeof *all);
    memcpy(all + before, argv, n * sizeof *all);
    return all;
}

struct confined *
confined_new(struct confinement *in, const char *cwd, const char *own_file, const char *const *argv,
             struct err *err)
{
    struct confined *c = xcalloc(1, sizeof *c);
    const char **all = with_environment(in, argv);
    bool ok = sandbox_command_init(&c->command, in->plan, cwd, own_file, all, err);
    free(all);
    if (!ok) {
        free(c);
        return NULL;
    }
    c->in = confinement_ref(in);
    c->mark = in->proxy ? proxy_refused_so_far(in->proxy) : 0;
    return c;
}

bool
confined_explain(const struct confined *c, int wait_status, struct str output, struct buf *out)
{
    struct buf refused;
    buf_init(&refused, 16384);
    if (c->in->proxy)
        proxy_refused_since(c->in->proxy, c->mark, &refused);
    bool told = refused.len > 0;
    if (told)
        buf_addf(out,
                 "the sandbox lets commands reach allowed hosts alone, and meanwhile refused: %s",
                 buf_cstr(&refused));
    else
        told = sandbox_explain(c->in->plan, &c->command, wait_status, output, out);
    buf_release(&refused);
    return told;
}

void
confined_free(struct confined *c)
{
    if (!c)
        return;
    sandbox_command_release(&c->command);
    confinement_unref(c->in);
    free(c);
}
