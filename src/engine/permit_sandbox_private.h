#pragma once
/* The inside of permit_sandbox.h, for permit_sandbox*.c alone. */
#include "engine/permit_sandbox.h"

struct confinement;

#define PERMIT_SANDBOX_LIST_MAX 256

struct permit_sandbox {
    int switched;               /* /sandbox in this session: an enum sandbox_level, -1: not used */
    char *key;                  /* what now and why were made for; NULL: nothing yet */
    struct confinement *now;    /* NULL: cannot be had */
    char *why;                  /* then: why not */
    char *tmp;                  /* the commands' temporary folder, removed at the end */
    struct confinement *run_in; /* of the call that was allowed last; NULL: outside */
    bool told;                  /* the person knows that it cannot be had */
};

/* NULL: cannot be had, and the core's sandbox->why says why. permit_sandbox.c */
struct confinement *permit_sandbox_have(struct permit *p);

/* permit_sandbox_say.c. A flag below "sandbox", the value that counts: from an untrusted project's own files only what makes the sandbox
 * tighter. */
bool permit_sandbox_flag(struct permit *p, const char *name, bool tighter, bool fallback);
/* A list setting, at most PERMIT_SANDBOX_LIST_MAX strings that the settings own; widens: not from an untrusted project's files. */
size_t permit_sandbox_list(struct permit *p, const char *path, bool widens, const char **ret);
/* Who decided that it is off, or on for some. */
const char *permit_sandbox_by(struct permit *p);
