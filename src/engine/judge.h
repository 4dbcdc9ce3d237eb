#pragma once
/*
 * The classifier of auto (AFK) mode: one small model call of its own for a call that the chain asks about and a classifier may lift.
 * It is told the tool, the leaves and effects, paths, environment names, the folder, what the person said lately, the
 * rules and the history of decisions; never a tool result, a file's content or the model's own words, so that what was
 * read cannot argue. Its answer is strict JSON {"verdict","confidence","reason"}; everything else (an error, the time-out, junk, a
 * refusal, no model) is "no verdict", which asks.
 *
 * Engine thread only. At most one stream at a time, the others queue; judge_step moves on without waiting. The
 * verdicts of a session are kept by a digest of tool, effects and folder until the mode changes.
 *
 *     judge_start(j, ticket, &question) .. judge_fd / judge_step in the engine's wait .. judge_take(j, &answer)
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/verdict.h"

struct core;
struct judge;

struct judge_question { /* borrowed for the call */
    const char *tool;
    struct str input;                /* what the call is, bounded by the asker */
    const struct decision *decision; /* the chain's, with its findings */
    const char *effects;             /* lines: "write /p/a", "run make", "network example.org" */
};
enum judge_how {
    JUDGE_VERDICT,
    JUDGE_CACHED,
    JUDGE_TIMEOUT,
    JUDGE_ERROR,
    JUDGE_JUNK,
    JUDGE_NO_MODEL,
    JUDGE_OFF
};
struct judge_answer {
    uint64_t ticket;
    enum judge_how how;
    char verdict[8];   /* "allow", "block", "ask"; "" where there is none */
    double confidence; /* 0..1 */
    char reason[400];  /* for people; control bytes made visible */
    int64_t took_ms;
};

struct judge *judge_new(struct core *c);
void judge_free(struct judge *j);
/* True: answered at once (cache, no model, switched off after denials), in *ret. False: it is on its way. */
bool judge_start(struct judge *j, uint64_t ticket, const struct judge_question *q,
                 struct judge_answer *ret);
/* Milliseconds until judge_step has something to do (0: now, -1: nothing waits). */
int judge_timeout_ms(const struct judge *j);
/* Moves the stream on for at most wait_ms; wakes on wake_fd. */
void judge_step(struct judge *j, int wake_fd, int wait_ms);
bool judge_take(struct judge *j, struct judge_answer *ret);
/* The call is given up, or the mode changed: its pending verdict is dropped. */
void judge_drop(struct judge *j, uint64_t ticket);
void judge_mode_changed(struct judge *j);
