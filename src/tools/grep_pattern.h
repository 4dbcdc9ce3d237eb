#pragma once
/*
 * A compiled search pattern (PCRE2 with JIT) and what one thread needs to match it. The pattern is immutable and may be shared; a matcher
 * belongs to one thread. Text that is pure ASCII is matched by bytes, which is faster and gives the same.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct grep_finder;
struct grep_pattern;
struct grep_matcher;

struct grep_pattern *grep_pattern_new(struct str pattern, bool ignore_case, bool multiline,
                                      struct err *err);
void grep_pattern_free(struct grep_pattern *p);
/* The pattern looks around, so that only a line by itself may be searched. */
bool grep_pattern_by_line(const struct grep_pattern *p);
/* Finds the literals of which every match holds one; NULL: not known. */
const struct grep_finder *grep_pattern_finder(const struct grep_pattern *p);
/* May the finder be asked about text of any bytes? Else only where it is UTF-8, or even ASCII. */
enum grep_finder_text { GREP_FINDS_IN_BYTES, GREP_FINDS_IN_UTF8, GREP_FINDS_IN_ASCII };
enum grep_finder_text grep_pattern_finder_text(const struct grep_pattern *p);
/* A place that the finder gives is a match as it stands. */
bool grep_pattern_exact(const struct grep_pattern *p);

struct grep_matcher *grep_matcher_new(const struct grep_pattern *p);
void grep_matcher_free(struct grep_matcher *m);

enum grep_found { GREP_NONE, GREP_FOUND, GREP_TOO_HARD /* the match limit was hit */ };
/* The first match in s, which is valid UTF-8, at or after from. `ascii`: all of s is. */
enum grep_found grep_match(struct grep_matcher *m, struct str s, size_t from, bool ascii,
                           size_t *ret_start, size_t *ret_end);
bool grep_is_ascii(struct str s);
