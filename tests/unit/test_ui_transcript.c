#include "unit/ui_help.h"

static struct view v;
static struct transcript *t;
static struct canvas c;

static int
setup(void **state)
{
    (void)state;
    view_init(&v);
    t = transcript_new();
    canvas_init(&c, 40, 10);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    view_release(&v);
    transcript_free(t);
    canvas_release(&c);
    return 0;
}

static void
draw(bool focus)
{
    canvas_clear(&c);
    transcript_draw(t, &v, &c, (struct rect){0, 0, c.w, c.h}, focus, false);
}

static void
paragraphs(int n)
{
    for (int i = 0; i < n; i++) {
        char s[64];
        snprintf(s, sizeof s, "paragraph %03d", i);
        say(&v, s);
    }
}

static void
the_tail_is_shown(void **state)
{
    (void)state;
    draw(true);
    paragraphs(100);
    draw(false);
    assert_shows(&c, "paragraph 099");
    assert_shows(&c, "paragraph 095");
    assert_hides(&c, "paragraph 094");
    assert_true(transcript_at_end(t));
}

static void
scrolled_up_nothing_moves(void **state)
{
    (void)state;
    paragraphs(100);
    draw(false);
    transcript_scroll(t, &v, -20);
    draw(false);
    assert_false(transcript_at_end(t));
    char *before = dumped(&c);
    paragraphs(6);
    draw(false);
    assert_shows(&c, "12 new");
    /* all rows but the last, which holds the mark, stand where they stood */
    char *after = dumped(&c);
    char *last = strrchr(before, '\n');
    assert_memory_equal(before, after, (size_t)(last - before));
    free(before);
    free(after);
    say(&v, "one\n\ntwo");
    draw(false);
    assert_shows(&c, "16 new");
    transcript_end(t);
    draw(false);
    assert_shows(&c, "two");
    assert_hides(&c, "new");
}

static void
a_growing_text_counts_as_new(void **state)
{
    (void)state;
    paragraphs(50);
    apply(&v, "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":3,\"text\":"
              "\"grows\"}");
    draw(false);
    transcript_scroll(t, &v, -5);
    draw(false);
    apply(&v, "{\"event\":\"block\",\"phase\":\"delta\",\"type\":\"text\",\"index\":3,\"text\":"
              "\"\\n\\nmore\\n\\nlines\"}");
    draw(false);
    assert_shows(&c, "4 new");
    transcript_scroll(t, &v, 5);
    draw(false);
    assert_shows(&c, "4 new");
    transcript_scroll(t, &v, 4);
    draw(false);
    assert_true(transcript_at_end(t));
    assert_shows(&c, "lines");
}

static void
every_line_comes_by_once(void **state)
{
    (void)state;
    canvas_resize(&c, 20, 6);
    paragraphs(500);
    draw(false);
    transcript_home(t, &v);
    int seen[500] = {0};
    for (int i = 0; i < 2000; i++) {
        draw(false);
        char *s = dumped(&c), *nl = strchr(s, '\n');
        *nl = '\0';
        int n;
        if (sscanf(s, "paragraph %d", &n) == 1)
            seen[n]++;
        free(s);
        if (transcript_at_end(t))
            break;
        transcript_scroll(t, &v, 1);
    }
    for (int i = 0; i < 497; i++)
        assert_int_equal(seen[i], 1);
    draw(false);
    assert_shows(&c, "paragraph 499");
}

static void
pages_go_there_and_back(void **state)
{
    (void)state;
    paragraphs(100);
    draw(false);
    char *tail = dumped(&c);
    for (int i = 0; i < 10; i++)
        transcript_page(t, &v, -1);
    for (int i = 0; i < 10; i++)
        transcript_page(t, &v, 1);
    draw(false);
    char *again = dumped(&c);
    assert_string_equal(tail, again);
    assert_true(transcript_at_end(t));
    free(tail);
    free(again);
    transcript_home(t, &v);
    draw(false);
    assert_shows(&c, "paragraph 000");
    transcript_page(t, &v, -1);
    draw(false);
    assert_shows(&c, "paragraph 000");
}

