#pragma once
/*
 * Extractive summaries: the sentences of a text that say most, scored by TF-IDF over the texts they stand among. No model,
 * no clock: the same texts give the same extract. Sentences of code, paths, errors and numbers a person gave weigh more than
 * prose; what was said twice is taken once. Pure.
 */
#include <stddef.h>

#include "base/buf.h"

/* Appends the best sentences of texts[0..n-1] in their order, at most max_bytes; each cut only at its end (a longer one with an
 * ellipsis). Returns how many were taken. */
size_t extract_sentences(const struct str *texts, size_t n, size_t max_bytes, struct buf *out);
