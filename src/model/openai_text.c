#include "model/openai_text.h"

#include <string.h>

#include "base/json.h"
#include "model/openai_leak.h"

static const struct {
    const char *open, *close;
} thinking[] = {
    {"<think>", "</think>"},
    {"<thinking>", "</thinking>"},
    {"<seed:think>", "</seed:think>"},
    {"[THINK]", "[/THINK]"},
};

void
openai_text_init(struct openai_text *t, bool leaks,
                 void (*emit)(void *ctx, bool thinking, struct str text), void *ctx)
{
    *t = (struct openai_text){.leaks = leaks, .emit = emit, .ctx = ctx};
    buf_init(&t->held, BUF_MAX);
}

void
openai_text_release(struct openai_text *t)
{
    buf_release(&t->held);
}

static void
emit_front(struct openai_text *t, bool is_thinking, size_t n)
{
    struct str s = str_sub(buf_str(&t->held), 0, n);
    if (!s.len)
        return;
    if (!is_thinking)
        t->said = t->said || str_trim(s).len > 0;
    t->emit(t->ctx, is_thinking, s);
    buf_remove_front(&t->held, n);
}

/* False: more bytes are needed to tell. */
static bool
at_start(struct openai_text *t)
{
    struct str s = buf_str(&t->held);
    size_t at = json_skip_blanks(s, 0);
    struct str rest = str_sub(s, at, s.len);
    if (!rest.len)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(thinking); i++) {
        size_t n = strlen(thinking[i].open);
        if (memcmp(rest.ptr, thinking[i].open, rest.len < n ? rest.len : n) != 0)
            continue;
        if (rest.len < n)
            return false;
        t->where = OPENAI_TEXT_THINK;
        t->close = thinking[i].close;
        buf_remove_front(&t->held, at + n);
        return true;
    }
    if (t->thought)
        buf_remove_front(&t->held, at);
    t->where = OPENAI_TEXT_WORDS;
    return true;
}

/* Length of the longest end of s that begins `word`; all of word: found at *ret_at. */
static bool
find_close(struct str s, const char *word, size_t *ret_at)
{
    size_t n = strlen(word);
    for (size_t at = str_find(s, word[0], 0); at != (size_t)-1; at = str_find(s, word[0], at + 1)) {
        size_t left = s.len - at;
        if (memcmp(s.ptr + at, word, left < n ? left : n) != 0)
            continue;
        *ret_at = at;
        return left >= n;
    }
    *ret_at = s.len;
    return false;
}

static bool
in_thinking(struct openai_text *t)
{
    size_t at;
    bool found = find_close(buf_str(&t->held), t->close, &at);
    emit_front(t, true, at);
    if (!found)
        return false;
    buf_remove_front(&t->held, strlen(t->close));
    t->where = OPENAI_TEXT_START;
    t->thought = true;
    return true;
}

/* At a line's start: does a fence open or close? 0: no; -1: too short to tell. */
static int
fence(struct str rest)
{
    size_t n = rest.len < 3 ? rest.len : 3;
    if (memcmp(rest.ptr, "```", n) != 0)
        return 0;
    return n < 3 ? -1 : 1;
}

/* Words up to where a call may begin. */
static bool
in_words(struct openai_text *t)
{
    struct str s = buf_str(&t->held);
    size_t at = 0, lead = json_skip_blanks(s, 0);
    if (!t->leaks) {
        emit_front(t, false, s.len);
        return false;
    }
    for (; at < s.len; at++) {
        struct str rest = str_sub(s, at, s.len);
        char c = s.ptr[at];
        if (!t->in_line && c == '`') {
            int f = fence(rest);
            if (f < 0)
                break;
            t->in_fence ^= f > 0;
        }
        bool alone = !t->said && at <= lead;
        if (!t->in_fence && (c == '<' || c == '[' || (alone && c == '{'))) {
            enum openai_leak l = openai_leak_begins(rest, alone);
            if (l == OPENAI_LEAK_YES)
                t->where = OPENAI_TEXT_CALL;
            if (l != OPENAI_LEAK_NO)
                break;
        }
        t->in_line = c != '\n' && (t->in_line || (c != ' ' && c != '\t'));
    }
    emit_front(t, false, at);
    return false;
}

void
openai_text_feed(struct openai_text *t, struct str piece)
{
    bool more = piece.len > 0;
    buf_add_str(&t->held, piece);
    while (more)
        switch (t->where) {
        case OPENAI_TEXT_START:
            more = at_start(t);
            break;
        case OPENAI_TEXT_THINK:
            more = in_thinking(t);
            break;
        case OPENAI_TEXT_WORDS:
            more = in_words(t);
            break;
        case OPENAI_TEXT_CALL:
            more = false;
            break;
        }
}

bool
openai_text_end(struct openai_text *t, struct openai_calls *calls)
{
    bool found =
        t->where == OPENAI_TEXT_CALL && calls && openai_leak_parse(buf_str(&t->held), calls);
    if (found)
        buf_clear(&t->held);
    /* Blanks alone are no text. */
    if (t->where == OPENAI_TEXT_START && !str_trim(buf_str(&t->held)).len)
        buf_clear(&t->held);
    emit_front(t, t->where == OPENAI_TEXT_THINK, t->held.len);
    if (t->where == OPENAI_TEXT_CALL)
        t->where = OPENAI_TEXT_WORDS;
    return found;
}
