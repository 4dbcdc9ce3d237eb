#pragma once
/*
 * The audit log of a session: each permission decision as a JSON line, append-only, 0600. A line that cannot
 * be written is reported once and decides nothing.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/verdict.h"

struct audit_entry {
    const char *session_id, *tool_use_id, *tool, *what, *who, *cwd;
    struct str input; /* raw JSON object */
    enum perm_mode mode;
    const struct decision *decision;
    bool allowed;
    int64_t waited_ms;
};
bool audit_append(const char *path, const struct audit_entry *e, struct err *err) MUST_CHECK;
