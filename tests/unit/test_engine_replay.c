/* Recordings written, read and played back. The clock is the real one: speed 0 plays at once, and pace is judged by the order of things. */
#include "unit/unit.h"

#include <dirent.h>

#include "base/json.h"
#include "engine/engine.h"
#include "engine/recording.h"
#include "unit/temp_dir.h"

struct world {
    char *dir, *path;
};

static void
world_init(struct world *w, const char *text)
{
    w->dir = temp_dir_make();
    w->path = fs_join(w->dir, "r.jsonl");
    if (text)
        temp_file_write(w->dir, "r.jsonl", text);
}

static void
world_release(struct world *w)
{
    free(w->path);
    temp_dir_remove(w->dir);
}

#define SESSION "{\"event\":\"session\",\"wall_ms\":1000,\"id\":\"s1\",\"model\":\"m\"}\n"
#define NOTE(t, text) "{\"event\":\"notice\",\"wall_ms\":" #t ",\"text\":\"" text "\"}\n"
#define HEAD "{\"recording\":\"yare events\",\"format\":1,\"wall_ms\":1,\"size\":[80,24]}\n"

static struct engine *
play(struct world *w, double speed)
{
    struct err err = {0};
    struct engine *e = engine_replay(w->path, speed, &err);
    if (!e)
        fail_msg("%s", err.text);
    return e;
}

static struct event *
next(struct engine *e)
{
    struct event *ev = engine_next_event(e, 20000);
    assert_non_null(ev);
    return ev;
}

static bool
is_state(const struct event *ev, const char *part)
{
    return ev->kind == EV_TASK && strstr(ev->u.task.json, part);
}

/* The next notice; what else comes is passed over. */
static char *
next_notice(struct engine *e)
{
    for (;;) {
        struct event *ev = next(e);
        char *text = ev->kind == EV_NOTICE ? xstrdup(ev->u.notice.text) : NULL;
        event_free(ev);
        if (text)
            return text;
    }
}

static void
expect_notice(struct engine *e, const char *part)
{
    char *text = next_notice(e);
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
    free(text);
}

static void
wait_kind(struct engine *e, enum event_kind kind)
{
    for (bool seen = false; !seen;) {
        struct event *ev = next(e);
        seen = ev->kind == kind;
        event_free(ev);
    }
}

static void
wait_over(struct engine *e)
{
    for (bool over = false; !over;) {
        struct event *ev = next(e);
        over = is_state(ev, "\"over\":true");
        event_free(ev);
    }
}

/* ---- writing ---- */

static void
a_recording_is_private_and_read_back(void **state)
{
    (void)state;
    struct world w;
    struct err err = {0};
    struct stat st;
    struct recording_reader in;
    struct recording_line l;
    world_init(&w, NULL);
    struct recording *r = recording_open(w.path, 80, 24, &err);
    assert_non_null(r);
    struct event *ev = event_new(EV_NOTICE);
    ev->u.notice.text = xstrdup("hello\nthere");
    assert_true(recording_event(r, ev, &err));
    event_free(ev);
    assert_true(recording_size(r, 100, 30, &err));
    recording_close(r);
    assert_int_equal(stat(w.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    assert_true(recording_read_open(&in, w.path, &err));
    assert_true(recording_read(&in, &l));
    assert_int_equal(l.kind, RECORDING_PART);
    assert_true(str_contains(l.text, STR("\"size\":[80,24]")));
    assert_true(recording_read(&in, &l));
    assert_int_equal(l.kind, RECORDING_EVENT);
    assert_string_equal(l.event->u.notice.text, "hello\nthere");
    event_free(l.event);
    assert_true(recording_read(&in, &l));
    assert_int_equal(l.kind, RECORDING_STEP);
    assert_false(recording_read(&in, &l));
    assert_int_equal(in.taken, st.st_size);
    recording_read_close(&in);
    world_release(&w);
}

static void
a_second_run_is_a_new_part_also_behind_a_torn_line(void **state)
{
    (void)state;
    struct world w;
    struct err err = {0};
    world_init(&w, HEAD SESSION "{\"event\":\"noti");
    struct recording *r = recording_open(w.path, 0, 0, &err);
    assert_non_null(r);
    recording_close(r);
    char *text = temp_file_read(w.dir, "r.jsonl");
    assert_non_null(strstr(text, "{\"event\":\"noti\n{\"recording\":"));
    free(text);
    world_release(&w);
}

static void
another_file_is_not_written_into(void **state)
{
    (void)state;
    static const char *const texts[] = {"precious\n", "{\"json\":1}\n", "\n\n", "[1]\n"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct world w;
        struct err err = {0};
        world_init(&w, texts[i]);
        assert_null(recording_open(w.path, 0, 0, &err));
        assert_non_null(strstr(err.text, "no recording"));
        char *text = temp_file_read(w.dir, "r.jsonl");
        assert_string_equal(text, texts[i]);
        free(text);
        world_release(&w);
    }
}

static void
a_folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(recording_open("/nowhere/at/all.jsonl", 0, 0, &err));
    assert_non_null(strstr(err.text, "/nowhere/at/all.jsonl"));
}

/* ---- what is no recording ---- */

static void
what_is_no_recording_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {{"#!/bin/sh\necho\n", "is no recording"},
                {"", "is empty"},
                {"{\"type\":\"user\"}\n", "is no recording"},
                {"\x7f"
                 "ELF",
                 "is no recording"}};
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        world_init(&w, rows[i].text);
        assert_null(engine_replay(w.path, 0, &err));
        assert_non_null(strstr(err.text, rows[i].says));
        world_release(&w);
    }
    assert_null(engine_replay("/tmp", 0, &err));
    assert_null(engine_replay("/nowhere/r.jsonl", 0, &err));
    assert_non_null(strstr(err.text, "/nowhere/r.jsonl"));
}

