#include "unit.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "temp_dir.h"
#include "ui/history.h"

static void
add(const char *file, const char *project, const char *text)
{
    struct history h;
    struct err err = {0};
    history_init(&h, file, project);
    assert_true(history_add(&h, str_from(text), &err));
    history_release(&h);
}

/* What Up brings, one after the other, joined by blanks. */
static void
expect(const char *file, const char *project, const char *want)
{
    struct history h;
    struct buf b;
    struct str s;
    buf_init(&b, 4096);
    history_init(&h, file, project);
    while ((s = history_move(&h, -1, STR("draft"))).ptr) {
        buf_adds(&b, b.len ? " " : "");
        buf_add_str(&b, s);
    }
    assert_string_equal(buf_cstr(&b), want);
    history_release(&h);
    buf_release(&b);
}

static void
each_project_has_its_own(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "history.jsonl");
    add(file, NULL, "old"); /* from before prompts had a project */
    add(file, "/a", "one");
    add(file, "/b", "two");
    add(file, "/a", "three");
    expect(file, "/a", "three one old");
    expect(file, "/b", "two old");
    expect(file, "/c", "old");
    expect(file, NULL, "three two one old");
    struct history h;
    size_t at = (size_t)-1;
    history_init(&h, file, "/a");
    assert_null(history_search(&h, STR("two"), &at).ptr);
    history_release(&h);
    free(file);
    temp_dir_remove(dir);
}

static void
a_broken_line_is_passed_over(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "history.jsonl");
    temp_file_write(dir, "history.jsonl",
                    "{\"text\":\"a\",\"project\":3}\n{\"text\":\nnull\n[]\n{\"project\":\"/"
                    "p\"}\n{\"text\":\"b\",\"project\":\"/p\"}\n{\"te");
    expect(file, "/p", "b a");
    expect(file, "/q", "a");
    free(file);
    temp_dir_remove(dir);
}

static void
a_line_that_was_cut_off_takes_no_other_with_it(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "history.jsonl");
    temp_file_write(dir, "history.jsonl", "{\"text\":\"a\"}\n{\"te");
    add(file, "/p", "b");
    add(file, "/p", "c");
    expect(file, "/p", "c b a");
    free(file);
    temp_dir_remove(dir);
}

static void
a_pipe_in_its_place_holds_nobody_up(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "history.jsonl");
    struct history h;
    struct err err = {0};
    assert_int_equal(mkfifo(file, 0600), 0);
    expect(file, "/p", "");
    history_init(&h, file, "/p");
    assert_false(history_add(&h, STR("one"), &err));
    assert_non_null(strstr(err.text, "no regular file: move "));
    history_release(&h);
    free(file);
    temp_dir_remove(dir);
}

static void
what_cannot_be_written_comes_back_all_the_same(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "plain/history.jsonl");
    struct history h;
    struct err err = {0};
    temp_file_write(dir, "plain", "no folder");
    history_init(&h, file, "/p");
    assert_false(history_add(&h, STR("one"), &err));
    assert_false(history_add(&h, STR("two"), &err));
    assert_true(str_is(history_move(&h, -1, STR("")), "two"));
    assert_true(str_is(history_move(&h, -1, STR("")), "one"));
    assert_null(history_move(&h, -1, STR("")).ptr);
    history_release(&h);
    free(file);
    temp_dir_remove(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_project_has_its_own),
        cmocka_unit_test(a_broken_line_is_passed_over),
        cmocka_unit_test(a_line_that_was_cut_off_takes_no_other_with_it),
        cmocka_unit_test(a_pipe_in_its_place_holds_nobody_up),
        cmocka_unit_test(what_cannot_be_written_comes_back_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
