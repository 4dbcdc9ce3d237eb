/* What happened, told to those who listen: what is sensitive stays away from a public one; and the spans of a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/record.h"
#include "base/span.h"

struct heard {
    int calls;
    struct buf names;
};

static void
hear(void *user, const struct record *r)
{
    struct heard *h = user;
    h->calls++;
    assert_string_equal(r->name, "tool_result");
    assert_string_equal(r->session_id, "s");
    assert_true(r->wall_ms > 0);
    for (size_t i = 0; i < r->n_fields; i++)
        buf_addf(&h->names, "%s ", r->fields[i].name);
}

static void
test_a_public_sink_sees_nothing_sensitive(void **state)
{
    (void)state;
    struct heard local = {0}, outside = {0};
    const struct record_field f[] = {REC_S("tool_name", "Bash"), REC_SECRET("tool_input", "{}"),
                                     REC_B("success", true), REC_I("duration_ms", 3)};
    buf_init(&local.names, 400);
    buf_init(&outside.names, 400);
    record_event("tool_result", "s", f, ARRAY_LEN(f)); /* nobody listens */
    record_add_sink(hear, &local, true);
    record_add_sink(hear, &outside, false);
    record_event("tool_result", "s", f, ARRAY_LEN(f));
    assert_string_equal(buf_cstr(&local.names), "tool_name tool_input success duration_ms ");
    assert_string_equal(buf_cstr(&outside.names), "tool_name success duration_ms ");
    record_clear_sinks();
    record_event("tool_result", "s", f, ARRAY_LEN(f));
    assert_int_equal(local.calls, 1);
    assert_int_equal(outside.calls, 1);
    buf_release(&local.names);
    buf_release(&outside.names);
}

static struct span_end_data ended[4];
static size_t n_ended;

static void
take(void *user, const struct span_end_data *d)
{
    assert_ptr_equal(user, &n_ended);
    ended[n_ended++] = *d;
}

static void
test_spans_of_one_trace(void **state)
{
    (void)state;
    assert_null(span_start("interaction", NULL)); /* nobody traces */
    span_end(NULL, "ok");
    span_set_sink(take, &n_ended);
    struct span *whole = span_start("interaction", NULL);
    struct span *tool = span_start("tool", whole), *other = span_start("interaction", NULL);
    span_end(tool, "ok");
    span_end(whole, "it was interrupted");
    span_end(other, "ok");
    span_set_sink(NULL, NULL);
    assert_int_equal(n_ended, 3);
    assert_string_equal(ended[0].name, "tool");
    assert_string_equal(ended[1].status, "it was interrupted");
    assert_true(ended[0].parent == ended[1].id && ended[0].id != ended[1].id && !ended[1].parent);
    assert_true(ended[0].trace_hi == ended[1].trace_hi && ended[0].trace_lo == ended[1].trace_lo);
    assert_true(ended[2].trace_hi != ended[1].trace_hi || ended[2].trace_lo != ended[1].trace_lo);
    assert_true(ended[1].start_us <= ended[0].start_us && ended[0].end_us <= ended[1].end_us);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_public_sink_sees_nothing_sensitive),
        cmocka_unit_test(test_spans_of_one_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
