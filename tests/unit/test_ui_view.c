#include "unit/ui_help.h"

static struct clock_fake now = {.mono_us = 5000000};

static int
setup(void **state)
{
    struct view *v = xcalloc(1, sizeof(*v));
    clock_set_fake(&now);
    view_init(v);
    *state = v;
    return 0;
}

static int
teardown(void **state)
{
    view_release(*state);
    free(*state);
    clock_set_fake(NULL);
    return 0;
}

static void
text_streams_into_one_item(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"user\",\"text\":\"hi\"}");
    assert_true(v->running);
    apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"text\",\"index\":0}");
    apply(v,
          "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":0,\"text\":\"a\"}");
    uint64_t before = v->items[1].version;
    apply(v,
          "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":0,\"text\":\"b\"}");
    assert_int_equal(v->n_items, 2);
    assert_string_equal(buf_cstr(&v->items[1].text), "ab");
    assert_true(v->items[1].version > before);
    assert_false(v->items[1].done);
    apply(v, "{\"event\":\"block\",\"phase\":\"end\",\"type\":\"text\",\"index\":0}");
    assert_true(v->items[1].done);
    assert_string_equal(v->last_answer, "ab");
}

static void
a_retry_takes_back_what_it_says_again(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"user\",\"text\":\"hi\"}");
    apply(v, "{\"event\":\"turn\",\"phase\":\"start\",\"n\":1}");
    for (int i = 0; i < 3; i++) {
        apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"text\",\"index\":0}");
        apply(v, "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":0,\"text\":"
                 "\"half\"}");
        if (i < 2)
            apply(v, "{\"event\":\"retry\",\"attempt\":1,\"max_attempts\":9,\"delay_ms\":5}");
    }
    size_t halves = 0;
    for (size_t i = 0; i < v->n_items; i++)
        halves += v->items[i].kind == ITEM_TEXT;
    assert_int_equal(halves, 1);
    assert_string_equal(buf_cstr(&v->items[v->n_items - 1].text), "half");
    assert_string_equal(buf_cstr(&v->items[0].text), "hi");
}

static void
what_was_kept_of_a_broken_answer_stays(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"user\",\"text\":\"hi\"}");
    apply(v, "{\"event\":\"turn\",\"phase\":\"start\",\"n\":1}");
    for (int i = 0; i < 3; i++) {
        apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"text\",\"index\":0}");
        apply(v, "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":0,\"text\":"
                 "\"half\"}");
        apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"tool_use\",\"index\":1,"
                 "\"tool_use_id\":\"t1\","
                 "\"name\":\"Bash\"}");
        if (i == 2)
            break;
        apply(v, "{\"event\":\"retry\",\"attempt\":1,\"max_attempts\":9,\"delay_ms\":5}");
        apply(v, "{\"event\":\"message\",\"json\":\"{}\",\"assistant\":true,\"partial\":true}");
        apply(v,
              "{\"event\":\"user\",\"text\":\"go on\",\"hidden\":true,\"brief\":\"it broke off\"}");
    }
    size_t halves = 0, calls = 0, marks = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        halves += v->items[i].kind == ITEM_TEXT;
        calls += v->items[i].kind == ITEM_TOOL;
        marks += v->items[i].over && strcmp(v->items[i].over, "it broke off") == 0;
    }
    assert_int_equal(halves, 3);
    assert_int_equal(calls, 1); /* a call that never began never was */
    assert_int_equal(marks, 2);
    assert_true(v->items[1].done);
}

