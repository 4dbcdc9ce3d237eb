#pragma once
/* What the TUI does for the transcript pane, behind its keys (app_transcript.c). UI thread. */
struct app;
/* Asks the engine for what the pane needs of the session's past, if anything. Each round of the loop. */
void app_ask_past(struct app *a);
/* The next hit of what stands in the search line, upwards (-1) or downwards (1). */
void app_find(struct app *a, int dir);
/* A YK_MOUSE_ key: selects in the transcript, opens folds. Never touches the clipboard. */
void app_mouse(struct app *a, int key);
void app_copy(struct app *a); /* the selection, else the item at the cursor */
void app_open_link(
    struct app
        *a); /* the first link in the selection or the item, by $BROWSER or the system's opener */
void app_print_transcript(
    struct app *a); /* to the normal screen, where the terminal's scrollback keeps it */
