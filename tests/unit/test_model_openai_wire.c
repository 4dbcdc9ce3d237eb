/* The chat completions client against the loopback server: a real socket, real HTTP, scripted answers. */
#include "unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/http.h"
#include "base/json.h"
#include "model/provider.h"
#include "model/server.h"
#include "unit/wire_server.h"

static const char tools[] =
    "[{\"name\":\"Read\",\"description\":\"reads\",\"input_schema\":{\"type\":\"object\","
    "\"properties\":{\"file_path\":{\"type\":\"string\"}}}},"
    "{\"name\":\"Bash\",\"description\":\"runs\",\"input_schema\":{\"type\":\"object\","
    "\"properties\":{\"command\":{\"type\":\"string\"}}}}]";
static const struct str be_brief = {"be brief", 8};

static struct model_provider *
provider_with(const struct wire_server *s, struct openai_config c)
{
    char *url = xasprintf("http://127.0.0.1:%d/v1/", s->port);
    c.base_url = url;
    struct model_provider *p = openai_provider_new(&c);
    free(url);
    return p;
}

static struct model_provider *
provider(const struct wire_server *s)
{
    return provider_with(s, (struct openai_config){.api_key = "k"});
}

static struct message *
say(enum role role, const char *text)
{
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    return message_build(b);
}

static struct model_request
request(struct message *const *m, size_t n)
{
    return (struct model_request){.model = "m1",
                                  .max_tokens = 100,
                                  .system = &be_brief,
                                  .n_system = 1,
                                  .tools = {tools, sizeof tools - 1},
                                  .messages = (const struct message *const *)m,
                                  .n_messages = n,
                                  .system_break = {SIZE_MAX, SIZE_MAX},
                                  .message_break = {SIZE_MAX, SIZE_MAX}};
}

struct answer {
    struct stream_blocks *blocks;
    enum model_step step;
    struct err err;
    char request_id[64];
};

static struct answer
ask(struct model_provider *p, struct message *const *m, size_t n)
{
    struct model_request req = request(m, n);
    struct answer a = {.blocks = stream_blocks_new()};
    struct delta d;
    struct model_stream *s = p->start(p->self, &req, &a.err);
    if (!s)
        fail_msg("%s", a.err.text);
    while ((a.step = model_stream_next(s, -1, 20000, &d, &a.err)) == MODEL_DELTA)
        stream_blocks_apply(a.blocks, &d);
    memcpy(a.request_id, s->request_id, sizeof a.request_id);
    model_stream_free(s);
    return a;
}

static size_t
complete_calls(const struct stream_blocks *b)
{
    size_t n = 0;
    for (size_t i = 0; i < stream_blocks_len(b); i++)
        n += stream_blocks_at(b, i)->kind == BLOCK_TOOL_USE && stream_blocks_at(b, i)->complete;
    return n;
}

/* ---- whole answers ---- */

static const char whole[] =
    "{\"responses\":[[{\"usage\":{\"input_tokens\":11,\"output_tokens\":22,\"cache_read_input_"
    "tokens\":33}},{\"thinking\":\"hm, let me see\"},{\"ping\":true},"
    "{\"text\":\"Caf\\u00e9 \\ud83d\\ude00 **x**\"},"
    "{\"tool_use\":{\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"ls -la\"}}},"
    "{\"tool_use\":{\"id\":\"t2\",\"name\":\"Read\",\"input\":{\"file_path\":\"a\"}}}]]}";

