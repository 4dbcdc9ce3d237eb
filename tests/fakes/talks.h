#pragma once
/*
 * Long sessions made up from a seed: the same seed gives the same bytes (but for uuids, which are counted). Three kinds are like real
 * ones: a refactoring with many reads, debugging with failing tests, research with searches. TALK_ANY is whatever is legal.
 *
 *     struct talk t = {0};
 *     talk_make(&t, TALK_REFACTOR, 7, 150000);   // about so many tokens of 4 bytes
 *     talk_user(&t, "one thing more");            // or piece by piece
 */
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

enum talk_kind { TALK_ANY, TALK_REFACTOR, TALK_DEBUG, TALK_RESEARCH };

struct talk {
    const struct message **m;
    size_t n, cap;
    uint64_t random, serial;
    size_t bytes;
};
struct talk_call {
    const char *name, *input, *result;
    bool failed;
};

void talk_make(struct talk *t, enum talk_kind kind, uint64_t seed, size_t tokens);
void talk_more(struct talk *t, enum talk_kind kind, size_t tokens); /* goes on */
void talk_release(struct talk *t);

/* A user message with one text; said: what the assistant answers at once, NULL: it is the last message. */
const struct message *talk_user(struct talk *t, const char *text);
const struct message *talk_say(struct talk *t, const char *text);
/* An answer with calls, and their results. said may be NULL. Gives the message of the results. */
const struct message *talk_calls(struct talk *t, const char *said, const struct talk_call *calls,
                                 size_t n);

uint64_t talk_random(struct talk *t);
size_t talk_below(struct talk *t, size_t n);
/* Texts; yours. */
char *talk_code(struct talk *t, size_t lines);
char *talk_prose(struct talk *t, size_t sentences);
