/*
 * What a request costs the machine, beside the model: processor time of the engine's thread behind N messages, on both wires, and the
 * memory of a session of many turns with the context tiers at work. The steps are the loop's own (context, request, stream, tools,
 * decide), with a real tool, the journal and the meters; the provider writes the real body and sends it nowhere. Two times are
 * taken, each up to the moment when all slices of the body stand: `request_us` from where the next request is due, `turn_us` from the
 * last byte of the answer before. `request FOLDER [TURNS]` prints a JSON object; the folder is scratch.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "engine/core.h"
#include "engine/engine.h"
#include "engine/loop_private.h"
#include "model/openai_body.h"
#include "model/provider.h"
#include "perm/chain.h"
#include "tools/tool.h"

enum { ROUNDS = 60, RESULT = 2000, TURNS = 10000, SAMPLES = 20 };
#define ENDLESS ((int64_t)1 << 40) /* a window that no tier looks at */

static const char *const wires[] = {"anthropic", "openai"};
static const int sizes[] = {100, 1000, 10000};

/* Of this thread, which is the engine's: what else the machine does is no matter, nor how long the disk takes. */
static int64_t
cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int
by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- a model that calls a tool in each turn ---- */

struct talk {
    struct model_provider pub;
    int turns; /* left */
    int n;
    int64_t ended_us, handed_us; /* the last answer's last byte was read; the last body stood */
};

struct talk_stream {
    struct model_stream pub;
    struct talk *talk;
    struct delta steps[8];
    size_t at, n;
    char id[24];
};

static enum model_step
talk_next(struct model_stream *s, int wake_fd, int timeout_ms, struct delta *ret, struct err *err)
{
    struct talk_stream *t = (struct talk_stream *)s;
    (void)wake_fd;
    (void)timeout_ms;
    (void)err;
    if (t->at == t->n) {
        t->talk->ended_us = cpu_us();
        return MODEL_DONE;
    }
    *ret = t->steps[t->at++];
    return MODEL_DELTA;
}

static void
talk_free_stream(struct model_stream *s)
{
    free(s);
}

static const struct model_stream_ops talk_ops = {talk_next, talk_free_stream};

static void
step(struct talk_stream *s, struct delta d)
{
    s->steps[s->n++] = d;
}

/* Puts the body together as the wire does; its tokens, about. */
static int64_t
write_body(const struct talk *t, const struct model_request *req)
{
    struct body_text own = {0}, *text = req->text ? req->text : &own;
    struct str slices[BODY_SLICES];
    struct buf scratch;
    size_t bytes = 0;
    unsigned used;
    buf_init(&scratch, BUF_MAX);
    size_t n = strcmp(t->pub.name, "openai") == 0
                   ? openai_body(req, text, 0, &scratch, slices, &used)
                   : anthropic_body(req, text, &scratch, slices);
    for (size_t i = 0; i < n; i++)
        bytes += slices[i].len;
    body_text_release(&own);
    buf_release(&scratch);
    return (int64_t)bytes / 4;
}

static struct model_stream *
talk_start(void *self, const struct model_request *req, struct err *err)
{
    struct talk *t = self;
    int64_t tokens = write_body(t, req);
    t->handed_us = cpu_us();
    struct talk_stream *s = xcalloc(1, sizeof *s);
    bool calls = req->tools.len && t->turns > 0;
    (void)err;
    s->pub.ops = &talk_ops;
    s->talk = t;
    step(s, (struct delta){.kind = DELTA_MESSAGE_START,
                           .id = STR("msg"),
                           .usage = {.input = tokens, .output = 1}});
    if (calls) {
        (void)snprintf(s->id, sizeof s->id, "toolu_%d", t->n++);
        t->turns--;
        step(s, (struct delta){.kind = DELTA_BLOCK_START,
                               .block = BLOCK_TOOL_USE,
                               .id = str_from(s->id),
                               .name = STR("Probe")});
        step(s,
             (struct delta){.kind = DELTA_INPUT_JSON, .text = STR("{\"what\":\"the next one\"}")});
    } else {
        step(s, (struct delta){.kind = DELTA_BLOCK_START, .block = BLOCK_TEXT});
        step(s,
             (struct delta){.kind = DELTA_TEXT,
                            .text = STR("## Task\nIt goes on as it was.\n## State\nAll is well.")});
    }
    step(s, (struct delta){.kind = DELTA_BLOCK_STOP});
    step(s, (struct delta){.kind = DELTA_USAGE,
                           .usage = {.output = 30},
                           .stop = calls ? STOP_TOOL_USE : STOP_END_TURN});
    return &s->pub;
}

static void
talk_free(void *self)
{
    (void)self;
}

