#pragma once
/*
 * Questions to the audit log (engine/audit.h): which decisions, of which files, by whom. Lines that are no entries (a torn last one,
 * another format, one longer than any entry) are passed over and counted. Of more entries than there is room for the newest are kept.
 * Any thread.
 *
 *     audit_query_init(&q); q.tool = "Bash"; ... for each session: audit_query_read(&q, file, id, &err); audit_query_sort(&q);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum audit_outcome { AUDIT_ANY, AUDIT_ALLOWED, AUDIT_ASKED, AUDIT_DENIED };

/* One decision, as a row. Strings are owned. */
struct audit_row {
    int64_t time_ms, waited_ms;
    size_t at;           /* taken as the so-manyth: order within a millisecond */
    bool allowed, asked; /* asked: the chain's answer was a question */
    bool replaced;       /* ... and another one took its place: edited, or asked again */
    char *time, *session, *tool, *what, *who, *mode;
    char *by;  /* what decided: a rule with its file and line, or a layer with its reason */
    char *raw; /* the line itself */
};

struct audit_query {
    /* the question; NULL, 0 and AUDIT_ANY: all */
    const char *tool, *who;
    const char *rule; /* a part of a rule's text */
    const char *path; /* absolute: that file, or what lies below it */
    enum audit_outcome outcome;
    int64_t since_ms, until_ms; /* since 1970; until is not included */
    size_t last;                /* only so many, the newest */
    size_t room;                /* rows kept at most; 0: AUDIT_ROWS_MAX */
    /* the answer */
    struct audit_row *rows;
    size_t n, cap, skipped;
    size_t dropped; /* older ones that there was no room for; not those that `last` leaves out */
    size_t taken;   /* rows so far */
};
#define AUDIT_ROWS_MAX 200000
void audit_query_init(struct audit_query *q);
void audit_query_release(struct audit_query *q);
/* Adds what the file of that session holds. A file that is not there holds nothing. */
bool audit_query_read(struct audit_query *q, const char *file, const char *session,
                      struct err *err) MUST_CHECK;
/* Oldest first, and only the last ones. */
void audit_query_sort(struct audit_query *q);
/* "90s", "30m", "2h", "7d" before now, or "2026-11-30", "2026-11-30T05:29", "2026-11-30T05:29:06.123Z" (UTC). */
bool audit_parse_time(const char *s, int64_t now_ms, int64_t *ret_ms);