static void
a_resize_keeps_the_place(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 400; i++)
        buf_addf(&b, "word%03d ", i);
    paragraphs(20);
    say(&v, buf_cstr(&b));
    paragraphs(20);
    buf_release(&b);
    draw(false);
    transcript_scroll(t, &v, -80);
    draw(false);
    assert_shows(&c, "word1");
    for (int w = 40; w >= 10; w -= 6) {
        canvas_resize(&c, w, 10);
        draw(false);
    }
    assert_shows(&c, "word");
    for (int w = 10; w <= 120; w += 10) {
        canvas_resize(&c, w, 10);
        draw(false);
    }
    canvas_resize(&c, 40, 10);
    draw(false);
    assert_shows(&c, "word");
    transcript_end(t);
    canvas_resize(&c, 120, 70);
    draw(false);
    assert_shows(&c, "paragraph 019");
    assert_shows(&c, "word399");
}

static void
folds_open_in_place(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"a\",\"name\":\"Read\",\"what\":\"a."
              "c\",\"state\":\"done\","
              "\"summary\":\"3 lines\",\"output\":\"l1\\nl2\\nl3\"}");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"b\",\"name\":\"Bash\",\"what\":"
              "\"ls\",\"state\":\"done\","
              "\"output\":\"f1\\nf2\"}");
    draw(true);
    assert_shows(&c, "  Read a.c  3 lines\n  Bash ls\n    f1\n    f2");
    assert_true(transcript_toggle(t, &v)); /* Bash shows all it has: the Read is what opens */
    draw(true);
    assert_shows(&c, "  Read a.c  3 lines\n    l1\n    l2\n    l3\n  Bash ls");
    assert_string_equal(transcript_item(t, &v)->name, "Read");
    assert_true(transcript_toggle(t, &v));
    draw(true);
    assert_hides(&c, "l1");
    transcript_move(t, &v, 1);
    assert_string_equal(transcript_item(t, &v)->name, "Bash");
    assert_false(transcript_toggle(t, &v));
    transcript_move(t, &v, 1);
    assert_string_equal(transcript_item(t, &v)->name, "Bash");
    transcript_move(t, &v, -1);
    assert_string_equal(transcript_item(t, &v)->name, "Read");
}

/* The note that stands for a line takes the room of one. */
static void
one_line_alone_is_not_folded(void **state)
{
    (void)state;
    static const char six[] = "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"a\",\"name\":"
                              "\"Bash\",\"what\":\"make test\",\"state\":\"done\","
                              "\"output\":\"f1\\nf2\\nf3\\nf4\\nf5\\nOK%s\"}";
    applyf(&v, six, "\\n");
    draw(true);
    assert_shows(&c, "    f5\n    OK");
    assert_hides(&c, "more line");
    assert_false(transcript_toggle(t, &v));
    applyf(&v, six, "\\nand one more");
    draw(true);
    transcript_move(t, &v, 1);
    draw(true);
    assert_shows(&c, "    f5\n    \xE2\x80\xA6 2 more lines, Enter opens");
    assert_true(transcript_toggle(t, &v));
}

static void
an_opened_fold_stays_in_sight(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 60; i++)
        buf_addf(&b, "line %d\\n", i);
    paragraphs(20);
    applyf(&v,
           "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"a\",\"name\":\"Read\",\"what\":\"big."
           "c\",\"state\":\"done\",\"output\":\"%s\"}",
           buf_cstr(&b));
    buf_release(&b);
    draw(true);
    assert_true(transcript_toggle(t, &v));
    draw(true);
    assert_shows(&c, "Read big.c");
    assert_false(transcript_at_end(t));
    assert_true(transcript_toggle(t, &v));
    draw(true);
    assert_true(transcript_at_end(t));
}

