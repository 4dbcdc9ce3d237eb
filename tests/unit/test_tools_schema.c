#include "unit/tool_bench.h"

static void
reject(const char *tool, const char *json, const char *why)
{
    struct err err = {.text = ""};
    struct cJSON *input = json_parse(str_from(json), &err);

    assert_non_null(input);
    if (tool_validate(tool_find(str_from(tool)), input, &err))
        fail_msg("%s accepted %s", tool, json);
    assert_string_equal(err.text, why);
    json_free(input);
}

static void
accept(const char *tool, const char *json)
{
    struct err err = {.text = ""};
    struct cJSON *input = json_parse(str_from(json), &err);

    assert_non_null(input);
    if (!tool_validate(tool_find(str_from(tool)), input, &err))
        fail_msg("%s refused %s: %s", tool, json, err.text);
    json_free(input);
}

static void
test_validate(void **state)
{
    (void)state;
    reject("Edit", "{\"file_path\":\"f\",\"new_string\":\"x\"}", "Edit: 'old_string' is required");
    reject("Edit", "{\"file_path\":\"f\",\"old_string\":null,\"new_string\":\"x\"}",
           "Edit: 'old_string' is required");
    reject("Edit", "{\"file_path\":5,\"old_string\":\"a\",\"new_string\":\"x\"}",
           "Edit: 'file_path' must be a string, not a number");
    reject("Read", "{\"file_path\":\"f\",\"lines\":3}",
           "Read: 'lines' is not a known parameter (known: file_path, offset, limit, pages)");
    reject("Read", "{\"file_path\":\"f\",\"limit\":0}", "Read: 'limit' must be at least 1");
    reject("Read", "{\"file_path\":\"f\",\"limit\":1.5}",
           "Read: 'limit' must be a whole number, not a number");
    reject("Read", "{\"file_path\":\"f\",\"limit\":\"many\"}",
           "Read: 'limit' must be a whole number, not a string");
    reject("Read", "[]", "Read: the input must be a JSON object, not an array");
    reject("Grep", "{\"pattern\":\"x\",\"output_mode\":\"lines\"}",
           "Grep: 'output_mode' must be one of content, files_with_matches, count");
    reject("Bash", "{\"command\":\"x\",\"run_in_background\":\"maybe\"}",
           "Bash: 'run_in_background' must be true or false, not a string");
    reject("TodoWrite",
           "{\"todos\":[{\"content\":\"a\",\"status\":\"done\",\"activeForm\":\"b\"}]}",
           "TodoWrite: 'todos[0].status' must be one of pending, in_progress, completed");
    reject("TodoWrite", "{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}",
           "TodoWrite: 'todos[0].activeForm' is required");
    reject("TodoWrite", "{\"todos\":\"none\"}",
           "TodoWrite: 'todos' must be an array, not a string");
    accept("Read", "{\"file_path\":\"f\",\"limit\":\"5\",\"offset\":2.0,\"pages\":null}");
    accept("Bash", "{\"command\":\"x\",\"run_in_background\":\"true\",\"timeout\":\"5000\"}");
    accept("TodoWrite", "{\"todos\":\"[{\\\"content\\\":\\\"a\\\",\\\"status\\\":\\\"pending\\\","
                        "\\\"activeForm\\\":\\\"b\\\"}]\"}");
}

