/* Questions to the audit log: each filter, times, order, and lines that are no entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit/temp_dir.h"

#include "engine/audit.h"
#include "engine/audit_query.h"

#define ENTRY(time, tool, who, decision, allowed, rest)                                            \
    "{\"time\":\"" time "\",\"session_id\":\"s1\",\"tool\":\"" tool                                \
    "\",\"what\":\"w\",\"who\":\"" who "\",\"decision\":\"" decision "\",\"allowed\":" allowed     \
    ",\"waited_ms\":1500" rest "}\n"

#define FINDINGS(findings) ",\"findings\":[" findings "]"
#define FINDING(layer, decision, rest)                                                             \
    "{\"layer\":\"" layer "\",\"decision\":\"" decision "\"," rest "}"

static const char *const log_lines[] = {
    ENTRY("2026-01-03T00:00:00.000Z", "Bash", "person", "ask", "true",
          FINDINGS(FINDING("L2", "ask", "\"reason\":\"no rule allows it\""))),
    ENTRY("2026-01-01T00:00:00.000Z", "Bash", "chain", "deny", "false",
          FINDINGS(FINDING("L5", "allow", "\"reason\":\"x\"") "," FINDING(
              "rules", "deny",
              "\"rule\":\"Bash(rm:*)\",\"file\":\"/s.json\",\"line\":7,\"reason\":\"y\""))),
    "this is no entry\n",
    ENTRY("2026-01-02T12:30:00.000Z", "Read", "chain", "allow", "true",
          ",\"effects\":[{\"kind\":\"read\",\"path\":\"/proj/lnk\",\"leads\":\"/srv/lib/x\"}]"),
    "{\"time\":\"2026-01-04T00:00:00.000Z\",\"tool\":\"torn",
};

static size_t
ask(struct audit_query *q)
{
    char *dir = temp_dir_make(), *file = fs_join(dir, "audit.jsonl");
    struct err err;
    struct buf text;
    buf_init(&text, BUF_MAX);
    for (size_t i = 0; i < ARRAY_LEN(log_lines); i++)
        buf_adds(&text, log_lines[i]);
    temp_file_write(dir, "audit.jsonl", buf_cstr(&text));
    buf_release(&text);
    if (!audit_query_read(q, file, "s1", &err))
        fail_msg("%s", err.text);
    audit_query_sort(q);
    free(file);
    temp_dir_remove(dir);
    return q->n;
}

static void
test_all_in_order(void **state)
{
    (void)state;
    struct audit_query q;
    audit_query_init(&q);
    assert_int_equal(ask(&q), 3);
    assert_int_equal(q.skipped, 2);
    assert_string_equal(q.rows[0].by, "rule Bash(rm:*) (/s.json:7)");
    assert_false(q.rows[0].allowed);
    assert_string_equal(q.rows[1].tool, "Read");
    assert_string_equal(q.rows[2].by, "L2: no rule allows it");
    assert_true(q.rows[2].asked && q.rows[2].allowed);
    assert_int_equal(q.rows[2].waited_ms, 1500);
    assert_int_equal(q.rows[1].raw[0], '{');
    audit_query_release(&q);
}

static void
test_filters(void **state)
{
    (void)state;
    static const struct {
        struct audit_query q;
        size_t want;
        const char *first; /* its time begins so */
    } cases[] = {
        {{.tool = "Bash"}, 2, "2026-01-01"},
        {{.tool = "Grep"}, 0, NULL},
        {{.who = "person"}, 1, "2026-01-03"},
        {{.outcome = AUDIT_DENIED}, 1, "2026-01-01"},
        {{.outcome = AUDIT_ALLOWED}, 2, "2026-01-02"},
        {{.outcome = AUDIT_ASKED}, 1, "2026-01-03"},
        {{.rule = "rm"}, 1, "2026-01-01"},
        {{.path = "/srv/lib"}, 1, "2026-01-02"},
        {{.path = "/proj/lnk"}, 1, "2026-01-02"},
        {{.path = "/srv/li"}, 0, NULL},
        {{.last = 1}, 1, "2026-01-03"},
        {{.last = 9}, 3, "2026-01-01"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct audit_query q = cases[i].q;
        assert_int_equal(ask(&q), cases[i].want);
        if (cases[i].first)
            assert_memory_equal(q.rows[0].time, cases[i].first, 10);
        audit_query_release(&q);
    }
}

