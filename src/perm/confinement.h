#pragma once
/*
 * A sandbox in use: the plan of a session and its proxy, counted. The engine holds one while its settings stand, every command that runs
 * inside holds it until it is over, also in the background, when the engine has long made another.
 *
 *     struct confined *c = confined_new(in, cwd, own_file, argv, &err);       // c->command.argv and .caps start it
 *     ... confined_explain(c, wait_status, output, &why); confined_free(c);   // at its end
 *
 * Any thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "perm/sandbox.h"

struct proxy;
struct confinement;
/* take_proxy may be NULL: no way out but what the plan says. */
struct confinement *confinement_new(struct sandbox_plan *take_plan, struct proxy *take_proxy);
struct confinement *confinement_ref(struct confinement *in); /* NULL gives NULL */
void confinement_unref(struct confinement *in);              /* NULL is fine */
const struct sandbox_plan *confinement_plan(const struct confinement *in);

struct confined {
    struct sandbox_command command;
    struct confinement *in;
    uint64_t mark; /* of the proxy's refusals */
};
/* See sandbox_command_init. NULL with err: it cannot be confined, and must not be started without. */
struct confined *confined_new(struct confinement *in, const char *cwd, const char *own_file,
                              const char *const *argv, struct err *err);
/* Why it failed, where the sandbox is the likely cause: a line or a few, for the model and the person. Appends. False: nothing points to it. */
bool confined_explain(const struct confined *c, int wait_status, struct str output,
                      struct buf *out);
void confined_free(struct confined *c); /* NULL is fine */
