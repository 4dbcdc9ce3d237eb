/* The simulated server: refuses what a real one refuses, with the words of a real one, and fails as the profile and the seed say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "sim/session.h"
#include "sim/world.h"

#define X(id, name, ...) name,
const char *const sim_fault_names[F_COUNT] = {SIM_FAULTS(X)};
#undef X
const char *const sim_force_names[FORCE_COUNT] = {"one refusal", "smaller window", "smaller body"};

/* ---- answers ---- */

static void
refuse(struct plan *p, int status, const char *kind, const char *message)
{
    p->status = status;
    p->content_type = "application/json";
    buf_clear(&p->bytes);
    buf_adds(&p->bytes, "{\"type\":\"error\",\"error\":{\"type\":");
    json_quote(&p->bytes, str_from(kind));
    buf_adds(&p->bytes, ",\"message\":");
    json_quote(&p->bytes, str_from(message));
    buf_adds(&p->bytes, "}}");
}

static void
refuse_too_long(struct plan *p, int64_t tokens, int64_t window)
{
    char text[120];
    snprintf(text, sizeof text, "prompt is too long: %lld tokens > %lld maximum", (long long)tokens,
             (long long)window);
    refuse(p, 400, "invalid_request_error", text);
}

static void
refuse_too_large(struct plan *p)
{
    refuse(p, 413, "request_too_large", "Request exceeds the maximum size");
}

