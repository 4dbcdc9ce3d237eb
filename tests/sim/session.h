#pragma once
/*
 * The running session, which the parts of the simulator share: session.c begins, kills and ends it, person.c acts, events.c takes
 * what the engine tells, checks.c says what must hold. There is one a process, and all of it belongs to whoever has the baton.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "sim/server.h"

enum said_state { SAID_SENT, SAID_KEPT, SAID_FREED, SAID_DROPPED };
struct said {
    unsigned tag;
    enum said_state state;
    bool steer;
    bool compacted; /* a compaction came after it: it need not stand in requests */
    bool cleared;   /* belongs to a conversation before /clear */
};
struct fact {
    char text[120];
    bool said, pinned;  /* acknowledged */
    unsigned pinned_at; /* main requests until then */
};
#define FACTS_MAX 24

struct sim {
    const struct sim_profile *profile;
    struct sim_report *report;
    struct server server;
    struct engine *e;
    struct engine_config cfg;
    struct engine_seams seams;
    char dir[80], *root, *data, *config, session[40];
    struct said *said;
    size_t n_said, cap_said;
    struct fact facts[FACTS_MAX];
    size_t n_facts;
    char **ran; /* ids of tool calls that ran */
    size_t n_ran, cap_ran;
    int open_blocks, open_tools, open_turns, open_compacts;
    unsigned results_due, results;
    char last_exit[40];
    bool closed, dying, verbose, at_rest, no_pins, pin_told;
    struct {
        uint64_t id;
        int64_t due_ms;
    } asks[64];
    size_t n_asks;
    FILE *bodies; /* where requests are written to look at them; NULL */
    struct synced {
        uint64_t inode;
        size_t size; /* bytes that are known to be on disk */
    } synced[8];
    size_t n_synced;
};
extern struct sim *sim;

/* The session failed: what did not hold, said once in its report; it goes on. */
void sim_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sim_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sim_mix(struct str bytes); /* into the outcome */

/* events.c */
void events_take(const struct event *e);

/* person.c */
/* A prompt, and what comes of it; calm: nothing new is said, nobody dies. True: the program dies at this moment. */
bool person_prompts(bool calm);
/* Commands, pins and choices that come before the next prompt. */
void person_between_prompts(void);
/* Until nothing happens any more: each submit has its result, and what was typed meanwhile its turn. The person does things, and
 * may see the program die (true). */
bool person_wait(bool may_die);

/* checks.c */
/* Before a main request is answered: is all in it that has to be? */
void checks_request(const struct view *v);
void checks_end(void);

/* disk.c: how much of a file was synced; all of it stands as it is now */
size_t disk_synced(const char *path);
void disk_note(const char *path);

/* tools.c */
extern const struct engine_seams sim_seams;
