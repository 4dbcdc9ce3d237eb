#include "unit/tool_bench.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/supervise.h"
#include "tools/bash_script.h"

static void
test_basics(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    assert_string_equal(bench_run(&b, "Bash", "{'command':'echo out; echo err >&2'}"), "out\nerr");
    assert_false(b.r.is_error);
    assert_string_equal(b.r.summary, "exit 0");
    assert_string_equal(bench_run(&b, "Bash", "{'command':'true'}"), "(no output)");
    assert_string_equal(bench_run(&b, "Bash", "{'command':'echo bad; exit 7'}"),
                        "Exit code 7\nbad");
    assert_true(b.r.is_error);
    assert_false(b.r.benign);
    assert_string_equal(bench_run(&b, "Bash", "{'command':'(exit 3)'}"), "Exit code 3");
    assert_has(bench_run(&b, "Bash", "{'command':'kill -9 $$'}"),
               "Exit code 137 (killed by signal 9");
    assert_has(bench_run(&b, "Bash", "{'command':'if'}"), "syntax error");
    assert_true(b.r.is_error);
    assert_has(bench_run(&b, "Bash", "{'command':'nosuchprogram'}"), "Exit code 127");
    assert_string_equal(bench_run(&b, "Bash", "{'command':'echo $# $1'}"), "0");
    assert_has(bench_run(&b, "Bash", "{'command':'  '}"), "must not be empty");
    assert_has(bench_run(&b, "Bash", "{'command':'ls','run_in_background':true}"),
               "switched off here");
    bench_release(&b);
}

static void
test_benign(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    assert_string_equal(bench_run(&b, "Bash", "{'command':'grep x /dev/null'}"),
                        "No matches found");
    assert_false(b.r.is_error);
    assert_true(b.r.benign);
    assert_has(buf_cstr(&b.r.data), "\"returnCodeInterpretation\":\"No matches found\"");
    bench_run(&b, "Bash", "{'command':'grep x /nonexistent'}");
    assert_true(b.r.is_error);
    assert_non_null(bash_benign_exit(STR("cat f | grep x")));
    assert_non_null(bash_benign_exit(STR("[ a != b ]")));
    assert_non_null(bash_benign_exit(STR("diff a b 2>&1")));
    assert_non_null(bash_benign_exit(STR("cd x && git diff --exit-code\n")));
    assert_non_null(bash_benign_exit(STR("LC_ALL=C /usr/bin/grep 'a|b; c' f")));
    assert_non_null(bash_benign_exit(STR("find . -name \"*.c\" -exec cat {} +")));
    assert_null(bash_benign_exit(STR("grep x f | wc")));
    assert_null(bash_benign_exit(STR("grep x f; make")));
    assert_null(bash_benign_exit(STR("git push")));
    assert_null(bash_benign_exit(STR("grep $(make) f")));
    assert_null(bash_benign_exit(STR("if grep x f; then make; fi")));
    assert_null(bash_benign_exit(STR("echo 'grep")));
    assert_null(bash_benign_exit(STR("")));
    bench_release(&b);
}

static void
test_cwd(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "sub dir/f", STR(""));
    char *sub = bench_path(&b, "sub dir");
    bench_run(&b, "Bash", "{'command':'cd sub*'}");
    assert_string_equal(b.r.new_cwd, sub);
    bench_run(&b, "Bash", "{'command':'cd sub* && exit 4'}");
    assert_string_equal(b.r.new_cwd, sub);
    assert_has(buf_cstr(&b.r.text), "Exit code 4");
    bench_run(&b, "Bash", "{'command':'trap \\'echo bye\\' EXIT; cd sub*'}");
    bench_run(&b, "Bash", "{'command':'ls'}");
    assert_null(b.r.new_cwd);
    bench_run(&b, "Bash", "{'command':'(cd sub*)'}");
    assert_null(b.r.new_cwd);
    assert_has(bench_run(&b, "Bash", "{'command':'cd / && pwd'}"), "Shell cwd was reset to ");
    assert_null(b.r.new_cwd);
    assert_false(b.r.is_error);
    b.ctx.cwd = sub;
    assert_string_equal(bench_run(&b, "Bash", "{'command':'pwd; cd ..'}"), sub);
    assert_string_equal(b.r.new_cwd, b.root);
    free(sub);
    bench_release(&b);
}

