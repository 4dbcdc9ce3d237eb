/*
 * What a request costs the machine, beside the model: the processor time to build and hand over request N + 1 behind N messages, and the
 * memory of a session of many turns with the context tiers at work. `request FOLDER [TURNS]` prints a JSON object; the folder is
 * scratch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "engine/core.h"
#include "engine/engine.h"
#include "engine/loop_private.h"
#include "engine/meters.h"
#include "engine/outgoing.h"
#include "engine/waker.h"
#include "model/provider.h"
#include "perm/chain.h"
#include "tools/tool.h"

enum { ROUNDS = 60, RESULT = 2000, TURNS = 10000, SAMPLES = 20 };

/* Of this process: what else the machine does is no matter, nor how long the disk takes. */
static int64_t
cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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
};

struct talk_stream {
    struct model_stream pub;
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
    if (t->at == t->n)
        return MODEL_DONE;
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

/* The tokens are those of the body that would go out; it is put together for that. */
static int64_t
tokens_of(const struct model_request *req)
{
    struct buf scratch;
    struct str slices[BODY_SLICES];
    struct body_text own = {0};
    size_t bytes = 0;
    buf_init(&scratch, BUF_MAX);
    size_t n = anthropic_body(req, req->text ? req->text : &own, &scratch, slices);
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
    struct talk_stream *s = xcalloc(1, sizeof *s);
    bool calls = req->tools.len && t->turns > 0;
    (void)err;
    s->pub.ops = &talk_ops;
    step(s, (struct delta){.kind = DELTA_MESSAGE_START,
                           .id = STR("msg"),
                           .usage = {.input = tokens_of(req), .output = 1}});
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

/* ---- request N + 1 ---- */

static void
add_turn(struct core *c, int n)
{
    struct err err = {0};
    struct buf text;
    char *id = xasprintf("toolu_%d", n);
    struct message_builder *a = message_builder_new(ROLE_ASSISTANT),
                           *u = message_builder_new(ROLE_USER);
    buf_init(&text, BUF_MAX);
    while (text.len < RESULT)
        buf_addf(&text, "line %zu of %s\n", text.len, id);
    message_add_tool_use(a, str_from(id), STR("Probe"), STR("{\"what\":\"x\"}"));
    message_add_tool_result(u, str_from(id), buf_str(&text), false);
    struct message *answer = message_build(a);
    answer->model = xstrdup("claude-opus-5-5");
    if (!core_append(c, answer, &err) || !core_append(c, message_build(u), &err))
        die(err.text);
    buf_release(&text);
    free(id);
}

/* All that happens between the results and the first byte on the wire. */
static void
hand_over(struct core *c)
{
    struct loop_result result = {0};
    struct loop l = {.core = c, .result = &result};
    struct round r = {0};
    struct err err = {0};
    struct buf scratch;
    buf_init(&scratch, BUF_MAX);
    if (!loop_build_request(&l, &r) || !outgoing_prepare(&c->outgoing, c, &r.req, &err))
        die("the request could not be built");
    meters_watch(c, &r.req);
    struct str slices[BODY_SLICES];
    (void)anthropic_body(&r.req, r.req.text, &scratch, slices);
    buf_release(&scratch);
    c->state.n_sent = c->state.n;
    state_note_cached(&c->state, c->state.n);
}

static double
build_us(const char *folder, struct model_provider *provider, int messages)
{
    struct queue *out = queue_new(4096, NULL, free_event);
    struct waker wake;
    struct cancel *cancel = cancel_new(NULL);
    struct core c;
    struct err err = {0};
    int64_t times[ROUNDS];
    const struct engine_seams seams = {.tool_find = find_probe, .perm_check = allow};
    const struct engine_config cfg = {.take_provider = provider,
                                      .model = "claude-opus-5-5",
                                      .cwd = folder,
                                      .root = folder,
                                      .home = folder,
                                      .config_dir = folder,
                                      .data_dir = folder,
                                      .seams = &seams};
    if (!waker_init(&wake, &err) || !core_init(&c, &cfg, out, &wake, cancel, &err))
        die(err.text);
    core_session_new(&c, NULL);
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR("begin"));
    if (!core_append(&c, message_build(b), &err))
        die(err.text);
    int n = 0;
    while ((int)c.state.n < messages)
        add_turn(&c, n++);
    hand_over(&c);
    for (int i = 0; i < ROUNDS; i++) {
        add_turn(&c, n++);
        int64_t from = cpu_us();
        hand_over(&c);
        times[i] = cpu_us() - from;
    }
    qsort(times, ROUNDS, sizeof *times, by_time);
    core_release(&c);
    waker_release(&wake);
    cancel_free(cancel);
    queue_free(out);
    return (double)times[ROUNDS / 2];
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

/* Reads events as fast as they come; memory[i]: after i / SAMPLES of the turns. */
static void
follow(struct engine *e, int turns, double *memory, int *ret_compactions)
{
    struct event *ev;
    int64_t turn = 0;
    bool over = false;
    while (!over && (ev = engine_next_event(e, 60000)) != NULL) {
        if (ev->kind == EV_TURN && ev->phase == PHASE_END) {
            turn++;
            if (turn % (turns / SAMPLES) == 0 && turn / (turns / SAMPLES) <= SAMPLES)
                memory[turn / (turns / SAMPLES)] = resident_mb();
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
    struct talk talk = {.turns = turns};
    talk.pub = (struct model_provider){
        .name = "anthropic", .self = &talk, .start = talk_start, .free = talk_free};
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
    static const int sizes[] = {100, 1000, 10000};
    int turns = argc > 2 ? atoi(argv[2]) : TURNS;
    double memory[SAMPLES + 1] = {0}, us[ARRAY_LEN(sizes)];
    if (argc < 2 || turns < SAMPLES) {
        fprintf(stderr, "usage: request FOLDER [TURNS]\n");
        return 2;
    }
    catalog_load(NULL, NULL);
    int compactions =
        long_session(argv[1], turns, memory); /* first: what the others leave behind is not its */
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct talk talk = {0};
        talk.pub = (struct model_provider){
            .name = "anthropic", .self = &talk, .start = talk_start, .free = talk_free};
        us[i] = build_us(argv[1], &talk.pub, sizes[i]);
    }
    printf("{\"build_us\": {\"100\": %.0f, \"1000\": %.0f, \"10000\": %.0f}, \"turns\": %d, "
           "\"compactions\": %d, \"rss_mb\": %.1f, \"rss_last_half_mb\": %.2f}\n",
           us[0], us[1], us[2], turns, compactions, memory[SAMPLES],
           memory[SAMPLES] - memory[SAMPLES / 2]);
    return 0;
}
