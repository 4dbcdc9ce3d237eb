#pragma once
/* A rig whose conversations are compacted: answers that weigh something, and what a compaction left. */
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

#define OPEN "The conversation before this was compacted"
#define SUMMARY                                                                                    \
    "## Task\nMake the parser count columns.\n## Constraints\nNo new files.\n## Files\n"           \
    "src/parse.c: next_token() changed\n## State\nTests pass.\n## Next step\nRun the linter.\n"

static inline void
begin(struct rig *r, int64_t window)
{
    rig_init(r);
    r->cfg.context_window = window;
}

/* An answer, with enough in it that it can get shorter, after which the server counts `tokens` in the context. */
static inline void
says(struct rig *r, const char *text, int64_t tokens)
{
    static char filler[6001];
    for (size_t i = 0; i + 1 < sizeof filler; i++)
        filler[i] = i % 60 == 59 ? '\n' : i % 7 == 6 ? ' ' : 'w';
    scripted_reply(r->script);
    scripted_text(r->script, text);
    scripted_text(r->script, filler);
    scripted_usage(r->script, tokens, 10);
    scripted_end(r->script, STOP_END_TURN);
}

static inline void
calls(struct rig *r, const char *id, const char *input, int64_t tokens)
{
    scripted_reply(r->script);
    scripted_tool(r->script, id, "Read", input);
    scripted_usage(r->script, tokens, 10);
    scripted_end(r->script, STOP_TOOL_USE);
}

static inline bool
is_end(const struct event *e, const void *arg)
{
    (void)arg;
    return e->kind == EV_COMPACT && e->phase == PHASE_END &&
           (strcmp(e->u.compact.tier, "auto") == 0 || strcmp(e->u.compact.tier, "person") == 0 ||
            strcmp(e->u.compact.tier, "reactive") == 0);
}

static inline const struct event *
compact(struct rig *r, const char *keep)
{
    rig_post(r, OP_COMPACT, keep);
    return rig_until(r, is_end, NULL);
}

static inline size_t
compactions(const struct rig *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += is_end(r->ev[i], NULL);
    return n;
}

static inline void
assert_has(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not in: %s", what, text);
}

static inline void
assert_lacks(const char *text, const char *what)
{
    if (strstr(text, what))
        fail_msg("'%s' is in: %s", what, text);
}

static inline struct err
http(int status, const char *kind, const char *text)
{
    struct err e = {.code = ERR_HTTP, .http = status, .retryable = status >= 500};
    snprintf(e.kind, sizeof e.kind, "%s", kind);
    snprintf(e.text, sizeof e.text, "%s", text);
    return e;
}

static inline bool
is_notice(const struct event *e, const void *arg)
{
    return e->kind == EV_NOTICE && strstr(e->u.notice.text, arg);
}

static inline void
expect_unchanged(struct rig *r, const char *why)
{
    const struct event *e = compact(r, NULL);
    assert_true(e->u.compact.failed);
    assert_has(e->u.compact.text, why);
    assert_has(e->u.compact.text, "it stays as it is");
}