static void
what_the_classifier_let_through_says_so(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"t1\",\"name\":\"Bash\",\"state\":"
             "\"judging\",\"what\":\"touch a\"}");
    apply(v, "{\"event\":\"perm_decided\",\"ask_id\":1,\"tool_use_id\":\"t1\",\"tool\":\"Bash\","
             "\"who\":\"classifier\","
             "\"allowed\":true,\"decision\":{\"decision\":\"allow\",\"findings\":[{\"layer\":"
             "\"L6\",\"decision\":\"allow\","
             "\"reason\":\"a scratch file\"}]}}");
    assert_string_equal(v->items[0].judged, "AFK, the classifier let it through: a scratch file");
    apply(v, "{\"event\":\"perm_decided\",\"ask_id\":1,\"tool_use_id\":\"t1\",\"tool\":\"Bash\","
             "\"who\":\"classifier\","
             "\"allowed\":true,\"decision\":{\"decision\":\"allow\",\"findings\":[{\"layer\":"
             "\"L6\",\"decision\":\"allow\","
             "\"reason\":\"the classifier allows it: plain build\"}]}}");
    assert_string_equal(v->items[0].judged, "AFK: the classifier allows it: plain build");
}

static void
an_error_says_each_fact_once(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"error\",\"err\":{\"code\":\"http\",\"http\":401,\"kind\":"
             "\"authentication_error\","
             "\"text\":\"the server answered 401 authentication_error: bad key (request req_8)\"},"
             "\"request_id\":\"req_8\"}");
    assert_string_equal(buf_cstr(&v->items[0].text),
                        "the server answered 401 authentication_error: bad key (request req_8)");
    apply(v, "{\"event\":\"error\",\"err\":{\"code\":\"http\",\"http\":413,\"kind\":\"too_big\","
             "\"text\":\"it is too long\"},\"request_id\":\"req_9\"}");
    assert_string_equal(buf_cstr(&v->items[1].text), "it is too long (413 too_big)\nrequest req_9");
}

static void
blocks_without_start_or_end_do_no_harm(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"block\",\"phase\":\"end\",\"type\":\"text\",\"index\":7}");
    assert_int_equal(v->n_items, 0);
    apply(v,
          "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":7,\"text\":\"x\"}");
    assert_int_equal(v->n_items, 1);
    apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"text\",\"index\":7}");
    assert_int_equal(v->n_items, 2); /* the first one's end never came */
    assert_true(v->items[0].done);
    apply(
        v,
        "{\"event\":\"result\",\"subtype\":\"success\",\"exit\":\"completed\",\"text\":\"done\"}");
    assert_true(v->items[1].done);
    assert_false(v->running);
    assert_string_equal(v->last_answer, "done");
}

static void
a_tool_goes_through_its_states(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"tool_use\",\"index\":1,\"tool_"
             "use_id\":\"t\",\"name\":\"Bash\"}");
    apply(v, "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"tool_use\",\"index\":1,\"text\":"
             "\"{\\\"command\\\":\"}");
    assert_int_equal(v->items[0].state, TOOL_WAITING);
    assert_int_equal(v->items[0].bytes, 11);
    apply(v, "{\"event\":\"block\",\"phase\":\"end\",\"type\":\"tool_use\",\"index\":1}");
    assert_false(v->items[0].done);
    apply(v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"t\",\"name\":\"Bash\",\"what\":"
             "\"make\",\"state\":\"waiting\"}");
    assert_int_equal(v->n_items, 1);
    assert_int_equal(v->n_acts, 1);
    apply(v, "{\"event\":\"perm_ask\",\"id\":3,\"tool_use_id\":\"t\",\"tool\":\"Bash\",\"command\":"
             "\"make\"}");
    assert_int_equal(v->items[0].state, TOOL_ASKING);
    assert_int_equal(v->acts[0].state, TOOL_ASKING);
    apply(v, "{\"event\":\"perm_decided\",\"ask_id\":3,\"tool_use_id\":\"t\",\"allowed\":true}");
    assert_int_equal(v->n_asks, 0);
    now.mono_us += 4000000;
    apply(v, "{\"event\":\"tool\",\"phase\":\"delta\",\"id\":\"t\",\"state\":\"running\","
             "\"output\":\"cc x.c\",\"bytes\":9}");
    assert_int_equal(v->acts[0].started_ms, now.mono_us / 1000);
    assert_string_equal(v->acts[0].last_line, "cc x.c");
    apply(v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"t\",\"state\":\"done\",\"output\":"
             "\"all\",\"elapsed_ms\":5}");
    assert_true(v->items[0].done);
    assert_string_equal(buf_cstr(&v->items[0].text), "all");
    apply(v, "{\"event\":\"tool\",\"phase\":\"delta\",\"id\":\"t\",\"state\":\"running\","
             "\"output\":\"late\"}");
    assert_int_equal(v->items[0].state, TOOL_DONE);
    assert_int_equal(v->acts[0].state, TOOL_DONE);
}

