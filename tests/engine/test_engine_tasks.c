/* Background commands through the whole engine: real commands, a scripted model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/supervise.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "tools/tool.h"

static const char *child_env[4];

static size_t
suggest_nothing(const struct perm_request *req, char *ret_rules[5], const char **ret_why)
{
    (void)req;
    (void)ret_rules;
    *ret_why = "a test";
    return 0;
}

static void
begin(struct rig *r)
{
    static char path[4096];
    rig_init(r);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    child_env[0] = path;
    child_env[1] = "LC_ALL=C.UTF-8";
    child_env[2] = NULL;
    r->cfg.environ = child_env;
    r->seams.tool_find = tool_find;
    r->seams.perm_suggest = suggest_nothing;
}

/* The rig's folder is of its own, so the working folder tells which processes are its. */
static int
count_left(const struct rig *r)
{
    int n = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        char path[64], cwd[512];
        if (d->d_name[0] < '1' || d->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/cwd", d->d_name);
        ssize_t len = readlink(path, cwd, sizeof cwd - 1);
        cwd[len > 0 ? len : 0] = '\0';
        n += strncmp(cwd, r->dir, strlen(r->dir)) == 0;
    }
    closedir(dir);
    return n;
}

static void
expect_none_left(const struct rig *r)
{
    int64_t until = clock_mono_ms() + 15000;
    while (count_left(r) > 0 && clock_mono_ms() < until)
        poll(NULL, 0, 5);
    assert_int_equal(count_left(r), 0);
}

static void
finish(struct rig *r)
{
    rig_stop(r);
    expect_none_left(r);
    rig_end(r);
}

static bool
is_task(const struct event *e, const void *arg)
{
    return e->kind == EV_TASK && strstr(e->u.task.json, arg);
}

static size_t
count_in(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *s = text; (s = strstr(s, what)); s++)
        n++;
    return n;
}