/* The notes of where a command ended are no way to write a file, nor out of the project. */
static void
test_cwd_is_not_taken_from_the_command(void **state)
{
    (void)state;
    static const char *const forged[] = {"/sub/../..", "/link", "/missing", "/f", "/sub/."};
    struct bench b;

    bench_init(&b);
    bench_put(&b, "sub/f", STR(""));
    bench_put(&b, "f", STR("kept"));
    char *link = bench_path(&b, "link"), *file = bench_path(&b, "f"),
         *other = bench_path(&b, "new");
    assert_int_equal(symlink("/etc", link), 0);
    bench_run(&b, "Bash",
              "{'command':'__yare_cwd=f; __yare_status=3; unset -f __yare_note; cd sub'}");
    assert_false(b.r.is_error);
    struct buf text;
    buf_init(&text, 4096);
    assert_true(fs_read(file, 100, &text, NULL));
    assert_string_equal(buf_cstr(&text), "kept");
    bench_run(&b, "Bash", "{'command':'__yare_cwd=new; for __yare_cwd in new; do :; done'}");
    assert_false(fs_exists(other));
    for (size_t i = 0; i < ARRAY_LEN(forged); i++) {
        buf_clear(&text);
        buf_addf(
            &text,
            "{\"command\":\"p=$(declare -f __yare_note | sed -n 's/.*>|//p' | tr -d \\\" ';\\\"); "
            "printf '%%s' '%s%s' > \\\"$p\\\"; kill -9 $$\"}",
            b.root, forged[i]);
        bench_run_raw(&b, "Bash", buf_str(&text));
        assert_null(b.r.new_cwd);
        assert_has(buf_cstr(&b.r.text), "Shell cwd was reset to "); /* it was read */
    }
    buf_release(&text);
    free(link);
    free(file);
    free(other);
    bench_release(&b);
}

static void
test_trap_of_its_own(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "sub/f", STR(""));
    char *sub = bench_path(&b, "sub");
    const char *text =
        bench_run_raw(&b, "Bash", STR("{\"command\":\"trap 'echo bye' EXIT; cd sub; false\"}"));
    assert_string_equal(text, "Exit code 1\nbye");
    assert_string_equal(b.r.new_cwd, sub);
    free(sub);
    bench_release(&b);
}

static void
test_stdin_is_empty(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_run(&b, "Bash", "{'command':'cat; read x; echo done; tty'}");
    assert_has(buf_cstr(&b.r.text), "done\nnot a tty");
    bench_release(&b);
}

static void
test_timeout(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    const char *text =
        bench_run(&b, "Bash", "{'command':'echo begun; sleep 1061 | cat','timeout':500}");
    assert_has(text, "timed out after 0.5 s");
    assert_has(text, "begun");
    assert_true(b.r.is_error);
    assert_has(buf_cstr(&b.r.data), "\"timedOutAfterMs\":500");
    bench_release(&b);
}

static void
test_background_child(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    assert_string_equal(bench_run(&b, "Bash", "{'command':'sleep 1000 & echo now'}"), "now");
    bench_release(&b);
}

static void
test_flood(void **state)
{
    (void)state;
    struct bench b;
    struct stat st;

    bench_init(&b);
    const char *text = bench_run(&b, "Bash", "{'command':'yes 0123456789abcdef','timeout':1000}");
    assert_has(text, "timed out after 1 s");
    assert_has(text, "output cut here");
    assert_true(b.r.text.len < 12000);
    assert_true(b.r.log.len <= (size_t)256 << 10); /* what is kept of it in memory */
    assert_non_null(b.r.spill_path);
    assert_int_equal(stat(b.r.spill_path, &st), 0);
    assert_true(st.st_size <= 64 << 20);
    assert_true(st.st_size > 200000);
    bench_release(&b);
}

