/*
 * The prompt cache over a long session, against a server that computes what a real one would have kept (tests/fakes/prompt_cache.py): fifty
 * turns a minute apart, each with a file of 2 kB, AFK toggled ten times, a mode change, files edited under the session, a turn of
 * fifty blocks, and a fallback to another model. Every request extends the one before byte for byte (the server refuses it else), every
 * break of the cache is explained, and nearly all of the input is read from it.
 */
#include "engine/wire_rig.h"

#define TURNS 50
#define WIDE_TURN 35 /* calls so many tools that the cache is further back than the server looks */
#define WIDE_CALLS 25
#define FALLBACK_TURN 40
#define MODEL "claude-sonnet-5-5"
#define FALLBACK "claude-haiku-4-5"

static char *
file_of(const struct session *s, int turn)
{
    char *name = xasprintf("file-%02d.txt", turn), *path = fs_join(s->r.root, name);
    free(name);
    return path;
}

static void
write_file(const struct session *s, int turn, const char *word)
{
    struct buf b;
    char *path = file_of(s, turn);
    buf_init(&b, BUF_MAX);
    for (int i = 0; b.len < 2000; i++)
        buf_addf(&b, "%s of file %d, line %d\n", word, turn, i);
    assert_true(fs_write_atomic(path, buf_str(&b), 0600, NULL));
    buf_release(&b);
    free(path);
}

static void
add_read(struct buf *b, const struct session *s, int turn, const char *comma)
{
    char *path = file_of(s, turn);
    buf_addf(b, "%s{\"tool_use\":{\"name\":\"Read\",\"input\":{\"file_path\":\"%s\"}}}", comma,
             path);
    free(path);
}

/* Turn n reads file n, then the model says so. */
static void
write_script(const struct session *s, struct buf *b)
{
    buf_adds(b, "{\"cache\":{\"life_s\":300,\"tick_s\":30,\"min_tokens\":1024},"
                "\"responses\":[[{\"text\":\"unexpected\"}]],\"match\":[");
    buf_addf(b,
             "{\"if\":\"of file %d, line 3\",\"tool_result\":true,\"model\":\"" MODEL
             "\",\"again\":true,"
             "\"then\":[{\"status\":529,\"body\":{\"type\":\"error\",\"error\":{\"type\":"
             "\"overloaded_error\",\"message\":\"Overloaded\"}}}]},",
             FALLBACK_TURN);
    for (int i = 1; i <= TURNS; i++) {
        buf_addf(b, "{\"text\":\"turn %d.\",\"tool_result\":false,\"then\":[", i);
        add_read(b, s, i, "");
        for (int k = 1; i == WIDE_TURN && k < WIDE_CALLS; k++)
            add_read(b, s, k, ",");
        buf_adds(b, "]},");
    }
    buf_adds(b,
             "{\"tool_result\":true,\"again\":true,\"then\":[{\"text\":\"I have read it.\"}]}]}");
}

static void
begin(struct session *s, void (*script)(const struct session *s, struct buf *b))
{
    struct buf b;
    memset(s, 0, sizeof *s);
    rig_init(&s->r);
    for (int i = 1; i <= TURNS; i++)
        write_file(s, i, "a word");
    buf_init(&b, BUF_MAX);
    script(s, &b);
    serve(s, MODEL, buf_cstr(&b));
    buf_release(&b);
    s->r.cfg.fallback_model = FALLBACK;
    s->r.cfg.max_retries = 1;
    start_engine(s);
}

static void
set_mode(struct session *s, enum perm_mode mode)
{
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = mode;
    engine_post(s->r.e, op);
}

static void
run_turn(struct session *s, int turn)
{
    char *text = xasprintf("turn %d.", turn);
    rig_post(&s->r, OP_SUBMIT, text);
    const struct event *e = rig_result(&s->r);
    if (e->u.result.exit_code != 0 || strcmp(e->u.result.text, "I have read it.") != 0)
        fail_msg("turn %d: %s %s %s", turn, e->u.result.exit, e->u.result.text,
                 e->u.result.errors ? e->u.result.errors : "");
    free(text);
}

