/* Refusals as servers word them, and the flag each switches off; errors as they word them, and what the engine is told. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/openai_caps.h"
#include "model/openai_error.h"

#define ALL (OPENAI_CAP(OPENAI_N_CAPS) - 1)
#define MESSAGE(m) "{\"error\":{\"message\":\"" m "\",\"type\":\"invalid_request_error\"}}"

static const struct {
    int status;
    const char *body;
    enum openai_cap want;
} refusals[] = {
    {400, MESSAGE("Unrecognized request argument supplied: stream_options"),
     OPENAI_CAP_stream_options},
    {422,
     "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\"],\"msg\":"
     "\"Extra inputs are not permitted\",\"input\":{\"image\":1}}]}",
     OPENAI_CAP_stream_options},
    {400,
     "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not supported with this "
     "model. Use 'max_completion_tokens' instead.\",\"type\":\"invalid_request_error\",\"param\":"
     "\"max_tokens\",\"code\":\"unsupported_parameter\"}}",
     OPENAI_CAP_max_tokens},
    {400, MESSAGE("Unrecognized request argument supplied: max_completion_tokens"),
     OPENAI_CAP_max_completion_tokens},
    {422,
     "{\"detail\":[{\"loc\":[\"body\",\"max_completion_tokens\"],\"msg\":\"extra fields not "
     "permitted\"}]}",
     OPENAI_CAP_max_completion_tokens},
    {400,
     "{\"error\":{\"message\":\"max_tokens is too large: 32000. This model supports at most 16384 "
     "completion tokens, whereas you provided 32000.\",\"param\":\"max_tokens\",\"code\":"
     "\"invalid_value\"}}",
     OPENAI_CAP_output_limit},
    {400,
     MESSAGE("'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum "
             "context length is 4096 tokens and your request has 500 input tokens"),
     OPENAI_CAP_output_limit},
    {400,
     MESSAGE("This model's maximum context length is 4096 tokens. However, you requested 8692 "
             "tokens (500 in the messages, 8192 in the completion)."),
     OPENAI_CAP_output_limit},
    {400,
     MESSAGE("This model's maximum context length is 4096 tokens. However, you requested 8692 "
             "tokens (4500 in the messages, 192 in the completion)."),
     OPENAI_N_CAPS},
    {400,
     "{\"object\":\"error\",\"message\":\"\\\"auto\\\" tool choice requires "
     "--enable-auto-tool-choice and --tool-call-parser to be set\",\"type\":\"BadRequestError\"}",
     OPENAI_CAP_tool_auto},
    {400,
     "{\"error\":{\"message\":\"registry.ollama.ai/library/gemma:2b does not support "
     "tools\",\"type\":\"api_error\"}}",
     OPENAI_CAP_tools},
    {404, MESSAGE("No endpoints found that support tool use."), OPENAI_CAP_tools},
    {400, MESSAGE("Function calling is not enabled for models/x"), OPENAI_CAP_tools},
    {400, MESSAGE("This model only supports single tool-calls at once!"), OPENAI_CAP_parallel},
    {500,
     "{\"error\":{\"code\":500,\"message\":\"This model only supports single tool-calls at "
     "once!\",\"type\":\"server_error\"}}",
     OPENAI_CAP_parallel},
    {400, MESSAGE("System role not supported"), OPENAI_CAP_system},
    {400, MESSAGE("Developer instruction is not enabled for models/gemma-3-27b-it"),
     OPENAI_CAP_system},
    {400, MESSAGE("This model does not support image input"), OPENAI_CAP_images},
    {404, MESSAGE("No endpoints found that support image input"), OPENAI_CAP_images},
    {400, "{\"error\":\"m is not a multimodal model: invalid request\"}", OPENAI_CAP_images},
    {422, "Failed to deserialize: messages[1]: unknown variant `image_url`, expected `text`",
     OPENAI_CAP_images},
    {422,
     "{\"detail\":[{\"loc\":[\"body\",\"messages\",2,\"content\"],\"msg\":\"Input should be a "
     "valid string\"}]}",
     OPENAI_CAP_null_content},
    {400, MESSAGE("messages.2.content: content must not be null"), OPENAI_CAP_null_content},
    {400, MESSAGE("Unexpected role 'user' after role 'tool'"), OPENAI_CAP_user_after_tool},
    {400, MESSAGE("Tool call id was toolu_01 but must be a-z, A-Z, 0-9, with a length of 9."),
     OPENAI_CAP_long_ids},
    {400, MESSAGE("reasoning_effort is not supported by this model"), OPENAI_CAP_effort},
    {400, MESSAGE("Streaming is not supported when tools are given"), OPENAI_CAP_stream},
    /* not of our making, or nothing that could be left out */
    {400, MESSAGE("messages: something else is wrong"), OPENAI_N_CAPS},
    {401, MESSAGE("stream_options"), OPENAI_N_CAPS},
    {429, MESSAGE("max_tokens not supported"), OPENAI_N_CAPS},
    {500, MESSAGE("internal error"), OPENAI_N_CAPS},
    {400, MESSAGE("Invalid value for 'model'"), OPENAI_N_CAPS},
    {400, "", OPENAI_N_CAPS},
};

static void
refusals_are_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct str body = str_from(refusals[i].body);
        struct cJSON *tree = json_parse(body, NULL);
        enum openai_cap got = openai_caps_refused(refusals[i].status, tree, body, ALL);
        if (got != refusals[i].want)
            fail_msg("row %zu: %s: %s", i, got == OPENAI_N_CAPS ? "none" : openai_cap_name(got),
                     refusals[i].body);
        /* What was not used cannot have been refused. */
        if (got != OPENAI_N_CAPS)
            assert_int_not_equal(
                openai_caps_refused(refusals[i].status, tree, body, ALL & ~OPENAI_CAP(got)), got);
        json_free(tree);
    }
}

