#pragma once
/*
 * A summary in its fixed sections: read from a model's answer, bounded, and written again. Pure.
 *
 *     if (summary_parse(text, &s, &why)) { summary_bound(&s, max); summary_write(&s, &out); }
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* X(id, heading, share of the room in percent, what belongs there) */
#define SUMMARY_SECTIONS(X)                                                                        \
    X(SUMMARY_TASK, "Task", 14, "what the person wants")                                           \
    X(SUMMARY_CONSTRAINTS, "Constraints", 14, "what they said must hold")                          \
    X(SUMMARY_DECISIONS, "Decisions", 14, "what was decided, and why")                             \
    X(SUMMARY_FILES, "Files", 20, "which files matter and what was done to them")                  \
    X(SUMMARY_ERRORS, "Errors", 12, "what failed, and its cure")                                   \
    X(SUMMARY_STATE, "State", 16, "where the work stands")                                         \
    X(SUMMARY_NEXT, "Next step", 10, "what comes next")

enum summary_section {
#define X(id, ...) id,
    SUMMARY_SECTIONS(X)
#undef X
        SUMMARY_SECTION_COUNT
};

struct summary {
    struct buf part[SUMMARY_SECTION_COUNT];
};
void summary_init(struct summary *s);
void summary_release(struct summary *s);

/* Headings are found in any case and form ("## Files", "**Files:**"); what stands before the first one is left out, what belongs to
 * an unknown one stays in the section before it. A longer text without any is the State. An older summary that was copied into it comes
 * apart into the same sections, each line of it once: summaries are never nested. False: it is no summary, *ret_why (static) says so. */
bool summary_parse(struct str answer, struct summary *ret, const char **ret_why);
/* At most max_bytes when written; each section keeps its share, cut at the end of a line. */
void summary_bound(struct summary *s, size_t max_bytes);
void summary_write(const struct summary *s, struct buf *out);
