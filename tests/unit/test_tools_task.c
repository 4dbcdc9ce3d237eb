/* Commands in the background: how they get there, what is said of them, and how they end. */
#include "unit/tool_bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/proc_tree.h"
#include "base/supervise.h"
#include "tools/task.h"

struct world {
    struct bench b;
    struct task_table *tasks;
    struct task_host host;
    struct cancel *background;
    char mark[64];
};

static int marks;

static void
world_init(struct world *w)
{
    memset(w, 0, sizeof *w);
    bench_init(&w->b);
    snprintf(w->mark, sizeof w->mark, "YARE_TASK_MARK=%d-%d", (int)getpid(), marks++);
    w->b.env[3] = w->mark;
    w->tasks = task_table_new(&w->host);
    w->background = cancel_new(NULL);
    w->b.ctx.tasks = w->tasks;
    w->b.ctx.background = w->background;
}

/* A mark in the environment finds every process of the tree again, whatever it did to its parents. */
static int
count_marked(const struct world *w)
{
    int n = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        char path[64], text[8192];
        if (d->d_name[0] < '1' || d->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/environ", d->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : 0;
        if (fd >= 0)
            close(fd);
        n += len > 0 && memmem(text, (size_t)len, w->mark, strlen(w->mark));
    }
    closedir(dir);
    return n;
}

static void
expect_none_left(const struct world *w)
{
    int64_t until = clock_mono_ms() + 10000;
    while (count_marked(w) > 0 && clock_mono_ms() < until)
        poll(NULL, 0, 5);
    assert_int_equal(count_marked(w), 0);
}

static void
world_release(struct world *w)
{
    task_table_free(w->tasks);
    expect_none_left(w);
    cancel_free(w->background);
    bench_release(&w->b);
}

/* Waits until the task's output holds the text. */
static void
until_output(struct world *w, const char *id, const char *text)
{
    struct task *t = task_find(w->tasks, str_from(id));
    assert_non_null(t);
    for (;;) {
        struct buf out;
        uint64_t from;
        buf_init(&out, BUF_MAX);
        task_read_tail(t, 4096, &out, &from, NULL);
        bool there = strstr(buf_cstr(&out), text) != NULL;
        buf_release(&out);
        if (there)
            break;
        poll(NULL, 0, 2);
    }
    task_unref(t);
}

static void
started_behind(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    const char *text = bench_run(
        &w.b, "Bash", "{'command':'echo one; cat; echo two; sleep 300','run_in_background':true}");
    assert_has(text, "still running in the background as task bash_1 (pid ");
    assert_has(text, "TaskOutput");
    assert_has(text, w.b.spill);
    assert_false(w.b.r.is_error);
    assert_string_equal(w.b.r.task_id, "bash_1");
    assert_has(buf_cstr(&w.b.r.data), "\"backgroundTaskId\":\"bash_1\"");
    until_output(&w, "bash_1", "two");
    text = bench_run(&w.b, "TaskOutput", "{'task_id':'bash_1','block':false}");
    assert_has(text, "bash_1: running, pid ");
    assert_has(text, "one\ntwo");
    text = bench_run(&w.b, "BashOutput", "{'bash_id':'bash_1','block':true,'timeout':10}");
    assert_has(text, "(no new output)");
    assert_int_equal(task_count_running(w.tasks), 1);
    text = bench_run(&w.b, "KillShell", "{'shell_id':'bash_1'}");
    assert_has(text, "bash_1: stopped");
    expect_none_left(&w);
    assert_int_equal(task_count_running(w.tasks), 0);
    text = bench_run(&w.b, "TaskStop", "{'task_id':'bash_1'}");
    assert_has(text, "bash_1: stopped");
    world_release(&w);
}

static void
an_end_is_read_with_its_output(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    bench_run(&w.b, "Bash", "{'command':'echo last words; exit 3','run_in_background':true}");
    const char *text = bench_run(&w.b, "TaskOutput", "{'task_id':'bash_1','timeout':600000}");
    assert_has(text, "bash_1: exit 3");
    assert_has(text, "last words");
    assert_has(buf_cstr(&w.b.r.data), "\"exitCode\":3");
    assert_has(buf_cstr(&w.b.r.data), "\"status\":\"failed\"");
    assert_false(w.b.r.is_error);
    text = bench_run(&w.b, "TaskOutput", "{'task_id':'bash_2'}");
    assert_has(text, "no background command 'bash_2'");
    assert_true(w.b.r.is_error);
    world_release(&w);
}

static void
ids_are_asked_for(void **state)
{
    (void)state;
    struct err err = {0};
    struct cJSON *in = json_parse(STR("{\"block\":true}"), &err);
    assert_false(tool_validate(tool_find(STR("TaskOutput")), in, &err));
    assert_has(err.text, "task_id");
    json_free(in);
}

