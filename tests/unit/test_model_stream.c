#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/anthropic_error.h"
#include "model/catalog.h"
#include "model/provider.h"
#include "model/sse.h"

static const char events[] =
    ": comment\r\nevent: a\r\ndata: one\r\n\r\ndata: two\ndata: lines\n\nevent: c\rdata:x\r\r\n"
    "event: nothing\n\nid: 5\ndata: {\"a\": \"\xC3\xA9\"}\n\n";
static const char expected[] = "a=one;=two\nlines;c=x;={\"a\": \"\xC3\xA9\"};";

/* Every chunk size gives the same events, whatever the line ends. */
static void
sse_at_every_cut(void **state)
{
    (void)state;
    for (size_t step = 1; step <= sizeof events; step++) {
        struct sse p;
        struct buf got;
        struct str event, data;
        sse_init(&p);
        buf_init(&got, BUF_MAX);
        for (size_t at = 0; at < sizeof events - 1; at += step) {
            sse_feed(&p, str_sub(str_from(events), at, step));
            while (sse_next(&p, &event, &data))
                buf_addf(&got, "%.*s=%.*s;", (int)event.len, event.ptr, (int)data.len, data.ptr);
        }
        assert_string_equal(buf_cstr(&got), expected);
        buf_release(&got);
        sse_release(&p);
    }
}

static void
sse_is_capped(void **state)
{
    struct sse p;
    struct str event, data;
    bool ok = true;
    (void)state;
    char *chunk = xmalloc(1 << 20);
    memset(chunk, 'x', 1 << 20);
    sse_init(&p);
    for (int i = 0; ok && i < 20; i++) {
        sse_feed(&p, str_make(chunk, 1 << 20));
        while (sse_next(&p, &event, &data))
            continue;
        ok = !sse_overflowed(&p);
    }
    assert_false(ok);
    sse_release(&p);
    free(chunk);
}

static void
apply(struct stream_blocks *b, enum delta_kind kind, int index, enum block_kind block,
      const char *id, const char *text)
{
    struct delta d = {
        .kind = kind, .index = index, .block = block, .id = str_from(id), .text = str_from(text)};
    if (kind == DELTA_BLOCK_START && block == BLOCK_TOOL_USE) {
        d.name = STR("Bash");
        d.text = STR("");
    }
    stream_blocks_apply(b, &d);
}

static void
blocks_are_assembled(void **state)
{
    (void)state;
    struct stream_blocks *b = stream_blocks_new();
    apply(b, DELTA_BLOCK_START, 0, BLOCK_TEXT, "", "");
    apply(b, DELTA_BLOCK_START, 1, BLOCK_TOOL_USE, "t1", "");
    apply(b, DELTA_TEXT, 0, 0, "", "Hel");
    apply(b, DELTA_INPUT_JSON, 1, 0, "", "{\"command\":");
    apply(b, DELTA_TEXT, 0, 0, "", "lo");
    apply(b, DELTA_INPUT_JSON, 1, 0, "", "\"ls\"}");
    assert_false(stream_blocks_at(b, 1)->complete);
    apply(b, DELTA_BLOCK_STOP, 1, 0, "", "");
    assert_true(stream_blocks_at(b, 1)->complete);
    apply(b, DELTA_BLOCK_START, 2, BLOCK_TOOL_USE, "t2", "");
    apply(b, DELTA_BLOCK_STOP, 2, 0, "", "");
    apply(b, DELTA_BLOCK_START, 3, BLOCK_TOOL_USE, "t3", "");
    apply(b, DELTA_INPUT_JSON, 3, 0, "", "[1,");
    apply(b, DELTA_BLOCK_STOP, 3, 0, "", "");
    assert_true(stream_blocks_at(b, 3)->bad_input);
    apply(b, DELTA_BLOCK_START, 4, BLOCK_TOOL_USE, "t4", ""); /* never complete: left out */
    apply(b, DELTA_INPUT_JSON, 4, 0, "", "{\"a");
    apply(b, DELTA_TEXT, 99, 0, "", "stray");
    struct message *m = stream_blocks_message(b, "m", true);
    assert_string_equal(m->json.ptr,
                        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
                        "\"Hello\"},{\"type\":\"tool_use\",\"id\":\"t1\","
                        "\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}},{\"type\":\"tool_use\","
                        "\"id\":\"t2\",\"name\":\"Bash\",\"input\":{}},"
                        "{\"type\":\"tool_use\",\"id\":\"t3\",\"name\":\"Bash\",\"input\":{}}]}");
    assert_true(m->partial);
    message_free(m);
    stream_blocks_free(b);
}

static struct message *
user(const char *text)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, str_from(text));
    return message_build(b);
}

