/* A recording on the screen: the keys that pause and pace it in place of a prompt, and the line that says so. */
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/app_private.h"

static const char *
command_of(int key)
{
    switch (key) {
    case ' ':
        return "/pause";
    case '+':
    case '=':
        return "/faster";
    case '-':
        return "/slower";
    case '.':
        return "/next";
    default:
        return NULL;
    }
}

bool
app_replay_key(struct app *a, int key)
{
    const char *command = command_of(key);
    if (command) {
        app_post(a, OP_COMMAND, command);
        return true;
    }
    if (key == '?' || (key >= KEY_NAMED && key != YK_ENTER))
        return false;
    app_note(a, "a replay takes no prompts");
    return true;
}

void
app_replay_event(struct app *a, const struct event *ev)
{
    struct cJSON *tree =
        a->o->replay && ev->u.task.json ? json_parse(str_from(ev->u.task.json), NULL) : NULL;
    if (json_at(tree, "replay")) {
        a->replay.speed = json_num(tree, "replay.speed", 1);
        a->replay.paused = json_bool(tree, "replay.paused", false);
        a->replay.over = json_bool(tree, "replay.over", false);
        a->dirty = true;
    }
    json_free(tree);
}

void
app_replay_draw(struct app *a, struct rect r)
{
    static const char *const keys[] = {"  Space pause  + - speed  . next  Ctrl+D ends",
                                       "  Space + - .  Ctrl+D ends", "  Ctrl+D ends"};
    static const char *const over[] = {"  the recording ends here  Ctrl+D ends", "  Ctrl+D ends"};
    struct buf b;
    int width = 0;
    buf_init(&b, 256);
    buf_adds(&b, "replay");
    if (a->replay.over)
        buf_adds(&b, ", over");
    else if (a->replay.speed > 0)
        buf_addf(&b, " at %gx%s", a->replay.speed, a->replay.paused ? ", paused" : "");
    else
        buf_addf(&b, " at once%s", a->replay.paused ? ", paused" : "");
    int x = canvas_text(&a->canvas, r, 0, 0,
                        a->replay.paused || a->replay.over ? ST_WARN : ST_PROMPT, buf_str(&b));
    const char *const *row = a->replay.over ? over : keys;
    size_t n = a->replay.over ? ARRAY_LEN(over) : ARRAY_LEN(keys);
    for (size_t i = 0; i < n; i++) {
        width = text_width(str_from(row[i]));
        if (x + width > r.w)
            continue;
        canvas_text(&a->canvas, r, x, 0, ST_DIM, str_from(row[i]));
        break;
    }
    buf_release(&b);
}