static void
probe_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    (void)input;
    buf_addf(&ret->text, "%s\n", ctx->tool_use_id);
    while (ret->text.len < RESULT)
        buf_addf(&ret->text, "line %zu of the result of %s\n", ret->text.len, ctx->tool_use_id);
}

static void
probe_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    (void)input;
    (void)cwd;
    buf_adds(out, "probe");
}

static const struct tool probe = {
    .name = "Probe",
    .flags = TOOL_READ_ONLY | TOOL_CONCURRENCY_SAFE,
    .description = "probes",
    .schema = "{\"type\":\"object\",\"properties\":{\"what\":{\"type\":\"string\"}}}",
    .run = probe_run,
    .describe = probe_describe,
};

static const struct tool *
find_probe(struct str name)
{
    return str_is(name, "Probe") ? &probe : NULL;
}

static void
allow(const struct perm_request *req, struct decision *ret)
{
    (void)req;
    *ret = (struct decision){.verdict = VERDICT_ALLOW};
}

static void
free_event(void *e)
{
    event_free(e);
}

static void
talk_init(struct talk *t, const char *wire, int turns)
{
    *t = (struct talk){.turns = turns};
    t->pub =
        (struct model_provider){.name = wire, .self = t, .start = talk_start, .free = talk_free};
}

/* ---- request N + 1 ---- */

static void
add_turn(struct core *c, int n)
{
    struct err err = {0};
    struct buf text;
    char *id = xasprintf("toolu_old_%d", n);
    struct message_builder *a = message_builder_new(ROLE_ASSISTANT),
                           *u = message_builder_new(ROLE_USER);
    buf_init(&text, BUF_MAX);
    while (text.len < RESULT)
        buf_addf(&text, "line %zu of %s\n", text.len, id);
    message_add_tool_use(a, str_from(id), STR("Probe"), STR("{\"what\":\"x\"}"));
    message_add_tool_result(u, str_from(id), buf_str(&text), false);
    if (!core_append(c, message_build(a), &err) || !core_append(c, message_build(u), &err))
        die(err.text);
    buf_release(&text);
    free(id);
}

static void
begin_session(struct core *c, int messages)
{
    struct err err = {0};
    core_session_new(c, NULL);
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR("begin"));
    if (!core_append(c, message_build(b), &err))
        die(err.text);
    for (int n = 0; (int)c->state.n < messages; n++)
        add_turn(c, n);
}

/* One round of the loop. */
static void
run_steps(struct loop *l)
{
    static enum flow (*const steps[])(struct loop * l, struct round * r) = {
        step_context, step_request, step_stream, step_tools, step_decide};
    struct round r = {0};
    enum flow f = FLOW_NEXT;
    l->core->state.turn++;
    for (size_t i = 0; i < ARRAY_LEN(steps) && f == FLOW_NEXT; i++)
        f = steps[i](l, &r);
    if (f != FLOW_AGAIN)
        die(l->result->err.text);
    stream_blocks_free(r.blocks);
}

static double
median(int64_t *times)
{
    qsort(times, ROUNDS, sizeof *times, by_time);
    return (double)times[ROUNDS / 2];
}

static void
measure(struct engine *e, const struct talk *talk, double *ret_request, double *ret_turn)
{
    int64_t request[ROUNDS], turn[ROUNDS];
    struct loop_result result = {0};
    struct loop l = {.e = e, .core = &e->core, .turn = e->cancel, .result = &result};
    for (int i = -2; i < ROUNDS; i++) {
        int64_t due = cpu_us(), ended = talk->ended_us;
        run_steps(&l);
        if (i >= 0) { /* the first ones write what is there, and fill what is kept */
            request[i] = talk->handed_us - due;
            turn[i] = talk->handed_us - ended;
        }
        for (struct event *ev; (ev = queue_pop(e->out)) != NULL;)
            event_free(ev);
    }
    *ret_request = median(request);
    *ret_turn = median(turn);
}

static void
bench_request(const char *folder, const char *wire, int messages, double *ret_request,
              double *ret_turn)
{
    struct talk talk;
    struct err err = {0};
    struct engine e = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct engine_seams seams = {.tool_find = find_probe, .perm_check = allow};
    const struct engine_config cfg = {.take_provider = &talk.pub,
                                      .model = "a-model",
                                      .cwd = folder,
                                      .root = folder,
                                      .home = folder,
                                      .config_dir = folder,
                                      .data_dir = folder,
                                      .context_window = ENDLESS,
                                      .trusted = true,
                                      .seams = &seams};
    talk_init(&talk, wire, ROUNDS * 2);
    e.work_end = &e.work;
    e.out = queue_new(4096, NULL, free_event);
    e.cancel = cancel_new(NULL);
    if (!waker_init(&e.wake, &err) || !core_init(&e.core, &cfg, e.out, &e.wake, e.cancel, &err))
        die(err.text);
    begin_session(&e.core, messages);
    measure(&e, &talk, ret_request, ret_turn);
    core_release(&e.core);
    waker_release(&e.wake);
    cancel_free(e.cancel);
    queue_free(e.out);
}

