#include "model/openai_caps.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/openai_error.h"

/* Beside words that name the thing, a refusal says that it is refused. */
#define REFUSED                                                                                    \
    "not supported|unsupported|not support|unknown|unrecognized|unexpected|extra|not permitted|"   \
    "not allowed|instead|deprecated|invalid|not enabled"

/* Words are lists: one of `names` and one of `says` must stand in the message. The first row whose flag is on and in use is it. */
static const struct pattern {
    enum openai_cap cap;
    const char *names, *says;
} patterns[] = {
    {OPENAI_CAP_stream_options, "stream_options|include_usage", ""},
    {OPENAI_CAP_tool_auto, "tool choice|tool_choice|tool-choice", "auto"},
    {OPENAI_CAP_parallel,
     "single tool-call|single tool call|one tool call|one tool-call|parallel tool calls|"
     "parallel_tool_calls|multiple tool calls|parallel function call",
     ""},
    {OPENAI_CAP_tools, "tool|function call|functions",
     "not support tool|not support function|not support the tool|support tool use|"
     "tools is not supported|tools are not supported|tool use is not supported|"
     "tool calling is not supported|tool calls are not supported|tools not supported|"
     "function calling is not supported|function calling is not enabled|"
     "function calling not supported|tools: extra|: tools|'tools'"},
    {OPENAI_CAP_output_limit, "max_tokens|max_completion_tokens|completion tokens|output tokens",
     "too large|at most|less than or equal|must be less|maximum value|exceeds the maximum|"
     "exceeds the limit|integer_above_max"},
    {OPENAI_CAP_max_tokens, "max_tokens", REFUSED},
    {OPENAI_CAP_max_completion_tokens, "max_completion_tokens", REFUSED},
    {OPENAI_CAP_effort, "reasoning_effort|reasoning effort", ""},
    {OPENAI_CAP_system,
     "system role|system message|role 'system'|role: system|\"system\"|system prompt|"
     "developer instruction|role system",
     REFUSED},
    {OPENAI_CAP_images, "image|vision|multimodal|multi-modal|multi modal",
     REFUSED "|does not|cannot|only text|must be text|no endpoints"},
    {OPENAI_CAP_images, "content", "must be a string|expected a string|expected string|only text"},
    {OPENAI_CAP_null_content, "content",
     "null|none|missing|required|valid string|a string|empty|not iterable"},
    {OPENAI_CAP_empty_content, "content",
     "empty|non-empty|blank|at least 1|at least one|min_length|too short|minlength"},
    {OPENAI_CAP_user_after_tool, "role",
     "after role 'tool'|after role tool|must alternate|after tool|"
     "after a tool|after `tool`"},
    {OPENAI_CAP_long_ids, "tool call id|tool_call_id|tool_call.id|tool_calls",
     "length of 9|must be a-z|too long|maximum length"},
    {OPENAI_CAP_stream, "stream", REFUSED},
};

/* Where the server names the field itself. */
static const struct {
    const char *param;
    enum openai_cap cap;
} params[] = {
    {"stream_options", OPENAI_CAP_stream_options},
    {"max_tokens", OPENAI_CAP_max_tokens},
    {"max_completion_tokens", OPENAI_CAP_max_completion_tokens},
    {"reasoning_effort", OPENAI_CAP_effort},
    {"tool_choice", OPENAI_CAP_tool_auto},
    {"tools", OPENAI_CAP_tools},
    {"stream", OPENAI_CAP_stream},
};

static const struct {
    enum openai_kind kind;
    const char *host;
    unsigned without;
} kinds[] = {
    {OPENAI_KIND_OPENAI, "api.openai.com", OPENAI_CAP(OPENAI_CAP_max_tokens)},
    {OPENAI_KIND_MISTRAL, "api.mistral.ai",
     OPENAI_CAP(OPENAI_CAP_long_ids) | OPENAI_CAP(OPENAI_CAP_user_after_tool)},
    {OPENAI_KIND_OLLAMA, NULL, 0},
    {OPENAI_KIND_LLAMA_CPP, NULL, 0},
    {OPENAI_KIND_VLLM, NULL, 0},
    {OPENAI_KIND_LM_STUDIO, NULL, 0},
};

