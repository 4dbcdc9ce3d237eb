/* Completion as one types: commands with their arguments, files with blanks. */
#include "unit/ui_help.h"

#include "ui/commands.h"
#include "ui/complete.h"
#include "ui/keys.h"

static struct commands commands;
static struct complete complete;
static struct input input;

static int
setup(void **state)
{
    (void)state;
    commands_init(&commands);
    complete_init(&complete);
    complete.commands = &commands;
    input_init(&input);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    input_release(&input);
    complete_release(&complete);
    commands_release(&commands);
    return 0;
}

static void
type(const char *s)
{
    input_clear(&input);
    input_insert(&input, str_from(s));
    op_free(complete_follow(&complete, &input));
}

static void
files(const char *json)
{
    struct event *e = event_new(EV_ANSWER);
    e->seq = complete.seq;
    e->u.answer.json = xstrdup(json);
    complete_answer(&complete, e);
    event_free(e);
}

static void
expect_rows(const char *typed, const char *want)
{
    struct buf b;
    buf_init(&b, 4096);
    type(typed);
    for (size_t i = 0; i < complete.n_rows; i++)
        buf_addf(&b, "%s%s", i ? " " : "", complete.rows[i]);
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static void
the_best_comes_first(void **state)
{
    (void)state;
    commands_take(&commands, STR("{\"commands\":[{\"name\":\"add-dir\",\"args\":\"PATH\",\"what\":"
                                 "\"w\"},{\"name\":\"dir\",\"what\":\"w\"}]}"));
    expect_rows("/mo", "mode model");
    expect_rows("/dir", "dir add-dir"); /* a name that begins so before a part that does */
    expect_rows("/pm", "permissions");  /* letters in order */
    expect_rows("/zz", "");
    expect_rows("x /mo", "");
    expect_rows("/model", "model");
}

/* A list longer than its rows is gone through to its end, and says that it is longer. */
static void
all_commands_can_be_reached(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 80, 24);
    commands_take(&commands, STR("{\"commands\":[{\"name\":\"x-one\"},{\"name\":\"x-two\"},"
                                 "{\"name\":\"x-3\"},{\"name\":\"x-4\"},{\"name\":\"x-5\"},"
                                 "{\"name\":\"x-6\"},{\"name\":\"x-7\"},{\"name\":\"x-8\"},"
                                 "{\"name\":\"x-9\"},{\"name\":\"x-last\"}]}"));
    type("/x-");
    assert_int_equal(complete.n_rows, 10);
    complete_draw(&complete, &c, (struct rect){2, 20, 76, 1}, 20, false);
    assert_shows(&c, "1-8 of 10");
    assert_hides(&c, complete.rows[9]);
    for (size_t i = 0; i < complete.n_rows; i++)
        assert_true(complete_key(&complete, &input, YK_DOWN));
    complete_draw(&complete, &c, (struct rect){2, 20, 76, 1}, 20, false);
    assert_shows(&c, "3-10 of 10");
    assert_shows(&c, complete.rows[9]);
    assert_hides(&c, complete.rows[1]);
    assert_true(complete_key(&complete, &input, YK_DOWN)); /* round to the first */
    canvas_fill(&c, (struct rect){0, 0, 80, 24}, ST_TEXT, NULL);
    complete_draw(&complete, &c, (struct rect){2, 20, 76, 1}, 4, false);
    assert_shows(&c, complete.rows[0]);
    assert_hides(&c, complete.rows[4]);
    canvas_release(&c);
}

static void
what_was_recalled_opens_no_list(void **state)
{
    (void)state;
    input_insert(&input, STR("/mo"));
    complete_hush(&complete, &input);
    op_free(complete_follow(&complete, &input));
    assert_false(complete_key(&complete, &input, YK_UP));
    input_insert(&input, STR("d"));
    op_free(complete_follow(&complete, &input));
    assert_true(complete_key(&complete, &input, YK_UP));
}