static void
what_never_ended_is_cancelled_with_the_run(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"a\",\"name\":\"Bash\",\"state\":"
             "\"running\"}");
    apply(v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"b\",\"tool\":\"Bash\"}");
    apply(v, "{\"event\":\"perm_ask\",\"id\":2,\"tool_use_id\":\"c\",\"tool\":\"Bash\",\"agent\":"
             "\"explore\"}");
    apply(v, "{\"event\":\"result\",\"subtype\":\"error_during_execution\",\"exit\":\"aborted_"
             "tools\",\"is_error\":true}");
    assert_int_equal(v->items[0].state, TOOL_CANCELLED);
    assert_int_equal(v->acts[0].state, TOOL_CANCELLED);
    assert_int_equal(v->n_asks, 1); /* the other agent still waits */
    assert_int_equal(v->asks[0].id, 2);
    assert_string_equal(buf_cstr(&v->items[v->n_items - 1].text),
                        "interrupted: what was done is kept");
    apply(v, "{\"event\":\"closed\"}");
    assert_int_equal(v->n_asks, 0);
    assert_true(v->closed);
}

static void
an_exit_is_said_once(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"user\",\"text\":\"x\"}");
    apply(v, "{\"event\":\"result\",\"subtype\":\"error_max_turns\",\"exit\":\"max_turns\",\"is_"
             "error\":true}");
    assert_int_equal(v->items[1].kind, ITEM_ERROR);
    assert_string_equal(buf_cstr(&v->items[1].text),
                        "stopped: the turns allowed for one request are used up");
    apply(v, "{\"event\":\"user\",\"text\":\"y\"}");
    apply(v, "{\"event\":\"error\",\"err\":{\"number\":6,\"text\":\"boom\"}}");
    apply(v, "{\"event\":\"result\",\"subtype\":\"error_during_execution\",\"exit\":\"model_"
             "error\",\"is_error\":true}");
    assert_int_equal(v->n_items, 4);
}

static void
asks_queue_up_in_order(void **state)
{
    struct view *v = *state;
    for (int i = 1; i <= 3; i++)
        applyf(v, "{\"event\":\"perm_ask\",\"id\":%d,\"tool_use_id\":\"t%d\",\"tool\":\"Bash\"}", i,
               i);
    assert_int_equal(v->asks[0].id, 1);
    uint64_t serial = v->asks[1].serial;
    apply(v, "{\"event\":\"perm_decided\",\"ask_id\":1,\"tool_use_id\":\"t1\"}");
    assert_int_equal(v->n_asks, 2);
    apply(v, "{\"event\":\"perm_ask\",\"id\":2,\"tool_use_id\":\"t2\",\"tool\":\"Bash\"}");
    assert_int_equal(v->n_asks, 2);
    assert_int_equal(v->asks[1].id, 2);
    assert_true(v->asks[1].serial != serial);
    apply(v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"t3\",\"state\":\"cancelled\"}");
    assert_int_equal(v->n_asks, 1);
    apply(v, "{\"event\":\"perm_decided\",\"ask_id\":99}");
    assert_int_equal(v->n_asks, 1);
}

static void
clearing_empties_all(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"user\",\"text\":\"x\"}");
    say(v, "y");
    apply(v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"a\",\"name\":\"Bash\",\"state\":"
             "\"running\"}");
    apply(v, "{\"event\":\"task\",\"json\":\"{\\\"todos\\\":[{\\\"content\\\":\\\"c\\\","
             "\\\"status\\\":\\\"in_progress\\\"}]}\"}");
    assert_int_equal(v->n_todos, 1);
    assert_int_equal(v->todos[0].state, TODO_ACTIVE);
    apply(v, "{\"event\":\"session\",\"id\":\"s2\",\"model\":\"m\",\"mode\":\"plan\",\"cleared\":"
             "true,\"context_window\":5}");
    assert_int_equal(v->n_items, 0);
    assert_int_equal(v->n_acts, 0);
    assert_int_equal(v->n_todos, 0);
    assert_int_equal(v->dropped, 3);
    assert_int_equal(v->text_bytes, 0);
    assert_string_equal(v->session_id, "s2");
    assert_int_equal(v->mode, PERM_PLAN);
}

