#include "engine/hidden.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "engine/compact_private.h"
#include "engine/loop_private.h"
#include "engine/pins.h"

static const struct {
    const char *starts, *brief;
} briefs[] = {
    {LOOP_GO_ON_BROKEN, "the answer broke off here; the model was asked to go on from there"},
    {LOOP_GO_ON_CUT,
     "the answer was cut off at the output limit here; the model was asked to go on"},
    {COMPACT_OPEN, "the summary that the model goes on with"},
};

/* "pinned: FACT", and how many more there are. */
static char *
pins_brief(struct str list)
{
    size_t more = 0, nl = str_find(list, '\n', 0);
    struct str first = str_sub(list, 0, nl == (size_t)-1 ? list.len : nl);
    for (size_t at = nl; at != (size_t)-1; at = str_find(list, '\n', at + 1))
        more += str_starts(str_sub(list, at + 1, list.len), "- ");
    if (!str_starts(first, "- "))
        return NULL;
    first = str_sub(first, 2, first.len);
    return more ? xasprintf("pinned: %.*s, and %zu more", (int)first.len, first.ptr, more)
                : xasprintf("pinned: %.*s", (int)first.len, first.ptr);
}

/* "attached PATH (3 lines)", as it was said when the prompt was sent. */
static char *
file_brief(struct str text)
{
    static const char mark[] = HIDDEN_FILE_CONTENT, end[] = "\n" HIDDEN_END;
    struct str rest = str_sub(text, sizeof HIDDEN_FILE - 1, text.len);
    const char *at = rest.len ? memmem(rest.ptr, rest.len, mark, sizeof mark - 1) : NULL;
    if (!at)
        return NULL;
    size_t path = (size_t)(at - rest.ptr);
    struct str content = str_sub(rest, path + sizeof mark - 1, rest.len);
    if (str_ends(content, end))
        content.len -= sizeof end - 1;
    size_t lines = text_lines(content);
    return xasprintf("attached %.*s (%zu line%s)", (int)path, rest.ptr, lines,
                     lines == 1 ? "" : "s");
}

char *
hidden_brief(struct str text)
{
    if (str_starts(text, HIDDEN_FILE))
        return file_brief(text);
    for (size_t i = 0; i < ARRAY_LEN(briefs); i++)
        if (str_starts(text, briefs[i].starts))
            return xstrdup(briefs[i].brief);
    if (str_starts(text, HIDDEN_TAG))
        text = str_trim(str_sub(text, sizeof HIDDEN_TAG - 1, text.len));
    if (!str_starts(text, PINS_OPEN))
        return NULL;
    return pins_brief(str_sub(text, sizeof PINS_OPEN, text.len));
}
