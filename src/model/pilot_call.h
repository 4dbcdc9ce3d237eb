#pragma once
/* The tool calls of a step: which comes next by what came before, and its input. */
#include "model/pilot_state.h"

/* "Read", "Edit" ..., or NULL: the step is over (or needs no tool). */
const char *pilot_next_tool(const struct pilot_step *step, const struct pilot_past *past,
                            bool file_known);
/* The input's JSON object, appended to out. */
void pilot_write_input(struct buf *out, const struct model_request *req,
                       const struct pilot_step *step, const char *tool);