static void
prompts_are_jumped_to(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        applyf(&v, "{\"event\":\"user\",\"text\":\"question %d\"}", i);
        paragraphs(10);
    }
    draw(false);
    transcript_prompt_jump(t, &v, -1);
    draw(false);
    char *s = dumped(&c);
    assert_int_equal(strncmp(s, "> question 4", 12), 0);
    free(s);
    transcript_prompt_jump(t, &v, -1);
    transcript_prompt_jump(t, &v, -1);
    draw(false);
    s = dumped(&c);
    assert_int_equal(strncmp(s, "> question 2", 12), 0);
    free(s);
    transcript_prompt_jump(t, &v, 1);
    draw(false);
    s = dumped(&c);
    assert_int_equal(strncmp(s, "> question 3", 12), 0);
    free(s);
    for (int i = 0; i < 5; i++)
        transcript_prompt_jump(t, &v, 1);
    assert_true(transcript_at_end(t));
    for (int i = 0; i < 9; i++)
        transcript_prompt_jump(t, &v, -1);
    draw(false);
    assert_shows(&c, "> question 0");
}

/* Of yare's own words to the model the first line, not the mark around them. */
static void
own_words_say_something(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"user\",\"hidden\":true,\"replayed\":true,\"text\":"
              "\"<system-reminder>\\nThe mode is plan.\\nRead.\\n</system-reminder>\"}");
    draw(false);
    assert_shows(&c, "(yare) The mode is plan.");
    assert_hides(&c, "system-reminder");
    assert_hides(&c, "Read.");
}

static void
search_finds_lines(void **state)
{
    (void)state;
    paragraphs(100);
    draw(false);
    assert_true(transcript_search(t, &v, STR("PARAGRAPH 04"), -1));
    draw(false);
    assert_shows(&c, "paragraph 049");
    assert_true(transcript_search(t, &v, STR("paragraph 04"), -1));
    draw(false);
    assert_shows(&c, "paragraph 048");
    assert_true(transcript_search(t, &v, STR("paragraph 04"), 1));
    draw(false);
    assert_shows(&c, "paragraph 049");
    assert_false(transcript_search(t, &v, STR("nowhere"), 1));
    assert_false(transcript_search(t, &v, STR(""), 1));
}

static void
search_begins_with_what_is_seen(void **state)
{
    (void)state;
    paragraphs(100);
    draw(false);
    assert_true(transcript_search(t, &v, STR("paragraph 098"), -1));
    draw(false);
    assert_shows(&c, "paragraph 098");
    assert_shows(&c, "paragraph 099");
    /* where a search has led is no place to begin the next one */
    assert_int_equal(transcript_search(t, &v, STR("paragraph 010"), -1), FIND_HIT);
    draw(false);
    assert_int_equal(transcript_search(t, &v, STR("paragraph 097"), -1), FIND_HIT);
    draw(false);
    assert_shows(&c, "paragraph 097");
}

static void
old_items_go_without_a_jump(void **state)
{
    (void)state;
    paragraphs(VIEW_ITEMS - 10);
    draw(false);
    transcript_scroll(t, &v, -6); /* somebody reads: twice as much is kept */
    paragraphs(VIEW_ITEMS);
    transcript_end(t);
    draw(false);
    transcript_scroll(t, &v, -6);
    draw(false);
    char *before = dumped(&c);
    assert_int_equal(v.dropped, 0);
    paragraphs(20); /* passes the cap: the older half goes */
    draw(false);
    char *after = dumped(&c);
    assert_true(v.dropped > 0);
    assert_memory_equal(before, after, 60);
    free(before);
    free(after);
    transcript_home(t, &v);
    draw(true);
    for (int i = 0; i < 2 * VIEW_ITEMS; i++)
        say(&v, "x");
    draw(true); /* the place itself was dropped */
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"cleared\":true}");
    draw(true);
    assert_true(transcript_at_end(t));
    transcript_scroll(t, &v, -5);
    transcript_move(t, &v, -1);
    assert_null(transcript_item(t, &v));
    say(&v, "fresh");
    draw(true);
    assert_shows(&c, "fresh");
}

