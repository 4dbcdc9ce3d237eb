/* What model servers on this machine say of themselves, over a real socket. */
#include "unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http.h"
#include "base/json.h"
#include "model/local.h"
#include "unit/temp_dir.h"

struct fake {
    pid_t pid;
    int in, port;
    char *dir, *url;
};

static void
fake_start(struct fake *f, const char *routes)
{
    int in[2], out[2];
    char line[64] = "";
    f->dir = temp_dir_make();
    temp_file_write(f->dir, "routes.json", routes);
    char *path = fs_join(f->dir, "routes.json"), *log = fs_join(f->dir, "log.jsonl");
    assert_int_equal(pipe(in) | pipe(out), 0);
    f->pid = fork();
    if (f->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execlp("python3", "python3", TEST_DIR "/fakes/local_server.py", "--routes", path, "--log",
               log, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    f->in = in[1];
    FILE *from = fdopen(out[0], "r");
    assert_non_null(fgets(line, sizeof line, from));
    f->port = atoi(line);
    fclose(from);
    f->url = xasprintf("http://127.0.0.1:%d", f->port);
    free(path);
    free(log);
}

static void
fake_stop(struct fake *f)
{
    close(f->in);
    waitpid(f->pid, NULL, 0);
    temp_dir_remove(f->dir);
    free(f->url);
}

static bool
was_asked(const struct fake *f, const char *what)
{
    char *log = temp_file_read(f->dir, "log.jsonl");
    bool yes = strstr(log, what) != NULL;
    free(log);
    return yes;
}

static struct model_server *
asked(const struct fake *f, const char *key)
{
    struct err err = {0};
    struct model_server *s = model_server_new(f->url, key);
    if (!model_server_ask(s, NULL, 20000, &err))
        fail_msg("%s", err.text);
    return s;
}

#define OLLAMA_MODELS                                                                              \
    "\"GET /v1/models\":{\"object\":\"list\",\"data\":[{\"id\":\"qwen3:8b\",\"owned_by\":"         \
    "\"library\"},{\"id\":\"tiny:latest\",\"owned_by\":\"library\"},{\"id\":\"a "                  \
    "b\"},{\"id\":7}]}"

static void
ollama_tells_by_what_is_loaded(void **state)
{
    (void)state;
    struct fake f;
    bool sure = false;
    size_t n;
    fake_start(&f,
               "{" OLLAMA_MODELS ",\"GET /api/ps\":{\"models\":[{\"name\":\"qwen3:8b\",\"model\":"
               "\"qwen3:8b\",\"context_length\":8192}]},\"POST /api/show\":{\"parameters\":"
               "\"stop \\\"x\\\"\\nnum_ctx                        16384\\n\"}}");
    struct model_server *s = asked(&f, NULL);
    assert_int_equal(model_server_kind(s), SERVER_OLLAMA);
    struct server_model *list = model_server_models(s, &n);
    assert_int_equal(n, 2); /* what is no word is left out */
    assert_string_equal(list[1].id, "tiny:latest");
    server_models_free(list, n);
    assert_int_equal(model_server_window(s, "qwen3:8b", NULL, 20000, &sure), 8192);
    assert_true(sure);
    assert_int_equal(model_server_window(s, "tiny", NULL, 20000, &sure), 16384);
    assert_true(sure);
    model_server_free(s);
    fake_stop(&f);
}

static void
ollama_without_a_word_has_its_usual_size(void **state)
{
    (void)state;
    struct fake f;
    bool sure = true;
    fake_start(&f,
               "{" OLLAMA_MODELS ",\"GET /api/ps\":{\"body\":{\"models\":[]},\"then\":{\"models\":"
               "[{\"model\":\"tiny:latest\",\"context_length\":32768}]}},\"POST /api/show\":{"
               "\"model_info\":{\"llama.context_length\":131072}}}");
    struct model_server *s = asked(&f, NULL);
    assert_int_equal(model_server_window(s, "tiny", NULL, 20000, &sure), 4096);
    assert_false(sure);
    /* loaded by the first request: now it is known, and not asked for again */
    assert_int_equal(model_server_window(s, "tiny", NULL, 20000, &sure), 32768);
    assert_true(sure);
    fake_stop(&f);
    assert_int_equal(model_server_window(s, "tiny", NULL, 20000, &sure), 32768);
    model_server_free(s);
}

static void
llamacpp_and_vllm_tell(void **state)
{
    (void)state;
    struct fake f;
    bool sure;
    fake_start(&f, "{\"GET /v1/models\":{\"data\":[{\"id\":\"m.gguf\",\"owned_by\":\"llamacpp\"}]},"
                   "\"GET /props\":{\"default_generation_settings\":{\"n_ctx\":12288}}}");
    struct model_server *s = asked(&f, "secret");
    assert_int_equal(model_server_kind(s), SERVER_LLAMACPP);
    assert_int_equal(model_server_window(s, "m.gguf", NULL, 20000, &sure), 12288);
    model_server_free(s);
    char *log = temp_file_read(f.dir, "log.jsonl");
    char *props = strstr(log, "/props");
    assert_non_null(strstr(log, "Bearer secret")); /* with /v1 ... */
    assert_non_null(props);
    assert_null(strstr(props, "secret")); /* ... and nowhere else */
    free(log);
    fake_stop(&f);
    fake_start(&f, "{\"GET /v1/models\":{\"data\":[{\"id\":\"v\",\"max_model_len\":20000}]}}");
    s = asked(&f, NULL);
    assert_int_equal(model_server_kind(s), SERVER_VLLM);
    assert_int_equal(model_server_window(s, "v", NULL, 20000, &sure), 20000);
    assert_int_equal(model_server_window(s, "w", NULL, 20000, &sure), 0);
    assert_false(was_asked(&f, "/props"));
    model_server_free(s);
    fake_stop(&f);
}

static void
lm_studio_is_found_by_its_own_list(void **state)
{
    (void)state;
    struct fake f;
    bool sure;
    fake_start(&f,
               "{\"GET /v1/models\":{\"data\":[{\"id\":\"big\"},{\"id\":\"off\"}]},\"GET "
               "/api/v0/models\":{\"data\":[{\"id\":\"big\",\"loaded_context_length\":24576,"
               "\"max_context_length\":131072},{\"id\":\"off\",\"max_context_length\":131072}]}}");
    struct model_server *s = asked(&f, NULL);
    assert_int_equal(model_server_kind(s), SERVER_LMSTUDIO);
    assert_int_equal(model_server_window(s, "big", NULL, 20000, &sure), 24576);
    assert_true(sure);
    assert_int_equal(model_server_window(s, "off", NULL, 20000, &sure), 4096);
    assert_false(sure);
    model_server_free(s);
    fake_stop(&f);
}

static void
what_is_no_model_server_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *routes, *want;
    } cases[] = {{"{}", "no /v1/models"},
                 {"{\"GET /v1/models\":{\"hello\":1}}", "not as a model server"},
                 {"{\"GET /v1/models\":{\"status\":401}}", "OPENAI_API_KEY"},
                 {"{\"GET /v1/models\":\"<html>\"}", "not as a model server"},
                 {"{\"GET /v1/models\":{\"data\":null}}", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fake f;
        struct err err = {0};
        fake_start(&f, cases[i].routes);
        struct model_server *s = model_server_new(f.url, NULL);
        bool ok = model_server_ask(s, NULL, 20000, &err);
        assert_int_equal(ok, cases[i].want == NULL);
        if (cases[i].want && !strstr(err.text, cases[i].want))
            fail_msg("%s", err.text);
        model_server_free(s);
        fake_stop(&f);
    }
}

static void
a_server_that_does_not_answer_is_given_up(void **state)
{
    (void)state;
    struct fake f;
    struct err err = {0};
    fake_start(&f, "{\"GET /v1/models\":{\"delay_ms\":30000}}");
    struct model_server *s = model_server_new(f.url, NULL);
    assert_false(model_server_ask(s, NULL, 50, &err));
    assert_int_equal(err.code, ERR_TIMEOUT);
    struct cancel *c = cancel_new(NULL);
    cancel_fire(c, CANCEL_TERM);
    assert_false(model_server_ask(s, c, 20000, &err));
    assert_int_equal(err.code, ERR_CANCELLED);
    cancel_free(c);
    model_server_free(s);
    fake_stop(&f);
}

static void
num_ctx_is_read(void **state)
{
    (void)state;
    assert_int_equal(server_num_ctx(STR("num_ctx    4096")), 4096);
    assert_int_equal(server_num_ctx(STR("top_p 1\n  num_ctx\t99999\nx")), 99999);
    assert_int_equal(server_num_ctx(STR("num_ctx_max 5")), 0);
    assert_int_equal(server_num_ctx(STR("num_ctx -5")), 0);
    assert_int_equal(server_num_ctx(STR("num_ctx 99999999999999999999999")), 0);
    assert_int_equal(server_num_ctx((struct str){0}), 0);
}

static void
only_what_answers_is_found(void **state)
{
    (void)state;
    struct fake f, other;
    struct local_list l;
    struct buf b;
    fake_start(&f, "{" OLLAMA_MODELS "}");
    fake_start(&other, "{}");
    char *dead = xasprintf("http://127.0.0.1:1,%s , %s", other.url, f.url);
    local_find(dead, NULL, NULL, &l);
    assert_int_equal(l.n, 1);
    buf_init(&b, 4096);
    local_describe_models(l.servers[0], 1, &b);
    assert_string_equal(buf_cstr(&b), "qwen3:8b, 1 more");
    buf_clear(&b);
    local_command(l.servers[0], &b);
    char *want = xasprintf("/connect %s/v1 qwen3:8b", f.url);
    assert_string_equal(buf_cstr(&b), want);
    free(want);
    char *url = local_url_of("Ollama", dead, NULL);
    want = xasprintf("%s/v1", f.url);
    assert_string_equal(url, want);
    free(want);
    free(url);
    buf_release(&b);
    local_release(&l);
    local_find("", NULL, NULL, &l);
    assert_int_equal(l.n, 0);
    free(dead);
    fake_stop(&other);
    fake_stop(&f);
}

static void
names_lead_to_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ollama_host, *want;
    } cases[] = {{"ollama", NULL, "http://127.0.0.1:11434"},
                 {"ollama", "0.0.0.0", "http://127.0.0.1:11434"},
                 {"ollama", ":9000", "http://127.0.0.1:9000"},
                 {"ollama", "box:9000", "http://box:9000"},
                 {"OLLAMA", "https://box/", "https://box:443"},
                 {"ollama", "[::1]:77", "http://[::1]:77"},
                 {"llama.cpp", "box", "http://127.0.0.1:8080"},
                 {"llama-cpp", NULL, "http://127.0.0.1:8080"},
                 {"LM Studio", NULL, "http://127.0.0.1:1234"},
                 {"vllm", NULL, "http://127.0.0.1:8000"},
                 {"vllmx", NULL, NULL},
                 {"", NULL, NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *url = local_url_of(cases[i].name, NULL, cases[i].ollama_host);
        if (!cases[i].want)
            assert_null(url);
        else
            assert_string_equal(url, cases[i].want);
        free(url);
    }
}

