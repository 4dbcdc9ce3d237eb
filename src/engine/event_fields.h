#pragma once
/*
 * The members of each event as data: which kind, name in JSON, type, place. Freeing, writing and reading an event walk
 * this one table, so a new member is one row.
 */
#include <stddef.h>

#include "engine/event.h"

enum field_type {
    FIELD_STR,    /* char *, owned, may be NULL */
    FIELD_STATIC, /* const char *, static; interned when read back */
    FIELD_INT,
    FIELD_I64,
    FIELD_U64,
    FIELD_NUM,
    FIELD_BOOL,
    FIELD_MODE,
    FIELD_BLOCK,
    FIELD_TOOL_STATE,
    FIELD_ERR,
    FIELD_DECISION,
    FIELD_RULES, /* char ** with its count in n_rules */
};

struct event_field {
    enum event_kind kind;
    const char *name;
    enum field_type type;
    size_t offset; /* in struct event */
};

/* All rows, in the order they are written. */
const struct event_field *event_fields(size_t *ret_n);

/* The place of a member, as its type. */
#define FIELD_AT(e, f, type) ((type *)(void *)((char *)(e) + (f)->offset))
