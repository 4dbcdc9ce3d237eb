/* The sandbox through the whole engine: real commands, the real back end, a scripted model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/supervise.h"
#include "fakes/real.h"
#include "fakes/toys.h"
#include "perm/chain.h"
#include "perm/confine.h"
#include "perm/sandbox.h"
#include "tools/tool.h"

static char outside
    [128]; /* a file that is nobody's, and not in /tmp, of which there is another one inside */

static void
begin(struct rig *r, const char *sandbox, const char *settings)
{
    real_rig_init(r, sandbox, settings);
    snprintf(outside, sizeof outside, "/var/tmp/%s-outside", strrchr(r->dir, '/') + 1);
    if (!sandbox_probe()->bwrap)
        fail_msg("bubblewrap is needed: %s", sandbox_probe()->bwrap_why);
}

static void
call_as(struct rig *r, const char *id, const char *command, const char *more)
{
    char *input = xasprintf("{\"command\":\"%s\"%s}", command, more);
    rig_calls(r, id, "Bash", input);
    rig_says(r, "done");
    free(input);
}

static void
call(struct rig *r, const char *command, const char *more)
{
    call_as(r, "t1", command, more);
}

static void
finish(struct rig *r)
{
    unlink(outside);
    rig_end(r);
}

static const struct decision *
decided(struct rig *r)
{
    return &rig_kind(r, EV_PERM_DECIDED)->u.decided.decision;
}

static bool
says(const struct decision *d, const char *layer, const char *text)
{
    for (size_t i = 0; i < d->n_findings; i++)
        if (!strcmp(d->findings[i].layer, layer) && strstr(d->findings[i].reason, text))
            return true;
    return false;
}

static void
expect(const struct decision *d, const char *text)
{
    if (!says(d, "L8", text))
        fail_msg("no finding of L8 says '%s'", text);
}

#define WRITE(where) "sh -c 'd=" where "; echo x > $d'"

static void
runs_inside_unasked_and_is_told_why_it_failed(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, "auto", NULL);
    char *command = xasprintf(WRITE("%s"), outside);
    call(&r, command, "");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct decision *d = decided(&r);
    assert_int_equal(d->verdict, VERDICT_ALLOW);
    expect(d, "the sandbox confines it");
    expect(d, "it runs inside the sandbox (bwrap)");
    const struct event *e = rig_tool(&r, "t1", PHASE_END, TOOL_FAILED);
    if (!strstr(e->u.tool.summary, "by the sandbox") || !strstr(e->u.tool.output, "sandbox"))
        fail_msg("%s\n%s", e->u.tool.summary, e->u.tool.output);
    assert_false(fs_exists(outside));
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
    free(command);
    finish(&r);
}

static void
protected_files_still_ask(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, "bwrap", NULL);
    call(&r, "echo '{}' > .yare/settings.json", "");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_kind(&r, EV_PERM_ASK);
    expect(&e->u.ask.decision, "it would run inside the sandbox (bwrap)");
    rig_answer(&r, e->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    /* and after a yes the sandbox keeps them all the same */
    rig_tool(&r, "t1", PHASE_END, TOOL_FAILED);
    rig_result(&r);
    finish(&r);
}

static void
who_wants_out_asks_a_person(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, "bwrap", "{\"permissions\":{\"allow\":[\"Bash\"]}}");
    r.cfg.mode = PERM_BYPASS;
    r.cfg.bypass_allowed = true;
    char *command = xasprintf(WRITE("%s"), outside);
    call(&r, command, ",\"dangerouslyDisableSandbox\":true");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_kind(&r, EV_PERM_ASK);
    expect(&e->u.ask.decision, "only a person lets it");
    assert_int_equal(e->u.ask.decision.liftable_by, LIFT_PERSON);
    assert_false(fs_exists(outside));
    rig_answer(&r, e->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    expect(decided(&r), "it asked to, and a person let it");
    rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
    rig_result(&r);
    assert_true(fs_exists(outside));
    free(command);
    finish(&r);
}

static void
may_not_want_out(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, NULL, "{\"sandbox\":{\"enabled\":true,\"allowUnsandboxedCommands\":false}}");
    call(&r, "ls", ",\"dangerouslyDisableSandbox\":true");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect(decided(&r), "sandbox.allowUnsandboxedCommands is off");
    rig_tool(&r, "t1", PHASE_END, TOOL_DENIED);
    rig_result(&r);
    finish(&r);
}

