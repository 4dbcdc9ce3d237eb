#include "model/openai_answer.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "model/delta_queue.h"
#include "model/halves.h"
#include "model/openai_text.h"
#include "model/openai_usage.h"

#define BYTES_PER_TOKEN 4

/* One kind of text of the answer. */
struct channel {
    struct openai_text text;
    struct buf carry; /* half a character */
};

struct openai_answer {
    const struct openai_offer *offer;
    struct openai_calls calls;
    struct channel words, thoughts;
    struct buf piece; /* scratch */
    struct delta_queue queue;
    enum { OPEN_NONE, OPEN_TEXT, OPEN_THINKING } open;
    int open_index, next_index;
    bool started, usage_last, marked, streamed, refused, said;
    struct buf finish; /* the last reason given */
    struct usage usage;
    int64_t input_estimate;
    size_t out_bytes;
};

static void
push(struct openai_answer *a, struct delta d)
{
    delta_queue_push(&a->queue, d);
}

bool
openai_answer_next(struct openai_answer *a, struct delta *ret)
{
    return delta_queue_next(&a->queue, ret);
}

/* ---- text ---- */

static void
close_text(struct openai_answer *a)
{
    if (a->open != OPEN_NONE)
        push(a, (struct delta){.kind = DELTA_BLOCK_STOP, .index = a->open_index});
    a->open = OPEN_NONE;
}

static void
emit_text(void *ctx, bool thinking, struct str text)
{
    struct openai_answer *a = ctx;
    if (a->open != (thinking ? OPEN_THINKING : OPEN_TEXT)) {
        if (!thinking && !a->said && !str_trim(text).len)
            return; /* blanks before anything is said are no block */
        close_text(a);
        a->open = thinking ? OPEN_THINKING : OPEN_TEXT;
        a->open_index = a->next_index++;
        push(a, (struct delta){.kind = DELTA_BLOCK_START,
                               .index = a->open_index,
                               .block = thinking ? BLOCK_THINKING : BLOCK_TEXT});
    }
    a->said = a->said || !thinking;
    a->out_bytes += text.len;
    push(a, (struct delta){.kind = thinking ? DELTA_THINKING : DELTA_TEXT,
                           .index = a->open_index,
                           .text = text});
}

/* Thinking that has a field of its own is shown as it comes, but a call that leaked into it is held back all the same. */
static void
emit_thought(void *ctx, bool thinking, struct str text)
{
    (void)thinking;
    emit_text(ctx, true, text);
}

static void
take_text(struct openai_answer *a, struct channel *c, struct str text)
{
    if (!text.len)
        return;
    if (!a->marked) {
        openai_text_feed(&c->text, text);
        return;
    }
    buf_clear(&a->piece);
    halves_join(&c->carry, text, &a->piece);
    openai_text_feed(&c->text, buf_str(&a->piece));
}

static void
end_carry(struct openai_answer *a, struct channel *c)
{
    buf_clear(&a->piece);
    halves_end(&c->carry, &a->piece);
    openai_text_feed(&c->text, buf_str(&a->piece));
}

/* ---- calls ---- */

static void
begin_call(struct openai_answer *a, struct openai_call *call)
{
    if (call->block >= 0)
        return;
    close_text(a);
    openai_calls_name(&a->calls, call);
    call->block = a->next_index++;
    push(a, (struct delta){.kind = DELTA_BLOCK_START,
                           .block = BLOCK_TOOL_USE,
                           .index = call->block,
                           .id = str_from(call->id),
                           .name = buf_str(&call->name)});
}

/* What has come of the input is for the eye; the block's end brings what counts. Marked halves are left to the end. */
static void
show_call(struct openai_answer *a, struct openai_call *call)
{
    struct str plain = openai_input_plain(&call->input, call->shown);
    if (!plain.len || a->marked || !call->name.len)
        return;
    begin_call(a, call);
    call->shown += plain.len;
    push(a, (struct delta){.kind = DELTA_INPUT_JSON, .index = call->block, .text = plain});
}

