/* Request bodies: valid JSON, and each one a byte-for-byte extension of the one before, cache marks and scalars aside. */
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/provider.h"

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

static char *
body_of(const struct model_request *req)
{
    struct buf scratch, whole;
    struct body_text text = {0};
    struct str slices[BODY_SLICES];
    buf_init(&scratch, BUF_MAX);
    buf_init(&whole, BUF_MAX);
    buf_adds(&scratch, "what stood there before");
    size_t n = anthropic_body(req, &text, &scratch, slices);
    assert_true(n <= BODY_SLICES);
    for (size_t i = 0; i < n; i++)
        buf_add_str(&whole, slices[i]);
    buf_release(&scratch);
    body_text_release(&text);
    return buf_take(&whole);
}

/* The body without its cache marks; *ret_marks: how many there were. */
static char *
without_marks(const char *body, int *ret_marks)
{
    struct buf out;
    buf_init(&out, BUF_MAX);
    *ret_marks = 0;
    for (const char *at; (at = strstr(body, MARK)) != NULL; body = at + strlen(MARK)) {
        buf_add(&out, body, (size_t)(at - body));
        ++*ret_marks;
    }
    buf_adds(&out, body);
    return buf_take(&out);
}

static struct message *
parsed(const char *json)
{
    struct err err = {0};
    struct message *m = message_parse(str_from(json), &err);
    if (!m)
        fail_msg("%s", err.text);
    return m;
}

/* A message of every kind, with bytes that would not survive a parse and a print. */
static struct message *
some_message(unsigned i)
{
    static const char *const user[] = {
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi \\u00e9 \\/ }]\"}]}",
        "{\"role\":\"user\",\"content\":\"plain string }\"}",
        "{ \"role\" : \"user\", \"content\" : [ "
        "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"a\"}]} , {\"type\":\"text\",\"text\":\"b\"} ] }",
        "{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"n\":12345678901234567890}]}",
    };
    static const char *const assistant[] = {
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\\u0041\","
        "\"signature\":\"s\"},"
        "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"X\",\"input\":{\"n\": 1.0e2, "
        "\"tools\":[{}]}}]}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":"
        "\"redacted_thinking\","
        "\"data\":\"d\"}]}",
    };
    return parsed(i % 2 ? assistant[i / 2 % ARRAY_LEN(assistant)] : user[i / 2 % ARRAY_LEN(user)]);
}

static void
each_extends_the_one_before(void **state)
{
    struct message *m[41];
    struct str system[3] = {STR("one \"quoted\"\n"), STR("two \x01 \xC3\xA9"), STR("three")};
    struct model_request req = {.model = "opus",
                                .max_tokens = 1000,
                                .system = system,
                                .n_system = 3,
                                .system_break = {1, 2},
                                .tools = STR("[ {\"name\":\"X\", \"input_schema\":{} } ]"),
                                .messages = (const struct message *const *)m,
                                .message_break = {SIZE_MAX, SIZE_MAX}};
    char *before = NULL;
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(m); i++)
        m[i] = some_message(i);
    for (size_t n = 1; n <= ARRAY_LEN(m); n += 2) {
        int marks;
        req.n_messages = n;
        req.message_break[0] = n - 1;
        req.message_break[1] = n >= 3 ? n - 3 : SIZE_MAX;
        req.max_tokens++; /* scalars may change */
        char *body = body_of(&req);
        struct err err = {0};
        struct cJSON *tree = json_parse(str_from(body), &err);
        if (!tree)
            fail_msg("%s: %s", err.text, body);
        assert_int_equal(json_len(json_at(tree, "messages")), n);
        assert_int_equal(json_int(tree, "max_tokens", 0), req.max_tokens);
        assert_string_equal(json_cstr(tree, "system.1.text", ""), "two \x01 \xC3\xA9");
        char *bare = without_marks(body, &marks);
        assert_true(marks >= 2 && marks <= 4);
        if (before) { /* up to the end of its messages */
            size_t same = strlen(before) - strlen(strstr(before, "],\"model\""));
            assert_memory_equal(before, bare, same);
        }
        for (size_t i = 0; i < n; i++) /* every message's own bytes stand there */
            assert_non_null(strstr(bare, m[i]->json.ptr));
        free(before);
        before = bare;
        json_free(tree);
        free(body);
    }
    free(before);
    for (unsigned i = 0; i < ARRAY_LEN(m); i++)
        message_free(m[i]);
}

