#pragma once
/* Numbers and marks as all panes show them, so that one thing never looks like two. Pure; each appends to `out`. */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/event.h"
#include "ui/canvas.h"

void fmt_count(struct buf *out, int64_t n);    /* 840, 1.2k, 91k, 1.2M */
void fmt_bytes(struct buf *out, int64_t n);    /* 840B, 1.2kB, 91kB, 1.2MB */
void fmt_ms(struct buf *out, int64_t ms);      /* 3ms, 12.4s, 2m05s, 1h02m */
void fmt_seconds(struct buf *out, int64_t ms); /* whole seconds: 0s, 12s, 2m05s */
void fmt_usd(struct buf *out, double usd);     /* $0.42, $0.0042, $5 when whole */

/* One column each; a tool that is done has a sign of its own in the activity pane. */
const char *fmt_mark(enum tool_state s, bool ascii);
enum style fmt_mark_style(enum tool_state s);
/* What is said about a state beside the mark; "" when done. */
const char *fmt_state_word(enum tool_state s);
