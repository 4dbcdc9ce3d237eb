#include "unit/ui_help.h"

#include "base/json.h"
#include "ui/keys.h"
#include "ui/log_view.h"

static struct log_view l;
static struct canvas c;
static struct clock_fake now;

static int
setup(void **state)
{
    (void)state;
    now = (struct clock_fake){.mono_us = 1000000000};
    clock_set_fake(&now);
    log_view_init(&l);
    canvas_init(&c, 60, 8);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    log_view_release(&l);
    canvas_release(&c);
    clock_set_fake(NULL);
    return 0;
}

/* The engine answers the question that is due. */
static void
answer(const char *text, const char *rest)
{
    struct op *op = log_view_ask(&l, clock_mono_ms());
    assert_non_null(op);
    assert_int_equal(op->kind, OP_QUERY);
    assert_int_equal(op->query, QUERY_TOOL_LOG);
    assert_string_equal(op->text, "t1");
    struct event *ev = event_new(EV_ANSWER);
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"id\":\"t1\",\"name\":\"Bash\",\"what\":\"make test\",\"text\":");
    json_quote(&b, str_from(text));
    buf_addf(&b, ",%s}", rest);
    ev->seq = op->seq;
    ev->u.answer.json = buf_take(&b);
    assert_true(log_view_answer(&l, ev));
    assert_false(log_view_answer(&l, ev));
    event_free(ev);
    op_free(op);
}

static void
news(void)
{
    struct event *e = event_new(EV_TOOL);
    e->u.tool.id = xstrdup("t1");
    log_view_note(&l, e);
    event_free(e);
    now.mono_us += 10000000;
}

static void
draw(void)
{
    canvas_clear(&c);
    log_view_draw(&l, &c, false, STR(""));
}

static char *
numbers(int n)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 1; i <= n; i++)
        buf_addf(&b, "line %d\n", i);
    return buf_take(&b);
}

#define RUNNING "\"state\":\"running\",\"from\":0,\"bytes\":1200"

static void
it_follows_and_stays_where_it_was_put(void **state)
{
    (void)state;
    char *text = numbers(20);
    log_view_open(&l, "t1");
    draw();
    answer(text, RUNNING);
    draw();
    assert_shows(&c, "● Bash  make test");
    assert_shows(&c, "running 1.2kB");
    assert_shows(&c, "line 20\n20/20 following");
    assert_hides(&c, "line 14\n");
    assert_null(log_view_ask(&l, clock_mono_ms())); /* nothing has changed */
    assert_int_equal(log_view_due(&l), -1);
    free(text);
    text = numbers(30);
    news();
    answer(text, RUNNING);
    draw();
    assert_shows(&c, "line 30\n");
    assert_int_equal(log_view_key(&l, YK_UP, STR("")), LOG_KEY_USED);
    draw();
    assert_hides(&c, "line 30\n");
    free(text);
    text = numbers(40);
    news();
    answer(text, RUNNING);
    draw();
    assert_shows(&c, "line 29\n"); /* new output moves nothing */
    assert_hides(&c, "line 40\n");
    log_view_key(&l, 'G', STR(""));
    draw();
    assert_shows(&c, "line 40\n");
    log_view_key(&l, YK_PGUP, STR(""));
    log_view_key(&l, YK_PGDN, STR(""));
    draw();
    assert_shows(&c, "line 40\n40/40 following");
    log_view_key(&l, YK_HOME, STR(""));
    draw();
    assert_shows(&c, "line 1\n");
    free(text);
}

static void
questions_keep_their_distance(void **state)
{
    (void)state;
    log_view_open(&l, "t1");
    answer("x", RUNNING);
    struct event *e = event_new(EV_TASK);
    e->u.task.json = xstrdup("{\"task\":{\"id\":\"bash_1\",\"tool_use_id\":\"t1\"}}");
    log_view_note(&l, e);
    event_free(e);
    assert_true(log_view_due(&l) > clock_mono_ms());
    assert_null(log_view_ask(&l, clock_mono_ms()));
    now.mono_us += 1000000;
    struct op *op = log_view_ask(&l, clock_mono_ms());
    assert_non_null(op);
    assert_null(log_view_ask(&l, clock_mono_ms() + 100000)); /* one at a time */
    op_free(op);
    e = event_new(EV_TOOL);
    e->u.tool.id = xstrdup("t2");
    log_view_note(&l, e);
    event_free(e);
    assert_int_equal(log_view_due(&l), -1);
}

