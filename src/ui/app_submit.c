/* The prompt goes out: to the engine, or to what the program does itself. And the texts it shows in a box. */
#include <stdlib.h>
#include <string.h>

#include "base/slash.h"
#include "base/text.h"
#include "ui/app_private.h"

bool
app_is_shell(struct str s)
{
    s = str_trim(s);
    return s.len > 1 && s.ptr[0] == '!';
}

bool
app_is_command(const struct app *a, struct str s)
{
    return slash_is_command(s) || commands_find(&a->commands, slash_name(s, NULL)) ||
           app_is_shell(s);
}

bool
app_waits(const struct app *a, struct str s)
{
    const struct command *c = commands_find(&a->commands, slash_name(s, NULL));
    return app_is_shell(s) || (c && c->waits);
}

/* The words of "/resume WORDS"; none where they may be an id, or a title in quotes: these are the engine's. */
static struct str
resume_words(struct str s)
{
    static const char name[] = "/resume ";
    if (!str_starts(s, name))
        return STR("");
    struct str words = str_trim(str_sub(s, sizeof name - 1, s.len));
    bool id = true;
    for (size_t i = 0; i < words.len; i++)
        id &= words.ptr[i] == '-' || strchr("0123456789abcdef", words.ptr[i]) != NULL;
    return id || words.ptr[0] == '"' ? STR("") : words;
}

static bool
local_command(struct app *a, struct str s)
{
    s = str_trim(s);
    const struct command_view *v = commands_view(s);
    struct str words = resume_words(s);
    if (str_is(s, "/exit") || str_is(s, "/quit"))
        app_quit(a, 0);
    else if (str_is(s, "/trust"))
        return app_trust_open(a);
    else if (v && v->page)
        app_open_page(a, v->page);
    else if (v)
        app_open_picker(a, v->picker);
    else if (words.len)
        app_open_sessions(a, words);
    else
        return false;
    return true;
}

void
app_submit_text(struct app *a, struct str text)
{
    struct str bare = str_trim(text);
    a->trust_open = false;
    if (!bare.len || local_command(a, bare))
        return;
    bool command = app_is_command(a, bare);
    char *copy = str_dup(text);
    if (app_tour_takes(a, command ? OP_COMMAND : OP_SUBMIT, copy)) {
        free(copy);
        return;
    }
    if (app_start_keep(a, copy)) { /* goes out once the engine is there */
        a->talked |= !command || app_is_shell(bare);
        free(copy);
        return;
    }
    if (!a->engine || a->engine_closed) {
        app_note(a, "the engine is not running: this cannot be sent");
        input_set(&a->input, text);
    } else if (command && !app_waits(a, bare)) {
        app_post(a, OP_COMMAND, copy); /* beside whatever runs */
    } else {
        app_queue_add(a, copy, QUEUE_WAITING);
        app_queue_pump(a);
    }
    a->said |= a->engine && !a->engine_closed;
    a->talked |= !command || app_is_shell(bare);
    free(copy);
    transcript_end(a->transcript);
}

void
app_submit(struct app *a)
{
    struct buf b;
    struct err err;
    buf_init(&b, BUF_MAX);
    input_expand(&a->input, &b);
    if (str_trim(buf_str(&b)).len) {
        a->note_until_ms = 0; /* what was said to the last key is over */
        if ((a->engine || a->start) && !history_add(&a->history, buf_str(&b), &err))
            app_note(a, "%s", err.text);
        input_clear(&a->input);
        app_submit_text(a, buf_str(&b));
    }
    buf_release(&b);
}