/* ---- playing ---- */

static void
events_come_in_order_then_the_end_is_said(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, HEAD SESSION NOTE(2000, "one") "{\"size\":[40,12]}\n" NOTE(
                       3000, "two") "{\"event\":\"closed\",\"wall_ms\":4000}\n");
    struct engine *e = play(&w, 0);
    struct event *ev = next(e);
    assert_true(is_state(ev, "\"speed\":0,\"paused\":false,\"over\":false"));
    event_free(ev);
    ev = next(e);
    assert_int_equal(ev->kind, EV_SESSION);
    assert_string_equal(engine_session_id(e), "s1");
    event_free(ev);
    expect_notice(e, "one");
    expect_notice(e, "two");
    expect_notice(e, "ends here: 3 events");
    wait_over(e);
    assert_null(engine_next_event(e, 0)); /* and it stays */
    engine_post(e, op_new(OP_QUIT, NULL));
    ev = next(e);
    assert_int_equal(ev->kind, EV_CLOSED);
    event_free(ev);
    assert_null(engine_next_event(e, -1));
    engine_free(e);
    world_release(&w);
}

static void
bad_lines_are_left_out_and_named(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, SESSION
               "{\"event\":\"telepathy\"}\nrubbish\n" NOTE(2, "good") "{\"event\":\"notice\",\"te");
    struct engine *e = play(&w, 0);
    expect_notice(e, "line 2 of the recording was left out: unknown event 'telepathy'");
    expect_notice(e, "line 3");
    expect_notice(e, "good");
    expect_notice(e, "line 5 of the recording was left out: it is cut off");
    expect_notice(e, "2 events, 3 lines left out");
    engine_free(e);
    world_release(&w);
}

static void
a_paused_replay_goes_on_by_steps(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, SESSION NOTE(900000, "one") NOTE(1800000, "two") NOTE(2700000, "three"));
    struct engine *e = play(&w, 1); /* a quarter of an hour between two */
    wait_kind(e, EV_SESSION);
    engine_post(e, op_new(OP_COMMAND, "/pause"));
    engine_post(e, op_new(OP_COMMAND, "/next"));
    expect_notice(e, "one");
    engine_post(e, op_new(OP_COMMAND, "/speed 2"));
    struct event *ev = next(e);
    if (!is_state(ev, "\"speed\":2,\"paused\":true"))
        fail_msg("%s", ev->kind == EV_TASK ? ev->u.task.json : event_kind_name(ev->kind));
    event_free(ev);
    engine_post(e, op_new(OP_COMMAND, "/pause")); /* on again, but nothing is due for long */
    engine_post(e, op_new(OP_COMMAND, "/next"));
    expect_notice(e, "two");
    engine_post(e, op_new(OP_COMMAND, "/speed max"));
    expect_notice(e, "three");
    wait_over(e);
    engine_free(e);
    world_release(&w);
}

static void
the_pace_is_the_recorded_one_times_speed(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, SESSION NOTE(1200, "soon") NOTE(99001200, "in a day"));
    struct engine *e = play(&w, 2);
    expect_notice(e, "soon");
    assert_null(engine_next_event(e, 50)); /* the next one is a day away */
    engine_free(e);
    world_release(&w);
}

