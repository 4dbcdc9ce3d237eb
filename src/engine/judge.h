#pragma once
/*
 * The classifier of auto (AFK) mode: a small model call of its own for a call that the chain asks about and a classifier may
 * lift. What it is told is written by judge_prompt.h, what it answers is read by judge_answer.h; everything but a clear verdict (an
 * error, the time-out, junk, a refusal, no model) is "no verdict", which asks.
 *
 * The functions are the engine thread's. The requests run on threads of the judge's own (a few, made when needed, so that several calls of
 * a batch are judged side by side and the main stream is never held up); one that is done signals the engine's waker. Each
 * request is bound to a token: dropping it closes the connection. The providers must outlive the judge.
 *
 * Verdicts are kept by the whole text of the question but its history, and by what of the call it does not tell, so that what the person says, another folder, other rules or another call make
 * it a new question. After three blocks in a row, or twenty in all, the judge is off until judge_reset: a person answered.
 *
 *     if (judge_start(j, &q, &answer)) apply(&answer); else wait for the waker; while (judge_take(j, &answer)) apply(&answer);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/stream.h"

struct waker;
struct cancel;
struct judge;
struct model_provider;

#define JUDGE_ROW_MAX 3    /* blocks in a row */
#define JUDGE_TOTAL_MAX 20 /* ... and in all */

/* X(id, what it is called in logs) */
#define JUDGE_HOWS(X)                                                                              \
    X(JUDGE_VERDICT, "verdict")                                                                    \
    X(JUDGE_CACHED, "cached")                                                                      \
    X(JUDGE_TIMEOUT, "timeout")                                                                    \
    X(JUDGE_ERROR, "error")                                                                        \
    X(JUDGE_JUNK, "junk")                                                                          \
    X(JUDGE_REFUSED, "refused")                                                                    \
    X(JUDGE_NO_MODEL, "no model")                                                                  \
    X(JUDGE_TOO_LONG, "too long")                                                                  \
    X(JUDGE_OFF, "off")
enum judge_how {
#define X(id, name) id,
    JUDGE_HOWS(X)
#undef X
};

struct judge_answer {
    uint64_t ticket;
    enum judge_how how;
    char verdict[8];   /* "allow", "block", "ask"; "" where there is none */
    double confidence; /* 0..1 */
    /* for people: the classifier's words, or why there is no verdict; fit to be shown */
    char reason[400];
    int64_t took_ms;
    /* What it cost; model "" when nothing was asked. */
    char model[96];
    struct usage usage;
};

struct judge_question { /* borrowed for the call */
    uint64_t ticket;    /* the caller's, not 0 */
    struct str key;     /* what a verdict is kept by */
    struct str text;    /* what is sent; "": too long to be sent whole */
    struct model_provider *provider;
    const char *model;        /* NULL: there is none that could judge */
    const char *second_model; /* where the server does not have the first (404); NULL */
    const char *session_id;
    int timeout_ms;
};

struct judge *judge_new(struct waker *wake, struct cancel *session);
void judge_free(struct judge *j); /* gives up what runs and joins; NULL is fine */
/* True: answered at once (kept, no model, too long, switched off), in *ret. False: it is on its way. */
bool judge_start(struct judge *j, const struct judge_question *q, struct judge_answer *ret);
/* The next answer that came; false: none. One that was dropped comes with the ticket 0, for what it cost. */
bool judge_take(struct judge *j, struct judge_answer *ret);
/* The call is given up: its pending verdict is dropped. An unknown ticket is fine. */
void judge_drop(struct judge *j, uint64_t ticket);
/* Every pending verdict and all that were kept: the mode changed, another session began. */
void judge_forget(struct judge *j);

/* A verdict was acted on; true: that was the block that switches the judge off. */
bool judge_note(struct judge *j, bool blocked);
void judge_reset(struct judge *j); /* a person answered, or chose the mode anew */
/* Blocks in a row and in all since the last reset. */
void judge_counts(const struct judge *j, int *ret_row, int *ret_total);
