/* What the offline pilot says of itself, and its tour. */
#include "model/pilot.h"

#include <string.h>

const char pilot_help[] =
    "I am yare's offline pilot, **not a language model**: I follow plain instructions with yare's "
    "real tools, so that "
    "you can try the screen, the keys and the permissions.\n\n"
    "| say | what I do |\n|---|---|\n"
    "| `tour` | show yare, step by step |\n"
    "| `read FILE`, `read A and B` | read files |\n"
    "| `list`, `list DIR` | list files |\n"
    "| `find PATTERN`, `find PATTERN in DIR` | search in files |\n"
    "| `files PATTERN` | find files by name |\n"
    "| `run COMMAND` | run a shell command |\n"
    "| `replace A with B in FILE` | edit a file |\n"
    "| `write TEXT to FILE` | make or overwrite a file |\n"
    "| `todo A, B, C` | keep a todo list |\n"
    "| `help` | this |\n\n"
    "Join several with `then`; put quotes around texts that hold such words.\n\n"
    "To connect a model, set `ANTHROPIC_API_KEY` (and `ANTHROPIC_BASE_URL` for another server of "
    "that kind) and start yare again. `--provider NAME` or "
    "the setting `provider` chooses by hand.\n";

#define TOUR_FILE "yare-tour.txt"

static const struct tour_step {
    struct pilot_step step;
    const char *a, *b, *c;
} tour[] = {
    {{.verb = PILOT_TODO,
      .note = "A short tour, with real tools and real permissions. First a plan: the list stays in "
              "sight."},
     "look around\nmake a file and change it\nrun a command\nclear up",
     NULL,
     NULL},
    {{.verb = PILOT_LIST, .note = "Looking around. What only reads asks nobody."}, "", NULL, NULL},
    {{.verb = PILOT_GLOB, .note = "Files by name, the newest first."}, "*", NULL, NULL},
    {{.verb = PILOT_WRITE,
      .note = "Now I want to make a file, and that asks first: see the permission pane. `y` allows "
              "it once, `n` says no, "
              "`w` shows why it asks. Both answers are fine here."},
     "hello from the tour\n",
     TOUR_FILE,
     NULL},
    {{.verb = PILOT_REPLACE, .note = "A change is shown as a diff before it happens.", .needs = 4},
     "hello",
     "hello again",
     TOUR_FILE},
    {{.verb = PILOT_RUN,
      .note = "A command shows what it prints while it runs, in the activity pane. Esc would "
              "interrupt it."},
     "for i in 1 2 3; do echo \"working $i of 3\"; sleep 0.5; done",
     NULL,
     NULL},
    {{.verb = PILOT_RUN, .note = "And the file goes away again.", .needs = 4},
     "rm " TOUR_FILE,
     NULL,
     NULL},
    {{.verb = PILOT_TODO,
      .note = "That was it. Shift+Tab changes the permission mode, F1 shows all keys."},
     "do something real",
     NULL,
     NULL},
};

void
pilot_add_tour(struct pilot_plan *p)
{
    size_t first = p->n;
    for (size_t i = 0; i < ARRAY_LEN(tour); i++) {
        ARRAY_GROW(p->steps, p->n, p->cap);
        struct pilot_step *s = &p->steps[p->n++];
        *s = tour[i].step;
        s->a = xstrdup(tour[i].a);
        s->b = xstrdup(tour[i].b);
        s->c = xstrdup(tour[i].c);
        s->is_tour = true;
        s->needs += s->needs ? first : 0;
    }
}

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
    if (line.len > 60) {
        line.len = 60;
        while (line.len && ((unsigned char)line.ptr[line.len] & 0xC0) == 0x80)
            line.len--;
    }
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
        [PILOT_HELP] = {"help", NULL, NULL},      [PILOT_UNKNOWN] = {"", NULL, NULL},
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
