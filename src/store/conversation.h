#pragma once
/*
 * The conversation inside a journal, by offsets: which records are its messages and where each stands. Opening reads the
 * file once through a window and looks only at the heads of its records; a message is read and parsed when somebody asks
 * for it. So a long session opens at once and costs 24 bytes a message.
 *
 * Records form a tree by parentUuid; the newest record's ancestors are the conversation (a rewind makes a branch). Lines
 * that share one answer's id (a block each) are one message. A record that cannot be read keeps its place. A parent that
 * is missing is taken to be the message before. What stands before a compaction stays part of the transcript, for people;
 * conversation_live says where that begins which counts for the model.
 *
 *     struct conversation *t = conversation_open(path, NULL, NULL, &err);
 *     for (size_t i = 0; i < conversation_len(t); i++)
 *         m = conversation_message(t, i);   // NULL: it cannot be read
 *
 * It belongs to one thread. The file may grow meanwhile: its one writer says so with conversation_add.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/message.h"

struct conversation;

/* Called while opening for each record that is no message, in the order they stand; both strings for the call. */
typedef void (*conversation_note)(void *user, struct str type, struct str record);

struct conversation *conversation_open(const char *path, conversation_note note, void *user,
                                       struct err *err);
void conversation_free(struct conversation *t); /* NULL is fine */

size_t conversation_len(const struct conversation *t); /* messages; NULL: 0 */
size_t conversation_live(const struct conversation *t);
/* Bytes of messages from..to-1 as they stand in the file. */
int64_t conversation_bytes(const struct conversation *t, size_t from, size_t to);
/* Bytes at the end that are no whole record. */
int64_t conversation_torn(const struct conversation *t);
/* Lines that are no records, the torn end apart. */
size_t conversation_unread(const struct conversation *t);
bool conversation_is_user(const struct conversation *t, size_t i);
/* Message i; yours. After a crash the last one may hold a tool_use without result: it is given as it is. */
struct message *conversation_message(struct conversation *t, size_t i);
/* How the calls ended whose results message i brings (message->ends, which conversation_message leaves out); yours, NULL: nothing is
 * said of it. */
char *conversation_ends(struct conversation *t, size_t i);
/* The message with this uuid, from 0; conversation_len: it is none of them. */
size_t conversation_index(const struct conversation *t, struct str uuid);
/* Its records as they stand in the file, for fn one by one. False when they cannot be read or fn says so. */
bool conversation_records(struct conversation *t, size_t i,
                          bool (*fn)(void *user, struct str record), void *user);

/* ---- what the writer does meanwhile ---- */

void conversation_add(struct conversation *t, const struct message *m, int64_t offset, size_t len);
/* Message `uuid` is the last one again ("": none is). False: it is not there, nothing changed. */
bool conversation_rewind(struct conversation *t, const char *uuid);
/* The next message begins what counts for the model. */
void conversation_compacted(struct conversation *t);

/* ---- finding ---- */

struct conversation_hit {
    size_t index;
    char uuid[37];
    bool user;
    char *excerpt; /* around the place, on one line */
};
/* Messages that hold `what` (without case) in a text, a call's input or a result. The newest `max` of them, in their order;
 * *ret_all: there are no more. One record at a time is in memory. */
struct conversation_hit *conversation_search(struct conversation *t, struct str what, size_t max,
                                             size_t *ret_n, bool *ret_all);
void conversation_hits_free(struct conversation_hit *hits, size_t n);
