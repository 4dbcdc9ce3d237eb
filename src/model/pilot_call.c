#include "model/pilot_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/* Read, refused, read again, done: more than this goes nowhere. */
#define TRIES_MAX 4

static const char *
first_tool(const struct pilot_step *step, bool file_known)
{
    switch (step->verb) {
    case PILOT_READ:
        return "Read";
    case PILOT_LIST:
    case PILOT_RUN:
        return "Bash";
    case PILOT_FIND:
        return "Grep";
    case PILOT_GLOB:
        return "Glob";
    case PILOT_TODO:
        return "TodoWrite";
    case PILOT_REPLACE:
        return file_known ? "Edit" : "Read";
    case PILOT_WRITE:
        return "Write"; /* a new file needs no reading; an existing one says so */
    case PILOT_HELP:
    case PILOT_TOUR:
    case PILOT_UNKNOWN:
        break;
    }
    return NULL;
}

const char *
pilot_next_tool(const struct pilot_step *step, const struct pilot_past *past, bool file_known)
{
    if (!past->use)
        return first_tool(step, file_known);
    if (step->verb != PILOT_REPLACE && step->verb != PILOT_WRITE)
        return NULL;
    bool failed = !past->result || past->result->is_error;
    if (str_is(past->use->name, "Read"))
        return failed ? NULL : step->verb == PILOT_WRITE ? "Write" : "Edit";
    /* "Read it first", "Read it again": the file was not read, or changed since. */
    bool unread = failed && past->result && str_contains(past->result->text, STR("Read it "));
    return unread && past->tries < TRIES_MAX ? "Read" : NULL;
}

static void
put_path(struct jw *w, const char *key, const struct model_request *req, const char *path)
{
    char *full = pilot_path(req, path);
    jw_kcstr(w, key, full);
    free(full);
}

static void
put_command(struct jw *w, const struct pilot_step *step)
{
    if (step->verb == PILOT_RUN) {
        jw_kcstr(w, "command", step->a);
        return;
    }
    struct buf command;
    buf_init(&command, BUF_MAX);
    buf_adds(&command, "ls -la");
    if (step->a[0]) {
        buf_adds(&command, " -- ");
        text_shell_quote(&command, str_from(step->a));
    }
    jw_kstr(w, "command", buf_str(&command));
    jw_kcstr(w, "description", "List files");
    buf_release(&command);
}

static void
put_todos(struct jw *w, const char *items)
{
    struct str rest = str_from(items), item;
    bool first = true;
    jw_key(w, "todos");
    jw_array(w);
    while (str_split(&rest, '\n', &item)) {
        jw_object(w);
        jw_kstr(w, "content", item);
        jw_kcstr(w, "status", first ? "in_progress" : "pending");
        jw_kstr(w, "activeForm", item);
        jw_end(w);
        first = false;
    }
    jw_end(w);
}

static void
put_search(struct jw *w, const struct model_request *req, const struct pilot_step *step)
{
    jw_kcstr(w, "pattern", step->a);
    if (step->b)
        put_path(w, "path", req, step->b);
    if (step->verb == PILOT_FIND) {
        jw_kcstr(w, "output_mode", "content");
        jw_kbool(w, "-n", true);
    }
}

static void
put_file(struct jw *w, const struct model_request *req, const struct pilot_step *step,
         const char *tool)
{
    put_path(w, "file_path", req, pilot_step_file(step));
    if (strcmp(tool, "Edit") == 0) {
        jw_kcstr(w, "old_string", step->a);
        jw_kcstr(w, "new_string", step->b);
    } else if (strcmp(tool, "Write") == 0) {
        jw_kcstr(w, "content", step->a);
    }
}

void
pilot_write_input(struct buf *out, const struct model_request *req, const struct pilot_step *step,
                  const char *tool)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    switch (step->verb) {
    case PILOT_LIST:
    case PILOT_RUN:
        put_command(&w, step);
        break;
    case PILOT_FIND:
    case PILOT_GLOB:
        put_search(&w, req, step);
        break;
    case PILOT_TODO:
        put_todos(&w, step->a);
        break;
    case PILOT_READ:
    case PILOT_REPLACE:
    case PILOT_WRITE:
        put_file(&w, req, step, tool);
        break;
    case PILOT_HELP:
    case PILOT_TOUR:
    case PILOT_UNKNOWN:
        break;
    }
    jw_end(&w);
}
