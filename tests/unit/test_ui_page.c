/* Pages and pickers without an app: what is asked, what is drawn, what keys do. */
#include "unit/ui_help.h"

#include "base/text.h"
#include "ui/keys.h"
#include "ui/page.h"
#include "ui/picker.h"
#include "ui/plot.h"

static struct view v;
static struct canvas c;
static struct page page;
static struct picker picker;

static int
setup(void **state)
{
    (void)state;
    view_init(&v);
    canvas_init(&c, 80, 24);
    page_init(&page);
    picker_init(&picker);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    picker_release(&picker);
    page_release(&page);
    canvas_release(&c);
    view_release(&v);
    return 0;
}

static struct event *
answer(uint64_t seq, const char *json)
{
    struct event *e = event_new(EV_ANSWER);
    e->seq = seq;
    e->u.answer.json = xstrdup(json);
    return e;
}

static void
answer_page(uint64_t seq, const char *json)
{
    struct event *e = answer(seq, json);
    page_answer(&page, e);
    event_free(e);
}

static void
draw(void)
{
    canvas_clear(&c);
    if (page.type)
        page_draw(&page, &v, &c, false);
    if (picker.type)
        picker_draw(&picker, &c, false, 1000);
}

static struct op *
page_press(int key)
{
    struct op *op;
    page_key(&page, key, STR(""), &op);
    draw();
    return op;
}

/* Keys that ask for nothing. */
static void
page_type_keys(const char *s)
{
    for (; *s; s++)
        assert_null(page_press(*s));
}

/* ---- pages ---- */

static void
a_page_asks_and_shows_the_answer(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_state);
    assert_non_null(op);
    assert_int_equal(op->kind, OP_QUERY);
    assert_int_equal(op->query, QUERY_STATE);
    draw();
    assert_shows(&c, "asking the engine");
    answer_page(op->seq + 1, "{\"turn\":77}"); /* somebody else's */
    draw();
    assert_hides(&c, "77");
    answer_page(op->seq, "{\"turn\":42,\"transitions\":[]}");
    draw();
    assert_shows(&c, "turn  42");
    op_free(op);
    assert_null(page_press(YK_ESC));
    assert_null(page.type);
}

static void
a_live_page_is_asked_anew_one_at_a_time(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_meters);
    assert_null(page_refresh(&page, false)); /* the first is under way */
    assert_true(page.again);
    answer_page(op->seq, "{}");
    op_free(op);
    op = page_refresh(&page, false);
    assert_non_null(op);
    assert_false(page.again);
    op_free(op);
    page_close(&page);
    assert_null(page_refresh(&page, false));
    assert_null(page_open(&page, &page_help));
    assert_null(page_refresh(&page, false));
}

static void
an_answer_that_is_wrong_is_said(void **state)
{
    (void)state;
    static const char *const answers[] = {"{\"error\":\"no such thing\"}", "{\"turn\":", "[]", ""};
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct op *op = page_open(&page, &page_state);
        answer_page(op->seq, answers[i]);
        draw();
        op_free(op);
    }
    struct op *op = page_open(&page, &page_state);
    answer_page(op->seq, answers[0]);
    draw();
    assert_shows(&c, "no such thing");
    op_free(op);
}

static void
words_are_found_on_a_page(void **state)
{
    (void)state;
    assert_null(page_open(&page, &page_help));
    draw();
    page_type_keys("/HISTORY");
    assert_shows(&c, "find: HISTORY");
    assert_null(page_press(YK_ENTER));
    size_t first = page.hit;
    assert_true(first != (size_t)-1);
    assert_null(page_press('n'));
    assert_true(page.hit != (size_t)-1);
    assert_null(page_press('N'));
    assert_int_equal(page.hit, first);
    page_type_keys("/no such words");
    assert_null(page_press(YK_ENTER));
    assert_shows(&c, "not found");
    /* Esc ends the search, not the page */
    page_type_keys("/x");
    assert_null(page_press(YK_ESC));
    assert_non_null(page.type);
}

