/* The Messages API client against the loopback server: a real socket, real HTTP, scripted answers. */
#include "unit/unit.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "model/provider.h"

struct server {
    pid_t pid;
    int in; /* closing it ends the server */
    int port;
    char dir[64];
};

static void
write_file(const char *dir, const char *name, const char *text)
{
    char *path = fs_join(dir, name);
    assert_true(fs_write_atomic(path, str_from(text), 0600, NULL));
    free(path);
}

static void
server_start(struct server *s, const char *script, const char *dribble)
{
    int in[2], out[2];
    char line[64] = "";
    snprintf(s->dir, sizeof s->dir, "/tmp/yare-wire-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    write_file(s->dir, "script.json", script);
    assert_int_equal(pipe(in) | pipe(out), 0);
    char *script_path = fs_join(s->dir, "script.json"), *log = fs_join(s->dir, "log.jsonl");
    s->pid = fork();
    if (s->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execlp("python3", "python3", TEST_DIR "/fakes/model_server.py", "--script", script_path,
               "--log", log, "--dribble", dribble, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s->in = in[1];
    FILE *f = fdopen(out[0], "r");
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(sscanf(line, "listening on %d", &s->port), 1);
    fclose(f);
    free(script_path);
    free(log);
}

static void
server_stop(struct server *s)
{
    char *cmd[] = {"rm", "-rf", s->dir, NULL};
    close(s->in);
    waitpid(s->pid, NULL, 0);
    pid_t pid = fork();
    if (pid == 0)
        execvp("rm", cmd);
    waitpid(pid, NULL, 0);
}

static struct model_provider *
provider(const struct server *s)
{
    char *url = xasprintf("http://127.0.0.1:%d/", s->port);
    struct anthropic_config c = {.base_url = url, .api_key = "k", .betas = "b1,b2"};
    struct model_provider *p = anthropic_provider_new(&c);
    free(url);
    return p;
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
        struct server srv;
        struct err err = {0};
        server_start(&srv, whole, dribbles[i]);
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
        server_stop(&srv);
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
        {"{\"responses\":[[{\"raw\":\"data: {not json\\n\\n\"}]]}", ERR_PARSE, true, "no JSON"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct server srv;
        struct err err = {0};
        server_start(&srv, rows[i].script, "0");
        struct message *m = hello();
        struct model_provider *p = provider(&srv);
        struct model_stream *s = ask(p, &m);
        struct stream_blocks *b = stream_blocks_new();
        assert_int_equal(drain(s, b, &err), MODEL_FAILED);
        assert_int_equal(err.code, rows[i].code);
        assert_int_equal(err.retryable, rows[i].retryable);
        if (!strstr(err.text, rows[i].word))
            fail_msg("row %zu: %s", i, err.text);
        stream_blocks_free(b);
        model_stream_free(s);
        model_provider_free(p);
        message_free(m);
        server_stop(&srv);
    }
}

static void
waking(void **state)
{
    struct server srv;
    struct err err = {0};
    struct delta d;
    int wake = eventfd(1, EFD_NONBLOCK);
    (void)state;
    server_start(&srv, "{\"responses\":[[{\"delay_ms\":60000}]]}", "0");
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
    server_stop(&srv);
}

static void
nobody_listens(void **state)
{
    struct err err = {0};
    struct server srv = {.port = 1};
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

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_answer), cmocka_unit_test(failures),
                                       cmocka_unit_test(waking), cmocka_unit_test(nobody_listens)};
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