static void
say_date_after(struct plan *p, int64_t seconds)
{
    time_t t = time(NULL) + (time_t)seconds;
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(p->retry_after, sizeof p->retry_after, "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

/* Refusals that do not look at the conversation. False: it is none of these. */
static bool
refuse_for(struct plan *p, enum sim_fault f)
{
    switch (f) {
    case F_RATE_SECONDS:
        refuse(p, 429, "rate_limit_error", "This request would exceed your rate limit");
        snprintf(p->retry_after, sizeof p->retry_after, "%u", 1 + world_pick(120));
        return true;
    case F_RATE_DATE:
        refuse(p, 429, "rate_limit_error", "This request would exceed your rate limit");
        say_date_after(p, 1 + world_pick(300));
        return true;
    case F_RATE_BARE:
        refuse(p, 429, "rate_limit_error", "Too many requests");
        return true;
    case F_SPEND_CAP:
        refuse(p, 429, "rate_limit_error", "You have reached your specified API usage limits");
        return true;
    case F_OVERLOADED:
        refuse(p, 529, "overloaded_error", "Overloaded");
        return true;
    case F_SERVER:
        refuse(p, 500, "api_error", "Internal server error");
        return true;
    case F_GATEWAY:
        refuse(p, 504, "timeout_error", "Request timed out");
        return true;
    case F_MODEL:
        refuse(p, 404, "not_found_error", "model: this-model");
        return true;
    case F_NO_CONNECTION:
        p->no_connection = true;
        return true;
    case F_JUNK:
        p->content_type = world_pick(2) ? "text/html" : "text/event-stream";
        buf_adds(&p->bytes, "<html><body>Bad luck</body></html>\n\ndata: {\"type\":\n\n");
        return true;
    default:
        return false;
    }
}

/* A thinking block that stands in the request; false: there is none. */
static bool
pick_thinking(const struct view *v, size_t *ret_message, size_t *ret_block)
{
    unsigned n = 0;
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < v->msgs[i].m->n_blocks; k++)
            if (v->msgs[i].m->blocks[k].kind == BLOCK_THINKING && world_pick(++n) == 0) {
                *ret_message = i;
                *ret_block = k;
            }
    return n > 0;
}

/* Mostly what a real server says, now and then a block that has nothing to do with it. */
static void
refuse_block(struct server *s, struct plan *p, const struct view *v)
{
    static const char *const whys[] = {
        "`thinking` blocks in the latest assistant message cannot be modified",
        "Invalid `signature` in `thinking` block", "Could not process image"};
    char text[200];
    size_t at = world_pick((unsigned)v->n), block = 0;
    unsigned why = world_pick(2);
    if (world_pick(4) == 0 || !pick_thinking(v, &at, &block))
        why = world_pick(3);
    snprintf(text, sizeof text, "messages.%zu.content.%zu: %s", at, block, whys[why]);
    refuse(p, 400, "invalid_request_error", text);
    /* What it is mended to is another input. */
    for (size_t k = 0; k < v->msgs[at].m->n_blocks; k++)
        for (size_t n = 0; n < s->n_ids; n++)
            if (str_is(v->msgs[at].m->blocks[k].id, s->ids[n].id))
                s->ids[n].input = 0;
}

/* ---- what happens to this request ---- */

static enum sim_fault
draw_fault(struct server *s, bool side)
{
    const struct sim_profile *p = sim->profile;
    if (s->calm)
        return F_NONE;
    if (s->storm) {
        s->storm--;
        return F_OVERLOADED;
    }
    if (side)
        return world_chance(p->fault[F_SIDE]) ? F_SIDE : F_NONE;
    if (s->cuts) {
        s->cuts--;
        return F_MAX_TOKENS;
    }
    for (int f = 0; f < F_COUNT; f++)
        if (f != F_SIDE && world_chance(p->fault[f])) {
            if (f == F_OVERLOADED)
                s->storm = world_pick(14);
            if (f == F_MAX_TOKENS)
                s->cuts = world_pick(6);
            return (enum sim_fault)f;
        }
    return F_NONE;
}

/* Tokens of messages: a conversation that is nothing yet has nothing to give. */
#define SHRINK_LEAST 8000

static void
shrink(struct server *s, const struct view *v, enum sim_fault f)
{
    size_t head = v->system.len + v->tools.len;
    if (v->tokens < v->head_tokens + SHRINK_LEAST)
        return;
    if (f == F_WINDOW_SHRINKS)
        s->window = v->head_tokens + (v->tokens - v->head_tokens) * (550 + world_pick(400)) / 1000;
    else if (f == F_BYTES_SHRINK)
        s->max_bytes = head + (v->raw_bytes - head) * (550 + world_pick(400)) / 1000;
}

/* The recovery suite: from this request on it is too long, once or for good. */
static void
force_too_long(struct server *s, const struct view *v)
{
    if (!s->force_at || s->answers + 1 < s->force_at || s->forcing || v->n < 5 ||
        v->tokens < v->head_tokens + sim->profile->force_least)
        return;
    s->force_at = 0;
    s->forcing = true;
    sim->report->forced[s->force]++;
    if (s->force == FORCE_WINDOW)
        shrink(s, v, F_WINDOW_SHRINKS);
    else if (s->force == FORCE_BYTES)
        shrink(s, v, F_BYTES_SHRINK);
    else
        s->once_refused = true;
}

/* What the API itself counts after its context edits: old results are cleared where the request asks for it. */
static int64_t
tokens_after_edits(const struct view *v)
{
    int64_t old = 0;
    if (!v->edits_context)
        return v->tokens;
    for (size_t i = 0; i + 6 < v->n; i++)
        old += v->msgs[i].result_tokens;
    return v->tokens - old;
}

/* False: refused. */
static bool
fits(struct server *s, const struct view *v, struct plan *p)
{
    int64_t tokens = tokens_after_edits(v);
    if (s->once_refused) {
        s->once_refused = false;
        refuse_too_large(p);
        return false;
    }
    if (v->raw_bytes > s->max_bytes) {
        refuse_too_large(p);
        return false;
    }
    if (tokens > s->window) {
        refuse_too_long(p, tokens, s->window);
        return false;
    }
    return true;
}

static void
break_stream(struct plan *p, enum sim_fault f)
{
    unsigned at = p->bytes.len > 8 ? 1 + world_pick((unsigned)p->bytes.len - 8) : 1;
    if (f == F_CUT || f == F_STALL) {
        buf_truncate(&p->bytes, at);
        p->end = f == F_CUT ? PLAN_CUT : PLAN_STALL;
        return;
    }
    /* After a whole event. */
    buf_truncate(&p->bytes, at);
    while (p->bytes.len && !str_ends(buf_str(&p->bytes), "\n\n"))
        buf_truncate(&p->bytes, p->bytes.len - 1);
    bool too_long = f == F_TOO_LONG_EVENT;
    buf_addf(&p->bytes,
             "event: error\ndata: "
             "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}\n\n",
             too_long ? "invalid_request_error" : "overloaded_error",
             too_long ? "prompt is too long: 9 tokens > 8 maximum" : "Overloaded");
}

static void
answer_main(struct server *s, const struct view *v, enum sim_fault f, struct plan *p)
{
    if (f == F_TOO_LONG_ONCE)
        s->once_refused = true;
    if (f == F_WINDOW_SHRINKS || f == F_BYTES_SHRINK)
        shrink(s, v, f);
    force_too_long(s, v);
    if (refuse_for(p, f) || !fits(s, v, p))
        return;
    if (f == F_BLOCK) {
        refuse_block(s, p, v);
        return;
    }
    model_answer(s, v, f, &p->bytes);
    if (f == F_CUT || f == F_STALL || f == F_ERROR_EVENT || f == F_TOO_LONG_EVENT)
        break_stream(p, f);
}

static void
answer_side(struct server *s, const struct view *v, enum sim_fault f, struct plan *p)
{
    static const enum sim_fault kinds[] = {F_SERVER,  F_RATE_BARE, F_NO_CONNECTION, F_CUT, F_STALL,
                                           F_REFUSAL, F_EMPTY,     F_MAX_TOKENS,    F_JUNK};
    if (f == F_SIDE)
        f = kinds[world_pick(ARRAY_LEN(kinds))];
    if ((f != F_JUNK && refuse_for(p, f)) || !fits(s, v, p))
        return;
    model_side_answer(s, v, f, &p->bytes);
    if (f == F_CUT || f == F_STALL)
        break_stream(p, f);
}

/* ---- a request ---- */

static void
check_blocks(struct server *s, const struct view *v)
{
    for (size_t i = v->same; i < v->n; i++)
        for (size_t k = 0; k < v->msgs[i].m->n_blocks; k++) {
            const struct block *b = &v->msgs[i].m->blocks[k];
            if (b->kind == BLOCK_THINKING && !model_signature_holds(b->text, b->signature))
                sim_fail("request %u: a thinking block was changed", s->n_requests);
            for (size_t n = b->kind == BLOCK_TOOL_USE ? s->n_ids : 0; n > 0; n--)
                if (str_is(b->id, s->ids[n - 1].id) && s->ids[n - 1].input &&
                    s->ids[n - 1].input != server_input_hash(b->input))
                    sim_fail("request %u: the input of %s was changed", s->n_requests,
                             s->ids[n - 1].id);
        }
}

static void
note_cache(struct server *s, const struct view *v)
{
    struct sim_report *r = sim->report;
    uint64_t head = str_hash_more(str_hash(v->system), v->tools);
    int64_t cached = 0;
    if (s->head_hash == head) {
        cached = v->head_tokens;
        for (size_t i = 0; i < v->same; i++)
            cached += v->msgs[i].tokens;
    }
    if (s->last.n && v->same + 1 < s->last.n)
        r->cache_breaks++;
    s->head_hash = head;
    r->tokens += v->tokens;
    r->tokens_cached += cached;
}

static bool
knows_betas(struct server *s, const char *betas, enum sim_fault f, struct plan *p)
{
    char text[200];
    if (f != F_BETA || !betas)
        return true;
    (void)s;
    while (*betas == ' ')
        betas++;
    snprintf(text, sizeof text, "Unexpected value(s) `%.*s` for the `anthropic-beta` header",
             (int)strcspn(betas, ","), betas);
    refuse(p, 400, "invalid_request_error", text);
    return false;
}

static void
finish(struct server *s, struct view *v, bool side, struct plan *p)
{
    if (!side && p->status == 200 && !p->no_connection)
        s->answers++;
    if (side) {
        view_release(v);
    } else {
        view_release(&s->last);
        s->last = *v;
    }
    sim_mix(buf_str(&p->bytes));
}

static void
answer_once(struct server *s, const struct view *v, bool side, const char *betas, struct plan *p)
{
    enum sim_fault f = draw_fault(s, side);
    *p = (struct plan){.status = 200, .content_type = "text/event-stream", .bytes = p->bytes};
    buf_clear(&p->bytes);
    snprintf(p->request_id, sizeof p->request_id, "req_%u", s->n_requests);
    if (f != F_NONE)
        sim->report->faults[f]++;
    if (knows_betas(s, betas, f, p)) {
        if (side)
            answer_side(s, v, f, p);
        else
            answer_main(s, v, f, p);
    }
    sim_log("%s request %u: %zu messages, %lld tokens (window %lld), %zu bytes%s%s > %d%s",
            side ? "side" : "main", s->n_requests, v->n, (long long)v->tokens, (long long)s->window,
            v->raw_bytes, f == F_NONE ? "" : ", ", f == F_NONE ? "" : sim_fault_names[f],
            p->no_connection ? 0 : p->status,
            p->end == PLAN_CUT     ? " cut"
            : p->end == PLAN_STALL ? " stalls"
                                   : "");
}

static bool
says_too_long(const struct plan *p)
{
    return p->status == 413 ||
           (p->status == 400 && str_contains(buf_str(&p->bytes), STR("too long")));
}

/* What a client does that knows nothing but trying again: the same request, five times, with pauses. */
static void
retry_plainly(struct server *s, const struct view *v, const char *betas, struct plan *p)
{
    for (int i = 0; i < 5 && says_too_long(p); i++) {
        world_sleep(500 << i);
        answer_once(s, v, false, betas, p);
    }
    if (says_too_long(p))
        refuse(p, 400, "invalid_request_error", "the client gave up");
}

/* POST /v1/messages/count_tokens. Fails now and then, as everything does. */
void
server_count(struct server *s, const struct str *slices, size_t n_slices, struct plan *ret)
{
    struct view v = {0}, none = {0};
    const char *why = view_read(&v, slices, n_slices, &none);
    *ret = (struct plan){.status = 200, .content_type = "application/json", .bytes = ret->bytes};
    sim->report->counts++;
    if (why)
        sim_fail("what is to be counted is not legal: %s", why);
    if (!s->calm && world_chance(sim->profile->fault[F_SERVER]))
        refuse(ret, 500, "api_error", "Internal server error");
    else
        buf_addf(&ret->bytes, "{\"input_tokens\":%lld}", (long long)v.tokens);
    sim_log("count: %lld tokens", (long long)v.tokens);
    view_release(&v);
}

void
server_answer(struct server *s, const struct str *slices, size_t n_slices, const char *betas,
              struct plan *ret)
{
    struct view v = {0};
    world_settle(); /* the person has seen what was said before it */
    s->n_requests++;
    const char *why = view_read(&v, slices, n_slices, &s->last);
    bool side = !v.has_tools;
    if (!why && v.max_tokens < 1)
        why = "no max_tokens";
    if (side)
        sim->report->side_requests++;
    else
        sim->report->requests++;
    sim->report->body_bytes += (int64_t)v.raw_bytes;
    if (why) {
        sim_fail("request %u is not legal: %s", s->n_requests, why);
        sim_log("%.*s", (int)v.body.len, buf_cstr(&v.body));
    } else {
        sim_mix(buf_str(&v.body));
        if (sim->bodies)
            fprintf(sim->bodies, "%s\n", buf_cstr(&v.body));
        check_blocks(s, &v);
        if (!side) {
            note_cache(s, &v);
            checks_request(&v);
        }
    }
    if (why)
        refuse(ret, 400, "invalid_request_error", why);
    else
        answer_once(s, &v, side, betas, ret);
    if (!side && sim->profile->plain_retry)
        retry_plainly(s, &v, betas, ret);
    finish(s, &v, side, ret);
}