static void
a_whole_answer(void **state)
{
    static const char *const dribbles[] = {"0", "1", "7"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(dribbles); i++) {
        struct wire_server srv;
        wire_server_start(&srv, whole, dribbles[i]);
        struct message *m = say(ROLE_USER, "hello");
        struct model_provider *p = provider(&srv);
        struct answer a = ask(p, &m, 1);
        if (a.step != MODEL_DONE)
            fail_msg("%s", a.err.text);
        struct message *got = stream_blocks_message(a.blocks, "m", false);
        assert_string_equal(got->json.ptr,
                            "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
                            "\"Caf\xC3\xA9 \xF0\x9F\x98\x80 **x**\"},{\"type\":\"tool_use\","
                            "\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\": \"ls -la\"}},"
                            "{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"Read\",\"input\":"
                            "{\"file_path\": \"a\"}}]}");
        assert_true(str_is(stream_blocks_at(a.blocks, 0)->text, "hm, let me see"));
        assert_int_equal(stream_blocks_stop(a.blocks), STOP_TOOL_USE);
        assert_int_equal(stream_blocks_usage(a.blocks)->input, 11);
        assert_int_equal(stream_blocks_usage(a.blocks)->output, 22);
        assert_int_equal(stream_blocks_usage(a.blocks)->cache_read, 33);
        assert_false(stream_blocks_usage(a.blocks)->estimated);
        assert_string_equal(a.request_id, "req_1");
        assert_true(str_is(stream_blocks_message_id(a.blocks), "chatcmpl-1"));
        message_free(got);
        stream_blocks_free(a.blocks);
        model_provider_free(p);
        message_free(m);
        wire_server_stop(&srv);
    }
}

/* Who follows a partial answer gets the events of the other wire, each before its delta. */
static void
raw_events(void **state)
{
    static const char *const want[] = {
        "{\"type\":\"message_start\",\"message\":{\"id\":\"chatcmpl-1\",",
        "{\"type\":\"ping\"}",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
        "\"text\":"
        "\"\"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
        "\"hi\"}}",
        "{\"type\":\"content_block_stop\",\"index\":0}",
        "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\","
        "\"id\":\"c1\",\"name\":\"Bash\",\"input\":{}}}",
        "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
        "\"partial_json\":\"{\\\"a\\\": 1}\"}}",
        "{\"type\":\"content_block_stop\",\"index\":1}",
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":"
        "null},\"usage\":{\"input_tokens\":100,\"output_tokens\":20,",
        "{\"type\":\"message_stop\"}",
    };
    struct wire_server srv;
    struct err err = {0};
    struct delta d;
    size_t n = 0;
    (void)state;
    wire_server_start(&srv,
                      "{\"responses\":[[{\"text\":\"hi\"},{\"tool_use\":{\"id\":\"c1\",\"name\":"
                      "\"Bash\",\"input\":{\"a\":1}}}]]}",
                      "0");
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    struct model_request req = request(&m, 1);
    struct model_stream *s = p->start(p->self, &req, &err);
    enum delta_kind before = DELTA_RAW;
    while (model_stream_next(s, -1, 20000, &d, &err) == MODEL_DELTA) {
        assert_true(d.kind == DELTA_RAW || before == DELTA_RAW);
        before = d.kind;
        if (d.kind != DELTA_RAW || (str_contains(d.text, STR("\"ping\"")) && n != 1))
            continue;
        char *text = str_dup(d.text);
        if (n >= ARRAY_LEN(want) || !strstr(text, want[n]))
            fail_msg("event %zu: %s", n, text);
        free(text);
        n++;
    }
    assert_int_equal(n, ARRAY_LEN(want));
    model_stream_free(s);
    model_provider_free(p);
    message_free(m);
    wire_server_stop(&srv);
}

/* No count from the server: an estimate that says it is one. */
static void
usage_is_estimated(void **state)
{
    struct wire_server srv;
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"usage\":null},{\"text\":\"some words\"}]]}", "0");
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    struct answer a = ask(p, &m, 1);
    assert_int_equal(a.step, MODEL_DONE);
    assert_true(stream_blocks_usage(a.blocks)->estimated);
    assert_true(stream_blocks_usage(a.blocks)->input > 50);
    assert_true(stream_blocks_usage(a.blocks)->output > 0);
    stream_blocks_free(a.blocks);
    model_provider_free(p);
    message_free(m);
    wire_server_stop(&srv);
}

