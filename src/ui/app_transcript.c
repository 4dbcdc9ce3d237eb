#include "ui/app_transcript.h"

#include "ui/app_private.h"

void
app_ask_past(struct app *a)
{
    struct op *op;
    while ((op = transcript_query(a->transcript, &a->view))) {
        if (!a->engine || a->engine_closed) {
            op_free(op);
            return;
        }
        engine_post(a->engine, op);
    }
}

void
app_find(struct app *a, int dir)
{
    if (a->field.text.len &&
        transcript_search(a->transcript, &a->view, buf_str(&a->field.text), dir) == FIND_NONE)
        app_note(a, "no further hit");
}