static void
scrolling_stays_in_range_at_any_size(void **state)
{
    (void)state;
    assert_null(page_open(&page, &page_help));
    static const int keys[] = {YK_END,  YK_PGDN, YK_DOWN, 'G',
                               YK_HOME, YK_UP,   YK_PGUP, YK_WHEEL_DOWN};
    for (int w = 1; w < 150; w += 7) {
        for (int h = 1; h < 40; h += 5) {
            canvas_resize(&c, w, h);
            for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
                assert_null(page_press(keys[i]));
                assert_true(page.scroll >= 0);
                assert_true(page.scroll == 0 || page.scroll + page.seen <= (int)page.lines.n);
            }
        }
    }
}

#define RULES                                                                                      \
    "{\"mode\":\"plan\",\"trusted\":true,\"rules\":["                                              \
    "{\"list\":\"allow\",\"rule\":\"Bash(make:*)\",\"scope\":\"project\",\"file\":\"/p/"           \
    "s.json\",\"line\":4,\"removable\":true},"                                                     \
    "{\"list\":\"deny\",\"rule\":\"Read(.env)\",\"scope\":\"user\",\"file\":\"/u/"                 \
    "s.json\",\"line\":2,\"removable\":false}],"                                                   \
    "\"problems\":[]}"

static void
a_rule_is_removed_only_by_two_keys(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_rules);
    answer_page(op->seq, RULES);
    op_free(op);
    draw();
    assert_shows(&c, "/p/s.json:4");
    /* deny stands first, and is not ours */
    assert_null(page_press('d'));
    assert_shows(&c, "by hand");
    assert_null(page_press('y'));
    assert_null(page_press('j'));
    assert_null(page_press('d'));
    assert_shows(&c, "y takes it out of its file, n keeps it");
    assert_null(page_press('x')); /* any other key keeps it */
    assert_null(page_press('y'));
    assert_null(page_press('d'));
    op = page_press('y');
    assert_non_null(op);
    assert_int_equal(op->kind, OP_COMMAND);
    assert_string_equal(op->text, "/permissions remove allow Bash(make:*)");
    op_free(op);
}

#define KEPT                                                                                       \
    "{\"mode\":\"plan\",\"trusted\":true,\"rules\":[{\"list\":\"allow\",\"rule\":\"Bash(make:*)"   \
    "\",\"scope\":\"user\",\"file\":\"/p/s.json\",\"line\":4,\"removable\":true}],\"session\":[{"  \
    "\"id\":3,\"tool\":\"Bash\",\"command\":\"sh x.sh\\nallow all\",\"folder\":\"/p\",\"who\":"    \
    "\"person\",\"at_ms\":60000},{\"id\":5,\"tool\":\"Bash\",\"command\":\"sh y.sh\",\"folder\":"  \
    "\"/p\",\"background\":true,\"who\":\"person\",\"at_ms\":60000}]}"

/* Rules and what is allowed until the session ends are one list for the keys. */
static void
what_the_session_allows_is_taken_back_by_two_keys(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_rules);
    answer_page(op->seq, KEPT);
    op_free(op);
    draw();
    assert_shows(&c, "until the session ends (d takes it back)");
    assert_shows(&c, "allow sh x.sh allow all");
    assert_shows(&c, "Bash in the background, in /p, by you at ");
    assert_null(page_press('d'));
    assert_shows(&c, "y takes it back, n keeps it");
    assert_null(page_press('n'));
    assert_null(page_press('y'));
    assert_null(page_press('j'));
    assert_null(page_press('d'));
    op = page_press('y');
    assert_non_null(op);
    assert_string_equal(op->text, "/permissions remove session 5");
    op_free(op);
    assert_null(page_press('j'));
    assert_null(page_press('d'));
    op = page_press('y');
    assert_non_null(op);
    assert_string_equal(op->text, "/permissions remove allow Bash(make:*)");
    op_free(op);
}

static void
folders_of_the_session_are_closed_by_two_keys(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_rules);
    answer_page(op->seq,
                "{\"rules\":[{\"list\":\"allow\",\"rule\":\"Bash(make:*)\",\"scope\":\"cli\","
                "\"file\":\"\",\"removable\":true}],\"session\":[{\"folder\":\"/srv/lib\",\"who\":"
                "\"--add-dir\"}]}");
    op_free(op);
    draw();
    assert_shows(&c, "allow files in /srv/lib");
    assert_null(page_press('d'));
    op = page_press('y');
    assert_non_null(op);
    assert_string_equal(op->text, "/permissions remove session /srv/lib");
    op_free(op);
    assert_null(page_press('j'));
    assert_null(page_press('d'));
    assert_shows(&c, "y takes it back, n keeps it"); /* it stands in no file */
}

