#pragma once
/* The inside of permit.h, for permit.c and permit_report.c alone. */
#include "engine/audit.h"
#include "engine/core.h"
#include "engine/permit.h"
#include "engine/permit_settings.h"
#include "perm/chain.h"
#include "tools/tool.h"

#define DENIALS_MAX ((size_t)256 << 10)

/* A call that waits for a person. The approval is bound to what was shown: tool, input bytes, folder. */
struct ask {
    uint64_t id;
    char *tool_use_id, *tool, *what, *input, *cwd;
    char *rules[5];
    size_t n_rules;
    int64_t since_ms;
    struct ask *next;
};

struct permit {
    struct core *core;
    struct permit_settings settings;
    struct ask *asks;
    uint64_t last_id;
    struct buf denials; /* JSON objects, comma-separated */
    bool audit_failed;
};

/* Why not, in words for the model. */
void permit_add_reasons(const struct decision *d, struct buf *out);
void permit_add_denial(struct permit *p, const struct permit_call *call);
/* EV_PERM_DECIDED and the audit line. ask_id 0: nobody was asked. */
void permit_emit_decided(struct permit *p, const struct permit_call *call, uint64_t ask_id,
                         const struct decision *d, const char *who, bool allowed,
                         int64_t waited_ms);
