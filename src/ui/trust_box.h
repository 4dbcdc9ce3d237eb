#pragma once
/*
 * The question whether the folder is trusted, over the transcript while nothing was said yet: which settings of the project wait for
 * the answer (QUERY_TRUST). It takes no letters itself: y and n are the app's, which knows an answer from the start of a word.
 * UI thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "engine/event.h"
#include "ui/canvas.h"

struct cJSON;
struct trust_box {
    struct cJSON *answer; /* NULL: not yet */
    uint64_t seq;         /* of the question under way */
    int scroll, rows, seen;
    int seen_to; /* rows that have been on the screen, from the first on without a gap */
    int wide;    /* columns these rows were made for */
};
#define TRUST_SEQ ((uint64_t)1 << 42)

void trust_box_init(struct trust_box *t);
void trust_box_release(struct trust_box *t);
struct op *trust_box_ask(struct trust_box *t);
void trust_box_answer(struct trust_box *t,
                      const struct event *ev);    /* others' answers are passed over */
bool trust_box_key(struct trust_box *t, int key); /* scrolls: Up, Down, PgUp, PgDn */
bool trust_box_fits(struct rect r);
bool trust_box_gives(const struct trust_box *t);    /* there is something that a yes switches on */
bool trust_box_all_seen(const struct trust_box *t); /* to its last row */
/* Into the middle of r; root is the folder, `armed`: a yes was typed and waits for Enter. */
void trust_box_draw(struct trust_box *t, struct canvas *c, struct rect r, const char *root,
                    bool armed, bool ascii);