static void
loopback_is_told_from_elsewhere(void **state)
{
    (void)state;
    assert_true(http_is_loopback("http://127.0.0.1:1/v1"));
    assert_true(http_is_loopback("http://localhost"));
    assert_true(http_is_loopback("https://[::1]:8/"));
    assert_false(http_is_loopback("http://127.0.0.1.example.com"));
    assert_false(http_is_loopback("http://10.0.0.1:80"));
    assert_false(http_is_loopback("ftp://127.0.0.1"));
    assert_false(http_is_loopback("http://127.0.0.1:99999"));
    assert_false(http_is_loopback("http://user@127.0.0.1:80@evil/"));
    assert_false(http_listens("http://127.0.0.1:1", 200));
}

int
main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ollama_tells_by_what_is_loaded),
        cmocka_unit_test(ollama_without_a_word_has_its_usual_size),
        cmocka_unit_test(llamacpp_and_vllm_tell),
        cmocka_unit_test(lm_studio_is_found_by_its_own_list),
        cmocka_unit_test(what_is_no_model_server_is_said),
        cmocka_unit_test(a_server_that_does_not_answer_is_given_up),
        cmocka_unit_test(num_ctx_is_read),
        cmocka_unit_test(only_what_answers_is_found),
        cmocka_unit_test(names_lead_to_addresses),
        cmocka_unit_test(loopback_is_told_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
