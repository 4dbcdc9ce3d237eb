/* /help: the commands and the keys, from their tables. */
#include <string.h>

#include "base/text.h"
#include "ui/commands.h"
#include "ui/keys.h"
#include "ui/page.h"

#define KEY_COLUMNS 16

static const char *
heading(enum key_context context)
{
    switch (context) {
    case KEYS_ANYWHERE:
        return "keys anywhere";
    case KEYS_PROMPT:
        return "keys in the prompt";
    case KEYS_TRANSCRIPT:
        return "keys in the transcript (Alt+2)";
    case KEYS_APPROVAL:
        return "keys in the permission pane (Alt+3, or Tab on an empty prompt)";
    case KEYS_ACTIVITY:
        return "keys in the activity pane (Alt+4)";
    }
    return "";
}

/* A row's key now: the first row of a name may have been changed, the others are what the table says while they hold. */
static const char *
row_key(const struct key_row *r)
{
    int keys[2];
    if (!keys_parse(r->key, keys))
        return NULL;
    enum key_action a = keys[1] ? keys_action_in(r->context, keys[1], keys[0])
                                : keys_action_in(r->context, keys[0], 0);
    const struct key_row *row = a ? keys_at((size_t)a - 1) : NULL;
    return row && strcmp(row->name, r->name) == 0 ? r->key : keys_of(r->action);
}

/* "name      what it does", the second part below the first where both do not fit. */
static void
entry(struct lines *out, struct str name, struct str what, int columns, int width)
{
    char pad[64];
    int w = text_width(name), at = columns < (int)sizeof pad ? columns : (int)sizeof pad - 1;
    struct flow f;
    if (at > width / 2)
        at = 4;
    memset(pad, ' ', sizeof pad);
    flow_init(&f);
    if (w + 2 > at) {
        lines_begin(out, false);
        lines_add(out, ST_KEY, name);
        flow_add(&f, ST_TEXT, what);
        flow_wrap(&f, out,
                  &(struct indent){.width = width,
                                   .first = str_make(pad, (size_t)at),
                                   .rest = str_make(pad, (size_t)at)});
    } else {
        flow_add(&f, ST_TEXT, what);
        struct buf first;
        buf_init(&first, 4096);
        buf_add_str(&first, name);
        buf_add(&first, pad, (size_t)(at - w));
        flow_wrap(&f, out,
                  &(struct indent){.width = width,
                                   .first = buf_str(&first),
                                   .rest = str_make(pad, (size_t)at),
                                   .style = ST_KEY});
        buf_release(&first);
    }
    flow_release(&f);
}

static void
write_commands(const struct commands *c, struct lines *out, int width)
{
    page_heading(out, "commands");
    for (size_t i = 0; c && i < c->n; i++) {
        struct buf b;
        buf_init(&b, 4096);
        buf_addf(&b, "/%s%s%s", c->rows[i].name, *c->rows[i].args ? " " : "", c->rows[i].args);
        entry(out, buf_str(&b), str_from(c->rows[i].what), 32, width);
        buf_release(&b);
    }
    static const char *const typed[][2] = {
        {"!COMMAND", "run a shell command; its output joins the conversation"},
        {"@PATH", "bring a file along; @\"a name with blanks\""},
        {"\\ then Enter", "a new line"},
    };
    page_heading(out, "typed");
    for (size_t i = 0; i < ARRAY_LEN(typed); i++)
        entry(out, str_from(typed[i][0]), str_from(typed[i][1]), KEY_COLUMNS, width);
}

static void
write_keys(struct lines *out, int width)
{
    int last = -1;
    const struct key_row *r;
    for (size_t i = 0; (r = keys_at(i)); i++) {
        if ((int)r->context != last)
            page_heading(out, heading(r->context));
        last = (int)r->context;
        const char *key = row_key(r);
        entry(out, str_from(key ? keys_shown(key) : "(none)"), str_from(r->help), KEY_COLUMNS,
              width);
    }
    lines_begin(out, false);
    page_para(out, ST_DIM, STR("Shift with the mouse selects text as the terminal does it."),
              width);
}

static void
write_help(struct page *p, const struct view *v, struct lines *out, int width, bool ascii)
{
    (void)v;
    (void)ascii;
    write_keys(out, width);
    write_commands(p->commands, out, width);
}

const struct page_type page_help = {.title = "help", .query = -1, .write = write_help};