static void
empty_content_is_next(void **state)
{
    static const char body[] = MESSAGE("messages.2.content must not be empty");
    struct cJSON *tree = json_parse(STR(MESSAGE("messages.2.content must not be empty")), NULL);
    (void)state;
    assert_int_equal(
        openai_caps_refused(400, tree, str_from(body), ALL & ~OPENAI_CAP(OPENAI_CAP_null_content)),
        OPENAI_CAP_empty_content);
    json_free(tree);
}

static void
kinds(void **state)
{
    (void)state;
    assert_int_equal(openai_kind_of_url("https://api.openai.com/v1"), OPENAI_KIND_OPENAI);
    assert_int_equal(openai_kind_of_url("https://api.openai.com.evil.test/v1"),
                     OPENAI_KIND_UNKNOWN);
    assert_int_equal(openai_kind_of_url("https://api.mistral.ai"), OPENAI_KIND_MISTRAL);
    assert_int_equal(openai_kind_of_url("http://127.0.0.1:11434/v1"), OPENAI_KIND_UNKNOWN);
    assert_int_equal(openai_kind_of_url(NULL), OPENAI_KIND_UNKNOWN);
    assert_int_equal(openai_kind_without(OPENAI_KIND_OPENAI), OPENAI_CAP(OPENAI_CAP_max_tokens));
    assert_int_equal(openai_kind_without(OPENAI_KIND_UNKNOWN), 0);
    for (int c = 0; c < OPENAI_N_CAPS; c++)
        assert_true(openai_cap_name((enum openai_cap)c)[0] &&
                    openai_cap_without((enum openai_cap)c)[0]);
}

/* ---- too long, in all wordings ---- */

static const struct {
    int status;
    const char *body;
    bool too_long;
} lengths[] = {
    {400,
     MESSAGE("This model's maximum context length is 8192 tokens. However, your messages "
             "resulted in 9000 tokens."),
     true},
    {400, "{\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}", true},
    {400,
     "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size. "
     "try increasing the context size\",\"type\":\"exceed_context_size_error\"}}",
     true},
    {500,
     "{\"error\":{\"code\":500,\"message\":\"the request exceeds the available context "
     "size\",\"type\":\"server_error\"}}",
     true},
    {400, MESSAGE("prompt is too long: 210000 tokens > 200000 maximum"), true},
    {400,
     MESSAGE("The input token count (1200000) exceeds the maximum number of tokens allowed "
             "(1048576)."),
     true},
    {400, MESSAGE("Please reduce the length of the messages or completion."), true},
    {400, MESSAGE("Prompt contains too many tokens: 40000 > 32768"), true},
    {400,
     "{\"error\":\"trying to keep the first 9000 tokens when context the overflows. However, "
     "the model is loaded with context length of only 4096 tokens\"}",
     true},
    {400, "{\"message\":\"Input is too long for requested model.\"}", true},
    {422,
     "{\"error\":\"inputs tokens + max_new_tokens must be <= 4096: exceeds maximum input "
     "length\"}",
     true},
    {413, "{}", true},
    {429,
     MESSAGE("Request too large for m in organization o on tokens per min (TPM): Limit 30000, "
             "Requested 45000. The input or output tokens must be reduced"),
     true},
    {429, MESSAGE("Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000"),
     false},
    {400, MESSAGE("the tool name is too long"), false},
    {404, MESSAGE("no context window here"), false},
};

static void
too_long_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct err err = {0};
        openai_error_body(lengths[i].status, str_from(lengths[i].body), 0, "", &err);
        if ((strcmp(err.kind, "prompt_too_long") == 0) != lengths[i].too_long)
            fail_msg("row %zu: '%s': %s", i, err.kind, err.text);
        if (lengths[i].too_long)
            assert_false(err.retryable);
        assert_int_equal(err.http, lengths[i].status);
    }
}

static const struct {
    int status;
    const char *body;
    bool retryable;
} statuses[] = {
    {400, "{}", false},
    {401, "{}", false},
    {402, "{}", false},
    {403, "{}", false},
    {404, "{}", false},
    {408, "{}", true},
    {422, "{}", false},
    {429, "{}", true},
    {429, MESSAGE("You exceeded your current quota, please check your plan and billing details"),
     false},
    {429, "{\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}", false},
    {429,
     "[{\"error\":{\"code\":429,\"message\":\"Resource exhausted\",\"status\":"
     "\"RESOURCE_EXHAUSTED\"}}]",
     true},
    {500, "{}", true},
    {502, "<html>", true},
    {503, "", true},
    {504, "\x1b[31m\xff", true},
    {524, "", true},
    {501, "", false},
};

static void
what_is_tried_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct err err = {0};
        openai_error_body(statuses[i].status, str_from(statuses[i].body), 0, "r1", &err);
        if (err.retryable != statuses[i].retryable)
            fail_msg("row %zu: %s", i, err.text);
        assert_int_equal(err.code, ERR_HTTP);
        assert_non_null(strstr(err.text, "(request r1)"));
        assert_null(strchr(err.text, '\x1b'));
        assert_true(strlen(err.text) < 480);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals_are_understood),
                                       cmocka_unit_test(empty_content_is_next),
                                       cmocka_unit_test(kinds), cmocka_unit_test(too_long_is_told),
                                       cmocka_unit_test(what_is_tried_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
