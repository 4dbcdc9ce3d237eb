/* The tiers case by case: what is needless, what stays, what is cut, what a fold holds. */
#include "unit/tier_help.h"

static struct str
result_text(const struct message *const *m, size_t at, size_t block)
{
    return m[at]->blocks[block].text;
}

static void
finish(struct talk *t)
{
    for (int i = 0; i < 4; i++) {
        talk_say(t, "done");
        talk_user(t, "go on");
    }
    talk_say(t, "done");
}

static const struct message **
snipped(const struct talk *t, int64_t goal, size_t *n)
{
    struct tier_view v = view_of(t, goal);
    v.window = 1000;
    v.keep_from = tier_keep_from(&v);
    struct tier_result r = {0};
    tier_snip(&v, &r);
    const struct message **m = tier_apply(&v, &r, n);
    tier_result_release(&r);
    return m;
}

static void
test_superseded_reads_and_repeated_calls(void **state)
{
    (void)state;
    struct talk t = {0};
    char *big = filled('a', 3000);
    talk_user(&t, "begin");
    talk_say(&t, "yes");
    talk_user(&t, "read it");
    call(&t, "Read", "{\"file_path\":\"/p/a.c\",\"offset\":10,\"limit\":20}", big, false); /* 4 */
    call(&t, "Read", "{\"file_path\":\"/p/a.c\",\"offset\":500}", big, false);             /* 6 */
    call(&t, "Edit", "{\"file_path\":\"/p/a.c\",\"old_string\":\"x\"}", "changed", false); /* 8 */
    call(&t, "Read", "{\"file_path\":\"/p/a.c\",\"limit\":100}", big, false);              /* 10 */
    call(&t, "Bash", "{\"command\":\"make\"}", big, true);                                 /* 12 */
    call(&t, "Bash", "{\"command\":\"make\"}", big, true);                                 /* 14 */
    call(&t, "Read", "{\"file_path\":\"/p/b.c\"}", big, false);                            /* 16 */
    finish(&t);
    size_t n;
    const struct message **m = snipped(&t, 1000000, &n); /* only what is needless */
    assert_string_equal(result_text(m, 4, 0).ptr,
                        "[snipped: Read /p/a.c, lines 10-29, about 766 tokens; the same lines were "
                        "read again later. Read it again if you need it.]");
    assert_non_null(strstr(result_text(m, 6, 0).ptr, "from line 500"));
    assert_non_null(strstr(result_text(m, 6, 0).ptr, "was changed and read again later"));
    assert_ptr_equal(m[8], t.m[8]);
    assert_ptr_equal(m[10], t.m[10]);
    assert_non_null(strstr(result_text(m, 12, 0).ptr, "an error; the same call was made again"));
    assert_non_null(strstr(result_text(m, 12, 0).ptr, "Whole text: /keep/old-"));
    assert_true(m[12]->blocks[0].is_error);
    assert_ptr_equal(m[14], t.m[14]);
    assert_ptr_equal(m[16], t.m[16]);
    free_list(m, n);
    m = snipped(&t, 0, &n); /* all that may go: the newest reads stay even then */
    assert_ptr_equal(m[10], t.m[10]);
    assert_ptr_not_equal(m[14], t.m[14]);
    assert_ptr_equal(m[16], t.m[16]);
    free_list(m, n);
    free(big);
    talk_release(&t);
}

static void
test_large_results_go_first_and_lists_stay(void **state)
{
    (void)state;
    struct talk t = {0};
    char *some = filled('a', 4000), *large = filled('b', 20000);
    talk_user(&t, "begin");
    talk_say(&t, "yes");
    talk_user(&t, "look");
    call(&t, "Bash", "{\"command\":\"one\"}", some, false);  /* 4 */
    call(&t, "Bash", "{\"command\":\"two\"}", large, false); /* 6 */
    call(&t, "TodoWrite", "{\"todos\":[]}", large, false);   /* 8 */
    call(&t, "Grep", "{\"pattern\":\"x\"}", large, false);   /* 10 */
    finish(&t);
    struct tier_view v = view_of(&t, 0);
    size_t n;
    const struct message **m = snipped(&t, v.used - 6000, &n);
    assert_ptr_equal(m[4], t.m[4]);
    assert_ptr_not_equal(m[6], t.m[6]);
    assert_ptr_equal(m[8], t.m[8]);
    assert_ptr_not_equal(m[10], t.m[10]);
    free_list(m, n);
    m = snipped(&t, 0, &n);
    assert_ptr_not_equal(m[4], t.m[4]);
    assert_ptr_equal(m[8], t.m[8]);
    free_list(m, n);
    free(some);
    free(large);
    talk_release(&t);
}