static void
test_long_output(void **state)
{
    (void)state;
    struct bench b;
    struct buf kept;
    struct err err;

    bench_init(&b);
    const char *text = bench_run(&b, "Bash", "{'command':'seq 1 20000'}");
    assert_true(strncmp(text, "1\n2\n", 4) == 0);
    assert_has(text, "\n20000");
    assert_has(text, "108894 bytes in all; the full text is in ");
    assert_true(b.r.text.len < 31000);
    buf_init(&kept, BUF_MAX);
    assert_true(fs_read(b.r.spill_path, BUF_MAX, &kept, &err));
    assert_int_equal(kept.len, 108894);
    buf_release(&kept);
    bench_run(&b, "Bash", "{'command':'seq 1 200000'}");
    buf_init(&kept, BUF_MAX);
    assert_true(fs_read(b.r.spill_path, BUF_MAX, &kept, &err));
    assert_int_equal(kept.len, 1288895);
    assert_has(buf_cstr(&kept), "\n199999\n200000\n");
    buf_release(&kept);
    text = bench_run(&b, "Bash", "{'command':'seq 1 20000; false'}");
    assert_true(strncmp(text, "Exit code 1\n1\n2\n", 16) == 0);
    assert_true(b.r.text.len < 11000);
    bench_release(&b);
}

static void
test_binary_output(void **state)
{
    (void)state;
    struct bench b;
    struct err err;
    struct buf quoted;

    bench_init(&b);
    const char *text =
        bench_run(&b, "Bash", "{'command':'head -c 2000 /dev/urandom; printf \\\\\\\\0'}");
    assert_has(text, "of output that were no text replaced");
    buf_init(&quoted, BUF_MAX);
    json_quote(&quoted, buf_str(&b.r.text));
    struct cJSON *tree = json_parse(buf_str(&quoted), &err);
    assert_non_null(tree);
    json_free(tree);
    buf_release(&quoted);
    bench_release(&b);
}

struct watcher {
    struct cancel *cancel;
    pthread_mutex_t lock;
    int calls;
    char last[64];
};

/* The first line that shows is the sign that the command runs: then it is cancelled. */
static void
on_progress(void *user, struct str line, int64_t bytes)
{
    struct watcher *w = user;

    assert_true(bytes > 0 || line.len == 0);
    w->calls++;
    snprintf(w->last, sizeof w->last, "%.*s", (int)line.len, line.ptr);
    if (str_is(line, "ready"))
        cancel_fire(w->cancel, CANCEL_USER);
}

static void
test_cancel(void **state)
{
    (void)state;
    struct bench b;
    struct watcher w = {.calls = 0};

    bench_init(&b);
    w.cancel = b.ctx.cancel;
    b.ctx.progress = on_progress;
    b.ctx.user = &w;
    const char *text = bench_run_raw(
        &b, "Bash",
        STR("{\"command\":\"trap '' INT TERM; echo ready; setsid sleep 1062; sleep 1063\"}"));
    assert_has(text, "interrupted after ");
    assert_has(text, "ready");
    assert_true(b.r.is_error);
    assert_true(w.calls >= 1);
    assert_has(buf_cstr(&b.r.data), "\"interrupted\":true");
    bench_release(&b);
}

static void
test_environment(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    setenv("SECRET_OF_OURS", "x", 1);
    const char *text = bench_run(&b, "Bash", "{'command':'env'}");
    assert_null(strstr(text, "SECRET_OF_OURS"));
    assert_null(strstr(text, "__yare"));
    assert_has(text, "PAGER=cat");
    bench_release(&b);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basics),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_benign),
        cmocka_unit_test(test_cwd),
        cmocka_unit_test(test_cwd_is_not_taken_from_the_command),
        cmocka_unit_test(test_trap_of_its_own),
        cmocka_unit_test(test_stdin_is_empty),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_background_child),
        cmocka_unit_test(test_long_output),
        cmocka_unit_test(test_binary_output),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