static void
take_item(struct openai_answer *a, const struct cJSON *item, struct str raw, size_t at, size_t of)
{
    struct openai_call *call = openai_calls_item(&a->calls, item, raw, at, of);
    if (call)
        show_call(a, call);
}

/* The raw bytes of the next element; *at stands behind '[' or an element. */
static struct str
next_element(struct str array, size_t *at)
{
    size_t from = json_skip_blanks(array, *at);
    if (from < array.len && array.ptr[from] == ',')
        from = json_skip_blanks(array, from + 1);
    size_t end = json_skip_value(array, from);
    *at = end;
    return str_sub(array, from, end - from);
}

static void
take_calls(struct openai_answer *a, const struct cJSON *delta, struct str raw)
{
    const struct cJSON *calls = json_get(delta, "tool_calls"),
                       *old = json_get(delta, "function_call");
    struct str array = json_raw_member(raw, "tool_calls");
    size_t at = 1, i = 0, n = json_len(calls);
    if (json_is_object(calls)) /* one, without its array */
        take_item(a, calls, array, 0, 1);
    else if (json_is_array(calls))
        for (const struct cJSON *c = json_first(calls); c; c = json_next(c))
            take_item(a, c, next_element(array, &at), i++, n);
    if (json_is_object(old))
        take_item(a, old, json_raw_member(raw, "function_call"), 0, 1);
}

/* ---- what a chunk holds ---- */

static void take_content(struct openai_answer *a, struct channel *c, const struct cJSON *content);

/* {"type": "text", "text": ".."}, also thinking, whose parts are parts again. */
static void
take_part(struct openai_answer *a, struct channel *c, const struct cJSON *part)
{
    static const char *const names[] = {"text", "content", "refusal"};
    const struct cJSON *thinking = json_get(part, "thinking");
    struct str type = json_str(part, "type");
    if (json_is_str(part)) {
        take_text(a, c, json_value_str(part));
        return;
    }
    if (thinking) {
        take_content(a, &a->thoughts, thinking);
        return;
    }
    if (str_starts(type, "reasoning") || str_is(type, "thinking"))
        c = &a->thoughts;
    a->refused = a->refused || str_is(type, "refusal");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        take_text(a, c, json_str(part, names[i]));
}

static void
take_content(struct openai_answer *a, struct channel *c, const struct cJSON *content)
{
    if (json_is_str(content))
        take_text(a, c, json_value_str(content));
    else if (json_is_array(content)) /* parts of parts: no deeper than the parser goes */
        for (const struct cJSON *p = json_first(content); p; p = json_next(p))
            take_part(a, c, p);
}

/* Some send the same thinking under two names. */
static void
take_thoughts(struct openai_answer *a, const struct cJSON *delta)
{
    static const char *const names[] = {"reasoning_content", "reasoning", "thinking"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct cJSON *n = json_get(delta, names[i]);
        if (!n || json_is_null(n))
            continue;
        take_content(a, &a->thoughts, n);
        return;
    }
}

static void
take_delta(struct openai_answer *a, const struct cJSON *delta, struct str raw)
{
    struct str refusal = json_str(delta, "refusal");
    take_thoughts(a, delta);
    if (json_str(delta, "content").len && a->thoughts.text.held.len)
        openai_text_end(&a->thoughts.text, NULL); /* words follow: no call was meant */
    take_content(a, &a->words, json_get(delta, "content"));
    a->refused = a->refused || refusal.len;
    take_text(a, &a->words, refusal);
    take_calls(a, delta, raw);
}

static void
take_choice(struct openai_answer *a, const struct cJSON *choice, struct str raw)
{
    const struct cJSON *delta = json_get(choice, "delta"), *message = json_get(choice, "message");
    struct str reason = json_str(choice, "finish_reason");
    if (json_is_object(delta)) {
        a->streamed = true;
        take_delta(a, delta, json_raw_member(raw, "delta"));
    } else if (json_is_object(message) && !a->streamed) {
        take_delta(a, message, json_raw_member(raw, "message"));
    } else if (!message) {
        take_text(a, &a->words, json_str(choice, "text"));
    }
    if (reason.len) {
        buf_clear(&a->finish);
        buf_add_str(&a->finish, reason);
    }
}