static void
sent_behind_by_the_person(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    cancel_fire(w.background, CANCEL_STOP);
    const char *text = bench_run(&w.b, "Bash", "{'command':'echo begun; sleep 300'}");
    assert_has(text, "task bash_1 (pid ");
    assert_has(text, "the person sent it there");
    assert_false(w.b.r.is_error);
    assert_int_equal(task_count_running(w.tasks), 1);
    world_release(&w);
}

static void
a_timeout_moves_it_behind_where_that_is_right(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    w.b.ctx.may_outlive = true;
    const char *text =
        bench_run(&w.b, "Bash", "{'command':'echo begun; sleep 300 | cat','timeout':300}");
    assert_has(text, "had not ended by its time-out");
    assert_has(text, "begun");
    assert_false(w.b.r.is_error);
    w.b.ctx.may_outlive = false;
    text = bench_run(&w.b, "Bash", "{'command':'sleep 300 | cat','timeout':300}");
    assert_has(text, "timed out after 0.3 s and was killed");
    assert_int_equal(task_count_running(w.tasks), 1);
    world_release(&w);
}

static void
a_deadline_behind_is_kept(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    int64_t start = clock_mono_ms();
    const char *text =
        bench_run_raw(&w.b, "Bash",
                      STR("{\"command\":\"trap '' INT TERM; echo x; setsid sleep 300 | cat; sleep "
                          "300\",\"timeout\":400,\"run_in_background\":true}"));
    assert_has(text, "it is killed 0.4 s after its start");
    text = bench_run(&w.b, "TaskOutput", "{'task_id':'bash_1','timeout':600000}");
    assert_has(text, "killed at its timeout of 400 ms");
    assert_true(clock_mono_ms() - start >= 400);
    expect_none_left(&w);
    world_release(&w);
}

static void
a_flood_is_ended(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    task_table_free(w.tasks);
    w.host.flood_bytes = 100 << 20;
    w.b.ctx.tasks = w.tasks = task_table_new(&w.host);
    bench_run(&w.b, "Bash", "{'command':'yes','run_in_background':true}");
    const char *text = bench_run(&w.b, "TaskOutput", "{'task_id':'bash_1','timeout':600000}");
    assert_has(text, "bash_1: killed: it put out too much");
    assert_has(text, "bytes before this are left out");
    assert_true(w.b.r.text.len < 31000);
    struct task *t = task_find(w.tasks, STR("bash_1"));
    struct task_info i;
    struct stat st;
    task_get(t, &i);
    assert_int_equal(stat(i.spill_path, &st), 0);
    assert_int_equal(st.st_size, 64 << 20);
    task_info_release(&i);
    task_unref(t);
    text = bench_run(&w.b, "Bash", "{'command':'yes'}");
    assert_has(text, "and was killed with everything it started");
    assert_true(w.b.r.is_error);
    world_release(&w);
}

/* All output is in the file, also what came before it went behind, and each byte is read once. */
static void
nothing_is_lost_or_read_twice(void **state)
{
    (void)state;
    struct world w;
    struct buf all, kept;
    struct err err;
    world_init(&w);
    buf_init(&all, BUF_MAX);
    bench_run(&w.b, "Bash",
              "{'command':'for i in 1 2 3 4 5 6 7 8 9; do echo $i é€; sleep 0.02; done; seq 1 "
              "3000; touch done','run_in_background':true}");
    bool over = false;
    while (!over) {
        bench_run(&w.b, "TaskOutput", "{'task_id':'bash_1','block':false}");
        const char *text = buf_cstr(&w.b.r.text);
        over = strstr(text, "bash_1: exit 0") != NULL;
        const char *body = strchr(text, '\n') + 1;
        if (strcmp(body, "(no new output)") != 0) {
            buf_adds(&all, body);
            buf_addc(&all, '\n');
        }
        poll(NULL, 0, 3);
    }
    struct task *t = task_find(w.tasks, STR("toolu_1"));
    struct task_info i;
    task_get(t, &i);
    buf_init(&kept, BUF_MAX);
    assert_true(fs_read(i.spill_path, BUF_MAX, &kept, &err));
    assert_int_equal(kept.len, i.bytes);
    /* What was read apart may have lost line ends at the seams alone. */
    struct buf a, b;
    buf_init(&a, BUF_MAX);
    buf_init(&b, BUF_MAX);
    for (size_t k = 0; k < all.len; k++)
        if (!strchr(" \n", all.data[k]))
            buf_addc(&a, all.data[k]);
    for (size_t k = 0; k < kept.len; k++)
        if (!strchr(" \n", kept.data[k]))
            buf_addc(&b, kept.data[k]);
    assert_string_equal(buf_cstr(&a), buf_cstr(&b));
    buf_release(&a);
    buf_release(&b);
    task_info_release(&i);
    task_unref(t);
    buf_release(&all);
    buf_release(&kept);
    world_release(&w);
}

