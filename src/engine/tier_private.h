#pragma once
/* What engine/tier*.c share: the calls of a view with their results, and edits that put markers in place of results. */
#include "engine/tiers.h"

#define TIER_IMAGE_BYTES 6400 /* about 1600 tokens, the most that one costs */

/* How the answer of a fold begins. */
#define TIER_EXTRACT "[extract of "

/* A call and its result, both in the view. */
struct tier_call {
    size_t use_at, use;       /* message and block of the tool_use */
    size_t result_at, result; /* ... of its tool_result */
    struct str name;
    uint64_t digest;     /* of name and input */
    char *path;          /* of a file it reads or changes; NULL */
    bool reads, edits;   /* that file */
    int64_t first, last; /* lines it reads; INT64_MAX: to the end */
    size_t bytes;        /* of the result */
    bool failed, image;
};
struct tier_calls {
    struct tier_call *list; /* in the order of their results */
    size_t n, cap;
};
/* All answered calls whose result stands before `end`. Linear. */
void tier_calls_read(const struct tier_view *v, size_t end, struct tier_calls *ret);
void tier_calls_release(struct tier_calls *c);
/* Pinned: its message, the message that called it, or the file. */
bool tier_call_is_pinned(const struct tier_view *v, const struct tier_call *c);
bool tier_message_is_pinned(const struct tier_view *v, const struct message *m);
/* "Read src/a.c, lines 1-80", at most `max` bytes; appends. */
void tier_call_name(const struct tier_view *v, const struct tier_call *c, size_t max,
                    struct buf *out);

/* Markers in place of results, gathered in any order. */
struct tier_mark {
    size_t at, block; /* of the view */
    char *text, *name;
};
struct tier_marks {
    struct tier_mark *list;
    size_t n, cap;
};
/* A marker for the result of `c`; why: "a newer result of it stands below". word: "snipped", "cleared". A text that cannot be had again
 * goes to v->keep_dir. Returns the tokens it saves; 0: nothing, and no marker was made. */
int64_t tier_mark_call(const struct tier_view *v, const struct tier_call *c, const char *word,
                       const char *why, struct tier_marks *marks, struct tier_result *ret);
/* Makes the edits, one a message. Releases the marks. */
void tier_marks_to_edits(const struct tier_view *v, struct tier_marks *marks,
                         struct tier_result *ret);

struct tier_edit *tier_edit_add(struct tier_result *r);
/* Sums up before and after from the view and the edits. */
void tier_result_finish(const struct tier_view *v, struct tier_result *r);
/* A name in keep_dir for this text; yours. */
char *tier_keep_path(const char *dir, struct str id, struct str text);
void tier_keep_add(struct tier_result *r, const struct message *m, size_t block, char *take_path);
