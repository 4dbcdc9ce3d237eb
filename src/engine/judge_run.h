#pragma once
/*
 * One request to the classifier, from its question to its answer; for judge.c alone. Made by the engine thread, run by a thread of the judge's, read
 * by the engine thread again; next and dropped are guarded by the judge's lock.
 */
#include "engine/judge.h"

struct message;

struct judge_run {
    uint64_t ticket;
    char *key, *model, *second_model, *session_id;
    struct model_provider *provider;
    const struct message *question;
    int timeout_ms;
    struct cancel *cancel; /* fired: given up */
    struct judge_answer answer;
    bool dropped;
    struct judge_run *next;
};
struct judge_run *judge_run_new(const struct judge_question *q, struct cancel *session);
void judge_run_free(struct judge_run *r);
/* Asks and fills in the answer; returns when it is there, at the time-out or when the token fires. */
void judge_run(struct judge_run *r);
