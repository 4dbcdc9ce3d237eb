#pragma once
/*
 * What a server of the chat completions wire takes. Every flag is on at first (but for what the kind of server is known to refuse); the
 * first 400 or 422 whose message names the thing switches it off for the provider's life, and the request goes out again at once
 * without it. A row of OPENAI_CAPS is a flag; a row of the patterns in openai_caps.c tells how a refusal of it is worded.
 *
 *     unsigned without = openai_kind_without(kind);
 *     ...
 *     enum openai_cap c = openai_caps_refused(status, tree, body, used & ~without);
 *     if (c < OPENAI_N_CAPS)
 *         without |= OPENAI_CAP(c);
 */
#include "base/buf.h"

struct cJSON;

/* name, what goes when it is off */
#define OPENAI_CAPS(X)                                                                             \
    X(stream, "the answer comes whole")                                                            \
    X(stream_options, "usage is estimated")                                                        \
    X(max_tokens, "the limit is called max_completion_tokens")                                     \
    X(max_completion_tokens, "the limit is called max_tokens, or there is none")                   \
    X(output_limit, "the server limits the answer itself")                                         \
    X(effort, "no reasoning_effort is asked for")                                                  \
    X(tool_auto, "tools are described to the model, its calls are read from its text")             \
    X(parallel, "calls made together are sent back one by one")                                    \
    X(system, "the system prompt stands at the head of the first user message")                    \
    X(images, "images are named, not sent")                                                        \
    X(null_content, "calls without words have the content \"\", not null")                         \
    X(empty_content, "calls without words get a word")                                             \
    X(user_after_tool, "what follows results is added to the last of them")                        \
    X(long_ids, "ids of calls are nine letters and digits")                                        \
    X(tools, "no tools: the model can only talk")

enum openai_cap {
#define X(name, without) OPENAI_CAP_##name,
    OPENAI_CAPS(X)
#undef X
        OPENAI_N_CAPS
};
#define OPENAI_CAP(c) (1u << (c))

/* Whose server it is, where that is known: from its address, or because it was asked. */
enum openai_kind {
    OPENAI_KIND_UNKNOWN,
    OPENAI_KIND_OPENAI,
    OPENAI_KIND_OLLAMA,
    OPENAI_KIND_LLAMA_CPP,
    OPENAI_KIND_VLLM,
    OPENAI_KIND_LM_STUDIO,
    OPENAI_KIND_MISTRAL,
};
/* From the base URL's host alone; UNKNOWN for what says nothing. */
enum openai_kind openai_kind_of_url(const char *base_url);
/* The flags that are off for that kind from the start. */
unsigned openai_kind_without(enum openai_kind k);

const char *openai_cap_name(enum openai_cap c);
const char *openai_cap_without(enum openai_cap c); /* "usage is estimated" */
/* Which of the flags in `candidates` an answer of that status refuses; OPENAI_N_CAPS: none. tree: the body parsed, or NULL. */
enum openai_cap openai_caps_refused(int status, const struct cJSON *tree, struct str body,
                                    unsigned candidates);
