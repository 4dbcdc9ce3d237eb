/* The Messages API client against the loopback server: a real socket, real HTTP, scripted answers. */
#include "unit/unit.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "model/provider.h"
#include "unit/wire_server.h"

static struct model_provider *
provider_with(const struct wire_server *s, struct anthropic_config c)
{
    char *url = xasprintf("http://127.0.0.1:%d/", s->port);
    c.base_url = url;
    struct model_provider *p = anthropic_provider_new(&c);
    free(url);
    return p;
}

static struct model_provider *
provider(const struct wire_server *s)
{
    return provider_with(s, (struct anthropic_config){.api_key = "k", .betas = "b1,b2"});
}

static struct model_stream *
ask(struct model_provider *p, struct message *const *m)
{
    struct model_request req = {.model = "sonnet",
                                .max_tokens = 100,
                                .messages = (const struct message *const *)m,
                                .n_messages = 1,
                                .system_break = {SIZE_MAX, SIZE_MAX},
                                .message_break = {0, SIZE_MAX}};
    struct err err = {0};
    struct model_stream *s = p->start(p->self, &req, &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

static struct message *
hello(void)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR("hello"));
    return message_build(b);
}

static enum model_step
drain(struct model_stream *s, struct stream_blocks *b, struct err *err)
{
    struct delta d;
    enum model_step step;
    while ((step = model_stream_next(s, -1, 20000, &d, err)) == MODEL_DELTA)
        stream_blocks_apply(b, &d);
    return step;
}

static const char whole[] =
    "{\"responses\":[[{\"usage\":{\"input_tokens\":11,\"output_tokens\":22,\"cache_read_input_"
    "tokens\":33}},"
    "{\"thinking\":\"hm, let me "
    "see\",\"signature\":\"c2ln\"},{\"ping\":true},{\"text\":\"Caf\\u00e9 \\ud83d\\ude00 **x**\"},"
    "{\"tool_use\":{\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"ls -la\"}}},"
    "{\"raw\":\"event: brand_new\\ndata: {\\\"type\\\":\\\"brand_new\\\"}\\n\\n\"}]]}";

static void
a_whole_answer(void **state)
{
    static const char *const dribbles[] = {"0", "1", "7"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(dribbles); i++) {
        struct wire_server srv;
        struct err err = {0};
        wire_server_start(&srv, whole, dribbles[i]);
        struct message *m = hello();
        struct model_provider *p = provider(&srv);
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        assert_int_equal(drain(s, b, &err), MODEL_DONE);
        struct message *got = stream_blocks_message(b, "m", false);
        assert_string_equal(got->json.ptr,
                            "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
                            "\"thinking\":\"hm, let me see\",\"signature\":"
                            "\"c2ln\"},{\"type\":\"text\",\"text\":\"Caf\xC3\xA9 \xF0\x9F\x98\x80 "
                            "**x**\"},{\"type\":\"tool_use\",\"id\":"
                            "\"t1\",\"name\":\"Bash\",\"input\":{\"command\": \"ls -la\"}}]}");
        assert_int_equal(stream_blocks_stop(b), STOP_TOOL_USE);
        assert_int_equal(stream_blocks_usage(b)->output, 22);
        assert_int_equal(stream_blocks_usage(b)->cache_read, 33);
        assert_string_equal(s->request_id, "req_1");
        assert_true(str_is(stream_blocks_message_id(b), "msg_1"));
        message_free(got);
        stream_blocks_free(b);
        model_stream_free(s);
        model_provider_free(p);
        message_free(m);
        wire_server_stop(&srv);
    }
}

/* ---- characters that were cut in two ---- */

/* A step of the script: an event with these bytes, whatever they are. */
static void
add_event(struct buf *script, const char *json)
{
    buf_adds(script, "{\"raw\":\"data: ");
    for (const char *p = json; *p; p++)
        if (*p == '"' || *p == '\\')
            buf_addf(script, "\\%c", *p);
        else if ((unsigned char)*p >= 0x80)
            buf_addf(script, "\\udc%02x", (unsigned char)*p);
        else
            buf_addc(script, *p);
    buf_adds(script, "\\n\\n\"},");
}

