#pragma once
/* One line of `yare perm check` as a request. The request borrows from the record. */
#include <stdbool.h>

#include "perm/chain.h"

struct check_record {
    struct cJSON *tree;
    struct perm_rules rules;
    struct perm_request req;
    const char **dirs;
    char *cwd;
    const char *classifier; /* the stubbed verdict in auto mode, NULL: error */
    double confidence;
};
/* False: a line that is no JSON, and err says why. A record that is no valid call comes back with req.tool NULL or odd input, which
 * the chain denies; what else is wrong with it is in *ret_problem, borrowed. */
bool check_record_parse(struct check_record *r, struct str line, const char **ret_problem,
                        struct err *err) MUST_CHECK;
void check_record_release(struct check_record *r);