static void
sub_agents_stay_out_of_the_transcript(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"user\",\"text\":\"x\",\"agent\":\"sub\"}");
    apply(v, "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"text\":\"t\",\"agent\":"
             "\"sub\"}");
    apply(v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"a\",\"name\":\"Grep\",\"state\":"
             "\"running\",\"agent\":\"sub\"}");
    apply(v, "{\"event\":\"result\",\"exit\":\"completed\",\"agent\":\"sub\"}");
    assert_int_equal(v->n_items, 0);
    assert_int_equal(v->n_acts, 1);
    assert_string_equal(v->acts[0].agent, "sub");
    apply(v, "{\"event\":\"notice\",\"text\":\"hello\",\"agent\":\"sub\"}");
    assert_string_equal(buf_cstr(&v->items[0].text), "sub: hello");
}

static void
retries_share_a_line(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"retry\",\"attempt\":1,\"max_attempts\":10,\"delay_ms\":2000,\"err\":{"
             "\"number\":6,\"text\":\"busy\"}}");
    apply(v, "{\"event\":\"retry\",\"attempt\":2,\"max_attempts\":10,\"delay_ms\":4000,\"err\":{"
             "\"number\":6,\"text\":\"busy\"}}");
    assert_int_equal(v->n_items, 1);
    assert_string_equal(buf_cstr(&v->items[0].text), "retry 2 of 10: busy");
    assert_int_equal(v->retry_at_ms, now.mono_us / 1000 + 4000);
    apply(v, "{\"event\":\"block\",\"phase\":\"start\",\"type\":\"text\",\"index\":0}");
    assert_null(v->retry);
}

static void
memory_is_bounded(void **state)
{
    struct view *v = *state;
    for (int i = 0; i < 2 * VIEW_ITEMS; i++)
        say(v, "text");
    assert_true(v->n_items <= VIEW_ITEMS);
    assert_int_equal(v->dropped + v->n_items, 2 * VIEW_ITEMS);
    char *big = xcalloc(1, 1000001);
    memset(big, 'x', 1000000);
    for (int i = 0; i < 40; i++)
        say(v, big);
    assert_true(v->text_bytes < VIEW_BYTES + 2000000);
    for (int i = 0; i < 200; i++) {
        struct event *e = event_new(EV_TOOL);
        e->phase = PHASE_END;
        e->u.tool.id = xasprintf("t%d", i);
        e->u.tool.state = TOOL_DONE;
        e->u.tool.output = xstrdup(big);
        view_apply(v, e);
    }
    assert_true(v->text_bytes < VIEW_BYTES + 2000000);
    assert_true(v->n_acts <= 51);
    free(big);
}