/* Between the two keys the list may have become another one. */
static void
a_new_list_takes_the_first_key_back(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_rules);
    answer_page(op->seq, KEPT);
    op_free(op);
    draw();
    assert_null(page_press('d'));
    op = page_refresh(&page, true);
    answer_page(op->seq, KEPT);
    op_free(op);
    draw();
    assert_hides(&c, "y takes it back");
    assert_null(page_press('y'));
}

static void
meters_take_any_answer(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{}",
        "{\"context\":3,\"sources\":{},\"models\":\"x\",\"requests\":[1,\"a\",null,{}],\"tiers\":[{"
        "}],\"cache_breaks\":[7]}",
        "{\"context\":{\"used\":1e300,\"window\":1},\"sources\":[{\"name\":\"?\",\"tokens\":-5},{"
        "\"name\":\"tools\",\"tokens\":1e300}]}",
        "{\"context\":{\"used\":5,\"window\":100},\"requests\":[{\"context\":-1,\"cost_usd\":-3},{"
        "\"context\":1e308,\"cost_usd\":1e308}]}",
        "{\"tiers\":[{\"percent\":-40},{\"percent\":1e12},{\"percent\":50}],\"context\":{\"used\":"
        "1,\"window\":9}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        for (int w = 1; w < 130; w += 9) {
            canvas_resize(&c, w, 20);
            struct op *op = page_open(&page, &page_meters);
            answer_page(op->seq, answers[i]);
            op_free(op);
            draw();
            assert_null(page_press(YK_END));
        }
    }
}

/* ---- pickers ---- */

static char *chosen;

static struct op *
pick_press(int key)
{
    struct op *op;
    free(chosen);
    picker_key(&picker, key, STR(""), &op, &chosen);
    draw();
    return op;
}

static struct op *
pick_answer(uint64_t seq, const char *json)
{
    struct op *next;
    struct event *e = answer(seq, json);
    picker_answer(&picker, e, &next);
    event_free(e);
    draw();
    return next;
}

static void
words_are_found_in_any_case_of_any_script(void **state)
{
    (void)state;
    struct op *op = page_open(&page, &page_state);
    answer_page(op->seq, "{\"gr\u00fcn\":1,\"transitions\":[]}");
    op_free(op);
    draw();
    assert_null(page_press('/'));
    assert_null(page_press('R'));
    assert_null(page_press(0xDC)); /* U with dots */
    assert_null(page_press(YK_ENTER));
    assert_true(page.hit != (size_t)-1);
    page_close(&page);
    op = picker_open(&picker, &picker_models);
    assert_null(pick_answer(op->seq, "{\"models\":[{\"id\":\"gr\u00fcn\"},{\"id\":\"rot\"}]}"));
    op_free(op);
    assert_null(pick_press(0xDC));
    assert_int_equal(picker.n_rows, 1);
}

static void
words_sift_and_are_asked_again(void **state)
{
    (void)state;
    struct op *op = picker_open(&picker, &picker_sessions);
    assert_int_equal(op->query, QUERY_SESSIONS);
    assert_string_equal(op->text, "");
    draw();
    assert_shows(&c, "asking the engine");
    assert_null(pick_answer(op->seq, "{\"sessions\":[{\"id\":\"aaa\",\"title\":\"Fix the "
                                     "lexer\"},{\"id\":\"bbb\",\"title\":\"docs\"}]}"));
    op_free(op);
    assert_shows(&c, "docs");
    picker_mark(&picker, "bbb"); /* the session that goes on here */
    draw();
    assert_shows(&c, "*  docs");
    assert_hides(&c, "*  Fix");
    picker_mark(&picker, NULL);
    op = pick_press('l');
    assert_non_null(op);
    assert_string_equal(op->text, "l");
    assert_hides(&c, "docs");
    /* typed on while the engine looks: asked once more, with all of it */
    assert_null(pick_press('e'));
    assert_null(pick_press('x'));
    struct op *next =
        pick_answer(op->seq, "{\"sessions\":[{\"id\":\"aaa\",\"title\":\"Fix the lexer\"}]}");
    assert_non_null(next);
    assert_string_equal(next->text, "lex");
    op_free(op);
    assert_null(pick_answer(
        next->seq,
        "{\"sessions\":[{\"id\":\"ccc\",\"title\":\"tidy\",\"excerpt\":\"a LEXER bug\"}]}"));
    op_free(next);
    assert_shows(&c, "tidy");
    assert_shows(&c, "a LEXER bug");
    assert_null(pick_press(YK_ENTER));
    assert_string_equal(chosen, "/resume ccc");
    assert_null(picker.type);
}