/* kind: "text", "thinking" or "tool_use"; parts: what stands in the deltas, as JSON has it. */
static void
add_block(struct buf *script, const char *kind, const char *const parts[3])
{
    static const char *const members[][3] = {{"text", "text_delta", "text"},
                                             {"thinking", "thinking_delta", "thinking"},
                                             {"tool_use", "input_json_delta", "partial_json"}};
    const char *const *m = members[0];
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        m = strcmp(kind, members[i][0]) == 0 ? members[i] : m;
    char *start = xasprintf("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{"
                            "\"type\":\"%s\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}}",
                            kind);
    add_event(script, start);
    free(start);
    for (size_t i = 0; i < 3 && parts[i]; i++) {
        char *delta = xasprintf("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
                                "\"type\":\"%s\",\"%s\":\"%s\"}}",
                                m[1], m[2], parts[i]);
        add_event(script, delta);
        free(delta);
    }
    add_event(script, "{\"type\":\"content_block_stop\",\"index\":0}");
}

/* Every raw event that is handed on is UTF-8, whatever came. */
static enum model_step
drain_texts(struct model_stream *s, struct stream_blocks *b, struct err *err)
{
    struct delta d;
    enum model_step step;
    while ((step = model_stream_next(s, -1, 20000, &d, err)) == MODEL_DELTA) {
        assert_true(text_valid_utf8(d.text));
        stream_blocks_apply(b, &d);
    }
    return step;
}

