#pragma once
/*
 * Keys and what they do: one table (assets/keys.json over the built-in one, user overrides in keybindings.json). A key is a Unicode
 * code point, or one of the named keys, with modifier bits.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    KEY_NAMED = 0x200000,
    YK_ENTER = KEY_NAMED, YK_ESC, YK_TAB, YK_BACKTAB, YK_BACKSPACE, YK_DELETE, YK_UP, YK_DOWN, YK_LEFT, YK_RIGHT, YK_HOME,
    YK_END, YK_PGUP, YK_PGDN, YK_WHEEL_UP, YK_WHEEL_DOWN, YK_F1, YK_PASTE /* text comes with it */, YK_RESIZE, YK_FOCUS_IN,
    YK_FOCUS_OUT,
    KM_ALT = 0x1000000, KM_CTRL = 0x2000000, KM_SHIFT = 0x4000000
};

/* Contexts in which a key is looked up, most special first. */
enum key_context { KEYS_ANYWHERE, KEYS_PROMPT, KEYS_TRANSCRIPT, KEYS_APPROVAL, KEYS_ACTIVITY };

/* action id, its name in keybindings.json, context, default key, help. */
#define KEY_ACTIONS(X)                                                                             \
    X(ACT_INTERRUPT, "app:interrupt", KEYS_ANYWHERE, "ctrl+c", "interrupt the turn, clear the prompt, twice: quit") \
    X(ACT_EOF, "app:exit", KEYS_ANYWHERE, "ctrl+d", "quit on an empty prompt")                     \
    X(ACT_ESCAPE, "app:escape", KEYS_ANYWHERE, "esc", "close, leave a pane, interrupt the turn (work is kept)") \
    X(ACT_MODE, "app:cycleMode", KEYS_ANYWHERE, "shift+tab", "next permission mode")               \
    X(ACT_AFK, "app:afk", KEYS_ANYWHERE, "alt+a", "AFK mode on or off")                            \
    X(ACT_AFK2, "app:afk", KEYS_ANYWHERE, "ctrl+x a", "AFK mode on or off")                        \
    X(ACT_FULL, "app:transcript", KEYS_ANYWHERE, "ctrl+o", "transcript full screen")               \
    X(ACT_TODOS, "app:todos", KEYS_ANYWHERE, "ctrl+t", "todo list")                                \
    X(ACT_PANE1, "app:pane1", KEYS_ANYWHERE, "alt+1", "focus the prompt")                          \
    X(ACT_PANE2, "app:pane2", KEYS_ANYWHERE, "alt+2", "focus the transcript")                      \
    X(ACT_PANE3, "app:pane3", KEYS_ANYWHERE, "alt+3", "focus the permission pane")                 \
    X(ACT_PANE4, "app:pane4", KEYS_ANYWHERE, "alt+4", "focus the activity pane")                   \
    X(ACT_HISTORY, "prompt:history", KEYS_ANYWHERE, "ctrl+r", "search the prompt history")         \
    X(ACT_REDRAW, "app:redraw", KEYS_ANYWHERE, "ctrl+l", "redraw the screen")                      \
    X(ACT_SUSPEND, "app:suspend", KEYS_ANYWHERE, "ctrl+z", "suspend")                              \
    X(ACT_EDITOR, "prompt:editor", KEYS_ANYWHERE, "ctrl+g", "edit the prompt in $EDITOR")          \
    X(ACT_HELP, "app:help", KEYS_ANYWHERE, "f1", "this help (also ? on an empty prompt)")          \
    X(ACT_SCROLL_UP, "transcript:pageUp", KEYS_ANYWHERE, "pageup", "scroll the transcript up")     \
    X(ACT_SCROLL_DOWN, "transcript:pageDown", KEYS_ANYWHERE, "pagedown", "scroll the transcript down")

enum key_action {
    ACT_NONE,
#define X(id, name, context, key, help) id,
    KEY_ACTIONS(X)
#undef X
    ACT_COUNT
};
struct key_row {
    enum key_action action;
    const char *name, *key, *help;
    enum key_context context;
};
const struct key_row *keys_at(size_t i);            /* NULL past the end */
bool keys_parse(const char *text, int ret_keys[2]); /* "ctrl+x a": up to two; the second 0 when single */
enum key_action keys_action(int key, int pending);  /* pending: first key of a chord or 0 */
bool keys_is_chord_start(int key);
/* Human text of a key, "Ctrl+X A"; borrowed until the next call of this thread. */
const char *keys_shown(const char *key);