static void
nobody_waits_between_two_runs(void **state)
{
    (void)state;
    struct world w;
    world_init(&w,
               HEAD SESSION HEAD NOTE(999999999, "next week") NOTE(5, "the clock was set back"));
    struct engine *e = play(&w, 1);
    expect_notice(e, "next week");
    expect_notice(e, "set back");
    engine_free(e);
    world_release(&w);
}

static void
prompts_are_not_taken(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, SESSION);
    struct engine *e = play(&w, 0);
    wait_over(e);
    engine_post(e, op_new(OP_SUBMIT, "do something"));
    expect_notice(e, "this is a replay");
    engine_post(e, op_new(OP_COMMAND, "/speed fast"));
    expect_notice(e, "the speed is a number");
    engine_offer(e, "tour", "a tour?", "/tour");
    struct event *ev = next(e);
    assert_int_equal(ev->kind, EV_OFFER);
    event_free(ev);
    engine_free(e);
    world_release(&w);
}

/* ---- queries ---- */

static char *
ask(struct engine *e, enum query_kind query, const char *text)
{
    static uint64_t seq;
    struct op *op = op_new(OP_QUERY, text);
    op->query = query;
    op->seq = ++seq;
    engine_post(e, op);
    for (;;) {
        struct event *ev = next(e);
        char *json = ev->kind == EV_ANSWER && ev->seq == seq ? xstrdup(ev->u.answer.json) : NULL;
        event_free(ev);
        if (json)
            return json;
    }
}

#define USER(place, text)                                                                          \
    "{\"event\":\"user\",\"wall_ms\":2,\"place\":" #place ",\"uuid\":\"u" #place                   \
    "\",\"text\":\"" text "\"}\n"
#define SAID(place, text)                                                                          \
    "{\"event\":\"message\",\"wall_ms\":2,\"place\":" #place                                       \
    ",\"assistant\":true,\"uuid\":\"m" #place                                                      \
    "\",\"json\":\"{\\\"role\\\":\\\"assistant\\\",\\\"content\\\":[{\\\"type\\\":\\\"text\\\","   \
    "\\\"text\\\":\\\"" text "\\\"}]}\"}\n"

static void
history_and_search_are_answered_from_the_recording(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    world_init(&w, SESSION USER(1, "find the Needle") SAID(2, "a needle here")
                       USER(3, "thanks") "{\"event\":\"answer\",\"seq\":1,\"json\":\"{}\"}\n");
    struct engine *e = play(&w, 0);
    wait_over(e);
    char *json = ask(e, QUERY_SEARCH, "NEEDLE");
    struct cJSON *t = json_parse(str_from(json), &err);
    assert_int_equal(json_len(json_at(t, "hits")), 2);
    assert_int_equal(json_int(t, "hits.1.index", -1), 1);
    assert_string_equal(json_cstr(t, "hits.1.role", ""), "assistant");
    json_free(t);
    free(json);
    json = ask(e, QUERY_HISTORY, "2");
    t = json_parse(str_from(json), &err);
    assert_int_equal(json_int(t, "from", -1), 0);
    assert_int_equal(json_int(t, "to", -1), 2);
    assert_int_equal(json_int(t, "total", -1), 3);
    assert_string_equal(json_cstr(t, "events.0.text", ""), "find the Needle");
    assert_true(json_bool(t, "events.0.replayed", false));
    json_free(t);
    free(json);
    json = ask(e, QUERY_FILES, "x");
    assert_non_null(strstr(json, "not available in a replay"));
    free(json);
    engine_free(e);
    world_release(&w);
}

