#pragma once
/* What the pieces of a compaction share; only compact*.c and pins.c include this. */
#include "base/message.h"
#include "engine/compact.h"
#include "engine/hidden.h"
#include "engine/summary.h"

struct core;

/* How the blocks of a compaction's message begin: by these its pieces are known again. */
#define COMPACT_OPEN HIDDEN_TAG "\nThe conversation before this was compacted "
#define COMPACT_SUMMARY "What came before, in summary:\n"
#define COMPACT_FILE HIDDEN_TAG "\nContent of "
#define COMPACT_WORDS "<person-message>\n"
#define COMPACT_WORDS_END "\n</person-message>"

/* A share of the window, at most `cap` tokens, as bytes by the estimator; window unknown: of 100,000. */
size_t compact_room(const struct core *c, int percent, int64_t cap);
#define COMPACT_SUMMARY_PERCENT 8 /* of the window, what a summary may take */
#define COMPACT_SUMMARY_TOKENS 8000

/* ---- compact_text.c ---- */

/* The person's own words in block i of a user message, without any mark; ptr NULL: it holds none. */
struct str compact_words(const struct message *m, size_t block);
struct str compact_newest_words(const struct message *m); /* of its last such block */
/* The summary inside a compaction's message; len 0: there is none. */
struct str compact_old_summary(const struct message *m);

struct compact_texts { /* a message each, in order */
    char **list;
    size_t n, cap, bytes;
};
/* result_max: bytes of a result or an input; the newest few messages may have more. */
void compact_texts_make(const struct core *c, size_t result_max, struct compact_texts *ret);
void compact_texts_release(struct compact_texts *t);

/* ---- compact_ask.c ---- */

/* False with err: no summary. May be asked several times; the history is not touched. *ret_cut: an answer was cut off at its limit of
 * length, and the shorter one that was asked for then too; what it had not come to are extracts (compact_local.c). */
bool compact_ask(struct engine *e, const char *keep, struct cancel *turn, struct summary *ret,
                 bool *ret_cut, struct err *err);

/* ---- compact_local.c ---- */

void compact_local(const struct core *c, struct summary *ret);
/* Extracts in the sections behind the last that has a text: a summary that was cut off there. Each says so. */
void compact_fill(const struct core *c, struct summary *s);

/* ---- compact_files.c ---- */

/* person: the person named it, only deny rules hold; else it must stand inside the project and ask rules hold too. */
bool compact_may_read(struct core *c, const char *path, bool person);
/* The files that the model read or wrote last and that fit, as blocks, newest first; those that do not fit are named. */
void compact_add_files(struct core *c, struct message_builder *b, size_t max_bytes);
/* A pinned file, or why it is not given; takes what it needed off *max_bytes. */
void compact_add_pinned_file(struct core *c, struct message_builder *b, const char *path,
                             size_t *max_bytes);
/* Its name, and what stands in the way of giving it whole, for the person. */
void compact_say_pinned(const char *path, struct buf *out);

/* ---- compact_build.c ---- */

/* The new message. prompt: the one that will be in force. NULL: larger than any message may be. */
struct prompt;
struct compact_want {
    int64_t before; /* tokens until now */
    int64_t goal;   /* ... to keep within, with the prompt; files and older messages give way */
    bool going;     /* the turn goes on with it */
    bool local;     /* no model wrote the summary: more of the person's messages stand beside it */
};
struct message *compact_build(struct core *c, const struct prompt *prompt, const struct summary *s,
                              const struct compact_want *want);