static void
control_bytes_are_seen_not_sent(void **state)
{
    (void)state;
    log_view_open(&l, "t1");
    answer("a\033[31mred\033]0;title\007\rback\n\xe2\x80\xaeoverride\r\nend", RUNNING);
    draw();
    assert_shows(&c, "a^[[31mred^[]0;title^G^Mback\n");
    for (int i = 0; i < c.w * c.h; i++)
        assert_false(c.cells[i].text[0] > 0 && c.cells[i].text[0] < ' ');
    assert_hides(&c, "\xe2\x80\xae");
    assert_shows(&c, "end\n");
}

static void
words_are_found(void **state)
{
    (void)state;
    char *text = numbers(50);
    log_view_open(&l, "t1");
    answer(text, RUNNING);
    draw();
    log_view_key(&l, '/', STR(""));
    for (const char *k = "LINE 1"; *k; k++)
        log_view_key(&l, *k, STR(""));
    draw();
    assert_shows(&c, "/LINE 1");
    log_view_key(&l, YK_ENTER, STR(""));
    draw();
    assert_shows(&c, "line 19\n");
    assert_int_equal(l.hit, 18);
    log_view_key(&l, 'n', STR(""));
    assert_int_equal(l.hit, 17);
    log_view_key(&l, 'N', STR(""));
    assert_int_equal(l.hit, 18);
    log_view_key(&l, '/', STR(""));
    log_view_key(&l, 'x', STR(""));
    log_view_key(&l, YK_ENTER, STR(""));
    draw();
    assert_shows(&c, "not found");
    /* Esc leaves the words, then the log */
    log_view_key(&l, '/', STR(""));
    log_view_key(&l, YK_ESC, STR(""));
    assert_non_null(l.id);
    log_view_key(&l, YK_ESC, STR(""));
    assert_null(l.id);
    free(text);
}

static void
keys_for_the_tool_itself(void **state)
{
    (void)state;
    log_view_open(&l, "t1");
    assert_int_equal(log_view_key(&l, 'x', STR("")), LOG_KEY_STOP);
    assert_int_equal(log_view_key(&l, 'b', STR("")), LOG_KEY_BACKGROUND);
    assert_int_equal(log_view_key(&l, 'b' | KM_CTRL, STR("")), LOG_KEY_BACKGROUND);
    log_view_key(&l, 'q', STR(""));
    assert_null(l.id);
}

static void
processes_are_a_tree(void **state)
{
    (void)state;
    log_view_open(&l, "t1");
    canvas_resize(&c, 60, 16);
    answer("x", RUNNING ",\"processes\":[{\"pid\":10,\"depth\":0,\"command\":\"bash\"},{\"pid\":11,"
                        "\"depth\":1,\"command\":\"make\"},"
                        "{\"pid\":12,\"depth\":2,\"command\":\"cc\\u001b a.c\"}]");
    draw();
    assert_shows(&c, "processes");
    assert_shows(&c, "\n 11 make\n   12 cc^[ a.c\n");
    assert_hides(&c, "10 bash");
}

static void
any_size_and_long_texts(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 60000; i++)
        buf_adds(&b, i % 7 ? "日本" : "\033x");
    log_view_open(&l, "t1");
    answer(buf_cstr(&b), "\"state\":\"done\",\"from\":12345,\"bytes\":700000,\"processes\":[{"
                         "\"pid\":1,\"depth\":1,\"command\":\"x\"}]");
    for (int w = 1; w < 80; w += 13)
        for (int h = 1; h < 20; h += 3) {
            canvas_resize(&c, w, h);
            draw();
        }
    canvas_resize(&c, 60, 8);
    log_view_key(&l, 'g', STR(""));
    draw();
    assert_shows(&c, "[12345 bytes before this are not shown]");
    assert_shows(&c, "done 700kB");
    buf_release(&b);
    log_view_open(&l, "t1");
    struct op *op = log_view_ask(&l, clock_mono_ms());
    struct event *ev = event_new(EV_ANSWER);
    ev->seq = op->seq;
    ev->u.answer.json = xstrdup("{\"id\":\"t1\",\"error\":\"no longer kept\"}");
    log_view_answer(&l, ev);
    event_free(ev);
    op_free(op);
    draw();
    assert_shows(&c, "no longer kept");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(it_follows_and_stays_where_it_was_put),
        T(questions_keep_their_distance),
        T(control_bytes_are_seen_not_sent),
        T(words_are_found),
        T(keys_for_the_tool_itself),
        T(processes_are_a_tree),
        T(any_size_and_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