/* Sums of what the server said, and in how many requests of the conversation it did not find all that the one before had left. */
static void
check_log(const struct session *s, int64_t sums[3], size_t *ret_n, size_t *ret_beside,
          size_t *ret_short)
{
    char *path = fs_join(s->srv.dir, "log.jsonl");
    int64_t last_top = 0;
    struct buf text;
    struct str rest, line;
    buf_init(&text, (size_t)256 << 20);
    assert_true(fs_read(path, (size_t)256 << 20, &text, NULL));
    rest = buf_str(&text);
    *ret_n = *ret_beside = *ret_short = 0;
    while (str_split(&rest, '\n', &line)) {
        struct cJSON *t = line.len ? json_parse(line, NULL) : NULL;
        if (!t || !json_bool(t, "cache.asked", false)) { /* answered with a status */
            json_free(t);
            continue;
        }
        assert_true(json_is_null(json_at(t, "illegal")));
        int64_t read = json_int(t, "cache.read", 0), write = json_int(t, "cache.write", 0);
        sums[0] += json_int(t, "cache.input", 0);
        sums[1] += read;
        sums[2] += write;
        if (json_len(json_at(t, "body.tools"))) { /* no call beside the loop */
            *ret_short += read < last_top;
            last_top = read + write;
            ++*ret_n;
        } else {
            ++*ret_beside;
        }
        json_free(t);
    }
    buf_release(&text);
    free(path);
}

/* What the events said. */
struct seen {
    size_t breaks, afk, model, edits;
    int64_t input, output, read, write;
    double cost;
};

static void
see(const struct event *e, struct seen *ret)
{
    if (e->kind == EV_CACHE_BREAK) {
        ret->breaks++;
        ret->afk += strcmp(e->u.cache_break.reason, "beta header afk-mode-2026-01-31 is new") == 0;
        ret->model += strncmp(e->u.cache_break.reason, "the model was changed to ", 25) == 0;
        ret->cost += e->u.cache_break.cost_usd;
        print_message("break in turn %lld: %lld tokens, $%.4f: %s\n",
                      (long long)e->u.cache_break.turn, (long long)e->u.cache_break.tokens,
                      e->u.cache_break.cost_usd, e->u.cache_break.reason);
    }
    if (e->kind == EV_USAGE) {
        ret->input = e->u.usage.input;
        ret->output = e->u.usage.output;
        ret->read = e->u.usage.cache_read;
        ret->write = e->u.usage.cache_write;
    }
    ret->edits += e->kind == EV_USER && e->u.user.hidden && e->u.user.text &&
                  strstr(e->u.user.text, "another word") != NULL;
}

static bool
has_counted(const struct event *e, const void *arg)
{
    const int64_t *sums = arg;
    return e->kind == EV_USAGE && e->u.usage.input == sums[0] && e->u.usage.cache_read == sums[1] &&
           e->u.usage.cache_write == sums[2];
}

