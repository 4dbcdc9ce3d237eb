#pragma once
/*
 * What the offline pilot understands: plain instructions, taken apart into steps. No model, no guessing: a text that is not one of
 * these is answered with what it can do. Pure; one thread.
 *
 *     pilot_parse(STR("find x in src, then read a.c and b.c"), &plan);   three steps, the last two in one answer
 *
 * Steps are joined by "then" (", then", "and then"); "and" joins too where it cannot belong to a text. Quotes ('..', "..", `..`) keep
 * such words together and are taken off.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum pilot_verb {
    PILOT_READ,    /* a: file */
    PILOT_LIST,    /* a: folder, "" the working folder */
    PILOT_FIND,    /* a: pattern; b: folder or NULL */
    PILOT_GLOB,    /* a: pattern; b: folder or NULL */
    PILOT_RUN,     /* a: command */
    PILOT_REPLACE, /* a: old, b: new, c: file */
    PILOT_WRITE,   /* a: text, b: file */
    PILOT_TODO,    /* a: items, one a line */
    PILOT_HELP,
    PILOT_TOUR,   /* where it is */
    PILOT_UNKNOWN /* a: the text */
};

struct pilot_step {
    enum pilot_verb verb;
    char *a, *b, *c;
    bool with_previous; /* called in the same answer as the step before */
};
struct pilot_plan {
    struct pilot_step *steps;
    size_t n, cap;
};
void pilot_parse(struct str prompt, struct pilot_plan *ret);
void pilot_plan_release(struct pilot_plan *p);
/* The step as an instruction reads: "read `a.c`". */
void pilot_step_text(const struct pilot_step *s, struct buf *out);
/* The file a step is about, or NULL. */
const char *pilot_step_file(const struct pilot_step *s);
/* What it understands and how to connect a model, as Markdown. */
extern const char pilot_help[];
extern const char pilot_tour_text[]; /* where the tour is */