static void
test_the_budgets_file_is_named_again(void **state)
{
    (void)state;
    struct talk t = {0};
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "The result is too long to show (90000 characters). Full text: /s/toolu_1.txt\n");
    for (int i = 0; i < 300; i++)
        buf_adds(&b, "a line of it\n");
    talk_user(&t, "begin");
    call(&t, "Bash", "{\"command\":\"x\"}", "ok", false);
    call(&t, "Bash", "{\"command\":\"make \\\"all\\\"\\nand more\"}", buf_cstr(&b), false); /* 4 */
    finish(&t);
    size_t n;
    const struct message **m = snipped(&t, 0, &n);
    assert_non_null(strstr(result_text(m, 4, 0).ptr, "Bash make \"all\" and more, about"));
    assert_non_null(strstr(result_text(m, 4, 0).ptr, "Whole text: /s/toolu_1.txt]"));
    free_list(m, n);
    buf_release(&b);
    talk_release(&t);
}

static void
test_pins_stay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct talk t;
        talk_make(&t, (enum talk_kind)(seed % 4), seed, 30000);
        char *big = filled('p', 9000);
        talk_user(&t, "now the pinned file");
        call(&t, "Read", "{\"file_path\":\"src/pinned.c\"}", big, false);
        const struct message *file = t.m[t.n - 1];
        talk_say(&t, "the pinned word");
        const struct message *said = t.m[t.n - 1];
        talk_more(&t, TALK_ANY, 20000);
        struct tier_pin pins[2] = {{.path = (char *)(uintptr_t) "/home/x/src/pinned.c"}};
        memcpy(pins[1].uuid, said->uuid, sizeof pins[1].uuid);
        for (size_t i = 0; i < ARRAY_LEN(tiers); i++) {
            struct tier_view v = view_of(&t, 0);
            struct tier_result r = {0};
            size_t n, found = 0;
            v.pins = pins;
            v.n_pins = 2;
            tiers[i].fn(&v, &r);
            const struct message **m = tier_apply(&v, &r, &n);
            for (size_t k = 0; k < n; k++)
                found += m[k] == file || m[k] == said;
            assert_int_equal(found, 2);
            check_legal(m, n, "pins", seed);
            free_list(m, n);
            tier_result_release(&r);
        }
        free(big);
        talk_release(&t);
    }
}

static void
test_a_long_turn_is_folded_in_parts(void **state)
{
    (void)state;
    struct talk t = {.random = 3};
    talk_user(&t, "do it all in one go");
    for (int i = 0; i < 200; i++) {
        char *code = talk_code(&t, 100), *in = xasprintf("{\"file_path\":\"/p/f%d.c\"}", i);
        call(&t, "Read", in, code, false);
        free(code);
        free(in);
    }
    struct tier_view v = view_of(&t, 0);
    struct tier_result r = {0};
    size_t n, folds = 0;
    tier_collapse(&v, &r);
    const struct message **m = tier_apply(&v, &r, &n);
    check_legal(m, n, "a long turn", 3);
    for (size_t i = 0; i < n; i++)
        folds += tier_is_fold(m[i]);
    assert_true(folds > 3 && folds == r.n);
    assert_true(r.after < r.before / 4);
    free_list(m, n);
    tier_result_release(&r);
    talk_release(&t);
}

static void
test_what_is_new_is_cut_to_the_room(void **state)
{
    (void)state;
    struct talk t = {0};
    char *huge = filled('h', 900000), *small = filled('s', 3000), *big = filled('b', 200000);
    talk_user(&t, "begin");
    const struct talk_call c[] = {{"Bash", "{\"command\":\"a\"}", huge, false},
                                  {"Bash", "{\"command\":\"b\"}", small, false},
                                  {"Bash", "{\"command\":\"c\"}", big, true}};
    talk_calls(&t, NULL, c, 3);
    struct tier_view v = view_of(&t, 50000);
    struct tier_result r = {0};
    size_t n;
    tier_trim(&v, 2, &r);
    const struct message **m = tier_apply(&v, &r, &n);
    check_legal(m, n, "a cut", 0);
    assert_true(r.after <= 50000 && r.after > 40000);
    assert_true(result_text(m, 2, 0).len < 110000 && result_text(m, 2, 2).len < 110000);
    assert_int_equal(result_text(m, 2, 1).len, 3000);
    assert_non_null(strstr(result_text(m, 2, 0).ptr, "Whole text: /keep/old-"));
    assert_int_equal(r.n_keeps, 2);
    check_record(&v, &r, m, n);
    free_list(m, n);
    tier_result_release(&r);
    v.goal = 0; /* more than can go: as far as it goes */
    tier_trim(&v, 2, &r);
    assert_true(r.n == 1 && r.after < 5000);
    tier_result_release(&r);
    free(huge);
    free(small);
    free(big);
    talk_release(&t);
}