static void
halves_of_characters(void **state)
{
    static const struct {
        const char *kind, *parts[3];
        const char *want; /* NULL: the event is junk */
    } rows[] = {
        {"text", {"a\xff\xfe\x62"}, "a\xEF\xBF\xBD\xEF\xBF\xBD\x62"},
        {"text", {"Caf\xC3", "\xA9 here"}, "Caf\xC3\xA9 here"},
        {"text", {"\xF0\x9F", "\x98", "\x80!"}, "\xF0\x9F\x98\x80!"},
        {"text", {"\\ud83d", "\\ude00"}, "\xF0\x9F\x98\x80"},
        {"text", {"cut \xE2\x82"}, "cut \xEF\xBF\xBD"},
        {"text", {"cut \xE2\x82", "off"}, "cut \xEF\xBF\xBD\xEF\xBF\xBDoff"},
        {"text", {"lone \\ud83d"}, "lone \xEF\xBF\xBD"},
        {"thinking", {"h\xC3", "\xA4h"}, "h\xC3\xA4h"},
        {"tool_use", {"{\\\"a\\\":\\\"\\ud83d", "\\ude00\\\"}"}, "{\"a\":\"\xF0\x9F\x98\x80\"}"},
        {"tool_use", {"{\\\"a\\\":\\\"\xC3", "\xA9\\\"}"}, NULL},
        {"tool_use", {"{\\\"a\\\":\\\"\xff\\\"}"}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wire_server srv;
        struct err err = {0};
        struct buf script;
        buf_init(&script, BUF_MAX);
        buf_adds(&script, "{\"responses\":[[");
        add_block(&script, rows[i].kind, rows[i].parts);
        buf_adds(&script, "{\"ping\":true}]]}");
        wire_server_start(&srv, buf_cstr(&script), "0");
        buf_release(&script);
        struct message *m = hello();
        struct model_provider *p = provider(&srv);
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        enum model_step step = drain_texts(s, b, &err);
        const struct stream_block *got = stream_blocks_at(b, 0);
        if (step != (rows[i].want ? MODEL_DONE : MODEL_FAILED))
            fail_msg("row %zu: step %d, %s", i, (int)step, err.text);
        struct str text = got->input.len ? got->input : got->text;
        if (rows[i].want && !str_is(text, rows[i].want))
            fail_msg("row %zu: '%.*s'", i, (int)text.len, text.ptr);
        assert_true(rows[i].want || (err.retryable && strstr(err.text, "no JSON")));
        stream_blocks_free(b);
        model_stream_free(s);
        model_provider_free(p);
        message_free(m);
        wire_server_stop(&srv);
    }
}

static void
failures(void **state)
{
    static const struct {
        const char *script;
        enum err_code code;
        bool retryable;
        const char *word;
    } rows[] = {
        {"{\"responses\":[[{\"text\":\"half\"},{\"cut\":true}]]}", ERR_NET, true,
         "middle of the answer"},
        {"{\"responses\":[[{\"text\":\"half\"},{\"error\":{\"type\":\"overloaded_error\","
         "\"message\":\"busy now\"}}]]}",
         ERR_HTTP, true, "busy now"},
        {"{\"responses\":[[{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}]]}",
         ERR_HTTP, false, "no"},
        {"{\"responses\":[[{\"status\":401,\"body\":{\"error\":{\"type\":\"authentication_error\","
         "\"message\":\"bad key\"}}}]]}",
         ERR_HTTP, false, "bad key"},
        {"{\"responses\":[[{\"status\":529,\"body\":{}}]]}", ERR_HTTP, true, "529"},
        {"{\"responses\":[[{\"text\":\"half\"},{\"cut\":\"clean\"}]]}", ERR_NET, true,
         "middle of the answer"},
        {"{\"responses\":[[{\"text\":\"half\"},{\"cut\":\"reset\"}]]}", ERR_NET, true,
         "middle of the answer"},
        {"{\"responses\":[[{\"status\":502,\"body\":\"<html>bad gateway</html>\"}]]}", ERR_HTTP,
         true, "bad gateway"},
        {"{\"responses\":[[{\"status\":200,\"body\":\"<html>log in</html>\"}]]}", ERR_HTTP, false,
         "instead of an event stream"},
        {"{\"responses\":[[{\"status\":200,\"body\":{\"type\":\"error\",\"error\":{\"type\":"
         "\"api_error\",\"message\":\"late trouble\"}}}]]}",
         ERR_HTTP, true, "late trouble"},
        {"{\"responses\":[[{\"status\":301,\"headers\":{\"location\":\"http://else.test/\"},"
         "\"body\":{}}]]}",
         ERR_HTTP, false, "http://else.test/"},
        {"{\"responses\":[[{\"status\":429,\"headers\":{\"retry-after\":\"7\"},\"body\":{}}]]}",
         ERR_HTTP, true, "429"},
        {"{\"responses\":[[{\"raw\":\"data: {not json\\n\\n\"}]]}", ERR_PARSE, true, "no JSON"},
        {"{\"responses\":[[{\"raw\":\"data: {\\\"type\\\":\\\"error\\\",\\\"error\\\":\\\"in one "
         "word\\\"}\\n\\n\"}]]}",
         ERR_HTTP, false, "in one word"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct wire_server srv;
        struct err err = {0};
        wire_server_start(&srv, rows[i].script, "0");
        struct message *m = hello();
        struct model_provider *p = provider(&srv);
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        assert_int_equal(drain(s, b, &err), MODEL_FAILED);
        assert_int_equal(err.code, rows[i].code);
        assert_int_equal(err.retryable, rows[i].retryable);
        if (!strstr(err.text, rows[i].word))
            fail_msg("row %zu: %s", i, err.text);
        if (err.http == 429)
            assert_int_equal(err.retry_after_ms, 7000);
        assert_string_equal(s->request_id, "req_1");
        stream_blocks_free(b);
        model_stream_free(s);
        model_provider_free(p);
        message_free(m);
        wire_server_stop(&srv);
    }
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
    struct message *m = hello();
    struct model_provider *p = provider(&srv);
    struct model_stream *s = ask(p, &m);
    enum model_step step;
    while ((step = model_stream_next(s, wake, -1, &d, &err)) == MODEL_DELTA)
        continue;
    assert_int_equal(step, MODEL_IDLE);
    assert_int_equal(model_stream_next(s, -1, 1, &d, &err) == MODEL_FAILED, 0);
    model_stream_free(s); /* in the middle: closes */
    model_provider_free(p);
    message_free(m);
    close(wake);
    wire_server_stop(&srv);
}

static void
nobody_listens(void **state)
{
    struct err err = {0};
    struct wire_server srv = {.port = 1};
    (void)state;
    struct message *m = hello();
    struct model_provider *p = provider(&srv);
    struct model_stream *s = ask(p, &m);
    struct stream_blocks *b = stream_blocks_new();
    assert_int_equal(drain(s, b, &err), MODEL_FAILED);
    assert_int_equal(err.code, ERR_NET);
    assert_true(err.retryable);
    stream_blocks_free(b);
    model_stream_free(s);
    model_provider_free(p);
    message_free(m);
}

/* ---- cut anywhere ---- */

static const char stream_bytes[] =
    "event: content_block_start\ndata: "
    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
    "{\"type\":\"text\",\"text\":\"\"}}\n\n"
    "event: content_block_delta\ndata: "
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
    "\"text_delta\",\"text\":\"some words\"}}\n\n"
    "event: content_block_start\ndata: "
    "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\n\n"
    "event: content_block_delta\ndata: "
    "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":"
    "\"input_json_delta\",\"partial_json\":\"{\\\"command\\\":\\\"ls\\\"}\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n";

/* A response for each place to cut at, every 13 bytes and at each event's end. */
static size_t
cut_script(struct buf *out, size_t *ret_at, size_t max)
{
    size_t n = 0;
    buf_adds(out, "{\"responses\":[");
    for (size_t at = 0; at < sizeof stream_bytes; at++) {
        bool boundary = at >= 2 && memcmp(stream_bytes + at - 2, "\n\n", 2) == 0;
        if (at % 13 && !boundary)
            continue;
        assert_true(n < max);
        buf_adds(out, n ? "," : "");
        buf_adds(out, "[{\"raw\":");
        json_quote(out, str_make(stream_bytes, at));
        buf_addf(out, "},{\"cut\":%s}]", n % 3 ? "true" : "\"clean\"");
        ret_at[n++] = at;
    }
    buf_adds(out, "]}");
    return n;
}

static void
cut_at_every_place(void **state)
{
    size_t at[200];
    struct wire_server srv;
    struct buf script;
    (void)state;
    buf_init(&script, BUF_MAX);
    size_t n = cut_script(&script, at, ARRAY_LEN(at));
    wire_server_start(&srv, buf_cstr(&script), "0");
    struct model_provider *p = provider(&srv);
    struct message *m = hello();
    for (size_t i = 0; i < n; i++) {
        struct err err = {0};
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        assert_int_equal(drain(s, b, &err), MODEL_FAILED);
        assert_int_equal(err.code, ERR_NET);
        assert_true(err.retryable);
        assert_non_null(strstr(err.text, "middle of the answer"));
        /* A call is complete only when its stop came whole; the text so far is kept. */
        bool complete = at[i] == sizeof stream_bytes - 1;
        struct message *got = stream_blocks_message(b, "m", true);
        size_t uses = 0;
        for (size_t k = 0; got && k < got->n_blocks; k++)
            uses += got->blocks[k].kind == BLOCK_TOOL_USE;
        assert_int_equal(uses, complete ? 1 : 0);
        if (at[i] > 260)
            assert_true(got && str_is(got->blocks[0].text, "some words"));
        message_free(got);
        stream_blocks_free(b);
        model_stream_free(s);
    }
    message_free(m);
    model_provider_free(p);
    buf_release(&script);
    wire_server_stop(&srv);
}

/* ---- what is sent ---- */

static void
headers(void **state)
{
    struct wire_server srv;
    struct err err = {0};
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"text\":\"x\"}]]}", "0");
    struct anthropic_config rows[] = {
        {.api_key = " k1\n",
         .auth_token = "t",
         .betas = " a, ,b,,a",
         .user_agent = "yare/test",
         .custom_headers =
             "X-Team: one\nAnthropic-Beta: c,b\nbroken\nAnthropic-Version: 2030-01-01\n"},
        {.auth_token = "t2", .betas = " , "},
    };
    struct message *m = hello();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct model_provider *p = provider_with(&srv, rows[i]);
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        assert_int_equal(drain(s, b, &err), MODEL_DONE);
        stream_blocks_free(b);
        model_stream_free(s);
        model_provider_free(p);
    }
    struct cJSON *one = wire_server_logged(&srv, 0), *two = wire_server_logged(&srv, 1);
    assert_string_equal(json_cstr(one, "path", ""), "/v1/messages");
    assert_string_equal(json_cstr(one, "headers.x-api-key", ""), "k1");
    assert_null(json_at(one, "headers.authorization"));
    assert_string_equal(json_cstr(one, "headers.anthropic-beta", ""), "a,b,c");
    assert_string_equal(json_cstr(one, "headers.anthropic-version", ""), "2030-01-01");
    assert_string_equal(json_cstr(one, "headers.x-team", ""), "one");
    assert_string_equal(json_cstr(one, "headers.user-agent", ""), "yare/test");
    assert_string_equal(json_cstr(one, "headers.content-type", ""), "application/json");
    assert_string_equal(json_cstr(two, "headers.authorization", ""), "Bearer t2");
    assert_string_equal(json_cstr(two, "headers.anthropic-version", ""), "2023-06-01");
    assert_null(json_at(two, "headers.anthropic-beta"));
    assert_null(json_at(two, "headers.x-api-key"));
    json_free(one);
    json_free(two);
    message_free(m);
    wire_server_stop(&srv);
}

