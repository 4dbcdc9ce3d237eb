/* The cases of tests/cases/rules_chain.txt through `perm check`, and the lines that are no records. */
#include "unit/tool_cases.h"

#include "unit/perm_world.h"

#include "base/verdict.h"

/* Line one: what is expected, the mode, further fields. */
static void
add_head(struct buf *out, const char *line, char want[16])
{
    char mode[32];
    int used = 0;
    assert_int_equal(sscanf(line, "%15s %31s%n", want, mode, &used), 2);
    buf_addf(out, "\"mode\":\"%s\",\"root\":\"/proj\",\"home\":\"/home/dev\"", mode);
    const char *more = strchr(line + used, '{');
    if (more)
        buf_addf(out, ",%.*s", (int)strlen(more) - 2, more + 1);
    if (!more || !strstr(more, "\"cwd\""))
        buf_adds(out, ",\"cwd\":\"/proj\"");
}

static void
add_call(struct buf *out, const char *line)
{
    struct buf command;
    if (line[0] == '@') {
        size_t n = strcspn(line, " ");
        buf_addf(out, ",\"tool\":\"%.*s\",\"input\":%s", (int)n - 1, line + 1, line + n + 1);
        return;
    }
    buf_init(&command, BUF_MAX);
    for (const char *p = line, *at; *p; p = at) {
        at = strstr(p, "\u23ce");
        buf_add(&command, p, at ? (size_t)(at - p) : strlen(p));
        if (!at)
            break;
        buf_addc(&command, '\n');
        at += strlen("\u23ce");
    }
    buf_adds(out, ",\"tool\":\"Bash\",\"input\":{\"command\":");
    json_quote(out, buf_str(&command));
    buf_addc(out, '}');
    buf_release(&command);
}

static void
check_case(const struct text_case *c)
{
    struct buf raw, record;
    struct err err;
    char want[16];
    buf_init(&raw, BUF_MAX);
    buf_init(&record, BUF_MAX);
    buf_addc(&raw, '{');
    add_head(&raw, c->line[0], want);
    buf_addf(&raw, ",\"rules\":%s", c->line[1]);
    add_call(&raw, c->line[2]);
    buf_adds(&raw, "}\n");
    world_replace(&record, buf_cstr(&raw), world);
    char *answer = world_ask(record.data, record.len);
    struct cJSON *t = json_parse(str_from(answer), &err);
    assert_non_null(t);
    const char *got = json_cstr(t, "decision", "nothing");
    bool right = strcmp(want, "not") == 0 ? strcmp(got, "ask") == 0 || strcmp(got, "deny") == 0
                                          : strcmp(got, want) == 0;
    if (!right)
        fail_msg("line %d: %s %s should be %s, is %s: %s", c->number, c->line[1], c->line[2], want,
                 got, answer);
    json_free(t);
    free(answer);
    buf_release(&raw);
    buf_release(&record);
}

static void
test_cases(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/rules_chain.txt", 3, check_case) > 1000);
}

