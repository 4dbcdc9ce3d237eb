/* What a plan keeps and what it does not, for people. */
#include "base/json.h"
#include "perm/confine.h"
#include "perm/sandbox_parts.h"

enum { NAMED_MAX = 6 };

static void
line(struct jw *w, const char *name, const char *value)
{
    jw_object(w);
    jw_kcstr(w, "name", name);
    jw_kcstr(w, "value", value);
    jw_end(w);
}

static void
list(struct jw *w, const char *name, const char *before, const struct sandbox_paths *l)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_adds(&text, before);
    for (size_t i = 0; i < l->n && i < NAMED_MAX; i++)
        buf_addf(&text, "%s%s", i ? ", " : "", l->v[i]);
    if (l->n > NAMED_MAX)
        buf_addf(&text, " and %zu more", l->n - NAMED_MAX);
    line(w, name, l->n || *before ? buf_cstr(&text) : "none");
    buf_release(&text);
}

static void
limits(struct jw *w, const struct sandbox_caps *c, const struct sandbox_probe *probe)
{
    struct buf text;
    buf_init(&text, 4096);
    if (c->memory_bytes)
        buf_addf(&text, "memory %lld MB, ", (long long)(c->memory_bytes >> 20));
    if (c->processes)
        buf_addf(&text, "%d processes, ", c->processes);
    if (c->file_bytes)
        buf_addf(&text, "files up to %lld MB, ", (long long)(c->file_bytes >> 20));
    if (c->cpu_seconds)
        buf_addf(&text, "%d s of processor time a process, ", c->cpu_seconds);
    buf_addf(&text, "no core dumps (%s)", probe->cgroup ? "kept by a cgroup" : "counted by yare");
    line(w, "limits", buf_cstr(&text));
    buf_release(&text);
}

static void
landlock_gaps(struct jw *w, int abi)
{
    line(w, "not kept",
         "protected files and denied reads inside the writable folders; modes, owners and times of "
         "files elsewhere; /dev/shm and /tmp are not writable");
    if (abi < 6)
        line(w, "not kept",
             "signals to other programs of the same user (this kernel's Landlock "
             "cannot)");
    if (abi < 3)
        line(w, "not kept",
             "emptying of files outside the writable folders (this kernel's Landlock "
             "cannot)");
}

void
sandbox_describe(const struct sandbox_plan *p, const struct sandbox_probe *probe, struct jw *w)
{
    bool bwrap = p->kind == SANDBOX_BWRAP;
    struct buf text;
    buf_init(&text, 4096);
    if (bwrap)
        buf_addf(&text, "bubblewrap (%s)", p->bwrap);
    else
        buf_addf(&text, "Landlock (ABI %d) and seccomp", probe->landlock_abi);
    line(w, "sandbox", buf_cstr(&text));
    list(w, "may write", "", &p->writable);
    line(w, "temporary files", p->tmp);
    if (bwrap)
        list(w, "read-only in there", "", &p->read_only);
    list(w, "hidden", bwrap ? "/run and the machine's sockets, " : "", &p->unreadable);
    line(w, "network",
         p->network        ? "open"
         : p->proxy_socket ? "only the hosts of sandbox.network.allowedDomains, through a proxy"
         : bwrap           ? "none but a loopback of the command's own"
                           : "none");
    limits(w, &p->caps, probe);
    if (!bwrap)
        landlock_gaps(w, probe->landlock_abi);
    for (size_t i = 0; i < p->unproven.n; i++)
        line(w, "not kept", p->unproven.v[i]);
    buf_release(&text);
}