static void
a_refused_beta_is_dropped(void **state)
{
    static const char refusal[] =
        "{\"responses\":[[{\"status\":400,\"body\":{\"type\":\"error\",\"error\":{\"type\":"
        "\"invalid_request_error\",\"message\":\"Unexpected value(s) `b1` for the `anthropic-beta` "
        "header.\"}}}],[{\"text\":\"fine\"}]]}";
    struct wire_server srv;
    struct err err = {0};
    (void)state;
    wire_server_start(&srv, refusal, "0");
    struct model_provider *p = provider(&srv);
    struct message *m = hello();
    for (int i = 0; i < 2; i++) {
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        assert_int_equal(drain(s, b, &err), MODEL_DONE);
        assert_string_equal(s->request_id, i ? "req_3" : "req_2");
        stream_blocks_free(b);
        model_stream_free(s);
    }
    for (size_t i = 0; i < 3; i++) { /* asked with both, then without the refused one for good */
        struct cJSON *t = wire_server_logged(&srv, i);
        assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), i ? "b2" : "b1,b2");
        assert_true(json_is_null(json_at(t, "illegal")));
        json_free(t);
    }
    message_free(m);
    model_provider_free(p);
    wire_server_stop(&srv);
}

/* Betas of one request: what the server does not know is told to the engine, goes with what it was for, and is not sent again. */
static void
a_refused_beta_of_a_request(void **state)
{
    static const char *const refusals[] = {
        "Unexpected value(s) `context-management-x` for the `anthropic-beta` header.",
        "context_management: Extra inputs are not permitted"};
    for (size_t k = 0; k < ARRAY_LEN(refusals); k++) {
        struct wire_server srv;
        struct err err = {0};
        char *script = xasprintf(
            "{\"responses\":[[{\"status\":400,\"body\":{\"type\":\"error\",\"error\":{\"type\":"
            "\"invalid_request_error\",\"message\":\"%s\"}}}],[{\"text\":\"fine\"}]]}",
            refusals[k]);
        (void)state;
        wire_server_start(&srv, script, "0");
        struct model_provider *p = provider_with(&srv, (struct anthropic_config){.api_key = "k"});
        struct message *m = hello();
        for (int i = 0; i < 2; i++) {
            struct model_request req = {.model = "sonnet",
                                        .max_tokens = 100,
                                        .messages = (const struct message *const *)&m,
                                        .n_messages = 1,
                                        .system_break = {SIZE_MAX, SIZE_MAX},
                                        .message_break = {0, SIZE_MAX},
                                        .betas = k ? "context-management-x"
                                                   : "afk-y,context-management-x",
                                        .context_management = "{\"edits\":[]}"};
            struct model_stream *s = p->start(p->self, &req, &err);
            struct stream_blocks *b = stream_blocks_new();
            assert_non_null(s);
            assert_int_equal(drain(s, b, &err), MODEL_DONE);
            assert_string_equal(s->betas_refused, i ? "" : "context-management-x");
            stream_blocks_free(b);
            model_stream_free(s);
        }
        for (size_t i = 0; i < 2; i++) {
            struct cJSON *t = wire_server_logged(&srv, i);
            const char *both = k ? "context-management-x" : "afk-y,context-management-x";
            assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), i == 0 ? both
                                                                            : k    ? ""
                                                                                   : "afk-y");
            assert_int_equal(json_at(t, "body.context_management") != NULL, i == 0);
            json_free(t);
        }
        struct cJSON *t = wire_server_logged(&srv, 2);
        assert_string_equal(json_cstr(t, "headers.anthropic-beta", ""), k ? "" : "afk-y");
        json_free(t);
        message_free(m);
        model_provider_free(p);
        free(script);
        wire_server_stop(&srv);
    }
}

