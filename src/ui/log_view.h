#pragma once
/*
 * The full log of one tool over the whole screen: it follows what comes while the tool runs, scrolls and searches. It asks the engine anew
 * (QUERY_TOOL_LOG) only while it is open and an event said that something changed. UI thread.
 *
 *     log_view_open(&l, id);
 *     log_view_note(&l, ev);                 // each event: is it about this tool?
 *     op = log_view_ask(&l, now_ms);         // NULL: nothing to ask now; log_view_due says when
 *     log_view_answer(&l, ev);               // EV_ANSWER with its seq
 */
#include <stdbool.h>
#include <stdint.h>

#include "engine/event.h"
#include "ui/canvas.h"
#include "ui/field.h"
#include "ui/lines.h"

struct cJSON;

#define LOG_SEQ ((uint64_t)1 << 44) /* its questions are numbered from here on */
#define LOG_PROCESSES 16

struct log_view {
    char *id; /* NULL: closed */
    char *name, *what, *problem;
    enum tool_state state;
    struct buf text;
    int64_t from, bytes;            /* from: bytes left out before the text */
    char *processes[LOG_PROCESSES]; /* a line each */
    size_t n_processes;
    uint64_t seq, last_seq; /* of the question under way; 0: none */
    bool stale;             /* there is news to ask for */
    int64_t asked_ms;
    int pause_ms;       /* between two questions: the longer the log, the longer */
    struct lines lines; /* for width `laid`; 0: not laid out */
    int laid;
    bool follow; /* the end stays in sight */
    int scroll, seen;
    bool finding; /* words to find are being typed */
    struct field find;
    size_t hit;       /* line of the last hit; (size_t)-1: none */
    const char *note; /* why a key did nothing; static */
};
void log_view_init(struct log_view *l);
void log_view_release(struct log_view *l);
void log_view_open(struct log_view *l, const char *id);
void log_view_close(struct log_view *l);
void log_view_note(struct log_view *l, const struct event *ev);
struct op *log_view_ask(struct log_view *l, int64_t now_ms);
int64_t log_view_due(const struct log_view *l); /* when there is something to ask; -1: not */
bool log_view_answer(struct log_view *l, const struct event *ev); /* false: not its own */

enum log_key { LOG_KEY_USED, LOG_KEY_STOP, LOG_KEY_BACKGROUND };
/* Takes every key while it is open; Esc and q close it. */
enum log_key log_view_key(struct log_view *l, int key, struct str typed);
/* For its drawing: the lines for a width, of which `rows` are seen. */
void log_view_lay_out(struct log_view *l, int width, int rows);
/* Over the whole canvas. word: what else the person must know, at the bottom; "" when nothing. */
void log_view_draw(struct log_view *l, struct canvas *c, bool ascii, struct str word);

/* The processes of an answer as lines, "123 make -j2" indented by their depth; the shell of yare's own is left out. Returns how
 * many; each is yours. */
size_t log_process_lines(const struct cJSON *answer, char **ret, size_t max);
