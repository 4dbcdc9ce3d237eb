/* What is sent on the chat completions wire: each of our messages as chat messages, with each flag off, and the same bytes again in the
 * next request. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/openai_body.h"

#define OFF(cap) OPENAI_CAP(OPENAI_CAP_##cap)
#define USER(blocks) "{\"role\":\"user\",\"content\":[" blocks "]}"
#define ASSISTANT(blocks) "{\"role\":\"assistant\",\"content\":[" blocks "]}"
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define USE(id, input)                                                                             \
    "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Bash\",\"input\":" input "}"
#define RESULT(id, text)                                                                           \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":\"" text "\"}"
#define SOURCE "\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"QUJD\"}"
#define IMAGE "{\"type\":\"image\"," SOURCE "}"
#define IMAGE_RESULT(id)                                                                           \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":[" IMAGE "]}"
/* and what they become */
#define CALL(id, args)                                                                             \
    "{\"id\":\"" id                                                                                \
    "\",\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"" args "\"}}"
#define CHAT(role, content) "{\"role\":\"" role "\",\"content\":\"" content "\"}"
#define TOOL(id, content)                                                                          \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" content "\"}"
#define URL "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,QUJD\"}}"
#define NO_IMAGE "[an image (image/png, about 0 kB) stood here; this model takes none]"

static const struct row {
    const char *messages[4];
    unsigned without;
    const char *system, *want;
} rows[] = {
    {{USER(TEXT("hi"))}, 0, NULL, CHAT("user", "hi")},
    {{USER(TEXT("hi"))}, 0, "be brief", CHAT("system", "be brief") "," CHAT("user", "hi")},
    {{USER(TEXT("hi"))}, OFF(system), "be brief", CHAT("user", "be brief\\n\\nhi")},
    {{USER(TEXT("a") "," TEXT(" ") "," TEXT("b"))}, 0, NULL, CHAT("user", "a\\n\\nb")},
    /* thinking is left out, words and calls stay */
    {{ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"s\"}," TEXT(
          "so") "," USE("c1", "{\"command\": \"ls\"}")),
      USER(RESULT("c1", "a.c"))},
     0,
     NULL,
     "{\"role\":\"assistant\",\"content\":\"so\",\"tool_calls\":[" CALL(
         "c1", "{\\\"command\\\": \\\"ls\\\"}") "]}," TOOL("c1", "a.c")},
    {{ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"s\"}")},
     0,
     NULL,
     CHAT("assistant", "(no words)")},
    {{ASSISTANT(USE("c1", "{}"))},
     0,
     NULL,
     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CALL("c1", "{}") "]}"},
    {{ASSISTANT(USE("c1", "{}"))},
     OFF(null_content),
     NULL,
     "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL("c1", "{}") "]}"},
    {{ASSISTANT(USE("c1", "{}"))},
     OFF(null_content) | OFF(empty_content),
     NULL,
     "{\"role\":\"assistant\",\"content\":\"(calls tools)\",\"tool_calls\":[" CALL("c1",
                                                                                   "{}") "]}"},
    /* results and what the person said then */
    {{USER(RESULT("c1", "r") "," RESULT("c2", "") "," TEXT("and"))},
     0,
     NULL,
     TOOL("c1", "r") "," TOOL("c2", "(no output)") "," CHAT("user", "and")},
    {{USER(RESULT("c1", "r") "," RESULT("c2", "s") "," TEXT("and"))},
     OFF(user_after_tool),
     NULL,
     TOOL("c1", "r") "," TOOL("c2", "s\\n\\nand")},
    {{USER("{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"gone\",\"is_error\":"
           "true}")},
     0,
     NULL,
     TOOL("c1", "Error: gone")},
    /* images */
    {{USER(TEXT("see") "," IMAGE)},
     0,
     NULL,
     "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"}," URL "]}"},
    {{USER(TEXT("see") "," IMAGE)}, OFF(images), NULL, CHAT("user", "see\\n\\n" NO_IMAGE)},
    {{USER(IMAGE_RESULT("c1") "," TEXT("and"))},
     0,
     NULL,
     TOOL("c1",
          "[the image follows in the next message]") ",{\"role\":\"user\",\"content\":[{"
                                                     "\"type\":\"text\",\"text\":\"and\"}," URL
                                                     "]}"},
    {{USER(IMAGE_RESULT("c1"))}, OFF(images), NULL, TOOL("c1", NO_IMAGE)},
    /* calls made together */
    {{ASSISTANT(TEXT("so") "," USE("c1", "{}") "," USE("c2", "{}")),
      USER(RESULT("c1", "r") "," RESULT("c2", "s") "," TEXT("and"))},
     0,
     NULL,
     "{\"role\":\"assistant\",\"content\":\"so\",\"tool_calls\":[" CALL("c1", "{}") "," CALL(
         "c2", "{}") "]}," TOOL("c1", "r") "," TOOL("c2", "s") "," CHAT("user", "and")},
    {{ASSISTANT(TEXT("so") "," USE("c1", "{}") "," USE("c2", "{}")),
      USER(RESULT("c1", "r") "," RESULT("c2", "s") "," TEXT("and"))},
     OFF(parallel),
     NULL,
     "{\"role\":\"assistant\",\"content\":\"so\",\"tool_calls\":[" CALL("c1", "{}") "]}," TOOL(
         "c1", "r") ",{\"role\":\"assistant\",\"content\":null,\"tool_"
                    "calls\":[" CALL("c2", "{}") "]}," TOOL("c2", "s") "," CHAT("user", "and")},
    /* no tools: told in words */
    {{ASSISTANT(TEXT("so") "," USE("c1", "{\"command\":\"ls\"}")), USER(RESULT("c1", "r"))},
     OFF(tools),
     NULL,
     CHAT("assistant", "so\\n\\n[called Bash with {\\\"command\\\":\\\"ls\\\"}]") "," CHAT(
         "user", "[result of a tool "
                 "call]\\nr")},
    /* ids of nine letters: made from ours, the same each time; one that fits stays */
    {{ASSISTANT(USE("abcdefgh9", "{}")), USER(RESULT("abcdefgh9", "r"))},
     OFF(long_ids),
     NULL,
     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CALL("abcdefgh9", "{}") "]}," TOOL(
         "abcdefgh9", "r")},
};

