#pragma once
/* What the TUI does for the transcript pane, behind its keys (app_transcript.c). UI thread. */
struct app;
/* Asks the engine for what the pane needs of the session's past, if anything. Each round of the loop. */
void app_ask_past(struct app *a);
/* The next hit of what stands in the search line, upwards (-1) or downwards (1). */
void app_find(struct app *a, int dir);
