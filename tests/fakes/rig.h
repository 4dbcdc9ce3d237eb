#pragma once
/*
 * An engine over a scripted model and toy tools in a folder of its own, and all events it sent. Reading waits for a
 * condition, at most half a minute; a rig that waits in vain fails the test.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "fakes/scripted.h"

struct rig {
    struct scripted *script;
    struct engine *e;
    char dir[64]; /* root; data and config below it */
    char *data, *config, *root;
    struct event **ev;
    size_t n, cap, seen; /* seen: how far rig_until looked */
    struct engine_config cfg;
    struct engine_seams seams;
    bool closed;
    bool rewrites; /* requests need not extend the one before: the test changes the past */
};

void rig_init(struct rig *r);  /* folder, script, configuration; then the test writes the script */
void rig_start(struct rig *r); /* starts the engine */
/* Stops it, checks that every request was legal and extended the one before, and frees everything. */
void rig_end(struct rig *r);
void rig_stop(struct rig *r); /* frees the engine alone, reading what is left */
void rig_check_requests(struct rig *r);

/* Whole replies of the model: one text and the end; one call. */
void rig_says(struct rig *r, const char *text);
void rig_calls(struct rig *r, const char *id, const char *name, const char *input);
void rig_says_behind(struct rig *r, int gate, const char *text); /* ... once the gate is open */
/* A failure for scripted_fail and scripted_fail_start. */
struct err rig_error(enum err_code code, int http, bool retryable, const char *kind,
                     const char *text);
/* A file in the root (name may hold folders), which are made; text replaces what is there. */
void rig_put(const struct rig *r, const char *name, const char *text);
/* The person's settings.json. */
void rig_put_settings(const struct rig *r, const char *json);

/* A disk that is full, as far as a program can tell: no file grows past so many bytes (RLIM_INFINITY: there is room). */
void rig_limit_files(rlim_t bytes);

void rig_post(struct rig *r, enum op_kind kind, const char *text);
void rig_answer(struct rig *r, uint64_t ask_id, enum perm_answer a, const char *reason,
                const char *edited);
/* Waits for the next request for approval and answers it. */
void rig_answer_next(struct rig *r, enum perm_answer a);

/* The next event that the predicate takes, reading on as far as needed. */
typedef bool (*rig_pred)(const struct event *e, const void *arg);
const struct event *rig_until(struct rig *r, rig_pred pred, const void *arg);
const struct event *rig_kind(struct rig *r, enum event_kind kind);
const struct event *rig_tool(struct rig *r, const char *id, enum event_phase phase,
                             int state); /* state -1: any */
const struct event *rig_result(struct rig *r);
/* The same, which must be this end; code: the program's exit code. */
const struct event *rig_ends(struct rig *r, const char *exit, const char *subtype, int code);
/* Waits until the engine has looked at all that was posted so far. */
void rig_settle(struct rig *r);
/* Submits and waits for the result. */
const struct event *rig_submit(struct rig *r, const char *text);
/* Index in r->ev of the first such event, or -1. */
int rig_find_tool(const struct rig *r, const char *id, enum event_phase phase, int state);
bool rig_saw_transition(const struct rig *r, const char *name);
size_t rig_count(const struct rig *r, enum event_kind kind);
size_t rig_told(const struct rig *r, const char *words); /* notices that hold them, so far */
const struct scripted_request *rig_last_request(struct rig *r);
const char *rig_last_message(struct rig *r, size_t request); /* of that request */
/* The answer to a query, its tree; yours. */
struct cJSON *rig_ask(struct rig *r, enum query_kind query, const char *text);
/* How many messages the journal of session `id` has. */
size_t rig_stored(const struct rig *r, const char *id);
