#pragma once
/* A temporary project and a context to run tools in. */
#include "unit/tool_cases.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/json.h"
#include "tools/filestate.h"
#include "tools/tool.h"

struct bench {
    char *root, *spill;
    struct tool_ctx ctx;
    struct tool_result r;
    const char *env[8];
    char path_env[4096];
};

static inline void
bench_init(struct bench *b)
{
    char tmpl[] = "/tmp/yare-tools-XXXXXX";
    struct err err;

    memset(b, 0, sizeof *b);
    assert_non_null(mkdtemp(tmpl));
    b->root = fs_resolve(tmpl, &err);
    b->spill = xasprintf("%s-spill", b->root);
    snprintf(b->path_env, sizeof b->path_env, "PATH=%s", getenv("PATH"));
    b->env[0] = b->path_env;
    b->env[1] = "LC_ALL=C.UTF-8";
    b->env[2] = "ASAN_OPTIONS=detect_leaks=0";
    b->ctx = (struct tool_ctx){.session_id = "s",
                               .tool_use_id = "toolu_1",
                               .root = b->root,
                               .cwd = b->root,
                               .home = "/nonexistent",
                               .spill_dir = b->spill,
                               .child_env = b->env,
                               .files = file_state_new(),
                               .cancel = cancel_new(NULL)};
    tool_result_init(&b->r);
}

static inline void
bench_release(struct bench *b)
{
    char *argv[] = {"rm", "-rf", b->root, b->spill, NULL};

    test_run(argv);
    tool_result_release(&b->r);
    file_state_unref(b->ctx.files);
    cancel_free(b->ctx.cancel);
    free(b->root);
    free(b->spill);
}

static inline char *
bench_path(struct bench *b, const char *rel)
{
    return fs_join(b->root, rel);
}

static inline void
bench_put(struct bench *b, const char *rel, struct str bytes)
{
    char *path = bench_path(b, rel), *dir = fs_dirname(path);
    struct err err;

    assert_true(fs_mkdirs(dir, 0755, &err));
    assert_true(fs_write_atomic(path, bytes, 0644, &err));
    free(dir);
    free(path);
}

/* The file's bytes; yours. */
static inline struct buf
bench_get(struct bench *b, const char *rel)
{
    char *path = bench_path(b, rel);
    struct buf out;
    struct err err;

    buf_init(&out, BUF_MAX);
    if (!fs_read(path, BUF_MAX, &out, &err))
        fail_msg("%s", err.text);
    free(path);
    return out;
}

/* Runs a tool on input JSON in which ' stands for ". Fails the test when the input does not validate. */
static inline const char *
bench_run_raw(struct bench *b, const char *name, struct str json)
{
    const struct tool *t = tool_find(str_from(name));
    struct err err;
    struct cJSON *input = json_parse(json, &err);

    assert_non_null(t);
    if (!input)
        fail_msg("%s", err.text);
    if (!tool_validate(t, input, &err))
        fail_msg("%s", err.text);
    tool_result_release(&b->r);
    tool_result_init(&b->r);
    t->run(&b->ctx, input, &b->r);
    json_free(input);
    if (b->r.data.len) {
        struct cJSON *data = json_parse(buf_str(&b->r.data), &err);
        if (!data)
            fail_msg("result data of %s: %s", name, err.text);
        json_free(data);
    }
    return buf_cstr(&b->r.text);
}

static inline const char *bench_run(struct bench *b, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static inline const char *
bench_run(struct bench *b, const char *name, const char *fmt, ...)
{
    struct buf json;
    va_list ap;

    buf_init(&json, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&json, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < json.len; i++)
        if (json.data[i] == '\'')
            json.data[i] = '"';
    const char *text = bench_run_raw(b, name, buf_str(&json));
    buf_release(&json);
    return text;
}

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("'%s' is not in: %s", (part), (text));                                        \
    } while (0)
