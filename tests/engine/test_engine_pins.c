/* Files that a person pins, and prompts that do not fit: what cannot be given to the model is said, and nothing makes a session useless. */
#include <sys/stat.h>

#include "engine/compact_rig.h"

static char *
lines(size_t bytes)
{
    char *text = xmalloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        text[i] = i % 40 == 39 ? '\n' : i % 7 == 6 ? ' ' : 'p';
    text[bytes] = '\0';
    return text;
}

static const char *
pin(struct rig *r, const char *command)
{
    rig_post(r, OP_COMMAND, command);
    return rig_kind(r, EV_NOTICE)->u.notice.text;
}

/* ---- which file can be ---- */

static void
test_what_cannot_be_given_whole_is_said(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    char *large = lines(70000);
    rig_put(&r, "large.txt", large);
    rig_put(&r, "fine.txt", "no news is good news\n");
    rig_put(&r, "picture.dat", "a\x01\xff\xfe");
    rig_start(&r);
    assert_has(pin(&r, "/pin large.txt"), "large.txt  (70 kB, of which a pin holds 64");
    assert_has(pin(&r, "/pin picture.dat"), "picture.dat  (no text");
    const char *all = pin(&r, "/pin fine.txt");
    assert_has(all, "fine.txt");
    assert_lacks(strstr(all, "fine.txt"), "(");
    free(large);
    rig_end(&r);
}

static void
test_what_is_no_file_is_not_pinned(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    rig_put(&r, "src/a.c", "int a;\n");
    rig_start(&r);
    assert_has(pin(&r, "/pin src"), "'src' is a folder; pin a file of it");
    assert_has(pin(&r, "/pin /dev/zero"), "'/dev/zero' is no regular file");
    assert_has(pin(&r, "/pin"), "nothing is pinned");
    rig_end(&r);
}

/* ---- one that is larger than the room ---- */

/* The file would fill the window at the next compaction: it is named in its place, and the work goes on. */
static void
test_a_pinned_file_leaves_room_to_work(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 12000);
    char *large = lines(60000);
    rig_put(&r, "rules.txt", large);
    says(&r, "one", 5000);
    says(&r, "two", 11000);
    says(&r, "three", 4000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    pin(&r, "/pin rules.txt");
    rig_submit(&r, "a");
    rig_submit(&r, "b");
    assert_string_equal(rig_submit(&r, "c")->u.result.exit, "completed");
    const char *sent = rig_last_request(&r)->messages[0];
    assert_has(sent, OPEN);
    assert_has(sent, "rules.txt, whose content is not given here: there is no room for it");
    assert_lacks(sent, "ppppp");
    free(large);
    rig_end(&r);
}

/* While there is room for it, it stands there word for word. */
static void
test_a_pinned_file_that_fits_is_given(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 100000);
    char *large = lines(4000);
    rig_put(&r, "rules.txt", large);
    says(&r, "one", 50000);
    says(&r, "two", 4000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    pin(&r, "/pin rules.txt");
    rig_submit(&r, "a");
    assert_false(compact(&r, NULL)->u.compact.failed);
    rig_submit(&r, "b");
    assert_has(rig_last_request(&r)->messages[0], "ppppp");
    free(large);
    rig_end(&r);
}

/* Gone, or something else by now: the model is told which. */
static void
test_a_pinned_file_that_changed_is_told(void **state)
{
    (void)state;
    struct rig r;
    char path[128];
    begin(&r, 100000);
    rig_put(&r, "gone.txt", "here\n");
    rig_put(&r, "later.txt", "here\n");
    says(&r, "one", 5000);
    says(&r, "two", 4000);
    scripted_side_says(r.script, SUMMARY);
    rig_start(&r);
    pin(&r, "/pin gone.txt");
    pin(&r, "/pin later.txt");
    rig_submit(&r, "a");
    snprintf(path, sizeof path, "%s/gone.txt", r.root);
    assert_int_equal(remove(path), 0);
    snprintf(path, sizeof path, "%s/later.txt", r.root);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(compact(&r, NULL)->u.compact.failed);
    rig_submit(&r, "b");
    const char *sent = rig_last_request(&r)->messages[0];
    assert_has(sent, "gone.txt, whose content is not given here: it is gone");
    assert_has(sent, "later.txt, whose content is not given here: it is no regular file");
    assert_has(pin(&r, "/pin"), "gone.txt  (gone)");
    rig_end(&r);
}

/* ---- a prompt that is larger than the window ---- */

/* It ends its own turn alone: the next prompt goes out with its beginning and end, and the whole is kept. */
static void
test_a_prompt_that_does_not_fit_ends_its_own_turn(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, 12000);
    char *large = lines(90000);
    says(&r, "here I am", 9000);
    says(&r, "still here", 9100);
    rig_start(&r);
    assert_string_equal(rig_submit(&r, large)->u.result.exit, "prompt_too_long");
    assert_int_equal(scripted_requests(r.script), 0);
    assert_string_equal(rig_submit(&r, "a short one")->u.result.exit, "completed");
    const struct scripted_request *q = rig_last_request(&r);
    const char *sent = q->messages[q->n_messages - 1];
    assert_has(sent, "a short one");
    assert_has(sent, "bytes left out: there is no room for them in the context. Whole text: ");
    assert_string_equal(rig_submit(&r, "and on")->u.result.exit, "completed");
    free(large);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cannot_be_given_whole_is_said),
        cmocka_unit_test(test_what_is_no_file_is_not_pinned),
        cmocka_unit_test(test_a_pinned_file_leaves_room_to_work),
        cmocka_unit_test(test_a_pinned_file_that_fits_is_given),
        cmocka_unit_test(test_a_pinned_file_that_changed_is_told),
        cmocka_unit_test(test_a_prompt_that_does_not_fit_ends_its_own_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
