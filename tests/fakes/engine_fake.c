#include "engine_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/queue.h"
#include "engine/engine.h"

struct engine {
    struct queue *events;
    int fd;
    bool held, asked;
    uint64_t asks;
};

static void
free_event(void *ev)
{
    event_free(ev);
}

static void
tell(struct engine *e, const char *what, const char *text)
{
    char line[4096];
    int n = snprintf(line, sizeof(line), "%s %s\n", what, text ? text : "-");
    size_t len = n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1;
    if (e->fd >= 0 && write(e->fd, line, len) < 0)
        perror("engine_fake");
}

static void
emit(struct engine *e, struct event *ev)
{
    (void)queue_push(e->events, ev);
}

struct engine *
engine_fake_new(int fd, bool trusted)
{
    struct engine *e = xcalloc(1, sizeof(*e));
    e->events = queue_new(100000, NULL, free_event);
    e->fd = fd;
    struct event *ev = event_new(EV_SESSION);
    ev->u.session.id = xstrdup("fake-session");
    ev->u.session.model = xstrdup("fake-model");
    ev->u.session.cwd = xstrdup("/tmp");
    ev->u.session.trusted = trusted;
    ev->u.session.context_window = 1000;
    emit(e, ev);
    return e;
}

static void
say_text(struct engine *e, enum event_phase phase, const char *text)
{
    struct event *ev = event_new(EV_BLOCK);
    ev->phase = phase;
    ev->u.block.type = EVBLOCK_TEXT;
    ev->u.block.text = xstrdup(text);
    emit(e, ev);
}

static void
end(struct engine *e, const char *text)
{
    struct event *ev = event_new(EV_RESULT);
    ev->u.result.subtype = "success";
    ev->u.result.exit = "completed";
    ev->u.result.text = xstrdup(text);
    emit(e, ev);
    e->held = false;
}

static void
ask(struct engine *e)
{
    struct event *ev = event_new(EV_PERM_ASK);
    ev->u.ask.id = ++e->asks;
    ev->u.ask.tool = xstrdup("Bash");
    ev->u.ask.what = xstrdup("rm -rf build");
    ev->u.ask.command = xstrdup("rm -rf build");
    ev->u.ask.input = xstrdup("{\"command\":\"rm -rf build\"}");
    decision_init(&ev->u.ask.decision);
    ev->u.ask.decision.verdict = VERDICT_ASK;
    (void)decision_add(&ev->u.ask.decision, "L1", VERDICT_ASK, NULL, "rm -rf build", "destructive");
    emit(e, ev);
    e->asked = true;
}

static void
offer(struct engine *e)
{
    struct event *ev = event_new(EV_OFFER);
    ev->u.offer.kind = xstrdup("provider");
    ev->u.offer.text = xstrdup("a server answers nearby");
    ev->u.offer.command = xstrdup("/connect nearby");
    emit(e, ev);
}

static const char *settings = "{}";

void
engine_fake_settings(const char *json)
{
    settings = json;
}

static const char *
answer_of(enum query_kind query)
{
    switch (query) {
    case QUERY_MODELS:
        return "{\"models\":[{\"id\":\"model-a\"},{\"id\":\"model-b\",\"current\":true},{\"id\":"
               "\"model-c\"}]}";
    case QUERY_TRUST:
        return "{\"held\":[{\"what\":\"allow "
               "rules\",\"file\":\".yare/settings.json\",\"items\":[\"Bash(make:*)\"]}]}";
    case QUERY_SETTINGS:
        return settings;
    case QUERY_STATE:
        return "{\"turn\":12345,\"transitions\":[]}";
    default:
        return "{\"files\":[\"doc/spare.md\",\"src/parse.c\",\"src/lex.c\"]}";
    }
}

static void
submit(struct engine *e, const char *text)
{
    struct event *ev = event_new(EV_USER);
    ev->u.user.uuid = xstrdup("u");
    ev->u.user.text = xstrdup(text);
    emit(e, ev);
    ev = event_new(EV_TURN);
    ev->phase = PHASE_START;
    ev->u.turn.n = 1;
    emit(e, ev);
    e->held = true;
    if (strcmp(text, "hold") == 0)
        return;
    if (strcmp(text, "ask") == 0) {
        ask(e);
        return;
    }
    if (strcmp(text, "offer") == 0)
        offer(e);
    char *answer = xasprintf("you said: %.2000s", text);
    say_text(e, PHASE_START, NULL);
    if (strncmp(text, "stream ", 7) == 0) {
        for (long n = strtol(text + 7, NULL, 10); n > 0; n--)
            say_text(e, PHASE_DELTA, n % 12 ? "word " : "word\n");
    }
    say_text(e, PHASE_DELTA, answer);
    say_text(e, PHASE_END, NULL);
    end(e, answer);
    free(answer);
}

static void
answer(struct engine *e, const struct op *op)
{
    static const char *const names[] = {"once", "always", "no"};
    tell(e, "answer", names[op->perm.answer]);
    struct event *ev = event_new(EV_PERM_DECIDED);
    ev->u.decided.ask_id = op->perm.ask_id;
    ev->u.decided.tool = xstrdup("Bash");
    ev->u.decided.who = xstrdup("person");
    decision_init(&ev->u.decided.decision);
    ev->u.decided.decision.verdict = VERDICT_ALLOW;
    ev->u.decided.allowed = op->perm.answer != PERM_ANSWER_NO;
    emit(e, ev);
    end(e, names[op->perm.answer]);
}

void
engine_post(struct engine *e, struct op *op)
{
    struct event *ev;
    switch (op->kind) {
    case OP_SUBMIT:
        tell(e, "submit", op->text);
        submit(e, op->text);
        break;
    case OP_STEER:
        tell(e, "steer", op->text);
        break;
    case OP_COMMAND:
        tell(e, "command", op->text);
        if (op->text[0] == '!')
            submit(e, op->text); /* a turn of its own */
        break;
    case OP_PERM_ANSWER:
        answer(e, op);
        break;
    case OP_SET_MODE:
        tell(e, "mode", perm_mode_name(op->mode));
        ev = event_new(EV_MODE);
        ev->u.mode.mode = op->mode;
        emit(e, ev);
        break;
    case OP_QUERY:
        tell(e, "query", op->text);
        ev = event_new(EV_ANSWER);
        ev->seq = op->seq;
        ev->u.answer.json = xstrdup(answer_of(op->query));
        emit(e, ev);
        break;
    case OP_TRUST:
        tell(e, "trust", NULL);
        break;
    default:
        tell(e, "op", op->text);
        break;
    }
    op_free(op);
}

void
engine_cancel(struct engine *e, enum cancel_reason reason)
{
    tell(e, "cancel", reason == CANCEL_TERM ? "term" : "user");
    if (e->held)
        end(e, "interrupted");
}

struct event *
engine_next_event(struct engine *e, int timeout_ms)
{
    if (timeout_ms)
        (void)queue_wait(e->events, timeout_ms);
    return queue_pop(e->events);
}

int
engine_event_fd(struct engine *e)
{
    return queue_fd(e->events);
}

const char *
engine_session_id(const struct engine *e)
{
    (void)e;
    return "fake-session";
}

void
engine_stop(struct engine *e)
{
    tell(e, "stop", NULL);
    emit(e, event_new(EV_CLOSED));
    queue_close(e->events);
}

void
engine_free(struct engine *e)
{
    if (!e)
        return;
    queue_free(e->events);
    free(e);
}
