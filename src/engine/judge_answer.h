#pragma once
/*
 * The classifier's answer, read strictly: one JSON object with exactly the members verdict ("allow", "block", "ask"),
 * confidence (a number from 0 to 1) and reason (a text that says something). Blanks around it are fine; a fence, a word
 * beside it, an unknown, missing or second member, another type or another spelling make it junk, and junk is no verdict. Pure,
 * any thread.
 */
#include "engine/judge.h"

/* More than an answer ever needs; what is longer is junk. */
#define JUDGE_ANSWER_MAX ((size_t)8 << 10)

/* True: verdict, confidence and reason are filled in. False: *ret_why (static) says what is wrong, the rest is left alone. */
bool judge_answer_parse(struct str text, struct judge_answer *ret, const char **ret_why);
/* Puts text into a reason: one line, control bytes and what hides text made visible, cut at a whole character. */
void judge_reason_set(struct judge_answer *a, struct str text);