/* Sessions are read newest first, as the list has them: what has no room any more is what is oldest by its time. */
static void
test_the_newest_are_kept(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "audit.jsonl");
    struct audit_query q;
    struct err err;
    struct buf text;
    audit_query_init(&q);
    q.room = 40;
    for (int session = 1; session >= 0; session--) {
        buf_init(&text, BUF_MAX);
        for (int i = 0; i < 60; i++)
            buf_addf(
                &text,
                "{\"time\":\"2026-02-0%dT00:%02d:00.000Z\",\"tool\":\"Bash\",\"what\":\"%d\"}\n",
                session + 1, i, i);
        temp_file_write(dir, "audit.jsonl", buf_cstr(&text));
        buf_release(&text);
        assert_true(audit_query_read(&q, file, session ? "new" : "old", &err));
        assert_true(q.n <= 46); /* never much more than the room */
    }
    audit_query_sort(&q);
    assert_int_equal(q.n, 40);
    assert_int_equal(q.dropped, 80);
    assert_int_equal(q.skipped, 0);
    for (size_t i = 0; i < q.n; i++) {
        assert_string_equal(q.rows[i].session, "new");
        assert_int_equal(atoi(q.rows[i].what), 20 + i);
    }
    audit_query_release(&q);
    free(file);
    temp_dir_remove(dir);
}

/* A hole of zeros, as a crash may leave: it is passed over without being held. */
static void
test_a_line_without_an_end_is_not_held(void **state)
{
    (void)state;
    enum { HOLE = 200 << 20 };
    char *dir = temp_dir_make(), *file = fs_join(dir, "audit.jsonl");
    struct audit_query q;
    struct err err;
    struct rusage before, after;
    audit_query_init(&q);
    temp_file_write(dir, "audit.jsonl", "");
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, HOLE), 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), HOLE);
    assert_true(write(fd, "\n", 1) == 1);
    assert_true(write(fd, log_lines[0], strlen(log_lines[0])) == (ssize_t)strlen(log_lines[0]));
    close(fd);
    getrusage(RUSAGE_SELF, &before);
    assert_true(audit_query_read(&q, file, "s1", &err));
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(q.n, 1);
    assert_int_equal(q.skipped, 1);
    assert_true(after.ru_maxrss - before.ru_maxrss < (HOLE >> 10) / 2); /* in kB */
    audit_query_release(&q);
    free(file);
    temp_dir_remove(dir);
}

/* What an allow hangs on is the layer that took the asks away, not a part that needed none. */
static void
test_what_decided(void **state)
{
    (void)state;
    static const char lines[] =
        ENTRY("2026-01-01T00:00:00.000Z", "Bash", "classifier", "allow", "true",
              FINDINGS(FINDING("L2", "allow", "\"reason\":\"reads\"") "," FINDING(
                  "L6", "allow", "\"reason\":\"harmless\"")))
            ENTRY("2026-01-02T00:00:00.000Z", "Bash", "chain", "allow", "true",
                  FINDINGS(FINDING("rules", "allow", "\"rule\":\"Bash(x)\"") "," FINDING(
                      "L8", "allow", "\"reason\":\"confined\"")))
                ENTRY("2026-01-03T00:00:00.000Z", "Bash", "edited", "ask", "false",
                      FINDINGS(FINDING("L2", "ask", "\"reason\":\"y\"")));
    char *dir = temp_dir_make(), *file = fs_join(dir, "audit.jsonl");
    struct err err;
    struct audit_query q = {.tool = "bash"}, denied = {.outcome = AUDIT_DENIED};
    temp_file_write(dir, "audit.jsonl", lines);
    assert_true(audit_query_read(&q, file, "s1", &err));
    assert_true(audit_query_read(&denied, file, "s1", &err));
    assert_int_equal(q.n, 3);
    assert_string_equal(q.rows[0].by, "L6: harmless");
    assert_string_equal(q.rows[1].by, "L8: confined");
    assert_true(q.rows[2].replaced);
    assert_int_equal(denied.n, 0);
    audit_query_release(&q);
    audit_query_release(&denied);
    free(file);
    temp_dir_remove(dir);
}