/* Any order of any events: nothing crashes and the sums stay right. */
static void
noise_does_no_harm(void **state)
{
    struct view *v = *state;
    unsigned seed = 7;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned r = seed >> 8;
        struct event *e = event_new((enum event_kind)(r % (EV_CLOSED + 1)));
        e->phase = (enum event_phase)(r / 32 % 3);
        if (r / 128 % 5 == 0)
            e->agent = xstrdup("sub");
        if (e->kind == EV_BLOCK) {
            e->u.block.type = (enum event_block)(r / 1024 % 3);
            e->u.block.index = (int)(r / 4096 % 4);
            e->u.block.tool_use_id = xasprintf("t%u", r / 8192 % 8);
            e->u.block.text = r & 1 ? xstrdup("some\n\n*text*") : NULL;
        } else if (e->kind == EV_TOOL) {
            e->u.tool.id = r & 2 ? xasprintf("t%u", r / 8192 % 8) : NULL;
            e->u.tool.state = (enum tool_state)(r / 1024 % 7);
            e->u.tool.output = r & 1 ? xstrdup("out\nput") : NULL;
        } else if (e->kind == EV_PERM_ASK || e->kind == EV_PERM_DECIDED) {
            uint64_t id = r / 1024 % 4;
            if (e->kind == EV_PERM_ASK) {
                e->u.ask.id = id;
                e->u.ask.tool_use_id = xasprintf("t%u", r / 8192 % 8);
            } else {
                e->u.decided.ask_id = id;
            }
        } else if (e->kind == EV_SESSION) {
            e->u.session.cleared = r / 1024 % 3 == 0;
        }
        view_apply(v, e);
    }
    size_t sum = 0;
    for (size_t i = 0; i < v->n_items; i++)
        sum += v->items[i].text.len;
    assert_int_equal(sum, v->text_bytes);
    assert_true(v->n_asks <= 4);
    view_apply(v, NULL);
    struct event *e = event_new(EV_NOTICE);
    e->kind = EV_RAW;
    view_apply(v, e);
}

static void
an_edited_call_asks_again(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"t\",\"name\":\"Bash\",\"state\":"
             "\"running\"}");
    apply(v, "{\"event\":\"perm_ask\",\"id\":1,\"tool_use_id\":\"t\",\"tool\":\"Bash\"}");
    apply(v, "{\"event\":\"perm_decided\",\"ask_id\":1,\"tool_use_id\":\"t\",\"allowed\":false,"
             "\"decision\":{\"decision\":"
             "\"ask\",\"findings\":[{\"layer\":\"L2\",\"decision\":\"ask\",\"reason\":\"of the "
             "old\"}]}}");
    apply(v, "{\"event\":\"perm_ask\",\"id\":2,\"tool_use_id\":\"t\",\"tool\":\"Bash\",\"what\":"
             "\"ls new\"}");
    assert_int_equal(v->n_asks, 1);
    assert_int_equal(v->items[0].state, TOOL_ASKING);
    assert_null(v->items[0].summary);
    assert_int_equal(v->acts[0].state, TOOL_ASKING);
    assert_string_equal(v->items[0].what, "ls new");
    assert_string_equal(v->acts[0].what, "ls new");
}

static void
the_models_short_name_is_shown(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"session\",\"id\":\"s\",\"model\":\"claude-opus-5-5\",\"model_shown\":"
             "\"opus-5.5\"}");
    assert_string_equal(v->model, "opus-5.5");
    apply(v, "{\"event\":\"session\",\"id\":\"s\",\"model\":\"local-model\"}");
    assert_string_equal(v->model, "local-model");
}

/* A model whose window nobody knows is not measured by that of the one before. */
static void
another_model_has_no_window_of_the_last(void **state)
{
    struct view *v = *state;
    apply(v, "{\"event\":\"session\",\"id\":\"s\",\"model\":\"a\",\"context_window\":200000}");
    apply(v, "{\"event\":\"session\",\"id\":\"s\",\"model\":\"a\"}");
    assert_int_equal(v->ctx_window, 200000);
    apply(v, "{\"event\":\"session\",\"id\":\"s\",\"model\":\"b\"}");
    assert_int_equal(v->ctx_window, 0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(text_streams_into_one_item),
        T(another_model_has_no_window_of_the_last),
        T(a_retry_takes_back_what_it_says_again),
        T(what_was_kept_of_a_broken_answer_stays),
        T(what_the_classifier_let_through_says_so),
        T(an_error_says_each_fact_once),
        T(blocks_without_start_or_end_do_no_harm),
        T(a_tool_goes_through_its_states),
        T(what_never_ended_is_cancelled_with_the_run),
        T(an_exit_is_said_once),
        T(asks_queue_up_in_order),
        T(clearing_empties_all),
        T(sub_agents_stay_out_of_the_transcript),
        T(retries_share_a_line),
        T(memory_is_bounded),
        T(an_edited_call_asks_again),
        T(the_models_short_name_is_shown),
        T(noise_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