#define ROWS(...) "{\"sessions\":[" __VA_ARGS__ "]}"
#define ROW(id, title, first)                                                                      \
    "{\"id\":\"" id "\",\"title\":\"" title "\",\"first\":\"" first "\",\"excerpt\":\"x\"}"

/* "/resume my first": the only session that begins so, or the list of those that do. */
static void
words_that_name_one_row_choose_it(void **state)
{
    (void)state;
    static const struct {
        const char *words, *rows, *chosen;
    } t[] = {
        {"my first", ROWS(ROW("aa", "My First one", "My First one")), "/resume aa"},
        {"my first", ROWS(ROW("aa", "other", "oh my first") "," ROW("bb", "named", "My first")),
         "/resume bb"},
        {"my", ROWS(ROW("aa", "my a", "my a") "," ROW("bb", "my b", "my b")), NULL},
        {"my", ROWS(ROW("aa", "my a", "my a") "," ROW("bb", "My", "x") "," ROW("cc", "my", "y")),
         "/resume bb"},
        {"first", ROWS(ROW("aa", "my first", "my first")), NULL},
        {"first", ROWS(), NULL},
        {"first", "{\"error\":\"the disk is gone\"}", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct op *op = picker_open_with(&picker, &picker_sessions, str_from(t[i].words));
        assert_string_equal(op->text, t[i].words);
        assert_null(picker_only(&picker));
        assert_null(pick_answer(op->seq, t[i].rows));
        char *got = picker_only(&picker);
        if (t[i].chosen)
            assert_string_equal(got, t[i].chosen);
        else
            assert_null(got);
        assert_int_equal(picker.type == NULL, t[i].chosen != NULL);
        free(got);
        op_free(op);
    }
    struct op *op = picker_open_with(&picker, &picker_sessions, STR("my"));
    assert_null(pick_press('x')); /* the person goes on: their choice */
    struct op *next = pick_answer(op->seq, ROWS(ROW("aa", "my x", "my x")));
    assert_null(picker_only(&picker));
    assert_null(pick_answer(next->seq, ROWS(ROW("aa", "myx", "myx"))));
    assert_null(picker_only(&picker));
    op_free(op);
    op_free(next);
}

static void
nothing_to_choose_from(void **state)
{
    (void)state;
    struct op *op = picker_open(&picker, &picker_sessions);
    assert_null(pick_answer(op->seq, "{\"sessions\":[]}"));
    op_free(op);
    assert_shows(&c, "no session yet");
    assert_null(pick_press(YK_ENTER));
    assert_null(chosen);
    assert_non_null(picker.type);
    op = pick_press('z');
    assert_null(pick_answer(op->seq, "{\"error\":\"the disk is gone\"}"));
    op_free(op);
    assert_shows(&c, "the disk is gone");
    assert_null(pick_press(YK_ESC));
    assert_null(picker.type);
}

static void
the_choice_begins_at_what_is_in_use(void **state)
{
    (void)state;
    struct op *op = picker_open(&picker, &picker_models);
    assert_null(pick_answer(
        op->seq, "{\"models\":[{\"id\":\"a\"},{\"id\":\"b\",\"current\":true},{\"id\":\"c\"}]}"));
    op_free(op);
    assert_int_equal(picker.selected, 1);
    assert_null(pick_press(YK_DOWN));
    assert_null(pick_press(YK_DOWN)); /* no further than the last */
    assert_null(pick_press(YK_ENTER));
    assert_string_equal(chosen, "/model c");
    assert_null(picker_open(&picker, &picker_modes));
    picker_mark(&picker, "plan");
    draw();
    assert_shows(&c, "acceptEdits");
    assert_shows(&c, "*  plan");
    assert_int_equal(picker.selected, 2);
    assert_null(pick_press(YK_PGDN));
    assert_null(pick_press(YK_ENTER));
    assert_string_equal(chosen, "/mode dontAsk");
    free(chosen);
    chosen = NULL;
}

static void
a_picker_at_any_size(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"sessions\":[");
    for (int i = 0; i < 200; i++)
        buf_addf(&b,
                 "%s{\"id\":\"%d\",\"title\":\"日本語 "
                 "%d\\u001b[31m\\n\",\"last_ms\":%d,\"excerpt\":\"x\\ny\"}",
                 i ? "," : "", i, i, i * 10000000);
    buf_adds(&b, "]}");
    struct op *op = picker_open(&picker, &picker_sessions);
    assert_null(pick_answer(op->seq, buf_cstr(&b)));
    op_free(op);
    buf_release(&b);
    for (int w = 1; w < 140; w += 6) {
        for (int h = 1; h < 40; h += 3) {
            canvas_resize(&c, w, h);
            draw();
            assert_null(pick_press(YK_PGDN));
            assert_null(pick_press(YK_UP));
            char *all = dumped(&c);
            assert_null(strchr(all, '\x1b'));
            free(all);
        }
    }
}

