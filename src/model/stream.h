#pragma once
/*
 * A model as a stream of deltas. Every provider (Anthropic, OpenAI-compatible, the offline pilot, a scripted one in
 * tests) is one struct model_provider; the engine knows no other difference between them.
 *
 * A stream belongs to the thread that started it. model_stream_next waits for the next delta, but also returns when
 * wake_fd becomes readable, so that the engine stays answerable in its one wait.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/message.h"

struct body_text;
struct model_info;
struct model_server;

/* Everything a request is made of. All borrowed until the stream is freed. */
struct model_request {
    const char *model;
    int max_tokens;
    const struct str *system; /* text of the system segments, in order */
    size_t n_system;
    /* segment indexes after which a cache breakpoint stands; SIZE_MAX: none */
    size_t system_break[2];
    struct str tools; /* serialised JSON array in the Messages API shape, or empty */
    const struct message *const *messages;
    size_t n_messages;
    uint64_t edition; /* of messages (message_edition_new), or 0 */
    /* what this conversation was written as so far (model/body_text.h); NULL: none is kept */
    struct body_text *text;
    /* message indexes whose last block carries a cache breakpoint; SIZE_MAX: none */
    size_t message_break[2];
    const char *effort; /* NULL: the model's default */
    /* Further anthropic-beta values, comma separated, and the context_management object of the Messages API as JSON; NULL: none.
     * Providers that know neither pass over them. */
    const char *betas, *context_management;
    bool fast; /* at the higher speed that the model's catalogue entry gives a price for */
    const char *session_id;
    const char *cwd; /* for the offline pilot */
};

struct usage {
    int64_t input, output, cache_read, cache_write;
    bool estimated;
    bool fast;              /* the server ran it at the higher speed */
    int64_t cache_write_1h; /* of cache_write, what is kept an hour and costs more */
    /* what the server left out of this request (applied_edits) */
    int64_t cleared_uses, cleared_tokens;
};

/* Adds tokens up; what belongs to one request alone (fast, what was cleared) stays out. */
void usage_add(struct usage *to, const struct usage *u);

enum stop_reason {
    STOP_NONE,
    STOP_END_TURN,
    STOP_MAX_TOKENS,
    STOP_SEQUENCE,
    STOP_TOOL_USE,
    STOP_PAUSE_TURN,
    STOP_REFUSAL,
    STOP_CONTEXT_EXCEEDED,
};
const char *stop_reason_name(enum stop_reason r); /* "end_turn" ... */
enum stop_reason stop_reason_parse(struct str s);

enum delta_kind {
    DELTA_MESSAGE_START, /* id = message id, name = model, usage */
    /* index, block; tool_use: id, name, text = an input that came whole, or ""; redacted: text = data */
    DELTA_BLOCK_START,
    DELTA_TEXT,       /* index, text */
    DELTA_THINKING,   /* index, text */
    DELTA_SIGNATURE,  /* index, text */
    DELTA_INPUT_JSON, /* index, text = part of the input's JSON */
    /* index; tool_use: text = the input as it turned out whole, in place of its parts, or ""; withdrawn: it never was */
    DELTA_BLOCK_STOP,
    DELTA_USAGE, /* usage, cumulative for this message; stop may be set with it */
    DELTA_PING,
    /* the provider's own event as JSON in text, for partial output; comes before its delta */
    DELTA_RAW,
};

const char *delta_kind_name(enum delta_kind k); /* for logs and tests: "input_json" */

/* One answer grows to at most so much; past it the stream fails with ERR_LIMIT, whichever provider it comes from. */
#define MODEL_MESSAGE_MAX ((size_t)32 << 20)
#define MODEL_BLOCKS_MAX ((size_t)4096)

struct delta {
    enum delta_kind kind;
    int index;
    enum block_kind block;
    struct str id, name, text; /* borrowed until the next call on the stream */
    struct usage usage;
    enum stop_reason stop;
    /* BLOCK_STOP: a call that was cut off by the answer's end; it is no part of the message */
    bool withdrawn;
};

enum model_step { MODEL_DELTA, MODEL_IDLE, MODEL_DONE, MODEL_FAILED };

struct model_stream;
struct model_stream_ops {
    enum model_step (*next)(struct model_stream *s, int wake_fd, int timeout_ms, struct delta *ret,
                            struct err *err);
    void (*free)(struct model_stream *s);
};
struct model_stream { /* embedded first in the provider's own struct, which starts zeroed */
    const struct model_stream_ops *ops;
    char request_id[64]; /* the server's, "" when unknown */
    /* of model_request.betas, those that the server does not know: asked again without; comma separated */
    char betas_refused[160];
    size_t bytes, n_blocks; /* of the answer so far; model_stream_next counts */
};

struct model_provider {
    const char *name; /* "anthropic", "openai", "offline" */
    void *self;
    /* NULL with err when nothing could be sent. */
    struct model_stream *(*start)(void *self, const struct model_request *req, struct err *err);
    void (*free)(void *self);
    /* Tokens of a request by the server's own count, waiting at most timeout_ms; false with err. NULL: it cannot say. */
    bool (*count)(void *self, const struct model_request *req, int timeout_ms, int64_t *ret_tokens,
                  struct err *err);
    /* Not its maker's own server, but a gateway or something else at that address: which other models it has is not known. */
    bool gateway;
    /* What its server says of itself (model/server.h), or NULL; model_provider_free frees it. */
    struct model_server *server;
};

enum model_step model_stream_next(struct model_stream *s, int wake_fd, int timeout_ms,
                                  struct delta *ret, struct err *err);
void model_stream_free(struct model_stream *s); /* NULL is fine */

/*
 * Deltas to blocks: collects the deltas of one assistant message. A tool_use block is complete at its stop, when its
 * input parsed to an object (empty input is {}); what never completed is dropped from the message, and an unfinished
 * text block is kept.
 */
struct stream_blocks;
struct stream_block { /* a finished or growing block, borrowed */
    enum block_kind kind;
    struct str id, name, text, input, signature;
    /* bad_input: a tool_use whose JSON did not parse to an object; input holds the bytes */
    bool complete, bad_input;
};
struct stream_blocks *stream_blocks_new(void);
void stream_blocks_free(struct stream_blocks *b);
void stream_blocks_apply(struct stream_blocks *b, const struct delta *d);
size_t stream_blocks_len(const struct stream_blocks *b);
const struct stream_block *stream_blocks_at(const struct stream_blocks *b, size_t i);
struct str stream_blocks_message_id(const struct stream_blocks *b);
const struct usage *stream_blocks_usage(const struct stream_blocks *b);
enum stop_reason stream_blocks_stop(const struct stream_blocks *b);
/* The assistant message so far; NULL when it has no block worth keeping. A bad_input tool_use goes in with input {}. */
struct message *stream_blocks_message(const struct stream_blocks *b, const char *model,
                                      bool partial);
