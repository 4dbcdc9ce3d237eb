#pragma once
/*
 * How much one decision may look at, on its thread: names in folders, where links lead, rules held against names. Each walk has a
 * bound of its own, but a command line may ask for hundreds of them, and rules may be many. The work is counted, not timed, so that the
 * same call always gets the same answer. What is over counts as not looked at, and the decision asks (chain.c): whoever gets
 * `false` here says "lost", "may be" or, in an allow, "no".
 *
 * The last quarter is kept from walks: a folder, however large, leaves enough to hold the names and commands of the call itself against
 * the rules.
 */
#include <stdbool.h>
#include <stddef.h>

enum { /* parts of what one decision may take, each about 40 ns */
       LOOK_RULE = 8,
       LOOK_NAME = 10,
       LOOK_STAT = 30,
       LOOK_PATH = 60,
       LOOK_FOLDER = 150,
       LOOK_LINKS = 600,
       LOOKS_PER_KB = 850000,
       LOOKS_RESERVE = 4, /* one in so many */
};

struct looks {
    size_t left, reserve;
    bool spent;
};
/* Around a decision about that many bytes; end takes what begin gave. Outside of one nothing is counted. */
struct looks looks_begin(size_t bytes);
void looks_end(struct looks before);
/* False: no more may be looked at. walk: of what lies in folders. */
bool may_look(size_t cost);
bool may_walk(size_t cost);
/* So many rules are passed by, of which most say nothing. */
bool may_pass(size_t rules);
/* Something was left out. */
bool looks_spent(void);