/* ---- cells ---- */

static void
expect_bar(double a, double b, double total, int width, const char *want)
{
    struct plot_part parts[] = {{a, "A", "a", ST_TEXT}, {b, "B", "b", ST_TEXT}};
    struct lines l;
    lines_init(&l);
    lines_begin(&l, false);
    plot_bar(parts, 2, total, width, true, &l);
    char *have = str_dup(lines_text(&l, 0));
    assert_string_equal(have, want);
    free(have);
    lines_release(&l);
}

static void
bars_share_their_width(void **state)
{
    (void)state;
    expect_bar(50, 25, 100, 8, "aaaabb..");
    expect_bar(0, 0, 100, 4, "....");
    expect_bar(0.1, 0.1, 100, 4, "ab..");
    expect_bar(900, 900, 100, 4, "aaaa");
    expect_bar(1, 1, 0, 4, "ab..");
}

static void
plots_stand_on_their_floor(void **state)
{
    (void)state;
    const double values[] = {0, 1, 4, 8, -1};
    struct plot p = {.values = values, .n = 5, .max = 8, .width = 6, .height = 2, .mark_row = -1};
    struct lines l;
    lines_init(&l);
    for (int row = 0; row < 2; row++) {
        lines_begin(&l, false);
        plot_row(&p, row, false, &l);
    }
    char *top = str_dup(lines_text(&l, 0)), *low = str_dup(lines_text(&l, 1));
    assert_string_equal(top, "   █  ");
    assert_string_equal(low, " ▂██? ");
    free(top);
    free(low);
    lines_release(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_asks_and_shows_the_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_live_page_is_asked_anew_one_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_that_is_wrong_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(words_are_found_on_a_page, setup, teardown),
        cmocka_unit_test_setup_teardown(words_are_found_in_any_case_of_any_script, setup, teardown),
        cmocka_unit_test_setup_teardown(scrolling_stays_in_range_at_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(a_rule_is_removed_only_by_two_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_session_allows_is_taken_back_by_two_keys, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(folders_of_the_session_are_closed_by_two_keys, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_new_list_takes_the_first_key_back, setup, teardown),
        cmocka_unit_test_setup_teardown(meters_take_any_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(words_sift_and_are_asked_again, setup, teardown),
        cmocka_unit_test_setup_teardown(words_that_name_one_row_choose_it, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_choose_from, setup, teardown),
        cmocka_unit_test_setup_teardown(the_choice_begins_at_what_is_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(a_picker_at_any_size, setup, teardown),
        cmocka_unit_test(bars_share_their_width),
        cmocka_unit_test(plots_stand_on_their_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