static void
test_fifty_turns(void **state)
{
    (void)state;
    struct session s;
    begin(&s, write_script);
    rig_stop(&s.r);
    s.r.cfg.cli_settings =
        "{\"toolSummary\":true}"; /* a call beside the wide turn, most often too late */
    start_engine(&s);
    for (int turn = 1; turn <= TURNS; turn++) {
        if (turn >= 5 && turn < 15) /* ten times to and fro */
            set_mode(&s, turn % 2 ? PERM_AUTO : PERM_DEFAULT);
        if (turn == 20)
            set_mode(&s, PERM_ACCEPT_EDITS);
        if (turn == 18 || turn == 28)
            write_file(&s, turn - 10, "another word");
        run_turn(&s, turn);
    }
    struct seen seen = {0};
    for (size_t i = 0; i < s.r.n; i++)
        see(s.r.ev[i], &seen);
    int64_t sums[3] = {0};
    size_t requests, beside, not_found;
    check_log(&s, sums, &requests, &beside, &not_found);
    assert_int_equal(beside, 1);
    if (seen.input != sums[0]) /* a call beside the loop is counted when it ends */
        see(rig_until(&s.r, has_counted, sums), &seen);
    double share = 100.0 * (double)seen.read / (double)(seen.input + seen.read + seen.write);
    print_message("%zu requests, %lld tokens of input: %.2f %% read from the cache, %lld written\n",
                  requests, (long long)(seen.input + seen.read + seen.write), share,
                  (long long)seen.write);
    assert_int_equal(seen.edits, 2);
    assert_int_equal(seen.afk, 1);
    assert_true(seen.model >= 1);
    assert_int_equal(seen.breaks, seen.afk + seen.model);
    assert_int_equal(not_found, seen.breaks); /* nothing else was lost, the wide turn included */
    assert_true(seen.cost > 0);
    assert_true(share >= 95);
    /* the meter is the sum of what the server said */
    assert_int_equal(seen.read, sums[1]);
    assert_int_equal(seen.write, sums[2]);
    assert_int_equal(seen.input, sums[0]);
    assert_int_equal(seen.output, 20 * (requests + beside)); /* as the server says of each */
    end_wire(&s);
}

/* ---- latches ---- */

static void
three_words(const struct session *s, struct buf *b)
{
    (void)s;
    buf_adds(b, "{\"responses\":[[{\"text\":\"I have read it.\"}]]}");
}

static void
refuses_the_beta(const struct session *s, struct buf *b)
{
    (void)s;
    buf_adds(b,
             "{\"responses\":[[{\"text\":\"I have read it.\"}],[{\"status\":400,\"body\":{\"type\":"
             "\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Unexpected "
             "value(s) `afk-mode-2026-01-31` for the `anthropic-beta` header.\"}}}],[{\"text\":"
             "\"I have read it.\"}]]}");
}

static void
expect_beta(const struct session *s, size_t request, const char *beta)
{
    struct cJSON *t = wire_server_logged(&s->srv, request);
    assert_non_null(t);
    assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), beta);
    json_free(t);
}

static void
clear(struct session *s)
{
    rig_post(&s->r, OP_COMMAND, "/clear");
    rig_kind(&s->r, EV_SESSION);
}

static void
test_a_latch_stays_until_clear(void **state)
{
    (void)state;
    struct session s;
    begin(&s, three_words);
    run_turn(&s, 1);
    set_mode(&s, PERM_AUTO);
    run_turn(&s, 2);
    set_mode(&s, PERM_DEFAULT);
    run_turn(&s, 3);
    clear(&s);
    run_turn(&s, 4);
    expect_beta(&s, 0, "");
    expect_beta(&s, 1, "afk-mode-2026-01-31");
    expect_beta(&s, 2, "afk-mode-2026-01-31");
    expect_beta(&s, 3, "");
    end_wire(&s);
}

static void
test_a_refused_beta_is_not_sent_again(void **state)
{
    (void)state;
    struct session s;
    begin(&s, refuses_the_beta);
    run_turn(&s, 1);
    set_mode(&s, PERM_AUTO);
    run_turn(&s, 2);
    run_turn(&s, 3);
    expect_beta(&s, 1, "afk-mode-2026-01-31");
    expect_beta(&s, 2, "");
    expect_beta(&s, 3, "");
    struct op *op = op_new(OP_QUERY, NULL);
    op->query = QUERY_STATE;
    op->seq = 7;
    engine_post(s.r.e, op);
    const struct event *e = rig_kind(&s.r, EV_ANSWER);
    assert_non_null(strstr(e->u.answer.json, "\"afk\":true"));
    assert_non_null(strstr(e->u.answer.json, "\"refused\":[\"afk\"]"));
    end_wire(&s);
}

