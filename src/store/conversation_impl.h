#pragma once
/* What the pieces of the transcript share. Only conversation*.c include this. */
#include <stdio.h>

#include "store/conversation.h"

struct conversation_entry { /* a record of a message */
    int64_t offset;
    uint64_t uuid; /* its hash */
    uint32_t len;
    bool user;
    bool more; /* another block of the answer before it */
};

struct conversation {
    char *path;
    int fd;
    struct conversation_entry *entries;
    size_t n, cap;
    size_t *first; /* of each message its first entry; NULL while each has one only */
    size_t n_messages, cap_first;
    size_t live;
    int64_t torn_bytes;
    size_t unread;
    char *record; /* the one that was read last */
    size_t cap_record;
};

/* conversation_tree.c: which of the file's records are the conversation. */
bool conversation_scan(struct conversation *t, conversation_note note, void *user,
                       struct err *err) MUST_CHECK;
/* conversation.c */
void conversation_take_entry(struct conversation *t, const struct conversation_entry *e);
size_t conversation_first(const struct conversation *t,
                          size_t i); /* entry of message i; i may be n */
/* A record's bytes, borrowed until the next call; ptr NULL when it cannot be read. */
struct str conversation_read(struct conversation *t, size_t entry);
/* conversation_parse.c */
struct message *conversation_parse(struct str record);
struct message *conversation_join(struct message *take_a, struct message *take_b);
