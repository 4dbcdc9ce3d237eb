#pragma once
/*
 * An answer's text, told apart: what is thinking (<think> tags at its start), what are calls that leaked into it (openai_leak.h), and
 * what is meant to be read. Pieces come as the stream has them; a tag may be cut anywhere. What can be shown is emitted at once, only the
 * beginning of a possible tag, and all of a possible call, is held back.
 */
#include "model/openai_calls.h"

struct openai_text {
    struct buf held; /* not told apart yet */
    enum { OPENAI_TEXT_START, OPENAI_TEXT_THINK, OPENAI_TEXT_WORDS, OPENAI_TEXT_CALL } where;
    const char *close; /* of the thinking that is open */
    bool thought;      /* thinking was closed: the blanks behind it are no text */
    bool leaks;        /* tools were offered: calls may leak */
    bool said;         /* something other than blanks was emitted as words */
    bool in_fence, in_line;
    void (*emit)(void *ctx, bool thinking, struct str text);
    void *ctx;
};
void openai_text_init(struct openai_text *t, bool leaks,
                      void (*emit)(void *ctx, bool thinking, struct str text), void *ctx);
void openai_text_release(struct openai_text *t);
void openai_text_feed(struct openai_text *t, struct str piece);
/* The answer is over: what is held is emitted, or added to calls when it is one or more; calls NULL: it cannot be. True: calls were added. */
bool openai_text_end(struct openai_text *t, struct openai_calls *calls);
