#include "ui/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ui/page.h"
#include "ui/picker.h"

#define COMMANDS_MAX 500

static const struct {
    const char *name, *args, *what;
    bool waits;
} own[] = {
    {"clear", "", "start a new session; the old one stays on disk", true},
    {"compact", "[WHAT TO KEEP]", "shrink the conversation", true},
    {"context", "[preview|open N]", "what fills the context", false},
    {"cost", "", "tokens and money, request by request", false},
    {"exit", "", "leave yare", false},
    {"help", "", "keys and commands", false},
    {"keys", "", "the same as /help", false},
    {"mode", "[NAME]", "choose the permission mode", false},
    {"model", "[ID]", "choose the model", true},
    {"permissions", "[remove LIST RULE]",
     "the rules in force, and what is allowed until the session ends", false},
    {"quit", "", "leave yare", false},
    {"resume", "[ID|WORDS]", "go on with another session", true},
    {"state", "", "the loop's state and last transitions", false},
    {"tour", "", "two minutes through the screen, and back here", false},
};

static const struct command_view views[] = {
    {"context", &page_context, NULL},   {"cost", &page_meters, NULL},
    {"help", &page_help, NULL},         {"keys", &page_help, NULL},
    {"mode", NULL, &picker_modes},      {"model", NULL, &picker_models},
    {"permissions", &page_rules, NULL}, {"resume", NULL, &picker_sessions},
    {"state", &page_state, NULL},
};

static void
set(struct command *c, const char *args, const char *what)
{
    free(c->args);
    free(c->what);
    c->args = xstrdup(args);
    c->what = xstrdup(what);
}

/* Keeps the order by name. */
static struct command *
row_for(struct commands *c, const char *name)
{
    size_t at = 0;
    while (at < c->n && strcmp(c->rows[at].name, name) < 0)
        at++;
    if (at < c->n && strcmp(c->rows[at].name, name) == 0)
        return &c->rows[at];
    ARRAY_GROW(c->rows, c->n, c->cap);
    memmove(c->rows + at + 1, c->rows + at, (c->n - at) * sizeof *c->rows);
    c->rows[at] = (struct command){.name = xstrdup(name)};
    c->n++;
    return &c->rows[at];
}

void
commands_init(struct commands *c)
{
    *c = (struct commands){0};
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct command *row = row_for(c, own[i].name);
        set(row, own[i].args, own[i].what);
        row->waits = own[i].waits;
    }
}

void
commands_release(struct commands *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->rows[i].name);
        set(&c->rows[i], NULL, NULL);
    }
    free(c->rows);
    *c = (struct commands){0};
}

static bool
has_view(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        if (strcmp(views[i].name, name) == 0)
            return true;
    return false;
}

void
commands_take(struct commands *c, struct str json)
{
    struct cJSON *tree = json_parse(json, NULL);
    for (const struct cJSON *r = json_first(json_at(tree, "commands")); r && c->n < COMMANDS_MAX;
         r = json_next(r)) {
        const char *name = json_cstr(r, "name", "");
        /* those that open a page here are told as what they do here */
        if (*name && (!has_view(name) || !commands_find(c, str_from(name))))
            set(row_for(c, name), json_cstr(r, "args", ""), json_cstr(r, "what", ""));
        if (*name)
            row_for(c, name)->waits = json_bool(r, "waits", row_for(c, name)->waits);
    }
    json_free(tree);
}

/* How well a name fits: 0 not at all, 3 best. */
static int
fit(const char *name, struct str word)
{
    char *w = str_dup(word);
    int best = strncmp(name, w, word.len) == 0 ? 3 : 0;
    for (const char *dash = strchr(name, '-'); !best && dash; dash = strchr(dash + 1, '-'))
        best = strncmp(dash + 1, w, word.len) == 0 ? 2 : 0;
    size_t k = 0;
    for (const char *p = name; !best && *p && k < word.len; p++)
        k += *p == w[k];
    /* letters in order count from two on: one alone is in almost every name */
    if (!best && k == word.len && word.len >= 2 && name[0] == w[0])
        best = 1;
    free(w);
    return best;
}

size_t
commands_match(const struct commands *c, struct str word, const struct command **ret, size_t max)
{
    size_t n = 0;
    for (int want = 3; want >= 1; want--)
        for (size_t i = 0; i < c->n && n < max; i++)
            if (fit(c->rows[i].name, word) == want)
                ret[n++] = &c->rows[i];
    return n;
}

const struct command *
commands_find(const struct commands *c, struct str name)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_is(name, c->rows[i].name))
            return &c->rows[i];
    return NULL;
}

const struct command_view *
commands_view(struct str line)
{
    line = str_trim(line);
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        if (line.len > 1 && line.ptr[0] == '/' && str_is(str_sub(line, 1, line.len), views[i].name))
            return &views[i];
    return NULL;
}