/* Every part must be named: what hides behind an excluded command is not let out with it. */
static void
excluded_commands_run_outside(void **state)
{
    (void)state;
    static const char settings[] = "{\"sandbox\":{\"enabled\":true,\"excludedCommands\":[\"touch\"]"
                                   "},\"permissions\":{\"allow\":"
                                   "[\"Bash(touch:*)\",\"Bash(make:*)\"]}}";
    struct rig r;
    begin(&r, NULL, settings);
    call(&r, "touch a && pwd", "");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect(decided(&r), "sandbox.excludedCommands names it");
    rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
    rig_result(&r);
    finish(&r);

    begin(&r, NULL, settings);
    call(&r, "touch a && make check", "");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect(decided(&r), "it runs inside the sandbox");
    rig_tool(&r, "t1", PHASE_END, -1);
    rig_result(&r);
    finish(&r);
}

static void
nothing_set_confines_nothing(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, NULL, "{\"permissions\":{\"allow\":[\"Bash(sh:*)\"]}}");
    r.cfg.mode = PERM_BYPASS;
    r.cfg.bypass_allowed = true;
    char *command = xasprintf(WRITE("%s"), outside);
    call(&r, command, "");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect(decided(&r), "it confines what only the classifier lets through");
    rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
    rig_result(&r);
    assert_true(fs_exists(outside));
    free(command);
    finish(&r);
}

/* In auto mode nobody said yes: the wall is there, with nothing set. */
static void
what_the_classifier_lets_through_runs_inside(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, NULL, NULL);
    r.cfg.mode = PERM_AUTO;
    r.cfg.mode_given = true;
    char *command = xasprintf(WRITE("%s"), outside);
    call(&r, command, "");
    call_as(&r, "t2", command, ",\"dangerouslyDisableSandbox\":true");
    scripted_judge_says(r.script,
                        "{\"verdict\":\"allow\",\"confidence\":0.95,\"reason\":\"harmless\"}");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    expect(decided(&r), "it runs inside the sandbox (bwrap)");
    rig_tool(&r, "t1", PHASE_END, TOOL_FAILED);
    rig_result(&r);
    assert_false(fs_exists(outside));
    /* the way out is no matter of the classifier */
    rig_post(&r, OP_SUBMIT, "again");
    const struct event *e = rig_kind(&r, EV_PERM_ASK);
    expect(&e->u.ask.decision, "only a person lets it");
    rig_answer(&r, e->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    expect(decided(&r), "it confines what only the classifier lets through");
    rig_result(&r);
    assert_true(fs_exists(outside));
    assert_int_equal(scripted_judge_requests(r.script), 1);
    free(command);
    finish(&r);
}

/* From nothing set to on and off again, while the session runs; a person's own command is never inside. */
static void
is_switched_while_it_runs(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, NULL, NULL);
    call(&r, "make check", "");
    call_as(&r, "t2", "make test", "");
    rig_start(&r);
    rig_post(&r, OP_COMMAND, "/sandbox on");
    const struct event *e = rig_kind(&r, EV_NOTICE);
    assert_non_null(strstr(e->u.notice.text, "sandbox: on (/sandbox)"));
    rig_post(&r, OP_SUBMIT, "go");
    expect(decided(&r), "it runs inside the sandbox");
    rig_result(&r);
    rig_post(&r, OP_COMMAND, "/sandbox off");
    rig_post(&r, OP_SUBMIT, "again");
    e = rig_kind(&r, EV_PERM_ASK); /* nothing holds it: it asks as ever */
    rig_answer(&r, e->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    expect(decided(&r), "it was switched off (/sandbox)");
    rig_result(&r);
    finish(&r);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    confine_entry(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_inside_unasked_and_is_told_why_it_failed),
        cmocka_unit_test(protected_files_still_ask),
        cmocka_unit_test(who_wants_out_asks_a_person),
        cmocka_unit_test(may_not_want_out),
        cmocka_unit_test(excluded_commands_run_outside),
        cmocka_unit_test(nothing_set_confines_nothing),
        cmocka_unit_test(what_the_classifier_lets_through_runs_inside),
        cmocka_unit_test(is_switched_while_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