static struct model_request
request(const struct row *r, struct message **m, struct str *system)
{
    struct model_request req = {.model = "m",
                                .messages = (const struct message *const *)m,
                                .system = system,
                                .n_system = r->system != NULL};
    *system = str_from(r->system);
    for (size_t i = 0; i < ARRAY_LEN(r->messages) && r->messages[i]; i++) {
        struct err err = {0};
        m[req.n_messages++] = message_parse(str_from(r->messages[i]), &err);
        if (!m[i])
            fail_msg("%s: %s", r->messages[i], err.text);
    }
    return req;
}

/* Appends the body to out. */
static void
write_body(const struct model_request *req, unsigned without, struct buf *out, unsigned *ret_used)
{
    struct body_text text = {0};
    struct str slices[BODY_SLICES];
    struct buf scratch;
    buf_init(&scratch, BUF_MAX);
    size_t n = openai_body(req, &text, without, &scratch, slices, ret_used);
    for (size_t i = 0; i < n; i++)
        buf_add_str(out, slices[i]);
    buf_release(&scratch);
    body_text_release(&text);
}

static void
each_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message *m[4] = {0};
        struct str system;
        struct buf out;
        unsigned used;
        buf_init(&out, BUF_MAX);
        struct model_request req = request(&rows[i], m, &system);
        write_body(&req, rows[i].without, &out, &used);
        char *want = xasprintf("{\"model\":\"m\",\"messages\":[%s],\"stream\":true,"
                               "\"stream_options\":{\"include_usage\":true}}",
                               rows[i].want);
        if (!str_is(buf_str(&out), want))
            fail_msg("row %zu:\n%s\nis not\n%s", i, buf_cstr(&out), want);
        assert_int_equal(used & rows[i].without, 0);
        free(want);
        buf_release(&out);
        for (size_t k = 0; k < 4; k++)
            message_free(m[k]);
    }
}