static void
arguments_are_told(void **state)
{
    (void)state;
    expect_rows("/model ", "model");
    assert_int_equal(complete.kind, COMPLETE_HINT);
    assert_string_equal(complete.args[0], "[ID]");
    assert_false(complete_key(&complete, &input, '\t'));
    expect_rows("/model x", "");
    expect_rows("/clear ", "");
    expect_rows("/nosuch ", "");
}

static void
what_the_engine_says_joins(void **state)
{
    (void)state;
    size_t before = commands.n;
    commands_take(&commands, STR("{\"commands\":[{\"name\":\"stroll\",\"args\":\"\",\"what\":\"a "
                                 "walk\"},{\"name\":\"compact\",\"args\":\"X\",\"what\":\"new "
                                 "words\"},{\"name\":\"model\",\"args\":\"\",\"what\":\"engine's\"}"
                                 ",{\"name\":\"\"},3]}"));
    assert_int_equal(commands.n, before + 1);
    assert_string_equal(commands_find(&commands, STR("compact"))->what, "new words");
    /* what opens a picker here is told as what it does here */
    assert_string_equal(commands_find(&commands, STR("model"))->args, "[ID]");
    commands_take(&commands, STR("{\"comm"));
    assert_int_equal(commands.n, before + 1);
}

static void
accept_first(const char *typed, const char *json, const char *want)
{
    type(typed);
    assert_true(complete.seq != 0);
    files(json);
    assert_true(complete.n_rows > 0);
    assert_true(complete_key(&complete, &input, YK_DOWN));
    assert_true(complete_key(&complete, &input, YK_ENTER));
    assert_string_equal(buf_cstr(&input.text), want);
    complete_release(&complete);
    complete_init(&complete);
}

static void
sources_come_before_what_is_made_of_them(void **state)
{
    (void)state;
    type("@src");
    files("{\"files\":[\"src/__pycache__/count.cpython-311.pyc\",\"src/count.o\","
          "\"lib/__pycache__/src\",\"src/count.py\",\"a/src.py\",\"x__pycache__/src.c\"]}");
    expect_rows("@src", "src/count.py a/src.py x__pycache__/src.c "
                        "src/__pycache__/count.cpython-311.pyc src/count.o lib/__pycache__/src");
}

static void
names_with_blanks_stand_in_quotes(void **state)
{
    (void)state;
    accept_first("see @par", "{\"files\":[\"src/parse.c\"]}", "see @src/parse.c ");
    accept_first("see @no", "{\"files\":[\"my notes.md\"]}", "see @\"my notes.md\" ");
    accept_first("see @no", "{\"files\":[\"no\\nbreak.md\"]}", "see @\"no\nbreak.md\" ");
    accept_first("see @\"my no", "{\"files\":[\"docs/my notes.md\"]}",
                 "see @\"docs/my notes.md\" ");
    accept_first("@\"par", "{\"files\":[\"src/parse.c\"]}", "@\"src/parse.c\" ");
    type("he said \"hello");
    assert_int_equal(complete.kind, COMPLETE_NONE);
    type("mail me@\"x");
    assert_int_equal(complete.kind, COMPLETE_NONE);
    type("@\"closed name\" ");
    assert_int_equal(complete.kind, COMPLETE_NONE);
}

/* A long text of one word, or with a quote far behind, is no name: it is not gone through at every key. */
static void
what_is_too_long_is_no_name(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        enum complete_kind kind;
    } rows[] = {{3000, COMPLETE_FILE}, {5000, COMPLETE_NONE}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static const char *const begins[] = {"@", "look @\"a b "};
        for (size_t k = 0; k < ARRAY_LEN(begins); k++) {
            struct buf b;
            buf_init(&b, 8192);
            buf_adds(&b, begins[k]);
            while (b.len < rows[i].len)
                buf_addc(&b, 'x');
            type(buf_cstr(&b));
            assert_int_equal(complete.kind, rows[i].kind);
            buf_release(&b);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_best_comes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(all_commands_can_be_reached, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_recalled_opens_no_list, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_engine_says_joins, setup, teardown),
        cmocka_unit_test_setup_teardown(sources_come_before_what_is_made_of_them, setup, teardown),
        cmocka_unit_test_setup_teardown(names_with_blanks_stand_in_quotes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_too_long_is_no_name, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
