#pragma once
/*
 * A page over the panes: help, meters, rules, context, state. What it shows is lines that its type writes from the engine's
 * answer to one query; scrolling, search and the frame are the same for all. A row may be selectable (the rules). UI thread.
 *
 *     struct op *op = page_open(&p, &page_meters);   // the question, or NULL; post it
 *     page_answer(&p, ev);                            // EV_ANSWER with its seq
 *     page_draw(&p, &view, &canvas, ascii);
 *
 * To add a page: a struct page_type, a function that writes it, a row in the table of commands (commands.c).
 */
#include <stdbool.h>
#include <stdint.h>

#include "engine/event.h"
#include "ui/canvas.h"
#include "ui/field.h"
#include "ui/lines.h"

struct cJSON;
struct commands;
struct view;
struct page;

/* What a type's own key did. */
enum page_key { PAGE_KEY_NONE, PAGE_KEY_USED };

struct page_type {
    const char *title;
    int query;        /* enum query_kind, or -1: it needs no answer */
    bool live;        /* asked anew when a turn ends */
    const char *foot; /* its own keys, for the lower border; NULL: none */
    /* Writes all lines for a width. p->answer is set when it has a query. */
    void (*write)(struct page *p, const struct view *v, struct lines *out, int width, bool ascii);
    /* A key that is its own; may set *ret_op to something to post. NULL: it has none. */
    enum page_key (*key)(struct page *p, int key, struct op **ret_op);
};
extern const struct page_type page_help, page_meters, page_rules, page_context, page_state;

#define PAGE_SEQ ((uint64_t)1 << 40) /* its questions are numbered from here on */

struct page {
    const struct page_type *type;    /* NULL: closed */
    const struct commands *commands; /* for the help; borrowed, set once */
    struct cJSON *answer;
    char *problem;          /* why there is no answer, or what is wrong with it; NULL */
    uint64_t seq, last_seq; /* of the question under way; 0: none */
    bool again;             /* asked for anew once the running answer is there */
    struct lines lines;     /* for width `laid`; 0: not laid out */
    int laid;
    bool laid_ascii;
    int scroll, seen; /* seen: rows at the last drawing */
    size_t *rows;     /* lines that can be selected */
    size_t n_rows, cap_rows;
    size_t selected;  /* of rows */
    bool confirm;     /* its own key waits for a second one */
    const char *note; /* on the lower border, static; NULL */
    bool finding;     /* words to find are being typed */
    struct field find;
    size_t hit; /* line of the last hit; (size_t)-1: none */
};
void page_init(struct page *p);
void page_release(struct page *p);
/* Closes what is open. The op asks the engine, or is NULL. */
struct op *page_open(struct page *p, const struct page_type *type);
void page_close(struct page *p);
/* The same question again, for a page that is live (or `always`); NULL: nothing to ask. */
struct op *page_refresh(struct page *p, bool always);
void page_answer(struct page *p, const struct event *ev); /* others' answers are passed over */
/* Takes every key while it is open; Esc and q close it. */
void page_key(struct page *p, int key, struct str typed, struct op **ret_op);
void page_draw(struct page *p, const struct view *v, struct canvas *c, bool ascii);
/* For writers: this line of the page can be selected. */
void page_mark_row(struct page *p, size_t line);
/* A heading with a blank line before it, and a paragraph that wraps. */
void page_heading(struct lines *out, const char *text);
void page_para(struct lines *out, enum style st, struct str text, int width);
