#pragma once
/* A box over the panes with text to scroll: help, meters in full, the log of a tool. UI thread. */
#include <stdbool.h>

#include "base/buf.h"
#include "ui/canvas.h"

struct overlay {
    bool open;
    const char *title; /* static */
    struct buf text;   /* lines; a line that starts with \1 is a heading */
    int scroll;
    int rows;          /* lines it has, and that were seen, at the last drawing */
    int seen;
};
#define OVERLAY_HEADING '\1'

void overlay_init(struct overlay *o);
void overlay_release(struct overlay *o);
/* Opens it empty; the caller fills o->text. */
void overlay_open(struct overlay *o, const char *title);
void overlay_close(struct overlay *o);
bool overlay_key(struct overlay *o, int key); /* scrolls; Esc, q, Enter close. False: not its key */
void overlay_draw(struct overlay *o, struct canvas *c, bool ascii);
