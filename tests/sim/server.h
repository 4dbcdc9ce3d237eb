#pragma once
/*
 * The server of a simulated session and the model behind it: each request is taken apart and checked by code of its own (view.c), then
 * answered by a plan that the wire plays (wire.c).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sim/sim.h"

struct message;

/* ---- view.c: a request as the server reads it ---- */

struct sim_message {
    size_t from, len; /* in view.body */
    struct message *m;
    int64_t tokens, result_tokens;
    unsigned *tags; /* of the person's prompts that stand in it */
    size_t n_tags;
};
struct view {
    struct buf body;  /* without cache marks */
    size_t raw_bytes; /* with them */
    int marks;
    bool has_tools, edits_context;
    struct str system, tools;
    char model[64];
    int max_tokens;
    struct sim_message *msgs;
    size_t n, cap;
    size_t same; /* messages equal to those of the request before */
    int64_t tokens, head_tokens;
};
void view_release(struct view *v);
/* Parses; `before` gives up what is the same. NULL: fine, else what is wrong with the request (static). */
const char *view_read(struct view *v, const struct str *slices, size_t n, struct view *before);
bool view_has_tag(const struct view *v, unsigned tag);
int64_t count_tokens(struct str text);

/* ---- server.c, model.c ---- */

enum plan_end { PLAN_DONE, PLAN_CUT, PLAN_STALL };
struct plan {
    bool no_connection;
    int status;
    char retry_after[64], request_id[32];
    const char *content_type;
    struct buf bytes;
    enum plan_end end;
};

struct server {
    struct view last; /* the main conversation's last request */
    uint64_t head_hash;
    int64_t window;
    size_t max_bytes;
    unsigned n_requests, storm, cuts; /* storm, cuts: how many more of the same come */
    bool calm;                        /* no faults */
    bool beta_known;
    unsigned next_id, steps_left, answers;
    unsigned force_at; /* the request that is forced to be too long; 0: none */
    enum sim_force force;
    bool forcing; /* the force was used, its turn is not over */
    bool once_refused;
    struct known_id {
        char id[24];
        uint64_t input;
    } * ids;
    size_t n_ids, cap_ids;
    unsigned used_ids_from; /* ids before this one belong to another conversation */
};

void server_answer(struct server *s, const struct str *slices, size_t n_slices, const char *betas,
                   struct plan *ret);
void server_count(struct server *s, const struct str *slices, size_t n_slices, struct plan *ret);
void model_answer(struct server *s, const struct view *v, enum sim_fault fault, struct buf *out);
void model_side_answer(struct server *s, const struct view *v, enum sim_fault fault,
                       struct buf *out);
bool model_signature_holds(struct str thinking, struct str signature);
uint64_t server_input_hash(struct str input);