static void
goes_on_beside_the_turn_and_is_told_once(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(
        &r, "t1", "Bash",
        "{\"command\":\"until test -e go; do read -t 0.02 <> <(:); done; echo finished here; exit "
        "4\",\"run_in_background\":true}");
    rig_says(&r, "done");
    rig_says(&r, "done");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_until(&r, is_task, "\"state\":\"running\"");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_non_null(
        strstr(rig_last_message(&r, 1), "still running in the background as task bash_1"));
    /* The person interrupts nothing of it. */
    engine_cancel(r.e, CANCEL_USER);
    char *go = xasprintf("%s/go", r.root);
    close(open(go, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    free(go);
    const struct event *e = rig_until(&r, is_task, "\"state\":\"failed\"");
    assert_non_null(strstr(e->u.task.json, "\"why\":\"exit 4\""));
    assert_non_null(strstr(e->u.task.json, "\"running\":0"));
    rig_submit(&r, "what now");
    assert_int_equal(count_in(rig_last_message(&r, 2), "Background command bash_1"), 1);
    assert_non_null(strstr(rig_last_message(&r, 2), "exit 4"));
    assert_non_null(strstr(rig_last_message(&r, 2), "finished here"));
    rig_submit(&r, "and now");
    assert_null(strstr(rig_last_message(&r, 3), "Background command"));
    finish(&r);
}

static void
a_compaction_tells_what_still_runs(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Bash", "{\"command\":\"sleep 300\",\"run_in_background\":true}");
    char *talk = xmalloc(9001);
    memset(talk, 't', 9000);
    talk[9000] = '\0';
    rig_says(&r, talk);
    free(talk);
    rig_says(&r, "done");
    scripted_side_says(r.script, "## Task\nwait\n## State\nit runs\n## Next step\nwait on\n");
    rig_start(&r);
    rig_submit(&r, "go");
    rig_post(&r, OP_COMPACT, NULL);
    rig_kind(&r, EV_COMPACT);
    assert_false(rig_kind(&r, EV_COMPACT)->u.compact.failed);
    rig_submit(&r, "on");
    const char *first = scripted_request(r.script, 2)->messages[0];
    assert_non_null(strstr(first, "Still running in the background: bash_1 (sleep 300)"));
    rig_post(&r, OP_STOP_TOOL, "bash_1");
    rig_until(&r, is_task, "\"running\":0");
    finish(&r);
}

static void
what_taskoutput_told_is_not_told_again(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Bash", "{\"command\":\"echo x\",\"run_in_background\":true}");
    rig_calls(&r, "t2", "TaskOutput", "{\"task_id\":\"bash_1\",\"timeout\":600000}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "go");
    assert_non_null(strstr(rig_last_message(&r, 2), "bash_1: exit 0"));
    assert_null(strstr(rig_last_message(&r, 2), "system-reminder"));
    finish(&r);
}

static void
the_person_sends_it_behind(void **state)
{
    (void)state;
    static const char *const ids[] = {"t1", NULL};
    for (size_t i = 0; i < 2; i++) {
        struct rig r;
        begin(&r);
        rig_calls(&r, "t1", "Bash", "{\"command\":\"echo up; sleep 300\"}");
        rig_says(&r, "done");
        rig_start(&r);
        rig_post(&r, OP_SUBMIT, "go");
        rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
        rig_post(&r, OP_BACKGROUND_TOOL, ids[i]);
        rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
        rig_until(&r, is_task, "\"tool_use_id\":\"t1\"");
        rig_result(&r);
        assert_non_null(strstr(rig_last_message(&r, 1), "the person sent it there"));
        rig_post(&r, OP_STOP_TOOL, i ? "bash_1" : "t1");
        const struct event *e = rig_until(&r, is_task, "\"state\":\"cancelled\"");
        assert_non_null(strstr(e->u.task.json, "stopped by the person"));
        finish(&r);
    }
}

static void
nothing_to_send_behind(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_BACKGROUND_TOOL, NULL);
    const struct event *e = rig_kind(&r, EV_NOTICE);
    assert_non_null(strstr(e->u.notice.text, "no command runs"));
    finish(&r);
}

static void
a_timeout_sends_behind_what_may_go_there(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Bash", "{\"command\":\"tail -f /dev/null | cat\",\"timeout\":200}");
    rig_calls(&r, "t2", "Bash",
              "{\"command\":\"cat < /dev/zero > /dev/null & sleep 300\",\"timeout\":200}");
    rig_calls(&r, "t3", "Bash",
              "{\"command\":\"git -c alias.x='!tail -f /dev/null' x\",\"timeout\":200}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "go");
    assert_non_null(strstr(rig_last_message(&r, 1), "had not ended by its time-out"));
    assert_non_null(strstr(rig_last_message(&r, 2), "timed out after 0.2 s and was killed"));
    assert_non_null(strstr(rig_last_message(&r, 3), "timed out after 0.2 s and was killed"));
    finish(&r);
}

static void
clear_keeps_or_ends_them(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Bash", "{\"command\":\"sleep 300\",\"run_in_background\":true}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "go");
    rig_post(&r, OP_COMMAND, "/fork"); /* the way out of another command is no advice here */
    const struct event *e;
    do
        e = rig_kind(&r, EV_NOTICE);
    while (!strstr(e->u.notice.text, "still running in the background"));
    assert_true(str_ends(str_from(e->u.notice.text), "activity pane"));
    rig_post(&r, OP_COMMAND, "/clear");
    do
        e = rig_kind(&r, EV_NOTICE);
    while (!strstr(e->u.notice.text, "still running in the background"));
    assert_non_null(
        strstr(e->u.notice.text, "still running in the background: bash_1 (sleep 300, pid "));
    assert_true(str_ends(str_from(e->u.notice.text), "activity pane, or with /clear stop"));
    rig_post(&r, OP_COMMAND, "/clear stop");
    rig_until(&r, is_task, "\"state\":\"cancelled\"");
    rig_stop(&r);
    expect_none_left(&r);
    for (size_t i = 0; i < r.n; i++)
        event_free(r.ev[i]);
    r.n = 0;
    rig_end(&r);
}

static char *
ask_log(struct rig *r, const char *arg)
{
    static uint64_t seq;
    struct op *op = op_new(OP_QUERY, arg);
    op->query = QUERY_TOOL_LOG;
    op->seq = ++seq;
    engine_post(r->e, op);
    const struct event *e;
    do
        e = rig_kind(r, EV_ANSWER);
    while (e->seq != seq);
    return e->u.answer.json;
}

static void
logs_of_what_runs_and_ran(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Bash",
              "{\"command\":\"printf 'up\\\\033[1m\\\\377\\\\n'; { sleep 300; true; } | cat\"}");
    rig_calls(&r, "t2", "Bash", "{\"command\":\"seq 1 200000\"}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    char *json = ask_log(&r, "t1");
    while (!strstr(json, "sleep 300\"}") || !strstr(json, "up\\u001b[1m\xef\xbf\xbd"))
        json = ask_log(&r, "t1");
    assert_non_null(strstr(json, "\"state\":\"running\""));
    assert_non_null(strstr(json, "\"depth\":0"));
    assert_non_null(strstr(json, "\"depth\":1"));
    assert_null(strstr(
        json, "__yare")); /* the shell, and the one it forks, by the command as it was given */
    assert_non_null(strstr(ask_log(&r, "t1 0"), "\"text\":\"\""));
    rig_post(&r, OP_STOP_TOOL, "t1");
    rig_tool(&r, "t1", PHASE_END, TOOL_CANCELLED);
    rig_result(&r);
    assert_non_null(strstr(ask_log(&r, "t1"), "stopped by the person"));
    json = ask_log(&r, "t2");
    struct err err = {0};
    struct cJSON *tree = json_parse(str_from(json), &err);
    struct str text = json_str(tree, "text");
    assert_true(text.len > 262000 && text.len <= 262144);
    assert_true(str_ends(text, "199999\n200000\n"));
    assert_int_equal(json_int(tree, "from", 0) + (int64_t)text.len, 1288895);
    json_free(tree);
    assert_non_null(strstr(ask_log(&r, "nothing"), "\"error\""));
    finish(&r);
}

/* What was left unread when an end came in the middle of a call. */
static void
an_interrupt_says_so(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Bash",
              /* the words stand in the output alone: the log names the command too */
              "{\"command\":\"trap '' INT TERM; printf '%s of it\\\\n' half; setsid sleep 300; "
              "sleep 300\"}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    while (!strstr(ask_log(&r, "t1"), "half of it"))
        ;
    engine_cancel(r.e, CANCEL_USER);
    rig_result(&r);
    rig_submit(&r, "go on");
    const struct scripted_request *q = scripted_request(r.script, 1);
    const char *answer = q->messages[2];
    assert_non_null(strstr(answer, "interrupted by the person"));
    assert_non_null(strstr(answer, "half of it"));
    assert_null(strstr(answer, "said no"));
    finish(&r);
}

static unsigned rng;
static unsigned
dice(unsigned n)
{
    rng = rng * 1103515245u + 12345u;
    return (rng >> 16) % n;
}

static void
storm_script(struct rig *r)
{
    static const char *const commands[] = {
        "{\"command\":\"echo a\"}",
        "{\"command\":\"sleep 300\"}",
        "{\"command\":\"trap '' INT; echo b; sleep 300\"}",
        "{\"command\":\"sleep 300\",\"run_in_background\":true}",
        "{\"command\":\"echo c; exit 3\",\"run_in_background\":true}",
        "{\"command\":\"(setsid sleep 300 &) ; tail -f /dev/null\",\"timeout\":20}",
        "{\"command\":\"sleep 0.05; echo d\",\"timeout\":10,\"run_in_background\":true}",
    };
    scripted_reply(r->script);
    unsigned n = 1 + dice(3);
    for (unsigned i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "t%u", i);
        if (i && dice(5) == 0)
            scripted_tool(r->script, id, "TaskStop", "{\"task_id\":\"bash_1\"}");
        else
            scripted_tool(r->script, id, "Bash",
                          commands[dice(sizeof commands / sizeof commands[0])]);
    }
    scripted_end(r->script, STOP_TOOL_USE);
    for (int i = 0; i < 3; i++)
        rig_says(r, "done");
}

/* True: the session ends in the middle. */
static bool
disturb(struct rig *r)
{
    switch (dice(6)) {
    case 0:
        rig_post(r, OP_BACKGROUND_TOOL, dice(2) ? NULL : "t0");
        return false;
    case 1:
        rig_post(r, OP_STOP_TOOL, dice(2) ? "t0" : "bash_1");
        return false;
    case 2:
        engine_cancel(r->e, CANCEL_USER);
        return false;
    case 3:
        return dice(6) == 0;
    default:
        return false;
    }
}

/* One session of random commands, sent behind, stopped, interrupted and ended at random moments. */
static void
storm(unsigned seed)
{
    struct rig r;
    rng = seed * 2654435761u + 1;
    begin(&r);
    storm_script(&r);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    bool stopped = false;
    for (unsigned i = 0; i < 12 && !stopped; i++) {
        struct event *e = engine_next_event(r.e, (int)dice(8)); /* a moment */
        if (e) {
            ARRAY_GROW(r.ev, r.n, r.cap);
            r.ev[r.n++] = e;
        }
        stopped = disturb(&r);
    }
    if (!stopped) {
        engine_cancel(r.e, CANCEL_USER);
        rig_post(&r, OP_BACKGROUND_TOOL, NULL);
        rig_post(&r, OP_SUBMIT, "and on");
    }
    finish(&r); /* each start has its end, each request is legal, no process is left */
}

static void
storms_leave_nothing_behind(void **state)
{
    (void)state;
    const char *only = getenv("YARE_STORM");
    unsigned from = only ? (unsigned)strtoul(only, NULL, 10) : 0, to = only ? from + 1 : 200;
    for (unsigned seed = from; seed < to; seed++) {
        if (only)
            print_message("seed %u\n", seed);
        storm(seed);
    }
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_beside_the_turn_and_is_told_once),
        cmocka_unit_test(what_taskoutput_told_is_not_told_again),
        cmocka_unit_test(a_compaction_tells_what_still_runs),
        cmocka_unit_test(the_person_sends_it_behind),
        cmocka_unit_test(nothing_to_send_behind),
        cmocka_unit_test(a_timeout_sends_behind_what_may_go_there),
        cmocka_unit_test(clear_keeps_or_ends_them),
        cmocka_unit_test(logs_of_what_runs_and_ran),
        cmocka_unit_test(an_interrupt_says_so),
        cmocka_unit_test(storms_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