static void
tokens_are_counted(void **state)
{
    struct wire_server srv;
    struct err err = {0};
    int64_t tokens = 0;
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"text\":\"fine\"}]]}", "0");
    struct model_provider *p = provider(&srv);
    struct message *m = hello();
    const struct model_request req = {.model = "sonnet",
                                      .max_tokens = 100,
                                      .messages = (const struct message *const *)&m,
                                      .n_messages = 1,
                                      .system_break = {SIZE_MAX, SIZE_MAX},
                                      .message_break = {0, SIZE_MAX}};
    assert_true(p->count(p->self, &req, 10000, &tokens, &err));
    assert_true(tokens > 10 && tokens < 200);
    message_free(m);
    model_provider_free(p);
    wire_server_stop(&srv);
}

/* Pings and halves of events do not stretch the caller's time. */
static void
the_time_is_kept(void **state)
{
    struct wire_server srv;
    struct err err = {0};
    struct delta d;
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"raw\":\": keep\\n\"},{\"delay_ms\":60000}]]}",
                      "0");
    struct model_provider *p = provider(&srv);
    struct message *m = hello();
    struct model_stream *s = ask(p, &m);
    enum model_step step;
    while ((step = model_stream_next(s, -1, 100, &d, &err)) == MODEL_DELTA)
        continue;
    assert_int_equal(step, MODEL_IDLE);
    model_stream_free(s);
    message_free(m);
    model_provider_free(p);
    wire_server_stop(&srv);
}