static void
any_size_will_do(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"user\",\"text\":\"hi 日本 there\"}");
    say(&v, "# T\n\n- a\n\n|a|b|\n|---|---|\n|日本語|2|\n\n```c\nx\n```");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"a\",\"name\":\"Edit\",\"what\":"
              "\"日本語.c\",\"state\":\"failed\",\"is_diff\":true,"
              "\"output\":\"@@ -1 +1 @@\\n-a\\n+b\\n\"}");
    for (int w = 1; w < 30; w++)
        for (int h = 1; h < 6; h++) {
            canvas_resize(&c, w, h);
            draw(true);
            transcript_scroll(t, &v, -1);
            draw(true);
            transcript_toggle(t, &v);
            draw(false);
            transcript_end(t);
        }
}

static void
press_to(int x0, int y0, int x1, int y1)
{
    transcript_press(t, &v, x0, y0);
    transcript_drag(t, &v, (x0 + x1) / 2, y1);
    transcript_drag(t, &v, x1, y1);
    assert_true(transcript_release(t, &v, x1, y1));
}

static void
assert_selected(const char *want)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    assert_true(transcript_selection(t, &v, &b));
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

/* Soft breaks are joined, marks and indents left out, whatever the width and the direction. */
static void
the_mouse_selects_what_was_written(void **state)
{
    (void)state;
    struct buf b;
    canvas_resize(&c, 24, 14);
    apply(&v, "{\"event\":\"user\",\"text\":\"please have a look at this one\"}");
    say(&v, "A paragraph that is longer than a row.\n\n- an item that is longer than a "
            "row\n\n```\nint x;\n\ty();\n```");
    draw(false);
    press_to(0, 0, 23, 12);
    assert_selected("please have a look at this one\n\nA paragraph that is longer than a row.\n\n• "
                    "an item that is longer "
                    "than a row\n\nint x;\n    y();");
    press_to(23, 12, 0, 0);
    assert_selected("please have a look at this one\n\nA paragraph that is longer than a row.\n\n• "
                    "an item that is longer "
                    "than a row\n\nint x;\n    y();");
    press_to(2, 3, 5, 4);
    assert_selected("paragraph that is longer");
    draw(false);
    int marked = 0;
    for (int i = 0; i < c.w * c.h; i++)
        marked += c.cells[i].style == ST_SELECT;
    assert_true(marked > 20 && marked < 40);
    transcript_press(t, &v, 1, 1);
    buf_init(&b, BUF_MAX);
    assert_false(transcript_selection(t, &v, &b));
    transcript_print(&v, 20, false, &b);
    assert_string_equal(
        buf_cstr(&b),
        "> please have a look at this one\n\nA paragraph that is longer than a row.\n\n• an item "
        "that is longer than a row\n\nint x;\n    y();\n");
    buf_release(&b);
}

static void
a_click_opens_a_fold(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"a\",\"name\":\"Read\",\"what\":\"a."
              "c\",\"state\":\"done\","
              "\"output\":\"the text\"}");
    draw(false);
    assert_hides(&c, "the text");
    transcript_press(t, &v, 4, 0);
    assert_true(transcript_release(t, &v, 4, 0));
    draw(false);
    assert_shows(&c, "the text");
}