static void
test_write(void **state)
{
    (void)state;
    struct buf a, c, one;
    const char *denied[] = {"Bash", "Grep", NULL};
    struct err err;

    buf_init(&a, BUF_MAX);
    buf_init(&c, BUF_MAX);
    buf_init(&one, BUF_MAX);
    tools_schema_write(NULL, &a);
    tools_schema_write(NULL, &c);
    assert_string_equal(buf_cstr(&a), buf_cstr(&c));
    assert_true(a.len < 12000);
    struct cJSON *tree = json_parse(buf_str(&a), &err);
    assert_int_equal(json_len(tree), 9);
    for (const struct cJSON *t = json_first(tree); t; t = json_next(t)) {
        assert_string_equal(json_cstr(t, "input_schema.type", ""), "object");
        assert_true(strlen(json_cstr(t, "description", "")) > 50);
    }
    json_free(tree);
    buf_clear(&c);
    tools_schema_write(denied, &c);
    assert_null(strstr(buf_cstr(&c), "\"Bash\""));
    assert_has(buf_cstr(&c), "\"Read\"");
    tool_schema_write(tool_find(STR("Glob")), &one);
    assert_has(buf_cstr(&one),
               "\"input_schema\":{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":");
    buf_release(&a);
    buf_release(&c);
    buf_release(&one);
}

static void
test_find(void **state)
{
    (void)state;
    assert_null(tool_find(STR("bash")));
    assert_null(tool_find(STR("")));
    assert_string_equal(tool_find(STR("Bash"))->name, "Bash");
    assert_true(tool_find(STR("Grep"))->flags & TOOL_READ_ONLY);
    size_t n = 0;
    while (tool_at(n))
        n++;
    assert_int_equal(n, 9);
}

static void
note_todos(void *user, const char *json)
{
    buf_adds(user, json);
}

static void
test_todo(void **state)
{
    (void)state;
    struct bench b;
    struct buf seen;
    struct tool_host host = {.user = &seen, .todos = note_todos};

    bench_init(&b);
    buf_init(&seen, BUF_MAX);
    b.ctx.host = &host;
    assert_has(bench_run(&b, "TodoWrite",
                         "{'todos':[{'content':'a','status':'completed','activeForm':'b'}]}"),
               "modified successfully");
    assert_string_equal(buf_cstr(&seen),
                        "[{\"content\":\"a\",\"status\":\"completed\",\"activeForm\":\"b\"}]");
    assert_string_equal(b.r.summary, "1 of 1 done");
    buf_clear(&seen);
#define DOING "{'content':'a','status':'in_progress','activeForm':'b'}"
    assert_null(strstr(bench_run(&b, "TodoWrite", "{'todos':[" DOING "]}"), "one at a time"));
    assert_has(bench_run(&b, "TodoWrite", "{'todos':[" DOING "," DOING "]}"),
               "2 tasks are in_progress: keep to one at a time.");
    buf_clear(&seen);
    bench_run(&b, "TodoWrite", "{'todos':[]}");
    assert_string_equal(buf_cstr(&seen), "[]");
    b.ctx.host = NULL;
    bench_run(&b, "TodoWrite", "{'todos':[]}");
    assert_false(b.r.is_error);
    buf_release(&seen);
    bench_release(&b);
}

static void
test_cap(void **state)
{
    (void)state;
    struct bench b;
    struct buf full;
    struct err err;

    bench_init(&b);
    for (int i = 0; i < 1000; i++)
        buf_addf(&b.r.text, "é line %d\n", i);
    buf_init(&full, BUF_MAX);
    buf_add_str(&full, buf_str(&b.r.text));
    tool_result_cap(&b.ctx, &b.r, 50000);
    assert_string_equal(buf_cstr(&b.r.text), buf_cstr(&full));
    tool_result_cap(&b.ctx, &b.r, 2000);
    assert_true(b.r.text.len < 2000);
    assert_non_null(b.r.spill_path);
    assert_has(buf_cstr(&b.r.text), b.r.spill_path);
    assert_has(buf_cstr(&b.r.text), "é line 0\n");
    assert_has(buf_cstr(&b.r.text), "é line 999\n");
    struct buf kept;
    struct stat st;
    buf_init(&kept, BUF_MAX);
    assert_true(fs_read(b.r.spill_path, BUF_MAX, &kept, &err));
    assert_string_equal(buf_cstr(&kept), buf_cstr(&full));
    assert_int_equal(stat(b.r.spill_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(b.spill, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    buf_release(&kept);
    buf_release(&full);
    bench_release(&b);
}

static void
test_describe(void **state)
{
    (void)state;
    struct err err;
    struct buf out;
    static const char *const rows[][3] = {
        {"Bash", "{\"command\":\"make\\nls\"}", "make ..."},
        {"Read", "{\"file_path\":\"/p/src/a.c\",\"offset\":5,\"limit\":2}", "src/a.c:5-6"},
        {"Edit", "{\"file_path\":\"/q/a.c\"}", "/q/a.c"},
        {"Glob", "{\"pattern\":\"*.c\",\"path\":\"/p/src\"}", "*.c in src"},
        {"Grep", "{\"pattern\":\"x y\",\"glob\":\"*.h\"}", "x y (*.h)"},
        {"TodoWrite", "{\"todos\":[{},{}]}", "2 todos"},
        {"Write", "{}", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cJSON *input = json_parse(str_from(rows[i][1]), &err);
        buf_init(&out, BUF_MAX);
        tool_find(str_from(rows[i][0]))->describe(input, "/p", &out);
        assert_string_equal(buf_cstr(&out), rows[i][2]);
        buf_release(&out);
        json_free(input);
    }
}

/* What a person is asked about must never be an empty line because it was long. */
static void
test_describe_long(void **state)
{
    (void)state;
    struct err err;
    struct buf json;
    buf_init(&json, BUF_MAX);
    buf_adds(&json, "{\"command\":\"make ");
    for (int i = 0; i < 5000; i++)
        buf_adds(&json, "\xC3\xA4");
    buf_adds(&json, "\"}");
    struct cJSON *input = json_parse(buf_str(&json), &err);
    char *line = tool_describe(tool_find(STR("Bash")), input, "/p");
    assert_true(str_starts(str_from(line), "make \xC3\xA4"));
    assert_true(str_ends(str_from(line), "\xC3\xA4 ..."));
    assert_true(strlen(line) <= 4004);
    free(line);
    line = tool_describe(NULL, input, "/p");
    assert_string_equal(line, "");
    free(line);
    json_free(input);
    buf_release(&json);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate),      cmocka_unit_test(test_write),
        cmocka_unit_test(test_find),          cmocka_unit_test(test_todo),
        cmocka_unit_test(test_cap),           cmocka_unit_test(test_describe),
        cmocka_unit_test(test_describe_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
