/* The prompt goes out: to the engine, or to what the program does itself. And the texts it shows in a box. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/app_private.h"

/* "/name" and "/name arguments"; a path such as /etc/hosts is not a command. */
static bool
is_command(struct str s)
{
    if (s.len < 2 || s.ptr[0] != '/')
        return s.len > 1 && s.ptr[0] == '!';
    size_t i = 1;
    for (; i < s.len && s.ptr[i] != ' ' && s.ptr[i] != '\n'; i++) {
        if (s.ptr[i] == '/' || s.ptr[i] == '.')
            return false;
    }
    return i > 1;
}

static bool
local_command(struct app *a, struct str s)
{
    s = str_trim(s);
    const struct command_view *v = commands_view(s);
    if (str_is(s, "/exit") || str_is(s, "/quit"))
        app_quit(a, 0);
    else if (v && v->page)
        app_open_page(a, v->page);
    else if (v)
        app_open_picker(a, v->picker);
    else
        return false;
    return true;
}

void
app_submit_text(struct app *a, struct str text)
{
    struct str bare = str_trim(text);
    if (!bare.len || local_command(a, bare))
        return;
    enum op_kind kind = is_command(bare) ? OP_COMMAND : OP_SUBMIT;
    char *early = str_dup(text);
    bool taken = app_tour_takes(a, kind, early) || app_start_keep(a, kind, early);
    free(early);
    if (taken)
        return;
    if (!a->engine || a->engine_closed) {
        app_note(a, "the engine is not running: this cannot be sent");
        input_set(&a->input, text);
        return;
    }
    char *copy = str_dup(text);
    bool command = is_command(bare);
    if (command) {
        app_post(a, OP_COMMAND, copy);
    } else if (app_running(a)) {
        app_queue_add(a, copy);
        app_post(a, OP_STEER, copy);
    } else {
        app_post(a, OP_SUBMIT, copy);
        a->submitted = true;
    }
    a->said = true;
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
