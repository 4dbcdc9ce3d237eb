#pragma once
/*
 * Where a conversation stands in the offline pilot's plan. The pilot keeps no state of its own: the plan is parsed from the newest
 * prompt, and what each step has done is read from the tool calls after it, whose ids carry the step ("toolu_off_STEP_TRY_random"). So
 * a resumed session goes on rightly. Borrows from the request.
 */
#include "model/pilot.h"
#include "model/stream.h"

#define PILOT_ID_PREFIX "toolu_off_"

struct pilot_past {                   /* the newest call of one step */
    const struct block *use, *result; /* NULL: none yet */
    int tries;
};
struct pilot_state {
    struct pilot_plan plan;
    struct pilot_past *past; /* one a step */
    size_t from;             /* the last answer's first step: its results are news */
    bool fresh;              /* no step has begun */
};
void pilot_state_init(struct pilot_state *s, const struct model_request *req);
void pilot_state_release(struct pilot_state *s);
/* Whether this conversation holds a Read, Write or Edit of that file that worked. */
bool pilot_file_known(const struct model_request *req, const char *path);
/* path against the request's working folder, yours. */
char *pilot_path(const struct model_request *req, const char *path);