/* {"anthropic": {"100": 20, ...}, ...} */
static void
print_times(const char *name, double us[ARRAY_LEN(wires)][ARRAY_LEN(sizes)])
{
    printf("\"%s\": {", name);
    for (size_t w = 0; w < ARRAY_LEN(wires); w++) {
        printf("%s\"%s\": {", w ? ", " : "", wires[w]);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
            printf("%s\"%d\": %.0f", i ? ", " : "", sizes[i], us[w][i]);
        printf("}");
    }
    printf("}, ");
}

/* ---- a long session ---- */

static double
resident_mb(void)
{
    struct buf b;
    struct err err = {0};
    long long size = 0, resident = 0;
    buf_init(&b, 4096);
    if (!fs_read("/proc/self/statm", 4096, &b, &err) ||
        sscanf(buf_cstr(&b), "%lld %lld", &size, &resident) != 2)
        die("/proc/self/statm cannot be read");
    buf_release(&b);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* Reads events as fast as they come; memory[i]: the most in the i-th part of the turns, so that it is no matter how long ago the last
 * compaction was. */
static void
follow(struct engine *e, int turns, double *memory, int *ret_compactions)
{
    struct event *ev;
    int64_t turn = 0;
    bool over = false;
    while (!over && (ev = engine_next_event(e, 60000)) != NULL) {
        if (ev->kind == EV_TURN && ev->phase == PHASE_END) {
            int64_t part = turn++ / (turns / SAMPLES) + 1;
            double now = resident_mb();
            part = part < SAMPLES ? part : SAMPLES;
            memory[part] = now > memory[part] ? now : memory[part];
        }
        *ret_compactions += ev->kind == EV_COMPACT && ev->phase == PHASE_END;
        over = ev->kind == EV_RESULT || ev->kind == EV_CLOSED;
        if (over && ev->kind == EV_RESULT && ev->u.result.exit_code != 0)
            die(ev->u.result.errors ? ev->u.result.errors : ev->u.result.exit);
        event_free(ev);
    }
    if (!over)
        die("the session did not go on");
}

static int
long_session(const char *folder, int turns, double *memory)
{
    struct talk talk;
    talk_init(&talk, "anthropic", turns);
    struct err err = {0};
    const struct engine_seams seams = {.tool_find = find_probe, .perm_check = allow};
    const struct engine_config cfg = {.take_provider = &talk.pub,
                                      .model = "claude-opus-5-5",
                                      .cwd = folder,
                                      .root = folder,
                                      .home = folder,
                                      .config_dir = folder,
                                      .data_dir = folder,
                                      .context_window = 200000,
                                      .trusted = true,
                                      .seams = &seams};
    int compactions = 0;
    struct engine *e = engine_start(&cfg, &err);
    if (!e)
        die(err.text);
    memory[0] = resident_mb();
    engine_post(e, op_new(OP_SUBMIT, "go on until it is done"));
    follow(e, turns, memory, &compactions);
    engine_free(e);
    return compactions;
}

int
main(int argc, char **argv)
{
    int turns = argc > 2 ? atoi(argv[2]) : TURNS;
    double memory[SAMPLES + 1] = {0};
    double request[ARRAY_LEN(wires)][ARRAY_LEN(sizes)], turn[ARRAY_LEN(wires)][ARRAY_LEN(sizes)];
    if (argc < 2 || turns < SAMPLES) {
        fprintf(stderr, "usage: request FOLDER [TURNS]\n");
        return 2;
    }
    xmalloc_init(); /* as the program does */
    catalog_load(NULL, NULL);
    int compactions =
        long_session(argv[1], turns, memory); /* first: what the others leave behind is not its */
    for (size_t w = 0; w < ARRAY_LEN(wires); w++)
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
            bench_request(argv[1], wires[w], sizes[i], &request[w][i], &turn[w][i]);
    printf("{");
    print_times("request_us", request);
    print_times("turn_us", turn);
    printf("\"turns\": %d, \"compactions\": %d, \"rss_mb\": %.1f, \"rss_last_half_mb\": %.2f}\n",
           turns, compactions, memory[SAMPLES], memory[SAMPLES] - memory[SAMPLES / 2]);
    return 0;
}
