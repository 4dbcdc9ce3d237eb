#pragma once
/*
 * What the offline pilot understands: plain instructions, taken apart into steps. No model, no guessing: a text that is not one of
 * these is answered with what it can do.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum pilot_verb {
    PILOT_READ,
    PILOT_LIST,
    PILOT_FIND,
    PILOT_GLOB,
    PILOT_RUN,
    PILOT_REPLACE,
    PILOT_WRITE,
    PILOT_TODO,
    PILOT_HELP,
    PILOT_UNKNOWN
};

struct pilot_step {
    enum pilot_verb verb;
    char *a, *b,
        *c; /* read: file; list: folder; find: pattern, folder; run: command; replace: old, new, file; write: text, file;
                        todo: items joined by newlines; unknown: the text */
};
struct pilot_plan {
    struct pilot_step *steps;
    size_t n, cap;
};
/* "find x in src, then read a.c": steps in order; "then" inside quotes does not split. */
void pilot_parse(struct str prompt, struct pilot_plan *ret);
void pilot_plan_release(struct pilot_plan *p);
/* What it understands and how to connect a model, as Markdown. */
extern const char pilot_help[];