/* ---- usage ---- */

static void
take_usage(struct openai_answer *a, const struct cJSON *t)
{
    bool counted = openai_usage_read(t, &a->usage);
    /* Behind the answer it comes alone; some count in every chunk. */
    a->usage_last = counted && a->next_index && !json_len(json_get(t, "choices"));
}

/* What the server did not count is estimated, and said to be. A server's 0 is no count: there is no request without a token. */
static void
emit_usage(struct openai_answer *a, enum stop_reason stop)
{
    struct usage u = a->usage;
    if (!u.input && !u.cache_read) {
        u.input = a->input_estimate > 0 ? a->input_estimate : 1;
        u.estimated = true;
    }
    if (!u.output && a->out_bytes) {
        u.output = (int64_t)(a->out_bytes / BYTES_PER_TOKEN + 1);
        u.estimated = true;
    }
    push(a, (struct delta){.kind = DELTA_USAGE, .usage = u, .stop = stop});
}

/* ---- the end ---- */

static const struct {
    const char *word;
    enum stop_reason stop;
} reasons[] = {
    {"length", STOP_MAX_TOKENS},       {"max_tokens", STOP_MAX_TOKENS},
    {"model_length", STOP_MAX_TOKENS}, {"content_filter", STOP_REFUSAL},
    {"refusal", STOP_REFUSAL},         {"sensitive", STOP_REFUSAL},
    {"stop_sequence", STOP_SEQUENCE},
};
static const char *const failures[] = {"error", "insufficient_system_resource", "network_error"};

static enum stop_reason
stop_of(const struct openai_answer *a)
{
    struct str reason = buf_str(&a->finish);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_is(reason, reasons[i].word))
            return reasons[i].stop;
    return a->refused && !a->calls.n ? STOP_REFUSAL : STOP_END_TURN;
}

struct str
openai_answer_failure(const struct openai_answer *a)
{
    for (size_t i = 0; i < ARRAY_LEN(failures); i++)
        if (str_is(buf_str(&a->finish), failures[i]))
            return buf_str(&a->finish);
    return (struct str){0};
}

/* A byte that belongs to no character: in a text it is shown as one, in an input it would end up in a file. */
static bool
input_is_junk(struct openai_call *call)
{
    struct buf input, carry, joined;
    buf_init(&input, BUF_MAX);
    buf_init(&carry, BUF_MAX);
    buf_init(&joined, BUF_MAX);
    (void)openai_input_settle(&call->input, &input);
    bool whole = halves_join(&carry, buf_str(&input), &joined);
    whole &= halves_end(&carry, &joined);
    buf_release(&input);
    buf_release(&carry);
    buf_release(&joined);
    return !whole;
}

bool
openai_answer_has_junk(const struct openai_answer *a)
{
    for (size_t i = 0; a->marked && i < a->calls.n; i++)
        if (input_is_junk(a->calls.calls[i]))
            return true;
    return false;
}

/* The input as it counts; cut: the answer was, so that an input that is not whole is no call. */
static bool
end_call(struct openai_answer *a, struct openai_call *call, bool cut)
{
    struct buf input;
    struct str s;
    buf_init(&input, BUF_MAX);
    enum openai_input_state state = openai_input_settle(&call->input, &input);
    s = buf_str(&input);
    if (a->marked) {
        struct buf carry;
        buf_init(&carry, BUF_MAX);
        buf_clear(&a->piece);
        halves_join(&carry, s, &a->piece);
        halves_end(&carry, &a->piece);
        buf_release(&carry);
        s = buf_str(&a->piece);
    }
    bool is_call = !cut || state == OPENAI_INPUT_OBJECT;
    if (is_call)
        begin_call(a, call);
    if (call->block >= 0)
        push(a, (struct delta){.kind = DELTA_BLOCK_STOP,
                               .index = call->block,
                               .text = is_call ? s : STR(""),
                               .withdrawn = !is_call});
    a->out_bytes += call->input.joined.len + call->name.len;
    buf_release(&input);
    return is_call;
}

