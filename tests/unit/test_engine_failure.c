/* What each failure is taken for, what the person reads of it, and that the page of the docs says the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "engine/failure.h"
#include "engine/retry.h"

static const struct retry_policy policy = {500, 10};

static struct err
make(enum err_code code, int http, bool retryable, const char *kind, const char *text)
{
    struct err e = {0};
    err_set(&e, code, "%s", text);
    e.http = http;
    e.retryable = retryable;
    snprintf(e.kind, sizeof e.kind, "%s", kind);
    return e;
}

static void
test_each_failure_is_known(void **state)
{
    (void)state;
    static const struct {
        enum err_code code;
        int http;
        bool retryable;
        const char *kind, *text;
        enum failure_kind is;
    } rows[] = {
        {ERR_NET, 0, true, "", "connection lost", FAIL_TRANSPORT},
        {ERR_NET, 0, true, "dns", "no such host", FAIL_DNS},
        {ERR_NET, 0, true, "refused", "no connection", FAIL_REFUSED},
        {ERR_NET, 0, false, "tls", "its certificate is not trusted", FAIL_TLS},
        {ERR_NET, 0, true, "cut", "closed in the middle", FAIL_CUT},
        {ERR_TIMEOUT, 0, true, "stall", "nothing came for 90 s", FAIL_STALL},
        {ERR_TIMEOUT, 0, true, "", "no connection in time", FAIL_TRANSPORT},
        {ERR_PARSE, 0, true, "", "an event that is no JSON", FAIL_JUNK},
        {ERR_LIMIT, 0, false, "", "more than 32 MiB", FAIL_LIMIT},
        {ERR_HTTP, 429, true, "rate_limit_error", "slow down", FAIL_RATE},
        {ERR_HTTP, 429, false, "rate_limit_error", "spend limit", FAIL_SPEND_CAP},
        {ERR_HTTP, 429, false, "insufficient_quota", "no money", FAIL_BILLING},
        {ERR_HTTP, 529, true, "overloaded_error", "busy", FAIL_OVERLOADED},
        {ERR_HTTP, 503, true, "", "busy", FAIL_OVERLOADED},
        {ERR_HTTP, 500, true, "api_error", "oops", FAIL_SERVER},
        {ERR_HTTP, 401, false, "authentication_error", "bad key", FAIL_AUTH},
        {ERR_HTTP, 403, false, "permission_error", "no", FAIL_AUTH},
        {ERR_HTTP, 402, false, "billing_error", "pay", FAIL_BILLING},
        {ERR_HTTP, 404, false, "not_found_error", "model: x", FAIL_MODEL},
        {ERR_HTTP, 413, false, "request_too_large", "too large", FAIL_TOO_LONG},
        {ERR_HTTP, 400, false, "prompt_too_long", "too long", FAIL_TOO_LONG},
        {ERR_HTTP, 400, false, "invalid_request_error",
         "Unexpected value(s) for the `anthropic-beta` header", FAIL_BETA},
        {ERR_HTTP, 400, false, "invalid_request_error",
         "context_management: Extra inputs are not permitted", FAIL_BETA},
        {ERR_HTTP, 400, false, "invalid_request_error",
         "messages.3.content.1.image.source: could not process image", FAIL_BLOCK},
        {ERR_HTTP, 400, false, "invalid_request_error", "max_tokens: too large", FAIL_REQUEST},
        /* an error event behind HTTP 200 */
        {ERR_HTTP, 0, true, "overloaded_error", "busy", FAIL_OVERLOADED},
        {ERR_HTTP, 0, true, "api_error", "oops", FAIL_SERVER},
        {ERR_HTTP, 0, false, "invalid_request_error", "no", FAIL_REQUEST},
        {ERR_HTTP, 0, false, "authentication_error", "no", FAIL_AUTH},
        {ERR_HTTP, 301, false, "", "moved", FAIL_ADDRESS},
        {ERR_NET, 0, false, "address", "the head of its answer is too large", FAIL_ADDRESS},
        {ERR_INVALID, 0, false, "address", "only http and https are spoken", FAIL_ADDRESS},
        {ERR_HTTP, 407, false, "", "proxy authentication required", FAIL_ADDRESS},
        {ERR_HTTP, 405, false, "", "not allowed", FAIL_ADDRESS},
        {ERR_HTTP, 511, false, "", "log in to this network", FAIL_ADDRESS},
        {ERR_HTTP, 200, false, "", "'text/html' instead of an event stream", FAIL_ADDRESS},
        {ERR_HTTP, 200, false, "authentication_error", "an error in place of a stream", FAIL_AUTH},
        {ERR_HTTP, 0, false, "gateway_limit", "413 Request Entity Too Large", FAIL_GATEWAY},
        {ERR_CANCELLED, 0, false, "", "cancelled", FAIL_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e =
            make(rows[i].code, rows[i].http, rows[i].retryable, rows[i].kind, rows[i].text);
        const struct failure *f = failure_of(&e);
        if (f->kind != rows[i].is)
            fail_msg("row %zu (%s) is taken for %s", i, rows[i].text, f->name);
    }
}