/* What the server's checks are worth: illegal histories are refused, each for its reason. Rows go to one server in turn, so that a
 * changed past is seen too. */
static void
the_server_checks(void **state)
{
#define USER(blocks) "{\"role\":\"user\",\"content\":[" blocks "]}"
#define ASSISTANT(blocks) "{\"role\":\"assistant\",\"content\":[" blocks "]}"
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define USE(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"X\",\"input\":{}}"
#define RESULT(id) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":\"r\"}"
    static const struct {
        const char *messages[4];
        const char *word; /* NULL: legal */
    } rows[] = {
        {{USER(TEXT("a")), ASSISTANT(USE("t")), USER(RESULT("t") "," TEXT("b"))}, NULL},
        {{USER(TEXT("a")), ASSISTANT(USE("t")), USER(RESULT("t") "," TEXT("c"))}, "changed"},
        {{USER(TEXT("a")), ASSISTANT(USE("t"))}, "leaves calls open"},
        {{USER(TEXT("d")), ASSISTANT(USE("t")), USER(TEXT("b"))}, "open were"},
        {{USER(TEXT("d")), ASSISTANT(USE("t")), USER(TEXT("b") "," RESULT("t"))},
         "results do not come first"},
        {{USER(RESULT("t"))}, "open were"},
        {{USER(TEXT(" "))}, "empty text"},
        {{ASSISTANT(TEXT("a"))}, "not the user's"},
        {{USER(TEXT("a")), USER(TEXT("b"))}, "the role of the one before"},
        {{USER(TEXT("e")), ASSISTANT(USE("t")), USER(RESULT("t")), ASSISTANT(USE("t"))}, "repeats"},
        {{USER(TEXT("f")), ASSISTANT(USE("t.1")), USER(RESULT("t.1"))}, "tool_use id"},
        {{USER(TEXT("g")),
          ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"\"}")},
         "signature"},
    };
    struct wire_server srv;
    (void)state;
    wire_server_start(&srv, "{\"responses\":[[{\"text\":\"x\"}]]}", "0");
    struct model_provider *p = provider(&srv);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message *m[4] = {0};
        struct err err = {0};
        struct model_request req = {.model = "sonnet",
                                    .max_tokens = 9,
                                    .messages = (const struct message *const *)m,
                                    .system_break = {SIZE_MAX, SIZE_MAX},
                                    .message_break = {SIZE_MAX, SIZE_MAX}};
        for (size_t k = 0; k < 4 && rows[i].messages[k]; k++)
            m[req.n_messages++] = message_parse(str_from(rows[i].messages[k]), &err);
        struct model_stream *s = p->start(p->self, &req, &err);
        struct stream_blocks *b = stream_blocks_new();
        enum model_step step = drain(s, b, &err);
        if (step != (rows[i].word ? MODEL_FAILED : MODEL_DONE) ||
            (rows[i].word && !strstr(err.text, rows[i].word)))
            fail_msg("row %zu: %s", i, err.text);
        assert_int_equal(err.http, rows[i].word ? 400 : 0);
        assert_false(err.retryable);
        stream_blocks_free(b);
        model_stream_free(s);
        for (size_t k = 0; k < 4; k++)
            message_free(m[k]);
    }
    model_provider_free(p);
    wire_server_stop(&srv);
}

