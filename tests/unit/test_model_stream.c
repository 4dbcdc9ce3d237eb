#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/anthropic_error.h"
#include "model/stream.h"

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

/* What a block's end says of the input counts, whatever was shown before; a call that the answer's end cut off is no part of it. */
static void
ends_settle_the_input(void **state)
{
    (void)state;
    struct stream_blocks *b = stream_blocks_new();
    apply(b, DELTA_BLOCK_START, 0, BLOCK_TOOL_USE, "t1", "");
    apply(b, DELTA_INPUT_JSON, 0, 0, "", "{\"a\":1}{\"a\":1}");
    apply(b, DELTA_BLOCK_STOP, 0, 0, "", "{\"a\":1}");
    assert_false(stream_blocks_at(b, 0)->bad_input);
    assert_true(str_is(stream_blocks_at(b, 0)->input, "{\"a\":1}"));
    apply(b, DELTA_BLOCK_START, 1, BLOCK_TOOL_USE, "t2", "");
    apply(b, DELTA_INPUT_JSON, 1, 0, "", "{\"a\":2}");
    const struct delta gone = {.kind = DELTA_BLOCK_STOP, .index = 1, .withdrawn = true};
    stream_blocks_apply(b, &gone);
    assert_int_not_equal(stream_blocks_at(b, 1)->kind, BLOCK_TOOL_USE);
    struct message *m = stream_blocks_message(b, "m", false);
    assert_int_equal(m->n_blocks, 1);
    message_free(m);
    stream_blocks_free(b);
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

/* ---- limits, with a provider that never stops ---- */

struct flood {
    struct model_stream pub;
    enum delta_kind kind;
    struct str text;
};

static enum model_step
flood_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
           struct err *err)
{
    struct flood *f = (struct flood *)base;
    (void)wake_fd, (void)timeout_ms, (void)err;
    ret->kind = f->kind;
    ret->text = f->text;
    return MODEL_DELTA;
}

static void
flood_free(struct model_stream *base)
{
    (void)base;
}

static void
answers_are_capped(void **state)
{
    static const struct model_stream_ops ops = {flood_next, flood_free};
    char *mib = xcalloc(1, 1 << 20);
    struct flood floods[] = {{.kind = DELTA_TEXT, .text = str_make(mib, 1 << 20)},
                             {.kind = DELTA_INPUT_JSON, .text = str_make(mib, 1 << 20)},
                             {.kind = DELTA_BLOCK_START}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(floods); i++) {
        struct err err = {0};
        struct delta d;
        size_t n = 0;
        floods[i].pub.ops = &ops;
        while (model_stream_next(&floods[i].pub, -1, 0, &d, &err) == MODEL_DELTA)
            assert_true(++n < 10000);
        assert_int_equal(err.code, ERR_LIMIT);
        assert_false(err.retryable);
        assert_int_equal(n, floods[i].kind == DELTA_BLOCK_START ? MODEL_BLOCKS_MAX : 32);
        assert_int_equal(model_stream_next(&floods[i].pub, -1, 0, &d, NULL), MODEL_FAILED);
    }
    free(mib);
}

static void
an_input_may_come_whole(void **state)
{
    struct stream_blocks *b = stream_blocks_new();
    struct delta d = {.kind = DELTA_BLOCK_START,
                      .block = BLOCK_TOOL_USE,
                      .id = STR("t1"),
                      .name = STR("Bash"),
                      .text = STR("{\"command\":\"ls\"}")};
    (void)state;
    stream_blocks_apply(b, &d);
    apply(b, DELTA_BLOCK_STOP, 0, 0, "", "");
    assert_true(str_is(stream_blocks_at(b, 0)->input, "{\"command\":\"ls\"}"));
    assert_int_equal(stream_blocks_at(b, 0)->text.len, 0);
    /* Deltas hold when both come. */
    d.index = 1;
    stream_blocks_apply(b, &d);
    apply(b, DELTA_INPUT_JSON, 1, 0, "", "{\"command\":\"pwd\"}");
    apply(b, DELTA_BLOCK_STOP, 1, 0, "", "");
    assert_true(str_is(stream_blocks_at(b, 1)->input, "{\"command\":\"pwd\"}"));
    assert_false(stream_blocks_at(b, 1)->bad_input);
    stream_blocks_free(b);
}

static void
thinking_is_kept_only_when_signed(void **state)
{
    struct stream_blocks *b = stream_blocks_new();
    (void)state;
    apply(b, DELTA_BLOCK_START, 0, BLOCK_THINKING, "", "");
    apply(b, DELTA_THINKING, 0, 0, "", "hm \"quoted\"");
    apply(b, DELTA_SIGNATURE, 0, 0, "", "sig");
    apply(b, DELTA_BLOCK_STOP, 0, 0, "", "");
    apply(b, DELTA_BLOCK_START, 1, BLOCK_THINKING, "", "");
    apply(b, DELTA_THINKING, 1, 0, "", "cut");
    assert_int_equal(stream_blocks_len(b), 2);
    struct message *m = stream_blocks_message(b, "m", true);
    assert_int_equal(m->n_blocks, 1);
    assert_true(str_is(m->blocks[0].text, "hm \"quoted\""));
    assert_true(str_is(m->blocks[0].signature, "sig"));
    message_free(m);
    stream_blocks_free(b);
}

static void
names(void **state)
{
    (void)state;
    for (int r = STOP_END_TURN; r <= STOP_CONTEXT_EXCEEDED; r++)
        assert_int_equal(stop_reason_parse(str_from(stop_reason_name((enum stop_reason)r))), r);
    assert_int_equal(stop_reason_parse(STR("brand_new")), STOP_END_TURN);
    assert_int_equal(stop_reason_parse((struct str){0}), STOP_NONE);
    for (int k = DELTA_MESSAGE_START; k <= DELTA_RAW; k++)
        assert_true(strlen(delta_kind_name((enum delta_kind)k)) > 2);
}

/* Dates do not depend on the locale, and junk is no date. */
static void
retry_after(void **state)
{
    static const struct clock_fake now = {.wall_ms =
                                              784111777000}; /* Sun, 06 Nov 1994 08:49:37 GMT */
    static const struct {
        const char *value;
        int want_ms;
    } rows[] = {{"Sun, 06 Nov 1994 08:50:07 GMT", 30000},
                {"Sun, 06 Nov 1994 08:49:00 GMT", 0},
                {"soon", 0},
                {"Sun, 06 Now 1994 08:50:07 GMT", 0},
                {"0.25", 250},
                {"-3", 0},
                {"1e30", 86400000},
                {"nan", 0},
                {"", 0}};
    (void)state;
    clock_set_fake(&now);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        anthropic_error_body(429, STR("{}"), rows[i].value, "", &err);
        if (err.retry_after_ms != rows[i].want_ms)
            fail_msg("%s gave %d", rows[i].value, err.retry_after_ms);
    }
    clock_set_fake(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_assembled),
        cmocka_unit_test(ends_settle_the_input),
        cmocka_unit_test(an_input_may_come_whole),
        cmocka_unit_test(thinking_is_kept_only_when_signed),
        cmocka_unit_test(answers_are_capped),
        cmocka_unit_test(names),
        cmocka_unit_test(errors_are_sorted),
        cmocka_unit_test(retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
