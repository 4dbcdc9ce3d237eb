#pragma once
/*
 * Auto (AFK) mode as permit.c acts on it: what the classifier is asked and what becomes of its verdict, how long an ask waits for a
 * person, which rules are set aside. Only permit*.c include this. Engine thread.
 */
#include "engine/judge.h"
#include "engine/permit.h"

struct afk;
struct ask;

struct afk *afk_new(struct core *c);
void afk_free(struct afk *a);
/* Another session: nothing of the last one is known any more. */
void afk_new_session(struct afk *a);
/* The person's own words. */
void afk_hear(struct afk *a, const char *text);
/* What became of a call; who: static. */
void afk_note_past(struct afk *a, const char *tool, const char *what, const char *who,
                   bool allowed);
void afk_mode_changed(struct permit *p);

/* Puts the call that `a` stands for before the classifier. True: answered at once, in *ret; false: it is on its way. */
bool afk_ask(struct permit *p, struct ask *a, const struct permit_call *call,
             const struct decision *d, struct judge_answer *ret);
/* Is the answer that came for `a` one to the question that the call is now? */
bool afk_still_asks(struct permit *p, const struct ask *a, const struct permit_call *call,
                    const struct decision *d);
/* Its opinion as a finding of d; counts blocks, tells the person. True: the verdict is the classifier's own. */
bool afk_apply(struct permit *p, struct decision *d, const struct judge_answer *answer);
void afk_drop(struct afk *a, uint64_t ticket);
/* An answer that came: it is paid for and stands in its ask. Returns the ask's id, 0: none came. */
uint64_t afk_take(struct permit *p);
void afk_person_answered(struct afk *a);
/* afk.max_wait in milliseconds while auto mode holds, else 0. */
int64_t afk_max_wait_ms(struct permit *p);
/* Since when the mode has been on (clock_mono_ms). */
int64_t afk_since_ms(const struct afk *a);
