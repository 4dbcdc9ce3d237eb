#pragma once
/*
 * Sessions on disk: which there are, where each one's files live, and the passport.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct session_paths { /* all yours */
    char *dir;         /* <data>/projects/<slug> */
    char *journal;     /* <dir>/<id>.jsonl */
    char *side;        /* <dir>/<id>: tool-results/, snapshots, audit */
    char *spill;       /* <side>/tool-results */
    char *audit;       /* <side>/audit.jsonl */
};
void session_paths_make(const char *data_dir, const char *project_root, const char *id,
                        struct session_paths *ret);
void session_paths_release(struct session_paths *p);

struct session_info {
    char id[37];
    char *path, *title; /* title: the first prompt's first line, or the custom title */
    char *first;        /* the first prompt's first line; NULL: none */
    char *cwd;
    int64_t created_ms, last_ms;
    int64_t messages, bytes;
    bool print_mode; /* made by -p */
    bool named;      /* title is one that the person gave */
    bool matched;    /* it holds the words that were looked for */
    char *excerpt;   /* of the prompt that holds them; NULL */
};
/* Sessions of a project, newest record first, found from the files alone (no index needed). */
bool session_list(const char *data_dir, const char *project_root, struct session_info **ret,
                  size_t *ret_n, struct err *err) MUST_CHECK;
/* Those whose title or one of whose prompts holds all of the words (blank-separated, without case), with an excerpt of
 * the prompt; no words: all of them. project_root NULL: of every project. Only the newest SESSION_LIST_MAX files are read;
 * *ret_all false: there are more. */
#define SESSION_LIST_MAX 1000
bool session_search(const char *data_dir, const char *project_root, struct str words,
                    struct session_info **ret, size_t *ret_n, bool *ret_all,
                    struct err *err) MUST_CHECK;
void session_list_free(struct session_info *s, size_t n);
/* The session to --continue (newest interactive one), or to --resume by id, unique id prefix, title (of two the newer), or the
 * words that one title or first prompt alone begins with. */
bool session_find(const char *data_dir, const char *project_root, const char *id_or_title,
                  char ret_id[37], struct err *err) MUST_CHECK;

/* The passport: everything that follows a session. Saved in the store, rebuilt from the journal when lost. */
enum session_status { SESSION_IDLE, SESSION_RUNNING, SESSION_ERROR };
struct session_model_usage {
    char *model;
    int64_t input, output, cache_read, cache_write, requests;
    double cost_usd; /* negative: unknown */
    bool estimated;  /* some of it is no server's count */
};
struct passport {
    int schema; /* PASSPORT_SCHEMA */
    char id[37];
    char user[64];
    int64_t created_ms;
    char *project_root, *original_cwd, *cwd;
    char mode[24];
    char *model;
    enum session_status status;
    char *last_error; /* or NULL */
    char **running;   /* tool_use ids now running */
    size_t n_running;
    double cost_usd;
    int64_t api_ms, tool_ms;
    struct session_model_usage usage[16];
    size_t n_usage;
    bool latch_afk, latch_fast, latch_cache_edit, latch_thinking_clear;
    char *git_head; /* or NULL */
    int64_t turns;
};
#define PASSPORT_SCHEMA 1
void passport_init(struct passport *p);
void passport_release(struct passport *p);
void passport_write(const struct passport *p, struct buf *out); /* JSON */
/* newer schema: refused */
bool passport_read(struct str json, struct passport *ret, struct err *err) MUST_CHECK;
