/* A long session behind a short window: the engine's part is played by a function that makes any page of it. */
#include "unit/ui_help.h"

#define MESSAGES 100000
#define PAGE 50
#define WINDOW 400

static struct view v;
static struct transcript *t;
static struct canvas c;
static int64_t pages, total;

static void
message_events(int64_t index, struct buf *out, bool comma)
{
    struct event *e;
    if (index % 2 == 0) {
        e = event_new(EV_USER);
        e->u.user.text = xasprintf("question %06lld", (long long)index);
        e->u.user.replayed = true;
    } else {
        e = event_new(EV_BLOCK);
        e->phase = PHASE_DELTA;
        e->u.block.text = xasprintf("answer %06lld%s", (long long)index,
                                    index % 10001 == 5 ? " N\xC3\xA4"
                                                         "DLE here"
                                                       : "");
        e->u.block.replayed = true;
    }
    e->place = index + 1;
    if (comma)
        buf_addc(out, ',');
    event_write(e, out);
    event_free(e);
    if (index % 2)
        buf_addf(out,
                 ",{\"event\":\"block\",\"phase\":\"end\",\"type\":\"text\",\"index\":0,\"place\":"
                 "%lld,\"replayed\":true}",
                 (long long)index + 1);
}

static void
history(const char *text, struct buf *out)
{
    int64_t to = *text ? strtoll(text, NULL, 10) : total;
    to = to < total ? to : total;
    int64_t from = to > PAGE ? to - PAGE : 0;
    pages++;
    buf_addf(out, "{\"from\":%lld,\"to\":%lld,\"total\":%lld,\"events\":[", (long long)from,
             (long long)to, (long long)total);
    for (int64_t i = from; i < to; i++)
        message_events(i, out, i > from);
    buf_adds(out, "]}");
}

static void
hits(struct buf *out)
{
    buf_adds(out, "{\"hits\":[");
    bool some = false;
    for (int64_t i = 0; i < total; i++)
        if (i % 2 && i % 10001 == 5) {
            buf_addf(out, "%s{\"index\":%lld}", some ? "," : "", (long long)i);
            some = true;
        }
    buf_adds(out, "],\"complete\":true}");
}

/* Answers until nothing more is asked. */
static void
serve(void)
{
    struct op *op;
    for (int i = 0; i < 100 && (op = transcript_query(t, &v)); i++) {
        struct buf b;
        struct event *e = event_new(EV_ANSWER);
        buf_init(&b, BUF_MAX);
        if (op->query == QUERY_SEARCH)
            hits(&b);
        else
            history(op->text ? op->text : "", &b);
        e->seq = op->seq;
        e->u.answer.json = buf_take(&b);
        assert_true(transcript_answer(t, &v, e));
        event_free(e);
        op_free(op);
    }
}

static void
draw(void)
{
    canvas_clear(&c);
    transcript_draw(t, &v, &c, (struct rect){0, 0, c.w, c.h}, false, false);
}

static void
fill(int64_t messages)
{
    struct buf b;
    struct err err;
    total = messages;
    pages = 0;
    buf_init(&b, BUF_MAX);
    for (int64_t i = total > WINDOW ? total - WINDOW : 0; i < total; i++) {
        buf_clear(&b);
        message_events(i, &b, false);
        struct str rest = buf_str(&b), line;
        size_t cut = str_find(rest, '}', 0) + 1;
        line = str_sub(rest, 0, cut);
        view_apply(&v, event_read(line, &err));
        if (cut < rest.len)
            view_apply(&v, event_read(str_sub(rest, cut + 1, rest.len), &err));
    }
    buf_release(&b);
}

