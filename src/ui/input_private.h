#pragma once
/* Between the files of the prompt editor. */
#include "ui/input.h"

void input_keep(struct input *in); /* an undo step */
bool input_undo(struct input *in);
/* Takes bytes out; keep_cut: into the cut buffer, joining it while cuts follow each other. */
void input_cut_range(struct input *in, size_t from, size_t to, bool keep_cut);
