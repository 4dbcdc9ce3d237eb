#pragma once
/*
 * The system prompt in its four segments, the tools and the memory reminder. Built once a session (or
 * /clear) and then frozen: a later change of mode, date, git or folder is told at the end of the conversation, so that
 * every request extends the one before byte for byte and the prompt cache holds.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/ledger.h"
#include "ext/memory.h"

struct core;

enum prompt_segment {
    PROMPT_ATTRIBUTION,
    PROMPT_STATIC,
    PROMPT_GLOBAL,
    PROMPT_DYNAMIC,
    PROMPT_SEGMENTS
};
/* The boundary: segments before it are the same for everybody, those after it are this session's. */
#define PROMPT_BOUNDARY PROMPT_DYNAMIC

struct prompt {
    struct buf seg[PROMPT_SEGMENTS];
    struct str system[PROMPT_SEGMENTS]; /* borrowed from seg; those that are not empty */
    size_t n_system;
    size_t breaks[2];  /* indexes in system after which a cache breakpoint stands; SIZE_MAX: none */
    struct buf tools;  /* JSON array */
    struct buf memory; /* the first user-role reminder, or empty */
    struct memory files;       /* what it is made of; its text is given up to `memory` */
    struct ledger_parts parts; /* hashes of all of it, to tell what changed */
    struct buf left_out; /* which instructions are not in it, and why, for the person; or empty */
};
void prompt_init(struct prompt *p);
void prompt_release(struct prompt *p);
/* Builds all of it from the session as it is now. */
void prompt_build(struct prompt *p, struct core *c);
/* May the model read this file? What a deny rule keeps from Read is kept from memory and attachments too. */
bool prompt_may_read(struct core *c, const char *path);
/* How memory is looked for in this session; `excludes` (of prompt_memory_options_release) is the caller's to release. */
void prompt_memory_options(struct core *c, struct memory_options *ret);
void prompt_memory_options_release(struct memory_options *o);
/* The memory part of it (prompt_memory.c). */
void prompt_build_memory(struct prompt *p, struct core *c);
size_t prompt_bytes(const struct prompt *p);
/* The branch or short commit of the repository at `root` from its files, without running git. Appends; nothing when there is
 * none. */
void prompt_git_head(const char *root, struct buf *out);
