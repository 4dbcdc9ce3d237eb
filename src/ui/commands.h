#pragma once
/*
 * The slash commands that completion, help and the prompt know: the screen's own, and those the engine names (QUERY_COMMANDS).
 * UI thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct page_type;
struct picker_type;

struct command {
    char *name, *args, *what;
    bool waits; /* for the end of a running turn */
};
struct commands {
    struct command *rows; /* by name */
    size_t n, cap;
};
/* What the screen does itself with a command that has no argument; all others go to the engine. */
struct command_view {
    const char *name;
    const struct page_type *page;
    const struct picker_type *picker;
};

void commands_init(
    struct commands *c); /* the screen's own, and the usual ones until the engine has answered */
void commands_release(struct commands *c);
void commands_take(struct commands *c,
                   struct str json); /* an answer to QUERY_COMMANDS; the engine's words win */
/* The best `max` for what was typed after '/': those that begin so, then those with a part that does, then those that have its
 * letters in order. Returns how many. */
size_t commands_match(const struct commands *c, struct str word, const struct command **ret,
                      size_t max);
const struct command *commands_find(const struct commands *c, struct str name); /* NULL: none */
const struct command_view *commands_view(struct str line); /* NULL: the engine's */
