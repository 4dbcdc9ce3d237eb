#pragma once
/* A rig in auto mode: the toys under the real chain, and what the classifier was asked and said. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "fakes/rig.h"
#include "fakes/toys.h"

#define SAYS(verdict, confidence, reason)                                                          \
    "{\"verdict\":\"" verdict "\",\"confidence\":" confidence ",\"reason\":\"" reason "\"}"
#define ALLOW SAYS("allow", "0.95", "an ordinary build step")
#define BLOCK SAYS("block", "0.9", "it publishes; run the tests instead")
#define ASK SAYS("ask", "0.9", "the person should see this")

/* The toys under the real chain. */
static inline void
init(struct rig *r)
{
    rig_init(r);
    r->seams.perm_check = NULL;
    r->seams.bash_read_only = NULL;
    r->seams.perm_suggest = NULL;
    r->cfg.mode = PERM_AUTO;
    r->cfg.mode_given = true;
    r->cfg.sandbox = "off";
}

static inline void
call(struct rig *r, const char *id, const char *command)
{
    char *input = xasprintf("{\"command\":\"%s\"}", command);
    scripted_tool(r->script, id, "Bash", input);
    free(input);
}

/* One answer of the model that makes a call. */
static inline void
reply_call(struct rig *r, const char *id, const char *command)
{
    scripted_reply(r->script);
    call(r, id, command);
    scripted_end(r->script, STOP_TOOL_USE);
}

/* A rig whose model makes this one call and is done; verdict: what the classifier says of it. */
static inline void
init_call(struct rig *r, const char *command, const char *verdict)
{
    init(r);
    reply_call(r, "t1", command);
    rig_says(r, "done");
    scripted_judge_says(r->script, verdict);
}

static inline void
go(struct rig *r, const char *prompt)
{
    rig_start(r);
    rig_post(r, OP_SUBMIT, prompt);
}

static inline const struct finding *
classifier_said(const struct decision *d)
{
    const struct finding *said = NULL;
    for (size_t i = 0; i < d->n_findings; i++)
        if (strcmp(d->findings[i].layer, "L6") == 0)
            said = &d->findings[i];
    assert_non_null(said);
    return said;
}

static inline const char *
question(struct rig *r, size_t i)
{
    const struct scripted_request *q = scripted_judge_request(r->script, i);
    assert_non_null(q);
    assert_int_equal(q->n_messages, 1);
    assert_string_equal(q->tools, "");
    return q->messages[0];
}

static inline const struct event *
notice_with(struct rig *r, const char *part)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->ev[i]->kind == EV_NOTICE && strstr(r->ev[i]->u.notice.text, part))
            return r->ev[i];
    return NULL;
}

static inline void
set_mode(struct rig *r, enum perm_mode mode)
{
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = mode;
    engine_post(r->e, op);
}