static char *
body_of(const struct model_request *req)
{
    struct buf scratch, whole;
    struct str slices[256];
    buf_init(&scratch, BUF_MAX);
    buf_init(&whole, BUF_MAX);
    size_t n = anthropic_body(req, &scratch, slices, ARRAY_LEN(slices));
    for (size_t i = 0; i < n; i++)
        buf_add_str(&whole, slices[i]);
    buf_release(&scratch);
    return buf_take(&whole);
}

static void
bodies_are_spliced(void **state)
{
    (void)state;
    struct message *m[3] = {user("hi \"there\""), user("b"), user("c")};
    struct str system[2] = {STR("sys \n1"), STR("sys 2")};
    struct model_request req = {.model = "opus",
                                .max_tokens = 9,
                                .system = system,
                                .n_system = 2,
                                .system_break = {0, SIZE_MAX},
                                .tools = STR("[{\"name\":\"X\"}]"),
                                .messages = (const struct message *const *)m,
                                .n_messages = 1,
                                .message_break = {0, SIZE_MAX}};
    char *one = body_of(&req);
    req.n_messages = 3;
    req.message_break[1] = 2;
    char *two = body_of(&req);
    struct cJSON *t = json_parse(str_from(two), NULL);
    assert_non_null(t);
    assert_string_equal(json_cstr(t, "model", ""), "claude-opus-5-5");
    assert_true(json_bool(t, "stream", false));
    assert_string_equal(json_cstr(t, "system.0.cache_control.type", ""), "ephemeral");
    assert_null(json_at(t, "system.1.cache_control"));
    assert_string_equal(json_cstr(t, "messages.0.content.0.cache_control.type", ""), "ephemeral");
    assert_null(json_at(t, "messages.1.content.0.cache_control"));
    assert_string_equal(json_cstr(t, "messages.2.content.0.cache_control.type", ""), "ephemeral");
    /* All of the first body up to its messages' end stands in the second. */
    size_t same = 0;
    while (one[same] == two[same])
        same++;
    assert_true(strncmp(one + same, "],\"model\"", 9) == 0);
    json_free(t);
    free(one);
    free(two);
    for (int i = 0; i < 3; i++)
        message_free(m[i]);
}

static void
errors_are_sorted(void **state)
{
    static const struct {
        int status;
        const char *kind, *message, *retry_after, *want_kind;
        bool retryable;
        int after_ms;
    } rows[] = {
        {401, "authentication_error", "invalid x-api-key", NULL, "authentication_error", false, 0},
        {400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000", NULL,
         "prompt_too_long", false, 0},
        {413, "request_too_large", "too large", NULL, "prompt_too_long", false, 0},
        {429, "rate_limit_error", "slow down", "2", "rate_limit_error", true, 2000},
        {429, "rate_limit_error", "your spend limit is reached", NULL, "rate_limit_error", false,
         0},
        {529, "overloaded_error", "busy", NULL, "overloaded_error", true, 0},
        {500, "api_error", "oops", NULL, "api_error", true, 0},
        {404, "not_found_error", "model", NULL, "not_found_error", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        char *body =
            xasprintf("{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}",
                      rows[i].kind, rows[i].message);
        anthropic_error_body(rows[i].status, str_from(body), rows[i].retry_after, "req_1", &err);
        assert_string_equal(err.kind, rows[i].want_kind);
        assert_int_equal(err.retryable, rows[i].retryable);
        assert_int_equal(err.retry_after_ms, rows[i].after_ms);
        assert_non_null(strstr(err.text, rows[i].message));
        assert_non_null(strstr(err.text, "req_1)"));
        free(body);
    }
    struct err err = {0};
    anthropic_error_body(502, STR("<html>bad gateway</html>"), NULL, "", &err);
    assert_true(err.retryable);
    assert_non_null(strstr(err.text, "bad gateway"));
}

static void
catalogue(void **state)
{
    (void)state;
    const struct model_info *m = catalog_find("haiku");
    assert_string_equal(m->id, "claude-haiku-5-5");
    assert_ptr_equal(catalog_find("claude-haiku-4-5-20251001"), catalog_find("claude-haiku-4-5"));
    assert_null(catalog_find("claude-haiku-4-5-2025"));
    assert_null(catalog_find("gpt"));
    struct usage small = {.input = 1000000 / 20, .output = 1000000},
                 large = {.input = 200000, .output = 1000000};
    assert_true(catalog_cost(m, &small) > 0.504 && catalog_cost(m, &small) < 0.506);
    assert_true(catalog_cost(m, &large) > 2.59 && catalog_cost(m, &large) < 2.61);
    assert_true(catalog_cost(NULL, &small) < 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sse_at_every_cut),     cmocka_unit_test(sse_is_capped),
        cmocka_unit_test(blocks_are_assembled), cmocka_unit_test(bodies_are_spliced),
        cmocka_unit_test(errors_are_sorted),    cmocka_unit_test(catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
