#include "model/openai_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/halves.h"
#include "model/openai_error.h"
#include "model/sse.h"

#define PLAIN_MAX MODEL_MESSAGE_MAX

struct openai_reader {
    struct openai_answer *answer;
    enum { FORM_UNKNOWN, FORM_EVENTS, FORM_PLAIN } form;
    struct buf plain; /* until the form is known, and all of a document */
    struct sse sse;
    struct str event, lines; /* of the event that is taken line by line; borrowed from sse */
    struct buf scratch;
    char request_id[64];
    enum { READ_MORE, READ_WHOLE, READ_CUT } ended;
    bool done, flushed;
    struct err failure; /* told when the deltas before it are taken */
    bool failed;
};

struct openai_reader *
openai_reader_new(const struct openai_offer *offer, int64_t input_estimate)
{
    struct openai_reader *r = xcalloc(1, sizeof *r);
    r->answer = openai_answer_new(offer, input_estimate);
    buf_init(&r->plain, PLAIN_MAX);
    buf_init(&r->scratch, BUF_MAX);
    sse_init(&r->sse);
    return r;
}

void
openai_reader_free(struct openai_reader *r)
{
    if (!r)
        return;
    openai_answer_free(r->answer);
    buf_release(&r->plain);
    buf_release(&r->scratch);
    sse_release(&r->sse);
    free(r);
}

void
openai_reader_set_request_id(struct openai_reader *r, const char *id)
{
    size_t n = strlen(id) < sizeof r->request_id - 1 ? strlen(id) : sizeof r->request_id - 1;
    memcpy(r->request_id, id, n);
    r->request_id[n] = '\0';
}

/* ---- bytes ---- */

/* Events begin with a field or a comment; what begins otherwise is a document. */
static void
decide_form(struct openai_reader *r, bool at_end)
{
    static const char *const fields[] = {"data:", "event:", "id:", "retry:", ":"};
    static const char mark[] = "\xEF\xBB\xBF";
    struct str s = buf_str(&r->plain);
    if (s.len && s.len < 3 && memcmp(s.ptr, mark, s.len) == 0 && !at_end)
        return;
    if (str_starts(s, mark))
        s = str_sub(s, 3, s.len);
    s = str_sub(s, json_skip_blanks(s, 0), s.len);
    bool maybe = !s.len;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        size_t n = strlen(fields[i]);
        if (memcmp(s.ptr, fields[i], s.len < n ? s.len : n) != 0)
            continue;
        if (s.len >= n) {
            r->form = FORM_EVENTS;
            sse_feed(&r->sse, buf_str(&r->plain));
            buf_clear(&r->plain);
            return;
        }
        maybe = true;
    }
    if (!maybe || at_end)
        r->form = FORM_PLAIN;
}

void
openai_reader_feed(struct openai_reader *r, struct str chunk)
{
    if (r->form == FORM_EVENTS) {
        sse_feed(&r->sse, chunk);
        return;
    }
    buf_add_str(&r->plain, chunk);
    if (r->form == FORM_UNKNOWN)
        decide_form(r, false);
}

void
openai_reader_end(struct openai_reader *r, bool whole)
{
    if (r->ended != READ_MORE)
        return;
    r->ended = whole ? READ_WHOLE : READ_CUT;
    if (r->form == FORM_UNKNOWN)
        decide_form(r, true);
    if (r->form == FORM_EVENTS && whole)
        sse_feed(&r->sse, STR("\n\n")); /* the last event may lack its blank line */
}

/* ---- failures ---- */

static void
fail(struct openai_reader *r, const struct err *err)
{
    r->failure = *err;
    r->failed = true;
}

static void
fail_cut(struct openai_reader *r)
{
    struct err err = {0};
    err_set(&err, ERR_NET, "the connection was closed in the middle of the answer");
    err.retryable = true;
    memcpy(err.kind, "cut", sizeof "cut");
    fail(r, &err);
}

/* Bytes that are no chunk: the beginning of JSON that is none, or trouble in plain words. */
static void
fail_words(struct openai_reader *r, struct str words)
{
    struct err err = {0};
    if (words.ptr[0] == '{') {
        struct buf shown;
        buf_init(&shown, BUF_MAX);
        text_visible(&shown, str_sub(words, 0, 200));
        err_set(&err, ERR_PARSE, "the server sent an event that is no JSON: %s", buf_cstr(&shown));
        err.retryable = true;
        buf_release(&shown);
    } else {
        openai_error_words(words, r->request_id, &err);
    }
    fail(r, &err);
}

/* ---- one chunk ---- */

static struct cJSON *
parse(struct openai_reader *r, struct str data, struct str *ret_data, bool *ret_marked)
{
    *ret_data = halves_mark(data, &r->scratch, ret_marked);
    return json_parse(*ret_data, NULL);
}