static void
short_ids(void **state)
{
    static const struct row r = {{ASSISTANT(USE("toolu_01", "{}") "," USE("toolu_02", "{}")),
                                  USER(RESULT("toolu_01", "r") "," RESULT("toolu_02", "s"))},
                                 OFF(long_ids),
                                 NULL,
                                 NULL};
    struct message *m[4] = {0};
    struct str system;
    struct buf out;
    unsigned used;
    (void)state;
    buf_init(&out, BUF_MAX);
    struct model_request req = request(&r, m, &system);
    write_body(&req, r.without, &out, &used);
    struct cJSON *t = json_parse(buf_str(&out), NULL);
    struct str a = json_str(t, "messages.0.tool_calls.0.id"),
               b = json_str(t, "messages.0.tool_calls.1.id");
    assert_int_equal(a.len, 9);
    assert_int_equal(b.len, 9);
    assert_false(str_eq(a, b));
    assert_true(str_eq(a, json_str(t, "messages.1.tool_call_id")));
    assert_true(str_eq(b, json_str(t, "messages.2.tool_call_id")));
    json_free(t);
    buf_release(&out);
    message_free(m[0]);
    message_free(m[1]);
}

static void
the_rest_of_the_body(void **state)
{
    static const struct {
        unsigned without;
        const char *effort, *want;
    } tails[] = {
        {0, NULL, ",\"max_tokens\":9,\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
        {OFF(max_tokens), "max",
         ",\"max_completion_tokens\":9,\"reasoning_effort\":\"high\",\"stream\":true,\"stream_"
         "options\":{\"include_usage\":true}}"},
        {OFF(max_tokens) | OFF(max_completion_tokens) | OFF(stream_options) | OFF(effort), "low",
         ",\"stream\":true}"},
        {OFF(output_limit) | OFF(stream), NULL, ",\"stream\":false}"},
        {OFF(tool_auto) | OFF(parallel) | OFF(output_limit) | OFF(stream), NULL,
         ",\"tool_choice\":\"none\",\"parallel_tool_calls\":false,\"stream\":false}"},
    };
    static const char tools[] =
        "[{\"name\":\"Bash\",\"description\":\"r\\u00fcn\",\"input_schema\":{\"type\": "
        "\"object\"},\"cache_control\":{\"type\":\"ephemeral\"}}, {\"name\":\"X\"}]";
    static const char as_functions[] =
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"description\":"
        "\"r\\u00fcn\",\"parameters\":{\"type\": \"object\"}}},{\"type\":\"function\",\"function\":"
        "{\"name\":\"X\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]";
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        struct buf out;
        unsigned used;
        struct model_request req = {.model = "a\"b",
                                    .max_tokens = 9,
                                    .effort = tails[i].effort,
                                    .tools = {tools, sizeof tools - 1}};
        buf_init(&out, BUF_MAX);
        write_body(&req, tails[i].without, &out, &used);
        char *want =
            xasprintf("{\"model\":\"a\\\"b\",\"messages\":[]%s%s", as_functions, tails[i].want);
        assert_string_equal(buf_cstr(&out), want);
        free(want);
        buf_release(&out);
    }
}

/* The messages of request N stand byte for byte in request N + 1, whatever flags are off. */
static void
the_past_stands(void **state)
{
    static const struct row r = {
        {USER(TEXT("a")), ASSISTANT(TEXT("b") "," USE("c1", "{}") "," USE("c2", "{}")),
         USER(IMAGE_RESULT("c1") "," RESULT("c2", "s") "," TEXT("t")), ASSISTANT(TEXT("end"))},
        0,
        "sys",
        NULL};
    struct message *m[4] = {0};
    struct str system;
    (void)state;
    struct model_request req = request(&r, m, &system);
    for (unsigned without = 0; without < 1u << OPENAI_N_CAPS; without += 0x55) {
        struct buf one, two;
        unsigned used;
        buf_init(&one, BUF_MAX);
        buf_init(&two, BUF_MAX);
        static const size_t steps[] = {1, 3, 4}; /* a call never leaves without its answer */
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
            req.n_messages = steps[i];
            buf_clear(&two);
            write_body(&req, without, &two, &used);
            const char *end = strstr(buf_cstr(&two), "],\"stream\"");
            assert_non_null(end);
            if (one.len && memcmp(one.data, two.data, one.len) != 0)
                fail_msg("without %x, step %zu:\n%s\n%s", without, i, buf_cstr(&one),
                         buf_cstr(&two));
            buf_clear(&one);
            buf_add(&one, two.data, (size_t)(end - two.data));
        }
        buf_release(&one);
        buf_release(&two);
    }
    for (size_t i = 0; i < 4; i++)
        message_free(m[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_message), cmocka_unit_test(short_ids),
                                       cmocka_unit_test(the_rest_of_the_body),
                                       cmocka_unit_test(the_past_stands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