/* A reminder is cut only where it is a file that the person named: instructions and pins stay word for word. */
static void
test_instructions_are_not_cut(void **state)
{
    (void)state;
    struct talk t = {0};
    char *huge = filled('h', 9000);
    char *rules =
        xasprintf("<system-reminder>\nInstructions that the person keeps for this part of "
                  "the project.\n%s\n</system-reminder>",
                  huge);
    char *named = xasprintf("<system-reminder>\nThe person named /a. Its content:\n%s\n"
                            "</system-reminder>",
                            huge);
    talk_user(&t, "begin");
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR("go on"));
    message_add_text(b, str_from(rules));
    message_add_text(b, str_from(named));
    const struct message *list[] = {t.m[0], message_build(b)};
    struct tier_view v = view_of(&(struct talk){.m = list, .n = 2}, 0);
    struct tier_result r = {0};
    tier_trim(&v, 1, &r);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.edits[0].with[0]->blocks[1].text.len, strlen(rules));
    assert_true(r.edits[0].with[0]->blocks[2].text.len < 5000);
    tier_result_release(&r);
    message_free(list[1]);
    free(rules);
    free(named);
    free(huge);
    talk_release(&t);
}

static void
test_images_weigh_what_they_cost(void **state)
{
    (void)state;
    char *base64 = filled('A', 1000000);
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_tool_result_image(b, STR("t1"), STR("image/png"), str_from(base64));
    struct message *m = message_build(b);
    assert_true(tier_weight(m) < 10000);
    message_free(m);
    free(base64);
}

static void
test_the_servers_own_clearing(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4096);
    tier_micro_api(136000, 20000, true, &b);
    assert_string_equal(
        buf_cstr(&b),
        "{\"edits\":[{\"type\":\"clear_thinking_20251015\",\"keep\":{\"type\":\"thinking_turns\","
        "\"value\":2}},{\"type\":\"clear_tool_uses_20250919\",\"trigger\":{\"type\":\"input_"
        "tokens\","
        "\"value\":136000},\"keep\":{\"type\":\"tool_uses\",\"value\":10},\"clear_at_least\":{"
        "\"type\":\"input_tokens\",\"value\":20000},\"exclude_tools\":[\"TodoWrite\"]}]}");
    buf_release(&b);
}

/* Answers of a fifth of the window each: what stays at the end leaves room to come down to what is asked for. */
static void
test_a_small_window_does_not_keep_most_of_itself(void **state)
{
    (void)state;
    struct talk t = {0};
    char *big = filled('a', 3000);
    for (int i = 0; i < 5; i++) {
        talk_user(&t, "tell me more");
        talk_say(&t, big);
    }
    talk_user(&t, "and now?");
    struct tier_view v = view_of(&t, 0);
    int64_t kept = 0;
    for (size_t i = v.keep_from; i < v.n; i++)
        kept += tier_tokens(&v, v.messages[i]);
    assert_true(v.n - v.keep_from >= 2);
    assert_true(kept * 100 <= v.window * 35);
    v.window *= 10; /* room enough: all of it is the tenth that stays */
    assert_true(v.n - tier_keep_from(&v) >= TIERS_KEEP_LAST);
    talk_release(&t);
    free(big);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_superseded_reads_and_repeated_calls),
        cmocka_unit_test(test_large_results_go_first_and_lists_stay),
        cmocka_unit_test(test_the_budgets_file_is_named_again),
        cmocka_unit_test(test_pins_stay),
        cmocka_unit_test(test_a_long_turn_is_folded_in_parts),
        cmocka_unit_test(test_what_is_new_is_cut_to_the_room),
        cmocka_unit_test(test_instructions_are_not_cut),
        cmocka_unit_test(test_images_weigh_what_they_cost),
        cmocka_unit_test(test_the_servers_own_clearing),
        cmocka_unit_test(test_a_small_window_does_not_keep_most_of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