/* Whatever it calls its bytes, and if it leaves the connection open behind the end. */
static void
other_forms(void **state)
{
    static const char *const scripts[] = {
        "{\"responses\":[[{\"content_type\":\"text/plain\"},{\"text\":\"fine\"}]]}",
        "{\"responses\":[[{\"status\":200,\"body\":{\"choices\":[{\"message\":{\"content\":"
        "\"fine\"},\"finish_reason\":\"stop\"}]}}]]}",
        "{\"responses\":[[{\"text\":\"fine\"},{\"raw\":\"data: {\\\"choices\\\":[{\\\"delta\\\":{},"
        "\\\"finish_reason\\\":\\\"stop\\\"}]}\\n\\n\"},{\"delay_ms\":60000}]]}",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct wire_server srv;
        wire_server_start(&srv, scripts[i], "0");
        struct message *m = say(ROLE_USER, "hello");
        struct model_provider *p = provider(&srv);
        struct answer a = ask(p, &m, 1);
        if (a.step != MODEL_DONE)
            fail_msg("script %zu: %s", i, a.err.text);
        assert_true(str_is(stream_blocks_at(a.blocks, 0)->text, "fine"));
        assert_int_equal(stream_blocks_stop(a.blocks), STOP_END_TURN);
        stream_blocks_free(a.blocks);
        model_provider_free(p);
        message_free(m);
        wire_server_stop(&srv);
    }
}

/* Characters that a server cut over two chunks, as bytes and as surrogates, and bytes that are none. */
static void
halves_of_characters(void **state)
{
    static const char *const parts[] = {
        "Caf\\udcc3", "\\udca9 \\udcf0\\udc9f", "\\udc98\\udc80", "\\\\ud83d", "\\\\ude00",
        "\\udcff.",   "\\udce2\\udc82"};
    struct wire_server srv;
    struct buf script;
    (void)state;
    buf_init(&script, BUF_MAX);
    buf_adds(&script, "{\"responses\":[[");
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        buf_addf(&script,
                 "{\"raw\":\"data: {\\\"choices\\\":[{\\\"delta\\\":{\\\"content\\\":\\\"%s\\\"}}]}"
                 "\\n\\n\"},",
                 parts[i]);
    buf_adds(&script, "{\"ping\":true}]]}");
    wire_server_start(&srv, buf_cstr(&script), "0");
    buf_release(&script);
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    struct answer a = ask(p, &m, 1);
    if (a.step != MODEL_DONE)
        fail_msg("%s", a.err.text);
    struct str text = stream_blocks_at(a.blocks, 0)->text;
    if (!str_is(text, "Caf\xC3\xA9 \xF0\x9F\x98\x80\xF0\x9F\x98\x80\xEF\xBF\xBD.\xEF\xBF\xBD"))
        fail_msg("'%.*s'", (int)text.len, text.ptr);
    stream_blocks_free(a.blocks);
    model_provider_free(p);
    message_free(m);
    wire_server_stop(&srv);
}

/* ---- failures ---- */

#define STATUS(n, headers, body) "[{\"status\":" n ",\"headers\":{" headers "},\"body\":" body "}]"
#define ERROR(type, message)                                                                       \
    "{\"error\":{\"type\":\"" type "\",\"message\":\"" message "\",\"code\":null}}"

