/* What the offline pilot says of itself and of a step. */
#include "model/pilot.h"

#include <string.h>

#include "base/text.h"

const char pilot_help[] =
    "I am yare's offline pilot, **not a language model**: I follow plain instructions with yare's "
    "real tools, so that "
    "you can try the screen, the keys and the permissions.\n\n"
    "| say | what I do |\n|---|---|\n"
    "| `read FILE`, `read A and B` | read files |\n"
    "| `list`, `list DIR` | list files |\n"
    "| `find PATTERN`, `find PATTERN in DIR` | search in files |\n"
    "| `files PATTERN` | find files by name |\n"
    "| `run COMMAND` | run a shell command |\n"
    "| `replace A with B in FILE` | edit a file |\n"
    "| `write TEXT to FILE` | make or overwrite a file |\n"
    "| `todo A, B, C` | keep a todo list |\n"
    "| `help` | this |\n| `tour` | how to be shown around |\n\n"
    "Other words do too: `open`, `look at`, `search for`, `where is`, `execute`, `change A to B in "
    "FILE`, `create FILE with TEXT`. "
    "Join several with `then`; put quotes around texts that hold such words.\n\n"
    "To connect a model, set `ANTHROPIC_API_KEY` (and `ANTHROPIC_BASE_URL` for another server of "
    "that kind), or `OPENAI_BASE_URL` and `OPENAI_MODEL` for a server with chat completions, and "
    "start yare again. `/connect` lists the model servers of this machine and takes one at once.\n";

const char pilot_tour_text[] = "The tour has a scratch folder of its own, so that nothing here is "
                               "touched: start it with `yare tour`. On the full screen "
                               "`/tour` goes there and comes back.\n";

const char *
pilot_step_file(const struct pilot_step *s)
{
    switch (s->verb) {
    case PILOT_READ:
        return s->a;
    case PILOT_WRITE:
        return s->b;
    case PILOT_REPLACE:
        return s->c;
    default:
        return NULL;
    }
}

/* Between backquotes, more of them when the text has some; one line, not too long. */
static void
add_code(struct buf *out, const char *text)
{
    struct str s = str_from(text), line = s;
    str_split(&s, '\n', &line);
    bool cut = s.ptr != NULL || line.len > 60;
    line = text_start(line, 60);
    const char *fence = str_find(line, '`', 0) == (size_t)-1 ? "`" : "`` ";
    buf_addf(out, "%s%.*s%s%s", fence, (int)line.len, line.ptr, cut ? "..." : "",
             fence[1] ? " ``" : "`");
}

void
pilot_step_text(const struct pilot_step *s, struct buf *out)
{
    static const struct {
        const char *lead, *middle, *last;
    } words[] = {
        [PILOT_READ] = {"read ", NULL, NULL},     [PILOT_LIST] = {"list ", NULL, NULL},
        [PILOT_FIND] = {"find ", " in ", NULL},   [PILOT_GLOB] = {"files ", " in ", NULL},
        [PILOT_RUN] = {"run ", NULL, NULL},       [PILOT_REPLACE] = {"replace ", " with ", " in "},
        [PILOT_WRITE] = {"write ", " to ", NULL}, [PILOT_TODO] = {"todo ", NULL, NULL},
        [PILOT_HELP] = {"help", NULL, NULL},      [PILOT_TOUR] = {"tour", NULL, NULL},
        [PILOT_UNKNOWN] = {"", NULL, NULL},
    };
    buf_adds(out, words[s->verb].lead);
    if (s->verb == PILOT_LIST && s->a && !s->a[0])
        add_code(out, ".");
    else if (s->a)
        add_code(out, s->a);
    if (s->b) {
        buf_adds(out, words[s->verb].middle);
        add_code(out, s->b);
    }
    if (s->c) {
        buf_adds(out, words[s->verb].last);
        add_code(out, s->c);
    }
}
