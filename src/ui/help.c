#include "ui/help.h"

#include <string.h>

#include "base/text.h"
#include "ui/keys.h"
#include "ui/overlay.h"

#define KEY_COLUMNS 16

static const char *
heading(enum key_context context)
{
    switch (context) {
    case KEYS_ANYWHERE:
        return "anywhere";
    case KEYS_PROMPT:
        return "prompt";
    case KEYS_TRANSCRIPT:
        return "transcript (Alt+2)";
    case KEYS_APPROVAL:
        return "permission (Alt+3, or Tab on an empty prompt)";
    case KEYS_ACTIVITY:
        return "activity (Alt+4)";
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

void
help_text(struct buf *out)
{
    int last = -1;
    const struct key_row *r;
    for (size_t i = 0; (r = keys_at(i)); i++) {
        if ((int)r->context != last)
            buf_addf(out, "%s%c%s\n", last < 0 ? "" : "\n", OVERLAY_HEADING, heading(r->context));
        last = (int)r->context;
        const char *key = row_key(r);
        const char *shown = key ? keys_shown(key) : "(none)";
        int pad = KEY_COLUMNS - text_width(str_from(shown));
        buf_addf(out, "  %s%*s%s\n", shown, pad > 1 ? pad : 1, "", r->help);
    }
    buf_addf(out, "\n%ctyped\n", OVERLAY_HEADING);
    buf_adds(out,
             "  /name           a command: /help, /exit, /clear, /compact, /model, /resume ...\n"
             "  !command        runs a shell command and puts it into the conversation\n"
             "  @path           brings a file along\n"
             "  \\ then Enter    a new line\n\n"
             "Shift with the mouse selects text as the terminal does it.\n");
}