static const struct failure {
    const char *response;
    enum err_code code;
    bool retryable;
    int after_ms; /* -1: more than a minute */
    const char *word, *kind;
} failure_rows[] = {
    {"[{\"text\":\"half\"},{\"cut\":true}]", ERR_NET, true, 0, "middle of the answer", "cut"},
    {"[{\"text\":\"half\"},{\"cut\":\"reset\"}]", ERR_NET, true, 0, "middle of the answer", "cut"},
    {"[{\"tool_use\":{\"name\":\"Bash\",\"input\":{}}},{\"cut\":\"clean\"}]", ERR_NET, true, 0,
     "middle of the answer", "cut"},
    {"[{\"text\":\"half\"},{\"error\":{\"type\":\"overloaded_error\",\"message\":"
     "\"busy now\"}}]",
     ERR_HTTP, true, 0, "overloaded_error: busy now (request req_4)", "overloaded_error"},
    {"[{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}]", ERR_HTTP, false, 0,
     "no", "invalid_request_error"},
    {STATUS("401", "", ERROR("invalid_request_error", "Incorrect API key")), ERR_HTTP, false, 0,
     "check the API key (request req_6)", "invalid_request_error"},
    {STATUS("403", "", ERROR("x", "no access")), ERR_HTTP, false, 0, "no access", "x"},
    {STATUS("404", "", ERROR("x", "The model `m1` does not exist")), ERR_HTTP, false, 0,
     "check the model's name", "x"},
    {STATUS("404", "", "\"<html><body><h1>Not Found</h1></body></html>\""), ERR_HTTP, false, 0,
     "404: Not Found", ""},
    {STATUS("429", "\"retry-after\":\"7\"", "{}"), ERR_HTTP, true, 7000, "429", ""},
    {STATUS("429", "\"retry-after-ms\":\"1234\",\"retry-after\":\"2\"", "{}"), ERR_HTTP, true, 1234,
     "429", ""},
    {STATUS("429", "\"retry-after\":\"Fri, 31 Dec 2100 23:59:59 GMT\"", "{}"), ERR_HTTP, true, -1,
     "429", ""},
    {STATUS("429",
            "\"x-ratelimit-remaining-requests\":\"0\",\"x-ratelimit-reset-requests\":\"1m2.5s\","
            "\"x-ratelimit-remaining-tokens\":\"9\",\"x-ratelimit-reset-tokens\":\"6m0s\"",
            "{}"),
     ERR_HTTP, true, 62500, "429", ""},
    {STATUS("429", "\"retry-after\":\"1\"",
            "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\","
            "\"message\":\"You exceeded your current quota\"}}"),
     ERR_HTTP, false, 1000, "current quota", "insufficient_quota"},
    {STATUS("429", "",
            ERROR("tokens", "Request too large for m1 on tokens per min (TPM): Limit 30000, "
                            "Requested 45000.")),
     ERR_HTTP, false, 0, "too large", "prompt_too_long"},
    {STATUS("400", "",
            "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens.\","
            "\"code\":\"context_length_exceeded\"}}"),
     ERR_HTTP, false, 0, "8192", "prompt_too_long"},
    {STATUS("413", "", "\"too big\""), ERR_HTTP, false, 0, "too big", "prompt_too_long"},
    {STATUS("502", "",
            "\"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\""),
     ERR_HTTP, true, 0, "502: 502 Bad Gateway", ""},
    {STATUS("503", "", "{\"detail\":\"loading\"}"), ERR_HTTP, true, 0, "loading", ""},
    {STATUS("503", "", "\"\""), ERR_HTTP, true, 0, "no reason", ""},
    {STATUS("200", "", "\"<html><title>log in</title></html>\""), ERR_HTTP, false, 0,
     "check the base URL", ""},
    {"[{\"raw\":\"data: {\\\"choices\\\":[{\\\"delta\\\":{\\\"tool_calls\\\":[{\\\"index\\\":0,"
     "\\\"id\\\":\\\"t\\\",\\\"function\\\":{\\\"name\\\":\\\"Bash\\\",\\\"arguments\\\":"
     "\\\"{\\\\\\\"command\\\\\\\":\\\\\\\"a\\udcff\\\\\\\"}\\\"}}]}}]}\\n\\n\"}]",
     ERR_PARSE, true, 0, "no UTF-8", ""},
    {STATUS("301", "\"location\":\"http://else.test/\"", "{}"), ERR_HTTP, false, 0,
     "http://else.test/", ""},
};

