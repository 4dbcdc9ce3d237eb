#pragma once
/* A rig whose model is a loopback server of the Messages API, with the real tools, that answers by a script. */
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
#include "model/provider.h"
#include "unit/wire_server.h"

struct session {
    struct rig r;
    struct wire_server srv;
    struct engine_seams seams;
};

static inline void
start_engine(struct session *s)
{
    struct err err = {0};
    char *url = xasprintf("http://127.0.0.1:%d", s->srv.port);
    s->r.cfg.take_provider =
        anthropic_provider_new(&(struct anthropic_config){.base_url = url, .api_key = "k"});
    free(url);
    s->r.closed = false;
    s->r.e = engine_start(&s->r.cfg, &err);
    if (!s->r.e)
        fail_msg("engine_start: %s", err.text);
    rig_kind(&s->r, EV_SESSION);
}

/* The server answers by this script (tests/fakes/model_server.py). Then the test settles s->r.cfg and starts the engine. */
static inline void
serve(struct session *s, const char *model, const char *script)
{
    wire_server_start(&s->srv, script, "0");
    s->seams = (struct engine_seams){.retry_base_ms = 1, .kill_wait_ms = 2000};
    s->r.cfg.seams = &s->seams;
    s->r.cfg.model = model;
}

/* The same with a list of responses, each of them steps without the list around them. */
static inline void
begin_wire(struct session *s, const char *model, const char *const *responses, size_t n)
{
    struct buf b;
    memset(s, 0, sizeof *s);
    rig_init(&s->r);
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"responses\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%s[%s]", i ? "," : "", responses[i]);
    buf_adds(&b, "]}");
    serve(s, model, buf_cstr(&b));
    buf_release(&b);
}

static inline void
end_wire(struct session *s)
{
    rig_end(&s->r);
    wire_server_stop(&s->srv);
}

static inline void
turn_with(struct session *s, const char *prompt)
{
    const struct event *e = rig_submit(&s->r, prompt);
    if (strcmp(e->u.result.exit, "completed") != 0)
        fail_msg("%s: %s", e->u.result.exit, e->u.result.errors ? e->u.result.errors : "");
}