#define X(name, without) [OPENAI_CAP_##name] = {#name, without},
static const struct {
    const char *name, *without;
} names[] = {OPENAI_CAPS(X)};
#undef X

const char *
openai_cap_name(enum openai_cap c)
{
    return names[c].name;
}

const char *
openai_cap_without(enum openai_cap c)
{
    return names[c].without;
}

enum openai_kind
openai_kind_of_url(const char *base_url)
{
    struct str rest = str_from(base_url);
    const char *scheme = base_url ? strstr(base_url, "://") : NULL;
    if (scheme)
        rest = str_from(scheme + 3);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t n = kinds[i].host ? strlen(kinds[i].host) : 0;
        if (n && str_starts(rest, kinds[i].host) &&
            (rest.len == n || rest.ptr[n] == '/' || rest.ptr[n] == ':'))
            return kinds[i].kind;
    }
    return OPENAI_KIND_UNKNOWN;
}

unsigned
openai_kind_without(enum openai_kind k)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].kind == k)
            return kinds[i].without;
    return 0;
}

/* One of the words of a list with '|' between them; an empty list is always there. */
static bool
has_one(const char *text, const char *list)
{
    struct str rest = str_from(list), word;
    if (!*list)
        return true;
    while (str_split(&rest, '|', &word)) {
        char *w = str_dup(word);
        bool found = strcasestr(text, w) != NULL;
        free(w);
        if (found)
            return true;
    }
    return false;
}

/* "maximum context length is 4096 tokens. However, you requested 8692 tokens (500 in the messages, 8192 in the completion)": the prompt
 * fits, the limit of the answer does not. */
static bool
only_limit_is_too_large(const char *text)
{
    static const char size_is[] = "context length is ";
    const char *a = strstr(text, size_is), *b = strstr(text, " in the messages");
    if (!a || !b)
        return false;
    while (b > text && b[-1] >= '0' && b[-1] <= '9')
        b--;
    /* strtol has an answer for any number of digits, sscanf has none. */
    long room = strtol(a + sizeof size_is - 1, NULL, 10), prompt = strtol(b, NULL, 10);
    return prompt > 0 && prompt < room;
}

static enum openai_cap
by_param(const struct cJSON *tree, const char *text, unsigned candidates)
{
    struct str param = json_str(tree, "error.param");
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        enum openai_cap cap = params[i].cap;
        bool is_limit = cap == OPENAI_CAP_max_tokens || cap == OPENAI_CAP_max_completion_tokens;
        if (!str_is(param, params[i].param) || !(candidates & OPENAI_CAP(cap)))
            continue;
        /* Named, but it may be the value that is wrong. */
        if (has_one(text, REFUSED) && !(is_limit && has_one(text, "too large|at most")))
            return cap;
    }
    return OPENAI_N_CAPS;
}

static enum openai_cap
by_words(const char *text, unsigned candidates)
{
    if ((candidates & OPENAI_CAP(OPENAI_CAP_output_limit)) && only_limit_is_too_large(text))
        return OPENAI_CAP_output_limit;
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if ((candidates & OPENAI_CAP(patterns[i].cap)) && has_one(text, patterns[i].names) &&
            has_one(text, patterns[i].says))
            return patterns[i].cap;
    return OPENAI_N_CAPS;
}

enum openai_cap
openai_caps_refused(int status, const struct cJSON *tree, struct str body, unsigned candidates)
{
    struct buf text;
    enum openai_cap cap = OPENAI_N_CAPS;
    /* 404: a gateway that finds no server for it; 500 and 501: a template that cannot write it. */
    if (status != 400 && status != 404 && status != 422 && status != 500 && status != 501)
        return OPENAI_N_CAPS;
    buf_init(&text, BUF_MAX);
    if (!openai_error_message(tree, &text))
        buf_add_str(&text, str_sub(body, 0, 2000));
    if (status == 400 || status == 422)
        cap = by_param(tree, buf_cstr(&text), candidates);
    if (cap == OPENAI_N_CAPS)
        cap = by_words(buf_cstr(&text), candidates);
    buf_release(&text);
    return cap;
}