/* Two turns: the server itself checks that the second request is legal and extends the first. */
static void
a_conversation(void **state)
{
    struct wire_server srv;
    struct err err = {0};
    (void)state;
    wire_server_start(
        &srv,
        "{\"match\":[{\"tool_result\":true,\"then\":[{\"text\":\"done\"}]}],\"responses\":["
        "[{\"thinking\":\"look\",\"signature\":\"c2ln\"},{\"redacted_thinking\":\"b64\"},"
        "{\"tool_use\":{\"name\":\"Bash\",\"input\":\"\"}}]]}",
        "3");
    struct model_provider *p = provider(&srv);
    struct message *m[3] = {hello()};
    struct str system = STR("be brief");
    struct model_request req = {.model = "opus",
                                .max_tokens = 9,
                                .system = &system,
                                .n_system = 1,
                                .system_break = {0, SIZE_MAX},
                                .tools = STR("[{\"name\":\"Bash\",\"input_schema\":{}}]"),
                                .messages = (const struct message *const *)m};
    for (size_t n = 1; n <= 3; n += 2) {
        req.n_messages = n;
        req.message_break[0] = n - 1;
        req.message_break[1] = n > 1 ? n - 3 : SIZE_MAX;
        struct model_stream *s = p->start(p->self, &req, &err);
        struct stream_blocks *b = stream_blocks_new();
        if (drain(s, b, &err) != MODEL_DONE)
            fail_msg("%s", err.text);
        if (n == 1) {
            m[1] = stream_blocks_message(b, "m", false);
            assert_true(str_is(m[1]->blocks[2].input, "{}"));
            struct message_builder *r = message_builder_new(ROLE_USER);
            message_add_tool_result(r, m[1]->blocks[2].id, STR("ok"), false);
            m[2] = message_build(r);
        }
        stream_blocks_free(b);
        model_stream_free(s);
    }
    /* Over one connection, kept open between the two. */
    struct cJSON *one = wire_server_logged(&srv, 0), *two = wire_server_logged(&srv, 1);
    assert_true(json_int(one, "from", -1) > 0);
    assert_int_equal(json_int(one, "from", -1), json_int(two, "from", -2));
    json_free(one);
    json_free(two);
    for (size_t i = 0; i < 3; i++)
        message_free(m[i]);
    model_provider_free(p);
    wire_server_stop(&srv);
}

/* An address that is the maker's own, however it is written, is no gateway. */
static void
what_a_gateway_is(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        bool gateway;
    } rows[] = {
        {NULL, false},
        {"https://api.anthropic.com", false},
        {"https://api.anthropic.com/v1/", false},
        {"http://127.0.0.1:8080", true},
        {"https://api.anthropic.com.example", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct anthropic_config c = {.base_url = rows[i].url, .api_key = "k"};
        struct model_provider *p = anthropic_provider_new(&c);
        assert_int_equal(p->gateway, rows[i].gateway);
        model_provider_free(p);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_gateway_is),
                                       cmocka_unit_test(a_whole_answer),
                                       cmocka_unit_test(failures),
                                       cmocka_unit_test(halves_of_characters),
                                       cmocka_unit_test(waking),
                                       cmocka_unit_test(nobody_listens),
                                       cmocka_unit_test(cut_at_every_place),
                                       cmocka_unit_test(headers),
                                       cmocka_unit_test(a_refused_beta_is_dropped),
                                       cmocka_unit_test(a_refused_beta_of_a_request),
                                       cmocka_unit_test(tokens_are_counted),
                                       cmocka_unit_test(the_time_is_kept),
                                       cmocka_unit_test(the_server_checks),
                                       cmocka_unit_test(a_conversation)};
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