static void
random_bytes_stay_text(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    bench_run(&w.b, "Bash", "{'command':'head -c 400000 /dev/urandom','run_in_background':true}");
    bench_run(&w.b, "TaskOutput", "{'task_id':'bash_1','timeout':600000}");
    struct buf quoted;
    struct err err;
    buf_init(&quoted, BUF_MAX);
    json_quote(&quoted, buf_str(&w.b.r.text));
    struct cJSON *tree = json_parse(buf_str(&quoted), &err);
    assert_non_null(tree);
    assert_true(str_eq(json_value_str(tree), buf_str(&w.b.r.text)));
    json_free(tree);
    buf_release(&quoted);
    world_release(&w);
}

static void
many_come_and_go(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    for (int i = 0; i < 90; i++) {
        bench_run(&w.b, "Bash", "{'command':'echo %d','run_in_background':true}", i);
        assert_non_null(w.b.r.task_id);
        char *id = xstrdup(w.b.r.task_id);
        bench_run(&w.b, "TaskOutput", "{'task_id':'%s','timeout':600000}", id);
        struct task *t = task_find(w.tasks, str_from(id));
        task_announce(t);
        task_unref(t);
        t = task_table_next_ended(w.tasks);
        assert_non_null(t);
        task_unref(t);
        assert_null(task_table_next_ended(w.tasks));
        free(id);
    }
    assert_null(task_find(w.tasks, STR("bash_1"))); /* the oldest made room */
    assert_non_null(
        strstr(bench_run(&w.b, "TaskOutput", "{'task_id':'bash_60'}"), "bash_60: exit 0"));
    world_release(&w);
}

static void
too_many_at_once_are_refused(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    for (int i = 0; i < 64; i++)
        bench_run(&w.b, "Bash", "{'command':'sleep 300','run_in_background':true}");
    assert_int_equal(task_count_running(w.tasks), 64);
    assert_has(bench_run(&w.b, "Bash", "{'command':'sleep 300','run_in_background':true}"),
               "too many commands");
    assert_true(w.b.r.is_error);
    world_release(&w);
}

static void
the_tree_is_shown(void **state)
{
    (void)state;
    struct world w;
    struct proc_node nodes[8];
    world_init(&w);
    bench_run_raw(&w.b, "Bash",
                  STR("{\"command\":\"sh -c 'echo up; sleep 301; true' & "
                      "wait\",\"run_in_background\":true}"));
    until_output(&w, "bash_1", "up");
    struct task *t = task_find(w.tasks, STR("bash_1"));
    struct task_info i;
    task_get(t, &i);
    size_t n = 0;
    bool found = false;
    while (!found) {
        n = proc_tree(i.supervisor, nodes, 8);
        for (size_t k = 0; k < n; k++)
            found |= strcmp(nodes[k].command, "sleep 301") == 0 && nodes[k].depth == 2;
        poll(NULL, 0, 2);
    }
    assert_int_equal(nodes[0].pid, i.pid);
    assert_int_equal(nodes[0].depth, 0);
    assert_int_equal(proc_tree(i.supervisor, nodes, 1), 1);
    assert_int_equal(proc_tree(0, nodes, 8), 0);
    task_info_release(&i);
    task_unref(t);
    world_release(&w);
}

/* INT first: what cleans up on Ctrl+C does so here too. */
static void
a_stop_is_polite_at_first(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    bench_run_raw(&w.b, "Bash",
                  STR("{\"command\":\"trap 'echo cleaned; exit 9' INT; echo up; while :; do sleep "
                      "0.01; done\",\"run_in_background\":true}"));
    until_output(&w, "bash_1", "up");
    const char *text = bench_run(&w.b, "TaskStop", "{'task_id':'bash_1'}");
    assert_has(text, "cleaned");
    world_release(&w);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(started_behind),
        cmocka_unit_test(an_end_is_read_with_its_output),
        cmocka_unit_test(ids_are_asked_for),
        cmocka_unit_test(sent_behind_by_the_person),
        cmocka_unit_test(a_timeout_moves_it_behind_where_that_is_right),
        cmocka_unit_test(a_deadline_behind_is_kept),
        cmocka_unit_test(a_flood_is_ended),
        cmocka_unit_test(nothing_is_lost_or_read_twice),
        cmocka_unit_test(random_bytes_stay_text),
        cmocka_unit_test(many_come_and_go),
        cmocka_unit_test(too_many_at_once_are_refused),
        cmocka_unit_test(the_tree_is_shown),
        cmocka_unit_test(a_stop_is_polite_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
