#pragma once
/*
 * E4 and E5: the conversation is replaced by a summary that the model writes, with what must survive word for word beside it.
 * The journal keeps all of it ("compact_boundary"); the next request holds
 *
 *     memory files, read again   pins and facts, word for word   the summary, in its sections   the files read last, within a
 *     budget   the todo list and what runs in the background   the person's last messages, word for word, the newest whole
 *
 * as one user message, so that it is there whole or not at all. A summary never holds an older one as it was: the older one is part of what
 * is summarised, and the new one is bounded. The question is the conversation written out as text, long results cut, so that any
 * model can be asked without tools. When the model cannot write it (too long, refused, down) older messages are left out of the question,
 * then it is asked in parts, at last extracts (engine/extract.h) stand in: a compaction that a person asked for always ends in a smaller
 * conversation or a clear reason. Engine thread; waits for the model as a turn does and attends to ops meanwhile.
 *
 *     compact.c        when it is due, the whole of it, the breaker
 *     compact_ask.c    the question, in one piece or in parts, and its answer
 *     compact_text.c   a conversation written out as text; which words in it are the person's
 *     compact_local.c  extracts in place of the model's summary
 *     compact_build.c  the new message
 *     compact_files.c  files, read again
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct core;
struct engine;
struct cancel;

enum compact_why { COMPACT_AUTO, COMPACT_PERSON, COMPACT_REACTIVE };

struct compact_report {
    bool done;
    bool local;            /* extracts in place of a model's summary */
    bool cut;              /* ... in place of the end of one that was cut off */
    bool nothing;          /* not done, and nothing failed: it is as short as it gets */
    int64_t before, after; /* tokens */
    /* not done: why, and the conversation is as it was; local: why the model wrote none */
    struct err err;
};

/* keep: what the person asked to keep, or NULL. Emits EV_COMPACT start and end and the context; notes the boundary. Not between
 * a call and its result. */
void compact_run(struct engine *e, enum compact_why why, const char *keep, struct cancel *turn,
                 struct compact_report *ret);

/* Automatic compaction is due before the next request: over the limit that settings or the model give and the breaker closed, or the
 * context is full and the last runs freed enough; not yet done in this turn. */
bool compact_is_due(const struct engine *e);

/* Tokens from which it is due: autoCompactWindow (tokens) or compact.at (percent, 50..95, default 85) of the true window, never
 * below; 0: never (switched off by autoCompactEnabled, or the window is unknown). */
int64_t compact_limit(const struct core *c);
/* After so many failures in a row the model is asked for no summary until /compact or /clear: when the context is full extracts take
 * its place, and the next time it is asked once more. After two runs in a row that freed less than a fifth there is no automatic one. */
#define COMPACT_FAILURES_MAX 3
#define COMPACT_POOR_MAX 2
bool compact_breaker_open(const struct engine *e, const char **ret_why);

/* Tokens that stay whatever is compacted: the prompt, the instruction files, what is pinned. */
int64_t compact_must_stay(const struct core *c);
/* "system and tools 9k, instruction files 12k, ..." for a person who has to decide what to drop. Appends. */
void compact_say_sizes(const struct core *c, struct buf *out);

/* A message that a compaction made says so in its first block; the line for the transcript ("compacted 182k to 14k"), yours; NULL:
 * it is none. */
struct message;
char *compact_line_of(const struct message *m);
/* That block: pins and summary, for people to unfold. */
struct str compact_shown(const struct message *m);
/* "182k", "4.2k", "830" */
void compact_count(struct buf *out, int64_t tokens);
