#pragma once
/*
 * Keys and what they do: one table, over which a person's keybindings.json may go; help is made from it. A key is a
 * Unicode code point, or one of the named keys, with modifier bits. UI thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
    KEY_NAMED = 0x200000,
    YK_ENTER = KEY_NAMED,
    YK_ESC,
    YK_TAB,
    YK_BACKTAB,
    YK_BACKSPACE,
    YK_DELETE,
    YK_UP,
    YK_DOWN,
    YK_LEFT,
    YK_RIGHT,
    YK_HOME,
    YK_END,
    YK_PGUP,
    YK_PGDN,
    YK_WHEEL_UP,
    YK_WHEEL_DOWN,
    YK_MOUSE_DOWN,
    YK_MOUSE_DRAG,
    YK_MOUSE_UP,
    YK_F1,
    YK_PASTE /* text comes with it */,
    YK_RESIZE,
    YK_FOCUS_IN,
    YK_FOCUS_OUT,
    YK_NAMED_END,
    KM_ALT = 0x1000000,
    KM_CTRL = 0x2000000,
    KM_SHIFT = 0x4000000
};

/* Contexts in which a key is looked up, most special first. */
enum key_context { KEYS_ANYWHERE, KEYS_PROMPT, KEYS_TRANSCRIPT, KEYS_APPROVAL, KEYS_ACTIVITY };

