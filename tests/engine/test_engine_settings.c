/* Settings files that change while a session runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "tools/tool.h"

struct set {
    struct rig r;
    char *dir, *file, *local;
};

static void
write_file(const char *file, const char *text)
{
    struct err err = {0};
    assert_true(fs_write_atomic(file, str_from(text), 0644, &err));
}

static void
begin(struct set *s, int calls, bool gated)
{
    struct err err = {0};
    rig_init(&s->r);
    for (int i = 0; i < calls; i++) {
        char id[8] = {'t', (char)('1' + i), 0};
        scripted_reply(s->r.script);
        if (gated)
            scripted_gate(s->r.script, 0);
        scripted_tool(s->r.script, id, "Edit",
                      gated ? "{\"name\":\"a\"}" : "{\"name\":\"a\",\"perm\":\"ask\"}");
        scripted_end(s->r.script, STOP_TOOL_USE);
    }
    scripted_reply(s->r.script);
    scripted_text(s->r.script, "done");
    scripted_end(s->r.script, STOP_END_TURN);
    s->dir = fs_join(s->r.root, ".yare");
    s->file = fs_join(s->dir, "settings.json");
    s->local = fs_join(s->dir, "settings.local.json");
    assert_true(fs_mkdirs(s->dir, 0755, &err));
}

static void
end(struct set *s)
{
    free(s->dir);
    free(s->file);
    free(s->local);
    rig_end(&s->r);
}

static void
say_yes(struct rig *r, enum perm_answer answer)
{
    rig_answer(r, rig_kind(r, EV_PERM_ASK)->u.ask.id, answer, NULL, NULL);
}

/* Half a file, as an editor or a full disk leaves it: the deny that stood there goes on. */
static void
test_a_broken_file_counts_as_it_was(void **state)
{
    (void)state;
    struct set s;
    begin(&s, 1, false);
    s.r.cfg.trusted = true;
    write_file(s.file, "{\"permissions\":{\"ask\":[\"Edit\"]}}");
    rig_start(&s.r);
    rig_post(&s.r, OP_SUBMIT, "go");
    const struct event *ask = rig_kind(&s.r, EV_PERM_ASK);
    write_file(s.file, "{\"permissions\":{\"deny\":[\"Edit\"]}}");
    rig_answer(&s.r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_tool(&s.r, "t1", PHASE_END, TOOL_DENIED);
    rig_result(&s.r);
    assert_int_equal(toys_runs(), 0);
    assert_int_equal(rig_told(&s.r, "settings.json"), 0);
    end(&s);
}

static void
test_a_broken_file_is_told_once(void **state)
{
    (void)state;
    struct set s;
    begin(&s, 3, false);
    write_file(s.file, "{\"permissions\":{\"deny\":[\"Write\",\"Read\"]}}");
    rig_start(&s.r);
    rig_post(&s.r, OP_SUBMIT, "go");
    const struct event *ask = rig_kind(&s.r, EV_PERM_ASK);
    write_file(s.file, "{\"permissions\":{\"deny\":[\"Wri");
    rig_answer(&s.r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    say_yes(&s.r, PERM_ANSWER_ONCE);
    ask = rig_kind(&s.r, EV_PERM_ASK);
    assert_int_equal(rig_told(&s.r, "it counts as it was"), 1);
    rig_post(&s.r, OP_COMMAND, "/permissions");
    const char *rules = rig_kind(&s.r, EV_NOTICE)->u.notice.text;
    assert_non_null(strstr(rules, "deny  Read")); /* the last good file's */
    assert_non_null(strstr(rules, "it counts as it was"));
    write_file(s.file, "{\"permissions\":{\"deny\":[\"Edit\"]}}");
    rig_answer(&s.r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_tool(&s.r, "t3", PHASE_END, TOOL_DENIED);
    rig_result(&s.r);
    assert_int_equal(rig_told(&s.r, "settings: "), 1);
    assert_int_equal(toys_runs(), 2);
    end(&s);
}

static void
test_always_keeps_what_was_edited_by_hand(void **state)
{
    (void)state;
    struct set s;
    begin(&s, 1, false);
    s.r.cfg.trusted = true;
    write_file(s.local, "{\"permissions\":{\"allow\":[\"Read(a)\"]}}");
    rig_start(&s.r);
    rig_post(&s.r, OP_SUBMIT, "go");
    const struct event *ask = rig_kind(&s.r, EV_PERM_ASK);
    write_file(s.local, "{\"theme\":\"mine\",\"permissions\":{\"allow\":[\"Read(b)\"]}}");
    rig_answer(&s.r, ask->u.ask.id, PERM_ANSWER_ALWAYS, NULL, NULL);
    rig_result(&s.r);
    struct buf text;
    struct err err = {0};
    buf_init(&text, BUF_MAX);
    assert_true(fs_read(s.local, BUF_MAX, &text, &err));
    assert_non_null(strstr(buf_cstr(&text), "\"theme\":\"mine\""));
    assert_non_null(strstr(buf_cstr(&text), "Read(b)"));
    assert_non_null(strstr(buf_cstr(&text), "Edit(*)"));
    assert_null(strstr(buf_cstr(&text), "Read(a)"));
    buf_release(&text);
    end(&s);
}

/* Nobody can answer in print mode; the files are read there all the same. */
static void
test_print_mode_reads_them_too(void **state)
{
    (void)state;
    struct set s;
    begin(&s, 1, true);
    s.r.cfg.interactive = false;
    s.r.cfg.print_mode = true;
    rig_start(&s.r);
    rig_post(&s.r, OP_SUBMIT, "go");
    rig_kind(&s.r, EV_TURN);
    write_file(s.file, "{\"permissions\":{\"deny\":[\"Edit\"]}}");
    scripted_open_gate(s.r.script, 0);
    rig_tool(&s.r, "t1", PHASE_END, TOOL_DENIED);
    rig_result(&s.r);
    assert_int_equal(toys_runs(), 0);
    end(&s);
}

static bool
offers(struct rig *r, size_t request, const char *tool)
{
    char *name = xasprintf("{\"name\":\"%s\"", tool);
    bool found = strstr(scripted_request(r->script, request)->tools, name) != NULL;
    free(name);
    return found;
}

/* A tool that a deny rule takes away as a whole is not offered; one that is denied while the session runs stays where it is, for
 * the cached prompt's sake, and its calls are denied. */
static void
test_denied_tools_are_not_offered(void **state)
{
    (void)state;
    static const char *const gone[] = {"Read", "Grep", "Glob", "WebFetch"};
    struct set s;
    begin(&s, 1, true);
    s.r.seams.tools_schema = tools_schema_write;
    write_file(s.file,
               "{\"permissions\":{\"deny\":[\"Read\",\"Web*\",\"mcp__*\",\"Bash(curl:*)\"]}}");
    rig_start(&s.r);
    rig_post(&s.r, OP_SUBMIT, "go");
    rig_kind(&s.r, EV_TURN);
    write_file(s.file, "{\"permissions\":{\"deny\":[\"Read\",\"Web*\",\"mcp__*\",\"Edit\"]}}");
    scripted_open_gate(s.r.script, 0);
    rig_tool(&s.r, "t1", PHASE_END, TOOL_DENIED);
    rig_result(&s.r);
    assert_int_equal(toys_runs(), 0);
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        assert_false(offers(&s.r, 0, gone[i]));
    assert_true(offers(&s.r, 0, "Bash"));
    assert_true(offers(&s.r, 1, "Edit"));
    assert_string_equal(scripted_request(s.r.script, 0)->tools,
                        scripted_request(s.r.script, 1)->tools);
    end(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_broken_file_counts_as_it_was),
        cmocka_unit_test(test_a_broken_file_is_told_once),
        cmocka_unit_test(test_always_keeps_what_was_edited_by_hand),
        cmocka_unit_test(test_print_mode_reads_them_too),
        cmocka_unit_test(test_denied_tools_are_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