static void
take_chunk(struct openai_reader *r, struct str event, struct str data)
{
    bool marked = false;
    struct str bytes;
    struct cJSON *tree;
    data = str_trim(data);
    if (str_is(data, "[DONE]")) {
        r->done = true;
        return;
    }
    if (!data.len || !(tree = parse(r, data, &bytes, &marked))) {
        /* The end may have cut the last one; between others it is the server's trouble in plain words. */
        bool cut = r->ended != READ_MORE && data.len && (data.ptr[0] == '{' || data.ptr[0] == '[');
        if (cut && !openai_answer_is_over(r->answer))
            fail_cut(r);
        else if (data.len && !cut)
            fail_words(r, data);
        return;
    }
    if (json_is_str(tree) && json_value_str(tree).len) {
        fail_words(r, json_value_str(tree));
    } else if (openai_is_error(tree, event)) {
        struct err err = {0};
        openai_error_event(tree, r->request_id, &err);
        fail(r, &err);
    } else {
        const struct cJSON *choice = json_first(json_get(tree, "choices"));
        openai_answer_chunk(r->answer, tree, bytes, marked);
        if (json_is_object(json_get(choice, "error"))) {
            struct err err = {0};
            openai_error_event(choice, r->request_id, &err);
            fail(r, &err);
        }
    }
    json_free(tree);
}

/* Is it one document, or one in each line (data lines that no blank line parted)? */
static bool
is_one(struct openai_reader *r, struct str data)
{
    bool marked = false;
    struct str bytes;
    if (str_find(data, '\n', 0) == (size_t)-1)
        return true;
    struct cJSON *tree = parse(r, data, &bytes, &marked);
    json_free(tree);
    return tree != NULL;
}

/* False: more bytes are needed. */
static bool
take_event(struct openai_reader *r)
{
    struct str line, data;
    if (str_split(&r->lines, '\n', &line)) {
        take_chunk(r, r->event, line);
        return true;
    }
    if (!sse_next(&r->sse, &r->event, &data)) {
        if (!sse_overflowed(&r->sse))
            return false;
        struct err err = {0};
        err_set(&err, ERR_LIMIT, "the server sent an event of more than %zu MiB",
                SSE_EVENT_MAX >> 20);
        fail(r, &err);
        return true;
    }
    if (is_one(r, data))
        take_chunk(r, r->event, data);
    else
        r->lines = data;
    return true;
}

/* ---- a document ---- */

static void
take_document(struct openai_reader *r)
{
    bool marked = false;
    struct str bytes, text = str_trim(buf_str(&r->plain));
    struct cJSON *tree = parse(r, text, &bytes, &marked);
    struct err err = {0};
    if (buf_full(&r->plain)) {
        err_set(&err, ERR_LIMIT, "the answer is larger than %zu MiB", PLAIN_MAX >> 20);
        fail(r, &err);
    } else if (tree && openai_is_error(tree, STR(""))) {
        openai_error_event(tree, r->request_id, &err);
        fail(r, &err);
    } else if (json_is_array(json_get(tree, "choices"))) {
        openai_answer_chunk(r->answer, tree, bytes, marked);
        r->done = true;
    } else if (!tree && (!text.len || text.ptr[0] == '{')) {
        fail_cut(r);
    } else {
        buf_clear(&r->scratch);
        openai_error_body(200, text, 0, r->request_id, &err);
        err_wrap(&err, "this is no chat completion, check the base URL");
        err.retryable = false;
        fail(r, &err);
    }
    json_free(tree);
}

/* ---- the end ---- */

/* All that will come is here. */
static void
finish(struct openai_reader *r)
{
    struct str failure = openai_answer_failure(r->answer);
    if (failure.ptr) {
        struct err err = {0};
        err_set(&err, ERR_HTTP, "the server gave up in the middle of its answer (%.*s)",
                (int)failure.len, failure.ptr);
        err.retryable = true;
        fail(r, &err);
        return;
    }
    if (openai_answer_has_junk(r->answer)) {
        struct err err = {0};
        err_set(&err, ERR_PARSE, "the server sent a tool's input that is no UTF-8");
        err.retryable = true;
        fail(r, &err);
        return;
    }
    openai_answer_end(r->answer);
    r->flushed = true;
}

/* One step of reading; false: more bytes are needed. */
static bool
read_more(struct openai_reader *r)
{
    if (r->done) {
        finish(r);
        return true;
    }
    if (r->form == FORM_EVENTS && take_event(r))
        return true;
    if (r->ended == READ_MORE)
        return false;
    if (r->form == FORM_PLAIN && r->ended == READ_WHOLE)
        take_document(r);
    else if (r->form == FORM_EVENTS && openai_answer_is_over(r->answer))
        r->done = true; /* no [DONE], but all was said */
    else
        fail_cut(r);
    return true;
}

bool
openai_reader_is_over(const struct openai_reader *r)
{
    return openai_answer_is_over(r->answer);
}

enum model_step
openai_reader_next(struct openai_reader *r, struct delta *ret, struct err *err)
{
    for (;;) {
        if (openai_answer_next(r->answer, ret))
            return MODEL_DELTA;
        if (r->failed) {
            *err = r->failure;
            return MODEL_FAILED;
        }
        if (r->flushed)
            return MODEL_DONE;
        if (!read_more(r))
            return MODEL_IDLE;
    }
}
