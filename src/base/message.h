#pragma once
/*
 * Conversation messages. Immutable once made; reference counted (atomically), so any thread may hold one. Each keeps
 * its serialised bytes in the Messages API shape, {"role":..,"content":[..]}: a request body is spliced from them and
 * the journal stores them, so what was sent stays byte for byte what is sent again (thinking blocks, signatures and
 * tool inputs are the raw slices that arrived).
 *
 * Build with message_builder; blocks are borrowed from the message.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum role { ROLE_USER, ROLE_ASSISTANT };

enum block_kind {
    BLOCK_TEXT,
    BLOCK_THINKING,          /* text = thinking, signature set */
    BLOCK_REDACTED_THINKING, /* text = data */
    BLOCK_TOOL_USE,          /* id, name, input (raw JSON) */
    BLOCK_TOOL_RESULT,       /* id = tool_use_id, text = content, is_error */
    BLOCK_IMAGE,             /* name = media type, text = base64 data */
    BLOCK_OTHER,             /* kept verbatim in raw */
};

struct block {
    enum block_kind kind;
    struct str text;      /* decoded */
    struct str id, name;  /* tool_use id and tool name; tool_result: id */
    struct str input;     /* tool_use: raw JSON object */
    struct str signature; /* thinking */
    struct str raw;       /* this block's serialised bytes inside message->json */
    bool is_error;        /* tool_result */
};

struct message {
    enum role role;
    struct str json; /* {"role":..,"content":[..]} */
    const struct block *blocks;
    size_t n_blocks;
    /* What is known of it beside the API shape: */
    char uuid[37];
    char *model;  /* assistant: who wrote it; NULL else */
    char *api_id; /* assistant: msg_..; NULL else */
    bool hidden;  /* made by yare, not typed by the person (reminders, "go on from there") */
    bool partial; /* assistant: cut off by an abort */
    char *
        ends; /* user, fresh: how the calls of its results ended, a JSON array for the journal; NULL */
    int64_t wall_ms;
};

struct message *message_ref(const struct message *m);
void message_free(const struct message *m); /* drops one reference; NULL is fine */

/* A number for a list of messages that no list had before: its edition. The list takes another whenever it changes otherwise than by
 * an append, so whoever made something of its first n messages (a proof, a body) goes on from there when it meets that edition again, and
 * begins anew when it meets another. 0 is no edition: nothing is known. */
uint64_t message_edition_new(void);

/* The first tool_result for this id; NULL: there is none, or no message. */
const struct block *message_result_of(const struct message *m, struct str id);
/* The text blocks joined, yours; "" for NULL. */
char *message_text(const struct message *m);
/* From stored or received bytes; unknown blocks are kept as BLOCK_OTHER. content may be a string or an array. */
struct message *message_parse(struct str json, struct err *err);

struct message_builder;
struct message_builder *message_builder_new(enum role role);
void message_builder_free(struct message_builder *b);
/* Empty or blank-only text adds nothing (the API refuses empty text blocks). */
void message_add_text(struct message_builder *b, struct str text);
void message_add_thinking(struct message_builder *b, struct str thinking, struct str signature);
void message_add_redacted(struct message_builder *b, struct str data);
/* input: raw JSON object bytes, kept as they are when they parse to an object, else {} stands in. */
void message_add_tool_use(struct message_builder *b, struct str id, struct str name,
                          struct str input);
/* Empty text becomes "(no output)". */
void message_add_tool_result(struct message_builder *b, struct str tool_use_id, struct str text,
                             bool is_error);
/* tool_result whose content is one image (base64). */
void message_add_tool_result_image(struct message_builder *b, struct str tool_use_id,
                                   struct str media_type, struct str base64);
void message_add_raw(struct message_builder *b, struct str block_json);
/* Goes into message->ends, never to the model. */
void message_set_ends(struct message_builder *b, struct str json);
size_t message_builder_len(const struct message_builder *b); /* blocks so far */
/* Consumes the builder. NULL when it holds no block, or more than BUF_MAX. The uuid and time are fresh. */
struct message *message_build(struct message_builder *take_b);