static void
check_failure(struct model_provider *p, const struct failure *f, size_t i)
{
    char id[16];
    struct message *m = say(ROLE_USER, "hello");
    struct answer a = ask(p, &m, 1);
    bool after =
        f->after_ms < 0 ? a.err.retry_after_ms > 60000 : a.err.retry_after_ms == f->after_ms;
    if (a.step != MODEL_FAILED || a.err.code != f->code || a.err.retryable != f->retryable ||
        !after || !strstr(a.err.text, f->word) || strcmp(a.err.kind, f->kind) != 0)
        fail_msg("row %zu: step %d, code %d, retryable %d, after %d, kind '%s': %s", i, (int)a.step,
                 (int)a.err.code, a.err.retryable, a.err.retry_after_ms, a.err.kind, a.err.text);
    assert_int_equal(complete_calls(a.blocks), 0);
    snprintf(id, sizeof id, "req_%zu", i + 1);
    assert_string_equal(a.request_id, id);
    stream_blocks_free(a.blocks);
    message_free(m);
}

static void
failures(void **state)
{
    struct wire_server srv;
    struct buf script;
    (void)state;
    buf_init(&script, BUF_MAX);
    buf_adds(&script, "{\"responses\":[");
    for (size_t i = 0; i < ARRAY_LEN(failure_rows); i++)
        buf_addf(&script, "%s%s", i ? "," : "", failure_rows[i].response);
    buf_adds(&script, "]}");
    wire_server_start(&srv, buf_cstr(&script), "0");
    struct model_provider *p = provider(&srv);
    for (size_t i = 0; i < ARRAY_LEN(failure_rows); i++)
        check_failure(p, &failure_rows[i], i);
    model_provider_free(p);
    buf_release(&script);
    wire_server_stop(&srv);
}

/* A model that is not there: the ones that are, from what the server said of itself before. */
static void
models_are_named(void **state)
{
    struct wire_server srv;
    struct err err = {0};
    (void)state;
    wire_server_start(
        &srv,
        "{\"models\":[\"qwen3:8b\",\"llama3.2\"],\"responses\":[[{\"status\":404,\"body\":{"
        "\"error\":{\"message\":\"model 'm1' not found\",\"type\":\"api_error\"}}}]]}",
        "0");
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    char *url = xasprintf("http://127.0.0.1:%d/v1", srv.port);
    p->server = model_server_new(url, NULL);
    if (!model_server_ask(p->server, NULL, 20000, &err))
        fail_msg("%s", err.text);
    struct answer a = ask(p, &m, 1);
    assert_int_equal(a.step, MODEL_FAILED);
    assert_int_equal(a.err.http, 404);
    if (!strstr(a.err.text, "model 'm1' not found") || !strstr(a.err.text, "qwen3:8b, llama3.2"))
        fail_msg("%s", a.err.text);
    free(url);
    stream_blocks_free(a.blocks);
    model_provider_free(p);
    message_free(m);
    wire_server_stop(&srv);
}

static void
nobody_listens(void **state)
{
    struct wire_server srv = {.port = 1};
    (void)state;
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    struct answer a = ask(p, &m, 1);
    assert_int_equal(a.step, MODEL_FAILED);
    assert_int_equal(a.err.code, ERR_NET);
    assert_true(a.err.retryable);
    stream_blocks_free(a.blocks);
    model_provider_free(p);
    message_free(m);
}

static void
waking(void **state)
{
    struct wire_server srv;
    struct err err = {0};
    struct delta d;
    int wake = eventfd(1, EFD_NONBLOCK);
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"delay_ms\":60000}]]}", "0");
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    struct model_request req = request(&m, 1);
    struct model_stream *s = p->start(p->self, &req, &err);
    enum model_step step;
    while ((step = model_stream_next(s, wake, -1, &d, &err)) == MODEL_DELTA)
        continue;
    assert_int_equal(step, MODEL_IDLE);
    assert_int_not_equal(model_stream_next(s, -1, 1, &d, &err), MODEL_FAILED);
    model_stream_free(s); /* in the middle: closes */
    model_provider_free(p);
    message_free(m);
    close(wake);
    wire_server_stop(&srv);
}

