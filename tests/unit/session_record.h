#pragma once
/* The first line of a session as the engine writes it, for tests that make journals by hand. */
#include "unit/unit.h"

#include "base/clock.h"
#include "base/json.h"
#include "store/journal.h"

static inline void
append_session_record(struct journal *j, const char *id, const char *cwd, bool print)
{
    struct buf line, when;
    struct err err = {0};
    struct jw w;
    buf_init(&line, BUF_MAX);
    buf_init(&when, 64);
    clock_iso8601(clock_wall_ms(), &when);
    jw_init(&w, &line);
    jw_object(&w);
    jw_kcstr(&w, "type", "session");
    jw_kcstr(&w, "id", id);
    jw_kcstr(&w, "sessionId", id);
    jw_kcstr(&w, "cwd", cwd);
    jw_kstr(&w, "created", buf_str(&when));
    jw_kstr(&w, "timestamp", buf_str(&when));
    jw_kbool(&w, "print", print);
    jw_end(&w);
    assert_true(journal_append(j, buf_str(&line), &err));
    buf_release(&when);
    buf_release(&line);
}