static int
setup(void **state)
{
    (void)state;
    view_init(&v);
    t = transcript_new();
    canvas_init(&c, 40, 12);
    fill(MESSAGES);
    draw();
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
home_is_the_first_message(void **state)
{
    (void)state;
    assert_shows(&c, "answer 099999");
    transcript_home(t, &v);
    serve();
    draw();
    assert_shows(&c, "> question 000000");
    assert_true(pages < 8);
    assert_true(v.past.n < 2 * PAST_ITEMS);
    transcript_end(t);
    serve();
    draw();
    assert_shows(&c, "answer 099999");
    assert_int_equal(v.past.n, 0);
}

/* The number that the first line with one on the screen has; -1: none. */
static int
first_number(void)
{
    char *s = dumped(&c), *at = strpbrk(s, "0123456789");
    int n = at ? (int)strtol(at, NULL, 10) : -1;
    free(s);
    return n;
}

/* All of the session goes by, no line twice, none left out; memory holds a small part of it at any time. */
static void
all_of_it_scrolls_by(void **state)
{
    (void)state;
    view_release(&v);
    view_init(&v);
    fill(6000);
    draw();
    bool seen[6000] = {0};
    for (int last = 6000, i = 0; last > 0 && i < 20000; i++) {
        transcript_scroll(t, &v, -1);
        serve();
        draw();
        int n = first_number();
        assert_true(n == last || n == last - 1 || i == 0);
        seen[n] = true;
        last = n;
        assert_true(v.past.n <= PAST_ITEMS + 2 * PAGE);
    }
    assert_false(v.past.joined);
    for (int last = 0, i = 0; !transcript_at_end(t) && i < 20000; i++) {
        transcript_scroll(t, &v, 1);
        serve();
        draw();
        int n = first_number();
        assert_true(n == last || n == last + 1);
        last = n;
        assert_true(v.past.n <= PAST_ITEMS + 2 * PAGE);
    }
    assert_true(transcript_at_end(t));
    assert_shows(&c, "answer 005999");
    for (int i = 0; i < 5990; i++)
        assert_true(seen[i]);
}

/* Keys that come faster than pages are not lost. */
static void
pages_up_wait_for_their_turn(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        transcript_page(t, &v, -1);
    serve();
    draw();
    int n = first_number();
    assert_true(n < MESSAGES - WINDOW - 20);
    transcript_scroll(t, &v, 1);
    draw();
    assert_true(first_number() - n <= 1);
}

static void
prompts_are_found_above(void **state)
{
    (void)state;
    for (int i = 0; i < WINDOW; i++) {
        transcript_prompt_jump(t, &v, -1);
        serve();
    }
    draw();
    char *s = dumped(&c);
    char want[32];
    /* the first jump from the tail goes to a prompt that is seen */
    snprintf(want, sizeof want, "> question %06d", MESSAGES - 2 * WINDOW - 2);
    int diff = abs(first_number() - (MESSAGES - 2 * WINDOW - 2));
    assert_true(diff <= 6);
    assert_int_equal(strncmp(s, want, 11), 0);
    free(s);
}

static void
search_goes_through_all_of_it(void **state)
{
    (void)state;
    /* 5, 20007, 40009, 60011, 80013 hold it: the odd ones of every 10,001st */
    static const int where[] = {80013, 60011, 40009, 20007, 5};
    for (size_t i = 0; i < ARRAY_LEN(where); i++) {
        assert_int_equal(transcript_search(t, &v,
                                           STR("n\xC3\x84"
                                               "dle"),
                                           -1),
                         FIND_WAIT);
        serve();
        draw();
        char want[32];
        snprintf(want, sizeof want, "answer %06d", where[i]);
        assert_shows(&c, want);
        snprintf(want, sizeof want, " %zu of 5 ", ARRAY_LEN(where) - i);
        assert_shows(&c, want);
    }
    assert_int_equal(transcript_search(t, &v,
                                       STR("n\xC3\xA4"
                                           "dle"),
                                       -1),
                     FIND_NONE);
    (void)transcript_search(t, &v,
                            STR("N\xC3\xA4"
                                "DLE"),
                            1);
    serve();
    draw();
    assert_shows(&c, "answer 020007");
    assert_shows(&c, " 2 of 5 ");
    /* the words themselves are marked */
    int marked = 0;
    for (int i = 0; i < c.w * c.h; i++)
        marked += c.cells[i].style == ST_FOUND;
    assert_int_equal(marked, 5);
    assert_true(pages < 30);
    canvas_resize(&c, 80, 12);
    draw();
    assert_shows(&c, " 2 of 5  n older  N newer ");
    transcript_search_end(t);
    draw();
    assert_hides(&c, " 2 of 5 ");
    for (int i = 0; i < c.w * c.h; i++)
        assert_int_not_equal(c.cells[i].style, ST_FOUND);
}

/* The engine goes by messages: where it does not know the one that is shown, a bare number would say nothing. */
static void
a_match_that_the_engine_does_not_know(void **state)
{
    (void)state;
    (void)transcript_search(t, &v, STR("question 099980"), -1);
    serve();
    draw();
    assert_shows(&c, " 5 found ");
}

static void
another_history_leaves_nothing_behind(void **state)
{
    (void)state;
    transcript_home(t, &v);
    serve();
    (void)transcript_search(t, &v, STR("question"), 1);
    struct op *op;
    transcript_scroll(t, &v, 300);
    op = transcript_query(t, &v);
    apply(&v, "{\"event\":\"session\",\"id\":\"s\",\"cleared\":true}");
    draw();
    assert_int_equal(view_len(&v), 0);
    say(&v, "a new beginning");
    draw();
    assert_shows(&c, "a new beginning");
    assert_hides(&c, "question");
    /* the page that was under way is of another session */
    struct event *e = event_new(EV_ANSWER);
    struct buf b;
    buf_init(&b, BUF_MAX);
    history("100", &b);
    e->seq = op ? op->seq : 0;
    e->u.answer.json = buf_take(&b);
    (void)transcript_answer(t, &v, e);
    event_free(e);
    op_free(op);
    draw();
    assert_int_equal(v.past.n, 0);
    assert_true(transcript_at_end(t));
    assert_null(transcript_query(t, &v));
}

/* While somebody reads far above, what comes in does not move the screen, and does not pile up. */
static void
reading_far_above_is_calm(void **state)
{
    (void)state;
    transcript_home(t, &v);
    serve();
    transcript_scroll(t, &v, 1000);
    serve();
    draw();
    int n = first_number();
    for (int i = 0; i < 3 * VIEW_ITEMS; i++) {
        say(&v, "news");
        if (i % 500 == 0) {
            serve();
            draw();
            assert_int_equal(first_number(), n);
        }
    }
    assert_true(v.n_items <= 2 * VIEW_ITEMS);
    assert_shows(&c, "new, End shows them");
}

static void
answers_of_any_kind_do_no_harm(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"error\":\"no\"}",
        "{\"from\":5,\"to\":3,\"events\":[]}",
        "{\"from\":0,\"to\":99999,\"events\":[{\"event\":\"user\"},{},3,null]}",
        "{\"from\":-1,\"to\":4,\"events\":{}}",
        "{\"hits\":[{},{\"index\":-4},3],\"complete\":1}",
        "{\"from\":10,\"to\":20,\"events\":[{\"event\":\"user\",\"text\":\"x\",\"place\":15}]}"};
    for (size_t i = 0; i < 200; i++) {
        struct op *op;
        if (i % 5 == 0)
            transcript_home(t, &v);
        else if (i % 5 == 1)
            (void)transcript_search(t, &v, STR("zz"), i % 2 ? 1 : -1);
        else
            transcript_scroll(t, &v, i % 2 ? -5000 : 5000);
        while ((op = transcript_query(t, &v))) {
            struct event *e = event_new(EV_ANSWER);
            e->seq = op->seq;
            e->u.answer.json = xstrdup(bad[(i * 7 + op->seq) % ARRAY_LEN(bad)]);
            (void)transcript_answer(t, &v, e);
            event_free(e);
            op_free(op);
        }
        draw();
    }
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(home_is_the_first_message),
        T(all_of_it_scrolls_by),
        T(pages_up_wait_for_their_turn),
        T(prompts_are_found_above),
        T(search_goes_through_all_of_it),
        T(a_match_that_the_engine_does_not_know),
        T(another_history_leaves_nothing_behind),
        T(reading_far_above_is_calm),
        T(answers_of_any_kind_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