/* ---- what a server refuses ---- */

#define REFUSE(message) "[{\"status\":400,\"body\":{\"error\":{\"message\":\"" message "\"}}}]"

static void
what_is_refused_is_left_out(void **state)
{
    struct wire_server srv;
    (void)state;
    wire_server_start(&srv,
                      "{\"responses\":[" REFUSE("Unknown field: stream_options") "," REFUSE(
                          "Unsupported parameter: 'max_tokens' is not supported with this model. "
                          "Use 'max_completion_tokens' instead.") ",[{\"text\":\"fine\"}]]}",
                      "0");
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    for (int i = 0; i < 2; i++) {
        struct answer a = ask(p, &m, 1);
        if (a.step != MODEL_DONE)
            fail_msg("%s", a.err.text);
        assert_string_equal(a.request_id, i ? "req_4" : "req_3");
        stream_blocks_free(a.blocks);
    }
    for (size_t i = 0; i < 4; i++) { /* each is left out once it was refused, and stays so */
        struct cJSON *t = wire_server_logged(&srv, i);
        assert_true(json_is_null(json_at(t, "illegal")));
        assert_int_equal(json_at(t, "body.stream_options") != NULL, i < 1);
        assert_int_equal(json_int(t, "body.max_tokens", 0), i < 2 ? 100 : 0);
        assert_int_equal(json_int(t, "body.max_completion_tokens", 0), i < 2 ? 0 : 100);
        json_free(t);
    }
    model_provider_free(p);
    message_free(m);
    wire_server_stop(&srv);
}

/* A server that refuses the same for ever is asked a bounded number of times, and its own words are told. */
static void
refusals_end(void **state)
{
    struct wire_server srv;
    (void)state;
    wire_server_start(&srv,
                      "{\"extension\":false,\"responses\":[" REFUSE(
                          "stream_options, max_tokens, max_completion_tokens "
                          "and tools are not supported; tool use is not "
                          "supported; no system role either: unknown") "]}",
                      "0");
    struct message *m = say(ROLE_USER, "hello");
    struct model_provider *p = provider(&srv);
    struct answer a = ask(p, &m, 1);
    assert_int_equal(a.step, MODEL_FAILED);
    assert_int_equal(a.err.http, 400);
    assert_false(a.err.retryable);
    assert_non_null(strstr(a.err.text, "no system role either"));
    struct cJSON *last = wire_server_logged(&srv, OPENAI_N_CAPS + 1);
    assert_null(last);
    stream_blocks_free(a.blocks);
    model_provider_free(p);
    message_free(m);
    wire_server_stop(&srv);
}

/* ---- what is sent ---- */

static void
headers(void **state)
{
    struct wire_server srv;
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"text\":\"x\"}]]}", "0");
    const struct openai_config rows[] = {
        {.api_key = " k1\n",
         .user_agent = "yare/test",
         .custom_headers = "X-Team: one\nbroken\nUser-Agent: other\nX-Bad: a\r\x01\n"},
        {.api_key = NULL},
    };
    struct message *m = say(ROLE_USER, "hello");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct model_provider *p = provider_with(&srv, rows[i]);
        struct answer a = ask(p, &m, 1);
        assert_int_equal(a.step, MODEL_DONE);
        stream_blocks_free(a.blocks);
        model_provider_free(p);
    }
    struct cJSON *one = wire_server_logged(&srv, 0), *two = wire_server_logged(&srv, 1);
    assert_string_equal(json_cstr(one, "path", ""), "/v1/chat/completions");
    assert_string_equal(json_cstr(one, "headers.authorization", ""), "Bearer k1");
    assert_string_equal(json_cstr(one, "headers.x-team", ""), "one");
    assert_string_equal(json_cstr(one, "headers.user-agent", ""), "other");
    assert_string_equal(json_cstr(one, "headers.content-type", ""), "application/json");
    assert_null(json_at(one, "headers.x-bad"));
    assert_null(json_at(two, "headers.authorization"));
    json_free(one);
    json_free(two);
    message_free(m);
    wire_server_stop(&srv);
}

