/* What editing keys do to the prompt. */
#include "base/text.h"
#include "ui/input_private.h"
#include "ui/keys.h"

static bool
is_word(const struct input *in, size_t off)
{
    return text_in_word(in->text.data[off]);
}

static size_t
word_before(const struct input *in)
{
    size_t off = in->cursor;
    while (off && !is_word(in, input_before(in, off)))
        off = input_before(in, off);
    while (off && is_word(in, input_before(in, off)))
        off = input_before(in, off);
    return off;
}

static size_t
word_after(const struct input *in)
{
    size_t off = in->cursor;
    while (off < in->text.len && !is_word(in, off))
        off = input_next(in, off);
    while (off < in->text.len && is_word(in, off))
        off = input_next(in, off);
    return off;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Ctrl+W goes by blanks, as in a shell. */
static size_t
blank_before(const struct input *in)
{
    size_t off = in->cursor;
    while (off && is_blank(in->text.data[input_before(in, off)]))
        off = input_before(in, off);
    while (off && !is_blank(in->text.data[input_before(in, off)]))
        off = input_before(in, off);
    return off;
}

static size_t
line_start(const struct input *in)
{
    size_t off = in->cursor;
    while (off && in->text.data[off - 1] != '\n')
        off--;
    return off;
}

static size_t
line_end(const struct input *in)
{
    size_t end = str_find(buf_str(&in->text), '\n', in->cursor);
    return end == (size_t)-1 ? in->text.len : end;
}

static bool
go_to(struct input *in, size_t off)
{
    in->cursor = off;
    in->goal = -1;
    in->typing = in->cutting = false;
    return true;
}

static bool
cut(struct input *in, size_t from, size_t to, bool keep_cut)
{
    if (from < to) {
        input_keep(in);
        input_cut_range(in, from, to, keep_cut);
    }
    in->typing = false;
    in->cutting = keep_cut;
    return true;
}

static bool
yank(struct input *in)
{
    struct buf copy;
    buf_init(&copy, INPUT_MAX);
    buf_add_str(&copy, buf_str(&in->cut));
    input_keep(in);
    in->typing = in->cutting = false;
    char *at = copy.len ? buf_reserve(&in->text, copy.len + 1) : NULL;
    if (at) { /* by hand: input_insert would repair the marks of chips away */
        struct buf joined;
        buf_init(&joined, INPUT_MAX);
        buf_add(&joined, in->text.data, in->cursor);
        buf_add_str(&joined, buf_str(&copy));
        buf_add(&joined, in->text.data + in->cursor, in->text.len - in->cursor);
        in->cursor += copy.len;
        buf_release(&in->text);
        in->text = joined;
    }
    buf_release(&copy);
    in->goal = -1;
    return true;
}

bool
input_action(struct input *in, enum key_action a)
{
    switch (a) {
    case ACT_NEWLINE:
        input_insert(in, STR("\n"));
        return true;
    case ACT_LINE_START:
        return go_to(in, line_start(in));
    case ACT_LINE_END:
        return go_to(in, line_end(in));
    case ACT_WORD_BACK:
        return go_to(in, word_before(in));
    case ACT_WORD_FORWARD:
        return go_to(in, word_after(in));
    case ACT_KILL_END: {
        size_t end = line_end(in);
        /* at the end of a line its newline goes */
        if (end == in->cursor && end < in->text.len)
            end++;
        return cut(in, in->cursor, end, true);
    }
    case ACT_KILL_START:
        return cut(in, line_start(in), in->cursor, true);
    case ACT_KILL_WORD:
        return cut(in, blank_before(in), in->cursor, true);
    case ACT_KILL_WORD_ON: {
        size_t to = word_after(in);
        return cut(in, in->cursor, to, true);
    }
    case ACT_YANK:
        return yank(in);
    case ACT_UNDO:
        (void)input_undo(in);
        return go_to(in, in->cursor);
    default:
        return false;
    }
}

static bool
move_key(struct input *in, int key)
{
    switch (key) {
    case YK_LEFT:
        return go_to(in, input_before(in, in->cursor));
    case YK_RIGHT:
        return go_to(in, input_next(in, in->cursor));
    case YK_LEFT | KM_CTRL:
    case YK_LEFT | KM_ALT:
        return go_to(in, word_before(in));
    case YK_RIGHT | KM_CTRL:
    case YK_RIGHT | KM_ALT:
        return go_to(in, word_after(in));
    case YK_UP:
    case 'p' | KM_CTRL:
        return input_move_row(in, -1);
    case YK_DOWN:
    case 'n' | KM_CTRL:
        return input_move_row(in, 1);
    case YK_HOME:
        return go_to(in, line_start(in));
    case YK_END:
        return go_to(in, line_end(in));
    case YK_HOME | KM_CTRL:
        return go_to(in, 0);
    case YK_END | KM_CTRL:
        return go_to(in, in->text.len);
    default:
        return false;
    }
}

static bool
change_key(struct input *in, int key)
{
    switch (key) {
    case YK_BACKSPACE:
    case YK_BACKSPACE | KM_SHIFT:
        return cut(in, input_before(in, in->cursor), in->cursor, false);
    case YK_BACKSPACE | KM_ALT:
    case YK_BACKSPACE | KM_CTRL:
        return cut(in, word_before(in), in->cursor, true);
    case YK_DELETE:
    case 'd' | KM_CTRL:
        return cut(in, in->cursor, input_next(in, in->cursor), false);
    case YK_ENTER | KM_SHIFT:
    case YK_ENTER | KM_CTRL:
        input_insert(in, STR("\n"));
        return true;
    default:
        return false;
    }
}

bool
input_key(struct input *in, int key)
{
    if (key >= ' ' && key < KEY_NAMED) {
        char utf8[4];
        input_insert(in, str_make(utf8, text_encode(key, utf8)));
        return true;
    }
    if (input_action(in, keys_action_in(KEYS_PROMPT, key, 0)))
        return true;
    return move_key(in, key) || change_key(in, key);
}
