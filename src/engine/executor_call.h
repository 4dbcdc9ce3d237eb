#pragma once
/* One tool call of a batch: from its block to its one result. Only executor*.c include this. */
#include "engine/core.h"
#include "engine/event.h"
#include "engine/executor.h"
#include "engine/executor_pool.h"
#include "engine/permit.h"
#include "tools/tool.h"

struct call {
    char *id, *name, *input;
    struct cJSON *tree;      /* of input; NULL: bad input */
    const struct tool *tool; /* NULL: unknown */
    enum tool_state state;
    /* it may run, with exactly this input: by the rules, the classifier or a person */
    bool approved;
    bool edited;       /* a person changed the input */
    bool yes;          /* a person was asked and said it */
    bool safe;         /* may overlap; valid for cwd generation safe_gen */
    uint64_t safe_gen; /* 0: not judged yet */
    uint64_t ask_id;   /* while ASKING or JUDGING */
    struct cancel *cancel, *background;
    struct confinement *confinement; /* approved for inside this sandbox; NULL: outside */
    struct job *job;                 /* while RUNNING; the pool's */
    struct tool_result result;
    bool ran;    /* it was handed to a worker */
    bool repeat; /* the stored result of an answered id stands in */
    int64_t started_ms, ended_ms;
};

struct executor {
    struct core *core;
    struct cancel *batch; /* the siblings' token */
    struct call *calls;
    size_t n, cap;
    bool person;
    int64_t place;    /* event.place of the message that the batch's calls stand in */
    char *failed;     /* the shell call that failed first: the others are cancelled */
    uint64_t cwd_gen; /* grows when the working folder changes */
};

bool call_is_open(const struct call *c);   /* no result yet */
bool call_is_parked(const struct call *c); /* a person or the classifier is asked */
/* Fills in a new call and emits its start; what can be answered at once is. */
void call_open(struct executor *x, struct call *c, struct str id, struct str name, struct str input,
               bool bad_input);
void call_release(struct call *c);
/* Judges and starts it: afterwards it is RUNNING, ASKING or has its result. */
void call_start(struct executor *x, struct call *c);
/* A worker brought it back. */
void call_take_job(struct executor *x, struct call *c, struct job *take_j);
/* Its one result is an error text of yare's own. */
void call_answer(struct executor *x, struct call *c, enum tool_state state, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* ... because it was cancelled. */
void call_cancelled(struct executor *x, struct call *c, enum cancel_reason reason);
/* Decided while parked. */
void call_settle(struct executor *x, struct call *c, enum permit_verdict v, struct str reason,
                 uint64_t ask_id);
struct permit_call call_permit(const struct executor *x, const struct call *c);
/* executor_job.c: what the pool runs for it. */
struct job *call_make_job(struct executor *x, struct call *c);
/* May it go on in the background when its time is up? executor_background.c */
bool call_may_outlive(const struct executor *x, const struct call *c);
/* executor_ends.c: how the calls of the batch ended goes to the journal with their results. */
char *executor_ends(struct executor *x); /* yours; NULL: nothing is said of it */
/* What a person sees of its result, and whether that is a unified diff. Borrowed. */
struct str call_shown(const struct call *c, bool *ret_diff);
/* May it overlap with others? */
bool call_is_safe(struct executor *x, struct call *c);