static void
marks_go_where_they_may(void **state)
{
    static const struct {
        const char *json;
        int marks, block; /* block: which carries it */
    } rows[] = {
        {"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
         "\"text\":\"b\"}]}",
         1, 1},
        {"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":"
         "\"thinking\",\"thinking\":\"t\","
         "\"signature\":\"s\"}]}",
         1, 0},
        {"{\"role\":\"assistant\",\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"t\"}]}",
         0, 0},
        {"{\"role\":\"user\",\"content\":\"text\"}", 0, 0},
        {"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{"
         "\"type\":\"ephemeral\"}}]}",
         1, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message *m = parsed(rows[i].json);
        struct model_request req = {.model = "unheard-of",
                                    .max_tokens = 5,
                                    .messages = (const struct message *const *)&m,
                                    .n_messages = 1,
                                    .system_break = {SIZE_MAX, SIZE_MAX},
                                    .message_break = {0, 0}};
        int marks;
        char *body = body_of(&req), *bare = without_marks(body, &marks);
        struct cJSON *tree = json_parse(str_from(body), NULL);
        char *path = xasprintf("messages.0.content.%d.cache_control.type", rows[i].block);
        assert_non_null(tree);
        assert_int_equal(marks, rows[i].marks);
        if (marks)
            assert_string_equal(json_cstr(tree, path, ""), "ephemeral");
        free(path);
        json_free(tree);
        free(body);
        free(bare);
        message_free(m);
    }
}

static void
scalars_follow_the_catalogue(void **state)
{
    static const struct {
        const char *model, *effort;
        int max_tokens;
        const char *want;
    } rows[] = {
        {"opus", "high", 64000,
         "\"model\":\"claude-opus-5-5\",\"max_tokens\":64000,\"stream\":true,\"thinking\":{"
         "\"type\":\"adaptive\","
         "\"display\":\"summarized\"},\"output_config\":{\"effort\":\"high\"}}"},
        {"claude-haiku-4-5-20251001", "high", 32000,
         "\"model\":\"claude-haiku-4-5-20251001\",\"max_tokens\":32000,\"stream\":true,"
         "\"thinking\":{\"type\":\"enabled\","
         "\"budget_tokens\":16000}}"},
        {"claude-haiku-4-5", NULL, 2048,
         "\"model\":\"claude-haiku-4-5\",\"max_tokens\":2048,\"stream\":true,\"thinking\":{"
         "\"type\":\"enabled\","
         "\"budget_tokens\":1024}}"},
        {"claude-haiku-4-5", NULL, 2047,
         "\"model\":\"claude-haiku-4-5\",\"max_tokens\":2047,\"stream\":true}"},
        {"my-model", NULL, 10, "\"model\":\"my-model\",\"max_tokens\":10,\"stream\":true}"},
        {"my-model", "low", 10,
         "\"model\":\"my-model\",\"max_tokens\":10,\"stream\":true,\"output_config\":{\"effort\":"
         "\"low\"}}"},
    };
    struct message *m = some_message(0);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct model_request req = {.model = rows[i].model,
                                    .effort = rows[i].effort,
                                    .max_tokens = rows[i].max_tokens,
                                    .messages = (const struct message *const *)&m,
                                    .n_messages = 1,
                                    .system_break = {SIZE_MAX, SIZE_MAX},
                                    .message_break = {SIZE_MAX, SIZE_MAX}};
        char *body = body_of(&req);
        assert_string_equal(strstr(body, "\"model\""), rows[i].want);
        assert_true(strncmp(body, "{\"messages\":[", 13) == 0);
        free(body);
    }
    message_free(m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_extends_the_one_before),
        cmocka_unit_test(marks_go_where_they_may),
        cmocka_unit_test(scalars_follow_the_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