static void
test_a_resumed_session_sends_what_it_sent(void **state)
{
    (void)state;
    struct session s;
    begin(&s, three_words);
    set_mode(&s, PERM_AUTO); /* before the journal is there */
    run_turn(&s, 1);
    set_mode(&s, PERM_DEFAULT);
    run_turn(&s, 2);
    char *id = xstrdup(engine_session_id(s.r.e));
    rig_stop(&s.r);
    s.r.cfg.resume_id = id;
    start_engine(&s);
    run_turn(&s, 3);
    expect_beta(&s, 0, "afk-mode-2026-01-31");
    expect_beta(&s, 2, "afk-mode-2026-01-31");
    free(id);
    end_wire(&s);
}

/* ---- the same bytes ---- */

/* Two sessions of one project, in two processes' worth of state: tools and the static prompt are the same bytes, keys in the same order. */
static void
test_tools_and_prompt_have_one_form(void **state)
{
    (void)state;
    struct session s;
    begin(&s, three_words);
    run_turn(&s, 1);
    clear(&s);
    run_turn(&s, 2);
    struct cJSON *one = wire_server_logged(&s.srv, 0), *two = wire_server_logged(&s.srv, 1);
    static const char *const parts[] = {"body.tools", "body.system.0", "body.system.1"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct buf a, b;
        buf_init(&a, BUF_MAX);
        buf_init(&b, BUF_MAX);
        assert_non_null(json_at(one, parts[i]));
        json_print(json_at(one, parts[i]), &a);
        json_print(json_at(two, parts[i]), &b);
        assert_true(str_eq(buf_str(&a), buf_str(&b)));
        buf_release(&a);
        buf_release(&b);
    }
    const struct cJSON *t = json_first(json_at(one, "body.tools"));
    static const char *const keys[] = {"name", "description", "input_schema"};
    for (; t; t = json_next(t)) {
        size_t i = 0;
        for (const struct cJSON *k = json_first(t); k; k = json_next(k))
            assert_string_equal(json_key(k), keys[i++]);
        assert_int_equal(i, 3);
    }
    json_free(one);
    json_free(two);
    end_wire(&s);
}

/* A prompt of the person's own keeps the four segments apart: what is theirs may be shared, what is the session's stands behind it. */
static void
test_an_own_prompt_keeps_the_breakpoints(void **state)
{
    (void)state;
    struct session s;
    begin(&s, three_words);
    rig_stop(&s.r);
    s.r.cfg.system_prompt = "MINE";
    s.r.cfg.append_system_prompt = "APPENDED";
    start_engine(&s);
    run_turn(&s, 1);
    run_turn(&s, 2);
    struct cJSON *t = wire_server_logged(&s.srv, 1);
    size_t marks = 0, n = json_len(json_at(t, "body.system"));
    for (const struct cJSON *k = json_first(json_at(t, "body.system")); k; k = json_next(k))
        marks += json_get(k, "cache_control") != NULL;
    assert_int_equal(marks, 2);
    assert_int_equal(n, 3);
    assert_string_equal(json_cstr(t, "body.system.1.text", ""), "MINE");
    assert_non_null(json_at(t, "body.system.1.cache_control"));
    assert_non_null(strstr(json_cstr(t, "body.system.2.text", ""), "APPENDED"));
    assert_non_null(json_at(t, "body.system.2.cache_control"));
    json_free(t);
    end_wire(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fifty_turns),
        cmocka_unit_test(test_a_latch_stays_until_clear),
        cmocka_unit_test(test_a_refused_beta_is_not_sent_again),
        cmocka_unit_test(test_a_resumed_session_sends_what_it_sent),
        cmocka_unit_test(test_tools_and_prompt_have_one_form),
        cmocka_unit_test(test_an_own_prompt_keeps_the_breakpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
