#pragma once
/*
 * State: the one mutable object of a loop, and the functions that guard it. It belongs to the
 * engine thread of its session; what belongs to one iteration stays out of it. Messages in it are immutable; the array
 * holds a reference each.
 *
 *     enum call_entry c = state_call_open(st, id, name, input);   // a tool_use arrived
 *     if (!state_handle_tool_result(st, id, &err)) log(err);      // late, duplicate or foreign: refused
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/message.h"
#include "engine/validator.h"

struct jw;

#define STATE_SCHEMA 1
#define STATE_RING 64 /* transitions remembered */
#define STATE_EXTS 8

struct state_transition {
    const char *name, *file; /* static */
    int line;
    bool is_exit;
    int64_t turn, wall_ms;
};

/* What is known of each tool_use id of the session. */
struct call_record {
    uint64_t key;                 /* hash of the id; 0: empty slot */
    uint64_t digest;              /* of name and input */
    const struct message *answer; /* holds a reference; NULL until the results were appended */
    uint32_t block;               /* of the answer */
    bool answered;                /* its one result is accepted; any other is refused */
};

/* A named field that a feature carries in State. */
struct state_ext {
    const char *name; /* static; NULL: free */
    void *data;
    void (*free_data)(void *data);
    void (*write)(const void *data, struct jw *w); /* one JSON value; may be NULL */
};

struct state {
    /* Hot: touched every iteration. */
    const struct message **messages;
    size_t n, cap;
    uint64_t edition; /* of messages (message_edition_new) */
    size_t n_sent;    /* messages that stood in the last request */
    /* of the last request that the server answered: its prompt cache ends there. n_same: how many of them, from the start, still
     * stand as they were sent */
    size_t n_cached, n_same;
    size_t bytes;                 /* of all messages, as tier_weight has them */
    struct validator_proof proof; /* how far core_mend knows them to be legal */
    int64_t turn;                 /* iterations of the running submit, from 1 */
    int64_t turns_before;         /* of the session's submits before it */
    int max_output_recoveries;
    int max_output_override; /* 0: none */
    bool reactive_compact_attempted;
    struct {     /* times that a Stop hook made this submit go on */
        int row; /* since a tool was called */
        int all;
    } stop_hook;
    bool nudged; /* an empty answer was already nudged in this submit */
    struct {
        int64_t last_compact_turn; /* of this submit; 0: none */
        int failures;              /* in a row; the breaker of automatic compaction */
        int poor;                  /* runs in a row that freed little */
        int64_t refused; /* tokens that a server found too long without saying its limit; 0: none */
    } compact;
    struct state_transition last;
    /* of the last request and its answer by the server's count; 0: unknown */
    int64_t context_tokens;
    size_t n_counted;       /* messages that context_tokens covers */
    int64_t budget_saved;   /* characters the budget kept out of the last results */
    double bytes_per_token; /* calibrated by usage; 0: not yet */

    /* Cold. */
    struct state_transition ring[STATE_RING];
    uint64_t n_transitions; /* ever; ring[n % STATE_RING] is the next to write */
    struct call_record *calls;
    size_t n_calls, cap_calls;
    struct state_ext ext[STATE_EXTS];
};

void state_init(struct state *st);
void state_release(struct state *st);
/* Counters of one submit back to their start; turns: of the session so far. */
void state_begin_submit(struct state *st, int64_t turns);

void state_append(struct state *st, const struct message *take_m);
/* An answer came to a request of these messages: what it was made of is in the cache now. */
void state_note_cached(struct state *st, size_t n);
/* Takes the array (and its references) in place of what is there. Messages that are the same pointers count as unchanged; stored
 * results that are not among them are let go of. */
void state_replace_messages(struct state *st, const struct message **take, size_t n);
const struct message *state_last(const struct state *st); /* NULL: none */

/* Only loop.c's one writer calls this. */
void state_note_transition(struct state *st, const struct state_transition *t);

enum call_entry {
    CALL_NEW,      /* run it */
    CALL_OPEN,     /* the same id is running now */
    CALL_REPEAT,   /* answered before, same name and input: give the stored result */
    CALL_CONFLICT, /* the id was used for another call */
};
enum call_entry state_call_open(struct state *st, struct str id, struct str name, struct str input);
/* One result, real or synthetic, is accepted for an open id; a late, duplicate or foreign one is refused. */
bool state_handle_tool_result(struct state *st, struct str id, struct err *err) MUST_CHECK;
/* The call never was: its stream is tried again and may bring the same id. */
void state_call_forget(struct state *st, struct str id);
/* The results message was appended: remembers where each answer stands. Also used for a resumed history. */
void state_index_answers(struct state *st, const struct message *results);
/* The message does not stand in the conversation any more: its results are not given again. */
void state_forget_answers(struct state *st, const struct message *results);
/* The stored result of an answered id, or NULL. */
const struct block *state_answer(const struct state *st, struct str id);

/* Guarded: a name is set once, by its feature; false when it is taken or there is no room. */
bool state_ext_add(struct state *st, const struct state_ext *ext);
void *state_ext_get(const struct state *st, const char *name); /* NULL: not there */

/* State as JSON for /state and --debug: {"schema":1,...}. Message texts stay out. */
void state_write(const struct state *st, struct buf *out);