static void
a_running_tool_says_its_last_line(void **state)
{
    (void)state;
    apply(&v, "{\"event\":\"tool\",\"phase\":\"start\",\"id\":\"a\",\"name\":\"Bash\",\"what\":"
              "\"make\",\"state\":\"running\"}");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"delta\",\"id\":\"a\",\"name\":\"Bash\",\"state\":"
              "\"running\",\"output\":\"CC "
              "one.o\"}");
    draw(false);
    assert_shows(&c, "    CC one.o");
    apply(&v, "{\"event\":\"tool\",\"phase\":\"end\",\"id\":\"a\",\"name\":\"Bash\",\"state\":"
              "\"done\",\"output\":\"all\"}");
    draw(false);
    assert_hides(&c, "CC one.o");
    assert_shows(&c, "    all");
}

/* A broken address leads to the whole of it from each of its rows, and is copied whole. */
static void
addresses_are_links(void **state)
{
    (void)state;
    static const char url[] = "https://example.org/a/long/path/that/does/not/fit?q=1";
    struct buf b;
    canvas_resize(&c, 20, 10);
    say(&v, "See https://example.org/a/long/path/that/does/not/fit?q=1, then go on.");
    draw(false);
    int cells = 0, rows = 0;
    for (int y = 0; y < c.h; y++) {
        int row = 0;
        for (int x = 0; x < c.w; x++) {
            uint16_t id = c.cells[y * c.w + x].link;
            if (id)
                assert_string_equal(canvas_link_url(&c, id), url);
            row += id != 0;
        }
        cells += row;
        rows += row > 0;
    }
    assert_int_equal(cells, strlen(url));
    assert_true(rows >= 3);
    press_to(0, 0, 19, 9);
    buf_init(&b, BUF_MAX);
    assert_true(transcript_selection(t, &v, &b));
    assert_true(str_contains(buf_str(&b), str_from(url)));
    buf_release(&b);
    canvas_link(&c, (struct rect){0, 0, 3, 1}, STR("https://a.org/\x1b]0;x"));
    assert_int_equal(c.cells[0].link, 0);
}

/* In any order of sizes, while text streams in, the screen ends as a fresh one of the same view is drawn. */
static void
resizes_leave_no_trace(void **state)
{
    (void)state;
    unsigned seed = 41;
    for (int i = 0; i < 100; i++) {
        seed = seed * 1103515245u + 12345u;
        static const char *const bits[] = {"word ",   "long-word-that-breaks ",
                                           "\n\n",    "```c\nint x;\n",
                                           "```\n\n", "- a\n",
                                           "日本 ",   "# T\n"};
        struct event *e = event_new(EV_BLOCK);
        e->phase = PHASE_DELTA;
        e->u.block.text = xstrdup(bits[(seed >> 10) % ARRAY_LEN(bits)]);
        view_apply(&v, e);
        canvas_resize(&c, 1 + (int)((seed >> 16) % 120), 1 + (int)((seed >> 24) % 50));
        draw(false);
        struct transcript *fresh = transcript_new();
        struct canvas other;
        canvas_init(&other, c.w, c.h);
        transcript_draw(fresh, &v, &other, (struct rect){0, 0, c.w, c.h}, false, false);
        assert_memory_equal(c.cells, other.cells, (size_t)c.w * (size_t)c.h * sizeof(*c.cells));
        canvas_release(&other);
        transcript_free(fresh);
    }
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(the_tail_is_shown),
        T(scrolled_up_nothing_moves),
        T(a_growing_text_counts_as_new),
        T(every_line_comes_by_once),
        T(pages_go_there_and_back),
        T(a_resize_keeps_the_place),
        T(folds_open_in_place),
        T(one_line_alone_is_not_folded),
        T(an_opened_fold_stays_in_sight),
        T(prompts_are_jumped_to),
        T(own_words_say_something),
        T(search_finds_lines),
        T(search_begins_with_what_is_seen),
        T(old_items_go_without_a_jump),
        T(any_size_will_do),
        T(the_mouse_selects_what_was_written),
        T(a_click_opens_a_fold),
        T(addresses_are_links),
        T(resizes_leave_no_trace),
        T(a_running_tool_says_its_last_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