static void
test_how_often_it_is_tried(void **state)
{
    (void)state;
    struct err refused = make(ERR_NET, 0, true, "refused", "no connection");
    struct err stall = make(ERR_TIMEOUT, 0, true, "stall", "silent");
    struct err lost = make(ERR_NET, 0, true, "", "lost");
    struct err beta = make(ERR_HTTP, 400, false, "", "anthropic-beta");
    assert_int_equal(retry_tries(&policy, &refused), 3);
    assert_true(retry_delay(&policy, &refused, 3, 0, 0) > 0);
    assert_int_equal(retry_delay(&policy, &refused, 4, 0, 0), -1);
    assert_int_equal(retry_tries(&policy, &stall), 1);
    assert_int_equal(retry_tries(&policy, &lost), 10);
    assert_int_equal(retry_tries(&policy, &beta), 0);
    int64_t all = 0;
    for (int i = 1; i <= 3; i++)
        all += retry_delay(&policy, &refused, i, all, UINT32_MAX);
    assert_true(all < 5000); /* seconds, not minutes */
}

static void
test_what_the_person_reads(void **state)
{
    (void)state;
    for (int k = 0; k < FAILURE_COUNT; k++) {
        const struct failure *f = failure_at((enum failure_kind)k);
        assert_int_equal(f->kind, k);
        assert_true(f->what[0] && f->advice[0] && f->name[0]);
        assert_null(strstr(f->advice, "a step")); /* there is no rewind to do it with */
    }
    struct err e = make(ERR_NET, 0, true, "refused", "'http://127.0.0.1:1': no connection");
    failure_say(&e);
    assert_non_null(strstr(e.text, "nothing listens there"));
    assert_non_null(strstr(e.text, "127.0.0.1:1"));
    assert_non_null(strstr(e.text, "What to do: start the server"));
    char once[sizeof e.text];
    memcpy(once, e.text, sizeof once);
    failure_say(&e);
    assert_string_equal(e.text, once);
    /* A long wait is told, not waited for. */
    struct err later = make(ERR_HTTP, 429, true, "rate_limit_error", "come back tomorrow");
    later.retry_after_ms = 5 * 3600 * 1000;
    failure_say(&later);
    assert_non_null(strstr(later.text, "it asks to wait 5 h"));
    assert_int_equal(retry_delay(&policy, &later, 1, 0, 0), -1);
    /* Words of any length leave room for what to do. */
    struct err longest = make(ERR_HTTP, 500, true, "api_error", "");
    memset(longest.text, 'x', sizeof longest.text - 1);
    failure_say(&longest);
    assert_non_null(strstr(longest.text, "What to do: wait a while"));
    /* ... and are cut between two characters. */
    for (size_t start = 0; start < 2; start++) {
        err_set(&longest, ERR_HTTP, "%s", start ? "x" : "");
        for (size_t i = start; i + 2 < sizeof longest.text; i += 2)
            memcpy(longest.text + i, "\xc3\xa9", 3);
        failure_say(&longest);
        assert_true(text_valid_utf8(str_from(longest.text)));
    }
}

static void
test_the_place_that_a_refusal_names(void **state)
{
    (void)state;
    size_t m, b;
    struct err e = make(ERR_HTTP, 400, false, "", "400: messages.12.content.3.image: no");
    assert_true(failure_place(&e, &m, &b));
    assert_int_equal(m, 12);
    assert_int_equal(b, 3);
    e = make(ERR_HTTP, 400, false, "", "messages.4: all is wrong");
    assert_true(failure_place(&e, &m, &b));
    assert_int_equal(m, 4);
    assert_true(b == SIZE_MAX);
    static const char *const none[] = {"messages: too many", "messages.", "messages.x.content.1",
                                       "messages.99999999999999999999.content.1", ""};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        e = make(ERR_HTTP, 400, false, "", none[i]);
        assert_false(failure_place(&e, &m, &b));
    }
}

static void
row_of(const struct failure *f, struct buf *out)
{
    buf_addf(out, "| %s | %s | %s | ", f->name, f->what, failure_retry_name(f->retry));
    if (f->tries < 0)
        buf_adds(out, "10");
    else if (f->tries)
        buf_addf(out, "%d", f->tries);
    buf_addf(out, " | %s | %s |\n", f->fallback ? "yes" : "", f->advice);
}

/* A table that says otherwise is worse than none. */
static void
test_the_docs_have_this_table(void **state)
{
    (void)state;
    struct buf page, rows;
    struct err err = {0};
    buf_init(&page, BUF_MAX);
    buf_init(&rows, BUF_MAX);
    assert_true(fs_read(TEST_DIR "/../docs/recovery.md", BUF_MAX, &page, &err));
    for (int k = 0; k < FAILURE_COUNT; k++)
        row_of(failure_at((enum failure_kind)k), &rows);
    if (!str_contains(buf_str(&page), buf_str(&rows)))
        fail_msg("docs/recovery.md must have these rows, in this order:\n%s", buf_cstr(&rows));
    buf_release(&page);
    buf_release(&rows);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_failure_is_known),
        cmocka_unit_test(test_how_often_it_is_tried),
        cmocka_unit_test(test_what_the_person_reads),
        cmocka_unit_test(test_the_place_that_a_refusal_names),
        cmocka_unit_test(test_the_docs_have_this_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