/* action id, its name in keybindings.json, context, default key, help. Rows of the same name are one action. */
#define KEY_ACTIONS(X)                                                                             \
    X(ACT_INTERRUPT, "app:interrupt", KEYS_ANYWHERE, "ctrl+c",                                     \
      "interrupt the turn, clear the prompt, twice: quit")                                         \
    X(ACT_EOF, "app:exit", KEYS_ANYWHERE, "ctrl+d", "quit on an empty prompt")                     \
    X(ACT_ESCAPE, "app:escape", KEYS_ANYWHERE, "esc",                                              \
      "close, leave a pane, interrupt the turn (work is kept, what is queued comes back)")         \
    X(ACT_MODE, "app:cycleMode", KEYS_ANYWHERE, "shift+tab", "next permission mode")               \
    X(ACT_AFK, "app:afk", KEYS_ANYWHERE, "alt+a", "AFK mode on or off")                            \
    X(ACT_AFK2, "app:afk", KEYS_ANYWHERE, "ctrl+x a", "AFK mode on or off")                        \
    X(ACT_FAST, "app:fast", KEYS_ANYWHERE, "alt+o", "fast mode on or off")                         \
    X(ACT_FULL, "app:transcript", KEYS_ANYWHERE, "ctrl+o", "transcript full screen")               \
    X(ACT_TODOS, "app:todos", KEYS_ANYWHERE, "ctrl+t", "todo list")                                \
    X(ACT_METERS, "app:meters", KEYS_ANYWHERE, "alt+m", "meters in full")                          \
    X(ACT_PANE1, "app:pane1", KEYS_ANYWHERE, "alt+1", "focus the prompt")                          \
    X(ACT_PANE2, "app:pane2", KEYS_ANYWHERE, "alt+2", "focus the transcript")                      \
    X(ACT_PANE3, "app:pane3", KEYS_ANYWHERE, "alt+3", "focus the permission pane")                 \
    X(ACT_PANE4, "app:pane4", KEYS_ANYWHERE, "alt+4", "focus the activity pane")                   \
    X(ACT_HISTORY, "prompt:history", KEYS_ANYWHERE, "ctrl+r", "search the prompt history")         \
    X(ACT_SEARCH, "transcript:search", KEYS_ANYWHERE, "ctrl+f", "search the transcript")           \
    X(ACT_BACKGROUND, "app:background", KEYS_ANYWHERE, "ctrl+b",                                   \
      "the running command goes on in the background")                                             \
    X(ACT_REDRAW, "app:redraw", KEYS_ANYWHERE, "ctrl+l", "redraw the screen")                      \
    X(ACT_MOUSE, "app:mouse", KEYS_ANYWHERE, "ctrl+x m", "mouse on or off")                        \
    X(ACT_SUSPEND, "app:suspend", KEYS_ANYWHERE, "ctrl+z", "suspend")                              \
    X(ACT_EDITOR, "prompt:editor", KEYS_ANYWHERE, "ctrl+g", "edit the prompt in $EDITOR")          \
    X(ACT_HELP, "app:help", KEYS_ANYWHERE, "f1", "this help (also ? on an empty prompt)")          \
    X(ACT_MODEL, "app:model", KEYS_ANYWHERE, "alt+p", "choose the model")                          \
    X(ACT_OFFER_YES, "offer:take", KEYS_ANYWHERE, "alt+y",                                         \
      "take up what is offered above the prompt")                                                  \
    X(ACT_OFFER_NO, "offer:dismiss", KEYS_ANYWHERE, "alt+n", "not now")                            \
    X(ACT_SCROLL_UP, "transcript:pageUp", KEYS_ANYWHERE, "pageup", "scroll the transcript up")     \
    X(ACT_SCROLL_DOWN, "transcript:pageDown", KEYS_ANYWHERE, "pagedown",                           \
      "scroll the transcript down")                                                                \
    X(ACT_SUBMIT, "prompt:submit", KEYS_PROMPT, "enter",                                           \
      "send the prompt (while a turn runs: queued; Up takes it back)")                             \
    X(ACT_NEWLINE, "prompt:newline", KEYS_PROMPT, "alt+enter",                                     \
      "new line (also Ctrl+J, Shift+Enter, \\ before Enter)")                                      \
    X(ACT_NEWLINE2, "prompt:newline", KEYS_PROMPT, "ctrl+j", "new line")                           \
    X(ACT_LINE_START, "prompt:lineStart", KEYS_PROMPT, "ctrl+a", "start of the line")              \
    X(ACT_LINE_END, "prompt:lineEnd", KEYS_PROMPT, "ctrl+e", "end of the line")                    \
    X(ACT_WORD_BACK, "prompt:wordBack", KEYS_PROMPT, "alt+b", "a word back")                       \
    X(ACT_WORD_FORWARD, "prompt:wordForward", KEYS_PROMPT, "alt+f", "a word on")                   \
    X(ACT_KILL_END, "prompt:killEnd", KEYS_PROMPT, "ctrl+k", "cut to the end of the line")         \
    X(ACT_KILL_START, "prompt:killStart", KEYS_PROMPT, "ctrl+u", "cut to the start of the line")   \
    X(ACT_KILL_WORD, "prompt:killWord", KEYS_PROMPT, "ctrl+w", "cut the word before")              \
    X(ACT_KILL_WORD_ON, "prompt:killWordOn", KEYS_PROMPT, "alt+d", "cut the word after")           \
    X(ACT_YANK, "prompt:yank", KEYS_PROMPT, "ctrl+y", "put back what was cut")                     \
    X(ACT_UNDO, "prompt:undo", KEYS_PROMPT, "ctrl+_", "undo")                                      \
    X(ACT_PROMPT_BACK, "transcript:previousPrompt", KEYS_TRANSCRIPT, "{", "previous prompt")       \
    X(ACT_PROMPT_ON, "transcript:nextPrompt", KEYS_TRANSCRIPT, "}", "next prompt")                 \
    X(ACT_FOLD, "transcript:fold", KEYS_TRANSCRIPT, "enter", "open or close the fold")             \
    X(ACT_ITEM_NEXT, "transcript:next", KEYS_TRANSCRIPT, "j", "next item")                         \
    X(ACT_ITEM_BACK, "transcript:previous", KEYS_TRANSCRIPT, "k", "previous item")                 \
    X(ACT_FIND, "transcript:find", KEYS_TRANSCRIPT, "/", "search; n and N go on")                  \
    X(ACT_FIND_ON, "transcript:findNext", KEYS_TRANSCRIPT, "n", "next hit above")                  \
    X(ACT_FIND_BACK, "transcript:findBack", KEYS_TRANSCRIPT, "N", "next hit below")                \
    X(ACT_COPY, "transcript:copy", KEYS_TRANSCRIPT, "y",                                           \
      "copy the selection, or the item (OSC 52)")                                                  \
    X(ACT_PAGER, "transcript:pager", KEYS_TRANSCRIPT, "v", "open it in $PAGER")                    \
    X(ACT_OPEN, "transcript:open", KEYS_TRANSCRIPT, "o", "open its first link in the browser")     \
    X(ACT_PRINT, "transcript:print", KEYS_TRANSCRIPT, "[",                                         \
      "write the transcript to the terminal's own scrollback")                                     \
    X(ACT_TOP, "transcript:home", KEYS_TRANSCRIPT, "home", "the beginning")                        \
    X(ACT_TAIL, "transcript:end", KEYS_TRANSCRIPT, "end", "the end, following what comes")         \
    X(ACT_ONCE, "permission:once", KEYS_APPROVAL, "y", "allow this once")                          \
    X(ACT_ALWAYS, "permission:always", KEYS_APPROVAL, "a", "allow always: shows the rule first")   \
    X(ACT_NO, "permission:no", KEYS_APPROVAL, "n", "no, with a reason for the model")              \
    X(ACT_WHY, "permission:why", KEYS_APPROVAL, "w", "the whole chain of findings")                \
    X(ACT_EDIT, "permission:edit", KEYS_APPROVAL, "e", "edit the command")                         \
    X(ACT_ASK_NEXT, "permission:next", KEYS_APPROVAL, "j", "next request")                         \
    X(ACT_ASK_BACK, "permission:previous", KEYS_APPROVAL, "k", "previous request")                 \
    X(ACT_DIFF, "permission:diff", KEYS_APPROVAL, "enter", "open the diff")                        \
    X(ACT_ACT_NEXT, "activity:next", KEYS_ACTIVITY, "j", "next tool")                              \
    X(ACT_ACT_BACK, "activity:previous", KEYS_ACTIVITY, "k", "previous tool")                      \
    X(ACT_ACT_LOG, "activity:log", KEYS_ACTIVITY, "enter", "its log")                              \
    X(ACT_ACT_BACKGROUND, "activity:background", KEYS_ACTIVITY, "b",                               \
      "it goes on in the background")                                                              \
    X(ACT_ACT_STOP, "activity:stop", KEYS_ACTIVITY, "x", "stop it")

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
const struct key_row *keys_at(size_t i); /* NULL past the end */
bool keys_parse(const char *text,
                int ret_keys[2]); /* "ctrl+x a": up to two; the second 0 when single */
/* What a key does anywhere or in a context (the context's own rows first); pending: first key of a chord, or 0. Rows of
 * one name give the action of the first of them. */
enum key_action keys_action(int key, int pending);
enum key_action keys_action_in(enum key_context context, int key, int pending);
bool keys_is_chord_start(enum key_context context, int key); /* in the context, or anywhere */
/* Human text of a key, "Ctrl+X A"; borrowed until the next call of this thread. */
const char *keys_shown(const char *key);
/* The key that an action has now, as keybindings.json would write it, or NULL; borrowed until the next keys_load. */
const char *keys_of(enum key_action action);
/* A person's keybindings.json over the table: {"bindings":[{"context":"Chat","bindings":{"ctrl+e":"prompt:editor",
 * "ctrl+t":null}}]}. Ctrl+C, Ctrl+D and Enter stay as they are. What is not understood is left out and named in err
 * (false); the rest holds. */
bool keys_load(struct str json, struct err *err);
void keys_reset(void);
