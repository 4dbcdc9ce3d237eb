/* The budget's gate before a request of the loop. */
#include "engine/loop_stream.h"
#include "engine/spend.h"

/* Waits for the person's word; FLOW_NEXT: raised. */
static enum flow
ask_person(struct loop *l, struct round *r, double projected, struct err *err)
{
    struct core *c = l->core;
    bool fits = false;
    spend_ask(c, projected, err);
    while (!c->spend.stopped && !(fits = spend_allows(c, projected, err))) {
        if (c->spend.raised) { /* the other limit is crossed too, which is a question of its own */
            spend_close(c, true, "person");
            spend_ask(c, projected, err);
        }
        if (cancel_fired(l->turn) == CANCEL_NONE)
            waker_wait(c->wake, -1);
        if (!loop_attend(l)) {
            spend_close(c, false, "abort");
            return loop_abort_streaming(l, r);
        }
        permit_look(c->permit); /* the limit may have been raised in the settings meanwhile */
    }
    spend_close(c, fits, "person");
    return fits ? FLOW_NEXT : LOOP_END(l, EXIT_MAX_BUDGET);
}

enum flow
loop_spend(struct loop *l, struct round *r)
{
    struct core *c = l->core;
    struct err err = {0};
    double projected = spend_of_request(c, r->req.max_tokens);
    if (spend_allows(c, projected, &err))
        return FLOW_NEXT;
    enum flow f = c->interactive ? ask_person(l, r, projected, &err) : LOOP_END(l, EXIT_MAX_BUDGET);
    if (f == FLOW_EXIT && l->result->exit == EXIT_MAX_BUDGET)
        l->result->err = err;
    return f;
}