static size_t
count_lines(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

static void
test_odd_lines(void **state)
{
    (void)state;
    static const char records[] =
        "\n"
        "no json\n"
        "{\n"
        "[]\n"
        "5\n"
        "{}\n"
        "{\"tool\":\"Bash\"}\n"
        "{\"tool\":\"Bash\",\"input\":{}}\n"
        "{\"tool\":5,\"input\":{\"command\":\"ls\"}}\n"
        "{\"tool\":\"Bash\",\"input\":\"ls\"}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":[\"ls\"]}}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"},\"mode\":\"yolo\"}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"ls\",\"command\":\"rm x\"}}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"ls \\u0000 x\"}}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"ls \xff\"}}\n"
        "{\"tool\":\"Read\",\"input\":{\"file_path\":[]}}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"make\"},\"rules\":[\"Bash\"]}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"make\"},\"rules\":{\"allow\":[5,{}]}}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"make\"},\"trusted\":\"yes\",\"hook\":7}\n"
        "{\"tool\":\"Bash\",\"input\":{\"command\":\"make\"}}";
    char *answer = world_ask(records, sizeof records - 1), *line = answer;
    assert_int_equal(count_lines(answer), 20);
    for (size_t i = 0; i < 20; i++) {
        char *end = strchr(line, '\n');
        *end = '\0';
        if (!strstr(line, "\"decision\":\"deny\"") && !strstr(line, "\"decision\":\"ask\""))
            fail_msg("record %zu: %s", i + 1, line);
        line = end + 1;
    }
    free(answer);
}

static void
test_id_is_given_back(void **state)
{
    (void)state;
    static const char records[] =
        "{\"id\":7,\"tool\":\"TodoWrite\",\"input\":{}}\n"
        "{\"id\":\"a\\\"b\",\"tool\":\"TodoWrite\",\"input\":{},\"strange\":[1,{}]}\n";
    char *answer = world_ask(records, sizeof records - 1);
    assert_non_null(
        strstr(answer, "{\"id\":7,\"decision\":\"allow\",\"liftable_by\":\"none\",\"findings\":["));
    assert_non_null(strstr(answer, "{\"id\":\"a\\\"b\","));
    free(answer);
}

/* Whoever splits lines the Unicode way gets one answer a record, and no answer turns text round on a terminal. */
static void
test_answers_are_single_lines(void **state)
{
    (void)state;
    static const char record[] =
        "{\"id\":\"a\u2028b\",\"tool\":\"Bash\",\"input\":{\"command\":\"x \u2029 \u202e \xc2\x85 "
        "\U000e0041 \u00e9\"},\"rules\":{\"deny\":[\"Bash(x \u202e\"]}}\n";
    char *answer = world_ask(record, sizeof record - 1);
    assert_int_equal(count_lines(answer), 1);
    assert_non_null(strstr(answer, "\"id\":\"a\\u2028b\""));
    assert_null(strstr(answer, "\u202e"));
    assert_null(strstr(answer, "\u2029"));
    assert_null(strstr(answer, "\U000e0041"));
    assert_non_null(strstr(answer, "\\u202e"));
    free(answer);
}

/* The rule's place and the reason, readable; nothing of the command reaches the terminal as it is. */
static void
test_explain(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *at_home = fs_join(dir, "home"), *root = fs_join(dir, "p"),
         *text = NULL;
    size_t n = 0;
    temp_file_write(dir, "home/.config/yare/settings.json",
                    "{\"permissions\":{\n\"deny\":[\n\"Bash(git push:*)\",\n"
                    "\"Bash(rm -rf\"],\"allow\":[\"Bash(git push origin)\"]}}");
    temp_file_write(dir, "p/x", "");
    char *config_home = fs_join(at_home, ".config/yare");
    struct config_paths paths = {.home = at_home, .config_dir = config_home, .project_root = root};
    struct config *config = config_load(&paths);
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(perm_explain_run("ls && git -C . push", config, true, root, root, out), 0);
    fclose(out);
    assert_int_equal(strncmp(text, "deny, in default mode\n", 22), 0);
    assert_non_null(strstr(text, "rule Bash(git push:*)"));
    assert_non_null(strstr(text, "settings.json:3"));
    assert_non_null(strstr(text, "'ls' only reads"));
    assert_non_null(strstr(text, "IS NOT IN FORCE"));
    assert_non_null(strstr(text, "never counts"));
    free(text);
    out = open_memstream(&text, &n);
    assert_int_equal(perm_explain_run("make all \u202e", config, true, root, root, out), 0);
    fclose(out);
    assert_int_equal(strncmp(text, "ask", 3), 0);
    assert_null(strstr(text, "\u202e"));
    free(text);
    out = open_memstream(&text, &n);
    assert_int_equal(perm_explain_run("make all", config, true, root, root, out), 0);
    fclose(out);
    assert_non_null(strstr(text, "\"always\" would save: Bash(make all:*)"));
    free(text);
    config_free(config);
    free(config_home);
    free(at_home);
    free(root);
    temp_dir_remove(dir);
}

static void
test_huge_line(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"tool\":\"Write\",\"mode\":\"acceptEdits\",\"root\":\"/tmp\",\"cwd\":\"/"
                 "tmp\",\"input\":{\"file_path\":"
                 "\"/tmp/x\",\"content\":\"");
    char *room = buf_reserve(&b, 8 << 20);
    memset(room, 'x', 8 << 20);
    buf_commit(&b, 8 << 20);
    buf_adds(&b, "\"}}\n{\"tool\":\"Bash\",\"input\":{\"command\":\"");
    for (int i = 0; i < 300000; i++)
        buf_adds(&b, "echo a;");
    buf_adds(&b, "rm x\"}}\n");
    char *answer = world_ask(b.data, b.len);
    assert_int_equal(count_lines(answer), 2);
    assert_int_equal(strncmp(answer, "{\"decision\":\"allow\"", 19), 0);
    const char *second = strchr(answer, '\n');
    assert_non_null(second);
    assert_non_null(strstr(second, "\n{\"decision\":\"ask\""));
    free(answer);
    buf_release(&b);
}

static void
test_many_records_with_many_rules(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 200; i++) {
        buf_adds(&b, "{\"root\":\"/tmp\",\"cwd\":\"/"
                     "tmp\",\"tool\":\"Bash\",\"input\":{\"command\":\"cd a && npm test 2>&1 | "
                     "grep -v x | tail -5; git status; sudo rm -rf "
                     "$X/*\"},\"rules\":{\"allow\":[\"Bash(npm test:*)\"");
        for (int k = 0; k < 40; k++)
            buf_addf(&b, ",\"Bash(tool%d *)\",\"Edit(src/%d/**)\"", k, k);
        buf_adds(&b, "],\"deny\":[\"Read(**/.env)\",\"Bash(git push:*)\"]}}\n");
    }
    char *answer = world_ask(b.data, b.len);
    assert_int_equal(count_lines(answer), 200);
    free(answer);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_odd_lines),
        cmocka_unit_test(test_id_is_given_back),
        cmocka_unit_test(test_answers_are_single_lines),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_huge_line),
        cmocka_unit_test(test_many_records_with_many_rules),
    };
    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
