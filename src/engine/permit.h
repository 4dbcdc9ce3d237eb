#pragma once
/*
 * Permissions as the engine acts on them: builds the chain's request from the session, reloads settings that changed
 * before each decision, keeps the asks that wait for a person, the audit log and the denials of the running submit.
 * Everything on the engine thread.
 *
 *     switch (permit_judge(p, &call, &reason, &ask_id)) { case PERMIT_ALLOW: run; PARKED: wait; DENY: answer reason }
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/verdict.h"
#include "engine/event.h"

struct core;
struct permit;
struct tool;
struct cJSON;
struct jw;
struct perm_rules;

struct permit_call { /* borrowed for the call */
    const char *id;  /* tool_use id */
    const struct tool *tool;
    const struct cJSON *input;
    struct str raw; /* the input's bytes: what runs, and what an approval is bound to */
    bool person;    /* typed by the person ("!cmd"): only deny rules hold */
};
enum permit_verdict {
    PERMIT_ALLOW,
    PERMIT_PARKED,  /* a person is asked */
    PERMIT_JUDGING, /* the classifier is; permit_next_judged tells when it has answered */
    PERMIT_DENY,
    PERMIT_FAIL
};

struct permit *permit_new(struct core *c);
void permit_free(struct permit *p);
/* Drops what was loaded: the next decision reads the settings anew (trust given, rules saved). */
void permit_reload(struct permit *p);
const struct perm_rules *permit_rules(struct permit *p);
/* Reads anew what changed on disk. Each decision begins with it, and each round of the loop. */
void permit_look(struct permit *p);
/* As it was at the last look: it is asked often, and each look asks for nine files. Borrowed until the next look. */
const struct config *permit_config(struct permit *p);

/* A DENY's ret_reason as the person reads it: without what only the model is told. Pure. */
void permit_for_person(struct str reason, struct buf *out);
/* DENY and FAIL (the tool's precheck) fill ret_reason (words for the model); PARKED emits EV_PERM_ASK and fills ret_ask; JUDGING fills
 * ret_ask with the id that such an ask would have. */
enum permit_verdict permit_judge(struct permit *p, const struct permit_call *call,
                                 struct buf *ret_reason, uint64_t *ret_ask);
/* The person's answer to ask `op->perm.ask_id`; `call` holds the input that would run (an edited one already in it, then
 * `edited` is true). PARKED: a new ask took its place. */
enum permit_verdict permit_answer(struct permit *p, const struct op *op,
                                  const struct permit_call *call, bool edited,
                                  struct buf *ret_reason, uint64_t *ret_ask);
/* The mode, the rules or the trust changed while a call waits: judged again, a verdict that is on its way is dropped. PARKED and JUDGING
 * keep the same ask, which is shown anew where its reasons or what "always" would do are other ones now. `stepped`: what a person was asked
 * is not let through by the change. */
enum permit_verdict permit_reconsider(struct permit *p, uint64_t ask_id,
                                      const struct permit_call *call, bool stepped,
                                      struct buf *ret_reason);
/* The id of an ask whose verdict came, 0: none; then permit_judged settles it. */
uint64_t permit_next_judged(struct permit *p);
enum permit_verdict permit_judged(struct permit *p, uint64_t ask_id, const struct permit_call *call,
                                  struct buf *ret_reason);
/* Asks that waited for afk.max_wait in auto mode: milliseconds until the next one has (-1: none waits for that), the id of one that has
 * (0: none), and its end. */
int permit_timeout_ms(struct permit *p);
uint64_t permit_next_expired(struct permit *p);
enum permit_verdict permit_expire(struct permit *p, uint64_t ask_id, const struct permit_call *call,
                                  struct buf *ret_reason);
/* What the person typed: the classifier is told. */
void permit_hear(struct permit *p, const char *text);
/* The mode is another one, or was chosen anew: pending verdicts are dropped; permit_reconsider judges anew. */
void permit_mode_changed(struct permit *p);
void permit_new_session(struct permit *p);
/* The call will not run: its ask is closed. */
void permit_abort(struct permit *p, uint64_t ask_id);
/* May a shell command overlap with other calls? */
bool permit_is_read_only(struct permit *p, const struct permit_call *call);

/* permission_denials of a result: those of the running submit, a JSON array. */
void permit_begin_submit(struct permit *p);
void permit_write_denials(const struct permit *p, struct buf *out);
/* Takes a rule ("allow", "Bash(make:*)") out of the yare settings file it stands in. */
bool permit_remove_rule(struct permit *p, const char *list, const char *text,
                        struct err *err) MUST_CHECK;
/* What is allowed until the session ends, by the number that /permissions shows, or a folder of --add-dir: it asks again from now on.
 * ret_what: what it was, yours. Error: nothing has that number. */
bool permit_take_back(struct permit *p, struct str number, char **ret_what,
                      struct err *err) MUST_CHECK;
/* All of that: an array as the "session" of QUERY_RULES, and lines for people (none: nothing is added). */
void permit_write_kept(const void *permit, struct jw *w);
void permit_say_kept(const struct permit *p, struct buf *out);
/* The rules in force, as QUERY_RULES gives them (event.h). */
void permit_write_rules(struct permit *p, struct buf *out);
