#pragma once
/*
 * Extractive summaries: the sentences of a text that say most, scored by TF-IDF over the texts they stand among. No model,
 * no clock: the same texts give the same extract. Sentences with paths, errors, decisions and numbers weigh more than other
 * prose; what was said twice is taken once. Time and memory are linear in the bytes (and a sort of the sentences). Pure.
 *
 * A sentence ends where prose ends one (a dot inside a path, a number or "e.g." ends none); a line of code, of a list, a
 * heading and a line of output are one each. What is longer than EXTRACT_SENTENCE is taken in pieces.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define EXTRACT_SENTENCE 400 /* bytes; a longer one is cut there, at a blank where there is one */

/* Appends the best sentences of texts[0..n-1] in their order, one a line, at most max_bytes; blanks inside are one each, a cut
 * one ends in an ellipsis. Returns how many were taken. */
size_t extract_sentences(const struct str *texts, size_t n, size_t max_bytes, struct buf *out);

/* The cut into sentences alone: calls fn for each in order; `cut`: it goes on in the next. */
typedef void (*extract_fn)(void *user, struct str sentence, bool cut);
void extract_split(struct str text, extract_fn fn, void *user);