static struct message *
results_of(const struct message *m)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_USE)
            message_add_tool_result(b, m->blocks[i].id, STR("ok"), i == 1);
    if (m->n_blocks > 2)
        message_add_text(b, STR("and mind the dog"));
    return message_build(b);
}

/* A job of several rounds: the server checks that each request is legal and extends the one before byte for byte. */
static void
a_conversation(void **state)
{
    static const char script[] =
        "{\"responses\":["
        "[{\"thinking\":\"look\"},{\"text\":\"First.\"},"
        "{\"tool_use\":{\"id\":\"call_0\",\"name\":\"Read\",\"input\":{\"file_path\":\"a\"}}},"
        "{\"tool_use\":{\"id\":\"call_1\",\"name\":\"Bash\",\"input\":\"\"}}],"
        "[{\"tool_use\":{\"id\":\"call_0\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}}],"
        "[{\"tool_use\":{\"id\":\"functions.Bash:1\",\"name\":\"Bash\",\"input\":{}}}],"
        "[{\"text\":\"done\"}]]}";
    struct wire_server srv;
    struct message *m[8] = {say(ROLE_USER, "do it")};
    size_t n = 1;
    (void)state;
    wire_server_start(&srv, script, "3");
    struct model_provider *p = provider(&srv);
    for (;;) {
        struct answer a = ask(p, m, n);
        if (a.step != MODEL_DONE)
            fail_msg("round %zu: %s", n / 2 + 1, a.err.text);
        m[n] = stream_blocks_message(a.blocks, "m", false);
        bool over = stream_blocks_stop(a.blocks) != STOP_TOOL_USE;
        stream_blocks_free(a.blocks);
        if (over)
            break;
        m[n + 1] = results_of(m[n]);
        n += 2;
    }
    assert_int_equal(n, 7);
    struct cJSON *last = wire_server_logged(&srv, 3);
    assert_true(json_is_null(json_at(last, "illegal")));
    assert_int_equal(json_len(json_at(last, "body.messages")), 1 + 1 + 4 + 2 + 2);
    assert_string_equal(json_cstr(last, "body.messages.0.role", ""), "system");
    assert_string_equal(json_cstr(last, "body.messages.2.content", ""), "First.");
    assert_string_equal(json_cstr(last, "body.messages.2.tool_calls.1.function.arguments", ""),
                        "{}");
    assert_string_equal(json_cstr(last, "body.messages.3.content", ""), "Error: ok");
    assert_string_equal(json_cstr(last, "body.messages.5.content", ""), "and mind the dog");
    json_free(last);
    for (size_t i = 0; i < ARRAY_LEN(m); i++)
        message_free(m[i]);
    model_provider_free(p);
    wire_server_stop(&srv);
}

/* ---- what the server's checks are worth ---- */

#define SYSTEM "{\"role\":\"system\",\"content\":\"s\"}"
#define SAYS(t) "{\"role\":\"user\",\"content\":\"" t "\"}"
#define ANSWERS(t) "{\"role\":\"assistant\",\"content\":\"" t "\"}"
#define CALL(id)                                                                                   \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"X\",\"arguments\":\"{}\"}}"
#define CALLS(calls) "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" calls "]}"
#define RESULT(id) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"r\"}"

