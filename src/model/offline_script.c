#include "model/offline_script.h"

#include <stdlib.h>

#include "base/text.h"
#include "base/uuid.h"

/* About a word of text; less of a tool's input, since its few bytes should come in several deltas too. */
#define TEXT_PIECE 24
#define INPUT_PIECE 8

struct script_delta {
    struct delta d;
    char *text, *id, *name; /* what d points to */
};

void
script_release(struct script *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->deltas[i].text);
        free(s->deltas[i].id);
        free(s->deltas[i].name);
    }
    free(s->deltas);
    *s = (struct script){0};
}

static struct script_delta *
add(struct script *s, enum delta_kind kind, int index)
{
    ARRAY_GROW(s->deltas, s->n, s->cap);
    struct script_delta *p = &s->deltas[s->n++];
    *p = (struct script_delta){.d = {.kind = kind, .index = index}};
    return p;
}

static void
name_it(struct script_delta *p, const char *id, const char *name)
{
    p->id = xstrdup(id);
    p->name = xstrdup(name);
    p->d.id = str_from(p->id);
    p->d.name = str_from(p->name);
}

/* Where the piece from `from` ends: behind a word, never inside a grapheme. */
static size_t
piece_end(struct str s, size_t from, size_t max)
{
    size_t at = from;
    int width;
    while (at < s.len && at - from < max) {
        at += text_grapheme(s, at, &width);
        if (s.ptr[at - 1] == ' ' || s.ptr[at - 1] == '\n')
            break;
    }
    return at;
}

static void
add_pieces(struct script *s, enum delta_kind kind, int index, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = piece_end(text, at, kind == DELTA_TEXT ? TEXT_PIECE : INPUT_PIECE);
        struct script_delta *p = add(s, kind, index);
        p->text = str_dup(str_sub(text, at, end - at));
        p->d.text = str_make(p->text, end - at);
        at = end;
    }
    s->out_bytes += text.len;
}

void
script_start(struct script *s, const char *model, int64_t input_tokens)
{
    char uuid[UUID_LEN + 1];
    uuid_make(uuid);
    char *id = xasprintf("msg_off_%s", uuid);
    struct script_delta *p = add(s, DELTA_MESSAGE_START, 0);
    name_it(p, id, model);
    p->d.usage = (struct usage){.input = input_tokens, .estimated = true};
    free(id);
}

void
script_text(struct script *s, struct str text)
{
    if (str_trim(text).len == 0)
        return;
    int index = s->blocks++;
    add(s, DELTA_BLOCK_START, index)->d.block = BLOCK_TEXT;
    add_pieces(s, DELTA_TEXT, index, text);
    add(s, DELTA_BLOCK_STOP, index);
}

void
script_tool_use(struct script *s, const char *id, const char *name, struct str input)
{
    int index = s->blocks++;
    struct script_delta *p = add(s, DELTA_BLOCK_START, index);
    p->d.block = BLOCK_TOOL_USE;
    name_it(p, id, name);
    add_pieces(s, DELTA_INPUT_JSON, index, input);
    add(s, DELTA_BLOCK_STOP, index);
}

void
script_end(struct script *s, enum stop_reason stop, int64_t input_tokens)
{
    struct script_delta *p = add(s, DELTA_USAGE, 0);
    p->d.usage = (struct usage){
        .input = input_tokens, .output = (int64_t)s->out_bytes / 4 + 1, .estimated = true};
    p->d.stop = stop;
}

const struct delta *
script_at(const struct script *s, size_t i)
{
    return &s->deltas[i].d;
}