static void
test_times(void **state)
{
    (void)state;
    static const int64_t now = 1767355200000; /* 2026-01-02T12:00:00Z */
    static const struct {
        const char *text;
        int64_t want; /* 0: refused */
    } cases[] = {
        {"2h", now - 7200000},
        {"90s", now - 90000},
        {"7d", now - 604800000},
        {"2026-01-02", now - 43200000},
        {"2026-01-02T12:00", now},
        {"2026-01-02 12:00:01", now + 1000},
        {"2026-01-02T12:00:01.250Z", now + 1250},
        {"2026-13-02", 0},
        {"2026-01-02T25:00", 0},
        {"2026-01-02T-1:30", 0},
        {"2026-01-02T01:-1", 0},
        {"2026-01-02T01:00:-1", 0},
        {"2026-01-02x", 0},
        {"h", 0},
        {"-2h", 0},
        {"2y", 0},
        {"99999999999999999999h", 0},
        {"", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t got = 0;
        bool ok = audit_parse_time(cases[i].text, now, &got);
        if (ok != (cases[i].want != 0) || (ok && got != cases[i].want))
            fail_msg("'%s': %d %lld", cases[i].text, ok, (long long)got);
    }
    struct audit_query q;
    audit_query_init(&q);
    q.since_ms = now;
    q.until_ms = now + 3600000;
    assert_int_equal(ask(&q), 1);
    audit_query_release(&q);
}

/* What audit_append writes is found again, with its effects, and the file is nobody else's. */
static void
test_round_trip(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "side/audit.jsonl");
    struct decision d;
    struct err err;
    struct stat st;
    decision_init(&d);
    decision_add(&d, "rules", VERDICT_ALLOW, "Edit(src/**)", "a\n\x1b[2J", "an allow rule")->line =
        3;
    decision_add_effect(&d, "write", "/proj/a", "/proj/b");
    decision_add_effect(&d, "write", "/proj/a", "/proj/b");
    d.verdict = VERDICT_ALLOW;
    const struct audit_entry e = {.session_id = "s1",
                                  .tool_use_id = "t",
                                  .tool = "Edit",
                                  .what = "a",
                                  .who = "chain",
                                  .cwd = "/proj",
                                  .input = STR("{}"),
                                  .decision = &d,
                                  .allowed = true};
    for (int i = 0; i < 2; i++)
        if (!audit_append(file, &e, &err))
            fail_msg("%s", err.text);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct audit_query q;
    audit_query_init(&q);
    q.path = "/proj/b";
    q.rule = "Edit(";
    assert_true(audit_query_read(&q, file, "s1", &err));
    assert_int_equal(q.n, 2);
    assert_int_equal(d.n_effects, 1);
    assert_true(q.rows[0].time_ms > 0);
    audit_query_release(&q);
    decision_release(&d);
    free(file);
    temp_dir_remove(dir);
}

/* A full disk or a power cut leaves half a line: what is decided after that has a line of its own. */
static void
test_an_entry_behind_a_torn_line_is_found(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "audit.jsonl");
    struct decision d;
    struct err err;
    struct audit_query q;
    const struct audit_entry e = {
        .session_id = "s1", .tool = "Edit", .what = "a", .who = "chain", .decision = &d};
    decision_init(&d);
    temp_file_write(dir, "audit.jsonl", log_lines[ARRAY_LEN(log_lines) - 1]);
    assert_true(audit_append(file, &e, &err));
    audit_query_init(&q);
    assert_true(audit_query_read(&q, file, "s1", &err));
    assert_int_equal(q.n, 1);
    assert_int_equal(q.skipped, 1);
    audit_query_release(&q);
    decision_release(&d);
    free(file);
    temp_dir_remove(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_in_order),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_what_decided),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_the_newest_are_kept),
        cmocka_unit_test(test_a_line_without_an_end_is_not_held),
        cmocka_unit_test(test_an_entry_behind_a_torn_line_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
