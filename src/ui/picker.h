#pragma once
/*
 * A list to choose from, over the panes: sessions, models, modes. Words typed sift it; the rows come from one query, asked
 * anew as the words change where the engine does the looking. One component, a table of types. UI thread.
 *
 *     struct op *op = picker_open(&p, &picker_sessions);    // the question, or NULL; post it
 *     picker_answer(&p, ev, &op);                           // perhaps the next question
 *     char *line = NULL; picker_key(&p, key, typed, &op, &line);  // line: the command that was chosen ("/resume ID"), yours
 *
 * To add one: a struct picker_type in picker_types.c and the command that opens it (commands.c).
 */
#include <stdbool.h>
#include <stdint.h>

#include "engine/event.h"
#include "ui/canvas.h"
#include "ui/field.h"
#include "ui/table.h"

struct cJSON;

struct picker_type {
    const char *title, *verb; /* verb: what Enter does */
    int query;                /* enum query_kind, or -1: `rows` has the answer */
    const char *rows;         /* JSON of the same form as an answer, or NULL */
    const char *list;         /* member of the answer that holds the rows */
    /* member of a row that picker.current may be; its first column shows that. NULL: rows say it */
    const char *key;
    bool engine_sifts; /* the words go with the question */
    const char *empty; /* said when there is nothing at all */
    const struct table_column *cols;
    size_t n_cols;
    /* One cell a column. */
    void (*cells)(const struct cJSON *row, int64_t now_ms, struct buf *cells);
    /* The command for it; appends. */
    void (*command)(const struct cJSON *row, struct buf *out);
};
extern const struct picker_type picker_sessions, picker_models, picker_modes;

#define PICKER_SEQ ((uint64_t)1 << 41) /* its questions are numbered from here on */

struct picker {
    const struct picker_type *type; /* NULL: closed */
    struct field words;
    struct cJSON *answer;
    char *problem, *asked; /* asked: the words of the last question */
    char *current;         /* the row that is in use; NULL: not known */
    uint64_t seq, last_seq;
    const struct cJSON **rows; /* those that are left, in order */
    size_t n_rows, cap_rows;
    size_t selected, top;
    int seen;  /* rows at the last drawing */
    bool only; /* opened with words, and nothing was chosen or typed since: see picker_only */
};
void picker_init(struct picker *p);
void picker_release(struct picker *p);
struct op *picker_open(struct picker *p, const struct picker_type *type);
struct op *picker_open_with(struct picker *p, const struct picker_type *type, struct str words);
/* After picker_answer: words it was opened with name one row alone, by its title or by how that or its first prompt begins. Closes the
 * picker and returns the row's command, yours. NULL: the person chooses. */
char *picker_only(struct picker *p);
void picker_mark(struct picker *p,
                 const char *current); /* after picker_open: what is in use, or NULL */
void picker_close(struct picker *p);
/* The question again, when the one before was lost or the answer is old; NULL: nothing to ask. */
struct op *picker_refresh(struct picker *p);
void picker_answer(struct picker *p, const struct event *ev, struct op **ret_op);
/* Takes every key while it is open. */
void picker_key(struct picker *p, int key, struct str typed, struct op **ret_op,
                char **ret_command);
void picker_draw(struct picker *p, struct canvas *c, bool ascii, int64_t wall_ms);
