#pragma once
/*
 * Which commands run inside the sandbox, and with what policy. Engine thread only, but for the notice of a host
 * that was refused.
 *
 *     off     none
 *     afk     (nothing is set) in auto mode, what only the classifier let through: nobody said yes to it, nothing proves it harmless
 *     on      (sandbox.enabled, --sandbox auto|bwrap|landlock, /sandbox on) every command of the model but excluded ones, and those that a
 *             person let out one by one (dangerouslyDisableSandbox). With autoAllowBashIfSandboxed, which is the default, they do not
 *             ask for what the sandbox holds anyway.
 *
 * What a person types ("!cmd") never runs inside. Whichever it is stands in the decision, as a finding of layer L8, and in the audit log.
 * Plan and proxy are made when the first command needs them, and anew when the settings, the trust or the folder change.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/verdict.h"
#include "perm/sandbox.h"

struct core;
struct permit;
struct permit_call;
struct perm_request;
struct jw;

enum sandbox_level { SANDBOX_OFF, SANDBOX_AFK, SANDBOX_ON };

struct permit_sandbox *permit_sandbox_new(void);
void permit_sandbox_free(struct permit_sandbox *s); /* NULL is fine */

/* What the chain is told of it. */
void permit_sandbox_request(struct permit *p, const struct permit_call *call,
                            struct perm_request *req);
/* After the chain: wishes to run outside, and a sandbox that cannot be had. */
void permit_sandbox_judge(struct permit *p, const struct permit_call *call, struct decision *d);
/* The call will run: where, which is added to d and kept for permit_take_confinement. */
void permit_sandbox_settle(struct permit *p, const struct permit_call *call, struct decision *d);

/* The sandbox of the call that was allowed just now, NULL: outside. Yours. */
struct confinement *permit_take_confinement(struct permit *p);

enum sandbox_level permit_sandbox_level(struct permit *p);
/* /sandbox on|off|default ("": only said); the answer is for people. False: no such word. */
bool permit_sandbox_switch(struct permit *p, struct str word);
void permit_sandbox_say(struct permit *p, struct buf *out);
/* Key "sandbox" of the rules page: {"level","backend","why","lines":[{"name","value"}]}. */
void permit_sandbox_write(struct permit *p, struct jw *w);