/* A page is found where it begins, whatever was played before; another session in the file is another history. */
static void
pages_of_a_long_recording(void **state)
{
    (void)state;
    struct world w;
    struct buf b;
    struct err err;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, SESSION USER(1, "of the session before"));
    buf_adds(&b, "{\"event\":\"session\",\"wall_ms\":2,\"id\":\"s2\",\"cleared\":true}\n");
    for (int i = 1; i <= 500; i++)
        buf_addf(&b,
                 "{\"event\":\"user\",\"wall_ms\":2,\"place\":%d,\"uuid\":\"u\",\"text\":\"number "
                 "%d\"}\n"
                 "{\"event\":\"usage\",\"wall_ms\":2}\n",
                 i, i);
    world_init(&w, buf_cstr(&b));
    buf_release(&b);
    struct engine *e = play(&w, 0);
    wait_over(e);
    char *json = ask(e, QUERY_HISTORY, "");
    struct cJSON *t = json_parse(str_from(json), &err);
    assert_int_equal(json_int(t, "from", -1), 450);
    assert_int_equal(json_int(t, "total", -1), 500);
    assert_int_equal(json_len(json_at(t, "events")), 50);
    assert_string_equal(json_cstr(t, "events.0.text", ""), "number 451");
    json_free(t);
    free(json);
    json = ask(e, QUERY_HISTORY, "30");
    t = json_parse(str_from(json), &err);
    assert_int_equal(json_len(json_at(t, "events")), 30);
    assert_string_equal(json_cstr(t, "events.29.text", ""), "number 30");
    json_free(t);
    free(json);
    json = ask(e, QUERY_SEARCH, "Number 49");
    t = json_parse(str_from(json), &err);
    assert_int_equal(json_len(json_at(t, "hits")), 11); /* 49, 490 to 499 */
    json_free(t);
    free(json);
    engine_free(e);
    world_release(&w);
}

static void
what_was_not_played_is_not_found(void **state)
{
    (void)state;
    struct world w;
    world_init(&w,
               SESSION USER(1, "early word") "{\"event\":\"user\",\"wall_ms\":99000000,\"place\":2,"
                                             "\"uuid\":\"u2\",\"text\":\"late word\"}\n");
    struct engine *e = play(&w, 1);
    wait_kind(e, EV_USER);
    char *json = ask(e, QUERY_SEARCH, "word");
    assert_non_null(strstr(json, "early word"));
    assert_null(strstr(json, "late word"));
    free(json);
    engine_free(e);
    world_release(&w);
}

/* What the screen tests draw is what a replay plays: the same reader, no line left out. */
static void
the_screen_tests_can_be_played(void **state)
{
    (void)state;
    DIR *d = opendir(TEST_DIR "/screens");
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d)) != NULL;) {
        struct recording_reader in;
        struct recording_line l;
        struct world w = {.path = xasprintf("%s/screens/%s", TEST_DIR, f->d_name)};
        int events = 0;
        /* but those that hold what a replay says of itself */
        if (str_ends(str_from(f->d_name), ".jsonl") &&
            !str_starts(str_from(f->d_name), "replay_")) {
            assert_true(recording_read_open(&in, w.path, NULL));
            while (recording_read(&in, &l)) {
                assert_int_not_equal(l.kind, RECORDING_BAD);
                bool played = l.kind == RECORDING_EVENT && l.event->kind != EV_ANSWER &&
                              l.event->kind != EV_OFFER && l.event->kind != EV_CLOSED;
                events += played;
                event_free(l.event);
            }
            recording_read_close(&in);
            char *says = xasprintf("the recording ends here: %d events", events), *text = NULL;
            struct engine *e = play(&w, 0);
            while (!text || !str_starts(str_from(text), "the recording ends")) {
                free(text);
                text = next_notice(e);
            }
            assert_string_equal(text, says);
            free(text);
            free(says);
            engine_free(e);
        }
        free(w.path);
    }
    closedir(d);
}

static void
it_ends_while_nobody_reads(void **state)
{
    (void)state;
    struct world w;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, SESSION);
    for (int i = 0; i < 3000; i++)
        buf_addf(&b, "{\"event\":\"notice\",\"wall_ms\":2,\"text\":\"%d\"}\n", i);
    world_init(&w, buf_cstr(&b));
    struct engine *e = play(&w, 0);
    event_free(next(e));
    engine_free(e);
    buf_release(&b);
    world_release(&w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_is_private_and_read_back),
        cmocka_unit_test(a_second_run_is_a_new_part_also_behind_a_torn_line),
        cmocka_unit_test(another_file_is_not_written_into),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
        cmocka_unit_test(what_is_no_recording_is_refused),
        cmocka_unit_test(events_come_in_order_then_the_end_is_said),
        cmocka_unit_test(bad_lines_are_left_out_and_named),
        cmocka_unit_test(a_paused_replay_goes_on_by_steps),
        cmocka_unit_test(the_pace_is_the_recorded_one_times_speed),
        cmocka_unit_test(nobody_waits_between_two_runs),
        cmocka_unit_test(prompts_are_not_taken),
        cmocka_unit_test(history_and_search_are_answered_from_the_recording),
        cmocka_unit_test(pages_of_a_long_recording),
        cmocka_unit_test(what_was_not_played_is_not_found),
        cmocka_unit_test(the_screen_tests_can_be_played),
        cmocka_unit_test(it_ends_while_nobody_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