static void
end_texts(struct openai_answer *a)
{
    enum stop_reason stop = stop_of(a);
    bool native = a->calls.n > 0;
    end_carry(a, &a->thoughts);
    end_carry(a, &a->words);
    struct openai_calls *leaked = native || stop == STOP_REFUSAL ? NULL : &a->calls;
    bool silent = !a->words.text.said && !str_trim(buf_str(&a->words.text.held)).len;
    openai_text_end(&a->thoughts.text, silent ? leaked : NULL);
    openai_text_end(&a->words.text, leaked);
    if (!native && a->calls.n)
        log_info("openai", "%zu calls were read from the answer's text: the server left them there",
                 a->calls.n);
    close_text(a);
}

void
openai_answer_end(struct openai_answer *a)
{
    size_t n = 0;
    end_texts(a);
    enum stop_reason stop = stop_of(a);
    bool cut = stop == STOP_MAX_TOKENS || stop == STOP_REFUSAL;
    for (size_t i = 0; i < a->calls.n; i++)
        n += end_call(a, a->calls.calls[i], cut);
    if (n && !cut)
        stop = STOP_TOOL_USE;
    emit_usage(a, stop);
}

bool
openai_answer_is_over(const struct openai_answer *a)
{
    return a->finish.len > 0 || a->usage_last;
}

/* ---- a chunk ---- */

/* One answer is asked for; should there be more, the first is it. */
static void
take_choices(struct openai_answer *a, const struct cJSON *tree, struct str data)
{
    struct str array = json_raw_member(data, "choices");
    size_t at = 1;
    for (const struct cJSON *c = json_first(json_get(tree, "choices")); c; c = json_next(c)) {
        struct str raw = next_element(array, &at);
        if (json_int(c, "index", 0) == 0)
            take_choice(a, c, raw);
    }
}

void
openai_answer_chunk(struct openai_answer *a, const struct cJSON *tree, struct str data, bool marked)
{
    a->marked = a->marked || marked;
    if (!a->started)
        push(a, (struct delta){.kind = DELTA_MESSAGE_START,
                               .id = json_str(tree, "id"),
                               .name = json_str(tree, "model")});
    a->started = true;
    size_t before = a->queue.n;
    if (json_is_array(json_get(tree, "choices")))
        take_choices(a, tree, data);
    take_usage(a, tree);
    if (a->queue.n == before) /* held back, or nothing to show: the server is alive */
        push(a, (struct delta){.kind = DELTA_PING});
}

struct openai_answer *
openai_answer_new(const struct openai_offer *offer, int64_t input_estimate)
{
    struct openai_answer *a = xcalloc(1, sizeof *a);
    bool leaks = json_len(offer->tools) > 0;
    a->offer = offer;
    a->input_estimate = input_estimate;
    openai_calls_init(&a->calls, offer);
    openai_text_init(&a->words.text, leaks, emit_text, a);
    openai_text_init(&a->thoughts.text, leaks, emit_thought, a);
    buf_init(&a->words.carry, BUF_MAX);
    buf_init(&a->thoughts.carry, BUF_MAX);
    buf_init(&a->piece, BUF_MAX);
    delta_queue_init(&a->queue);
    buf_init(&a->finish, 256);
    return a;
}

void
openai_answer_free(struct openai_answer *a)
{
    if (!a)
        return;
    openai_calls_release(&a->calls);
    openai_text_release(&a->words.text);
    openai_text_release(&a->thoughts.text);
    buf_release(&a->words.carry);
    buf_release(&a->thoughts.carry);
    buf_release(&a->piece);
    delta_queue_release(&a->queue);
    buf_release(&a->finish);
    free(a);
}