/* Status of that list of messages, and the server's words in ret. */
static int
post(const struct wire_server *srv, const char *messages, struct buf *ret)
{
    char *url = xasprintf("http://127.0.0.1:%d/v1/chat/completions", srv->port);
    char *body = xasprintf("{\"model\":\"m\",\"messages\":[%s],\"stream\":true}", messages);
    struct str slice = str_from(body), chunk;
    struct http_spec spec = {.method = "POST", .url = url, .body = &slice, .n_body = 1};
    struct err err = {0};
    struct http *h = http_start(&spec, &err);
    assert_non_null(h);
    while (http_next(h, -1, 20000, &chunk, &err) == HTTP_DATA)
        buf_add_str(ret, chunk);
    int status = http_status(h);
    http_free(h);
    free(url);
    free(body);
    return status;
}

/* Illegal histories are refused, each for its reason. Rows go to one server in turn, so that a changed past is seen too. */
static void
the_server_checks(void **state)
{
    static const struct {
        const char *messages, *word; /* NULL: legal */
    } rows[] = {
        {SYSTEM "," SAYS("a") "," CALLS(CALL("t") "," CALL("u")) "," RESULT("u") "," RESULT("t"),
         NULL},
        {SYSTEM "," SAYS("a") "," CALLS(CALL("t") "," CALL("u")) "," RESULT("t") "," RESULT("u"),
         "changed"},
        {"{\"role\":\"system\",\"content\":\"z\"}," SAYS("a"), "system changed"},
        {SAYS("b") "," CALLS(CALL("t")), "leaves calls open"},
        {SAYS("b") "," CALLS(CALL("t")) "," SAYS("c"), "before the answers"},
        {SAYS("b") "," CALLS(CALL("t")) "," RESULT("t") "," RESULT("t"), "open were"},
        {SAYS("b") "," RESULT("t"), "open were"},
        {SAYS("b") "," CALLS(CALL("t")) "," RESULT("t") "," CALLS(CALL("t")) "," RESULT("t"),
         "repeats the call id"},
        {SAYS("b") "," CALLS(CALL("t.1")) "," RESULT("t.1"), "odd id"},
        {SAYS(" "), "an empty content"},
        {SAYS("b") "," ANSWERS("") "," SAYS("c"), "an empty content"},
        {SAYS("b") "," SAYS("c"), "like the one before"},
        {SAYS("b") "," ANSWERS("c") "," ANSWERS("d") "," SAYS("e"), "behind 'assistant'"},
        {SAYS("b") "," ANSWERS("c"), "the last message"},
        {ANSWERS("c") "," SAYS("b"), "behind None"},
        {SAYS("b") "," SYSTEM, "not the first"},
        {"{\"role\":\"user\",\"content\":\"x\",\"thinking\":\"y\"}", "is 'user' with"},
    };
    struct wire_server srv;
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"text\":\"x\"}]]}", "0");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf said;
        buf_init(&said, BUF_MAX);
        int status = post(&srv, rows[i].messages, &said);
        if (status != (rows[i].word ? 400 : 200) ||
            (rows[i].word && !strstr(buf_cstr(&said), rows[i].word)))
            fail_msg("row %zu: %d %s", i, status, buf_cstr(&said));
        buf_release(&said);
    }
    wire_server_stop(&srv);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_answer),
                                       cmocka_unit_test(raw_events),
                                       cmocka_unit_test(usage_is_estimated),
                                       cmocka_unit_test(other_forms),
                                       cmocka_unit_test(halves_of_characters),
                                       cmocka_unit_test(failures),
                                       cmocka_unit_test(models_are_named),
                                       cmocka_unit_test(nobody_listens),
                                       cmocka_unit_test(waking),
                                       cmocka_unit_test(what_is_refused_is_left_out),
                                       cmocka_unit_test(refusals_end),
                                       cmocka_unit_test(headers),
                                       cmocka_unit_test(the_server_checks),
                                       cmocka_unit_test(a_conversation)};
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
