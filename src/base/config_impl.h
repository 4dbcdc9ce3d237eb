#pragma once
/* Shared by the files of base/config. Not for others. */
#include "base/config.h"
#include "base/json.h"

struct config_file {
    struct buf text;
    struct cJSON *tree;
};
/* A file or folder that was looked for, as it was just before; mtime_ns -1: not there. */
struct config_place {
    char *path;
    int64_t mtime_ns, size;
    uint64_t inode;
};
struct config_notes {
    struct config_problem *list;
    size_t n, cap;
};
struct config {
    struct config_source *sources; /* highest first; files[i] belongs to sources[i] */
    struct config_file *files;
    size_t n, cap;
    struct config_place *places;
    size_t n_places, cap_places;
    struct config_notes problems, unknown;
    const struct config *last; /* while it is loaded: what was in force before; NULL */
};

void config_note(struct config_notes *notes, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* config_keys.c: wrong types become problems, unknown top-level keys are noted. */
void config_check_keys(struct config *c, size_t i);
/* Does this number count for that key? One out of its range was told, and is as if it were not there. */
bool config_in_range(const char *path, double n);

/* config_edit.c. change() is given the text of a settings file, "{}" for one that is missing or empty, and its tree, and fills `out` with
 * what is to stand there; left empty, the file stays as it is. */
typedef bool (*config_change_fn)(struct str text, const struct cJSON *tree, const char *file,
                                 const void *arg, struct buf *out, struct err *err);
/* Under the lock that belongs to the file's folder, in one step; file and folder are made where they are missing. */
bool config_change_file(const char *file, config_change_fn change, const void *arg,
                        struct err *err) MUST_CHECK;
/* The text without the element or member at from..end and the comma that goes with it: the one behind it or, of the last, the one
 * in front. before: where the one in front ends, or behind the bracket. */
void config_cut(struct str text, size_t before, size_t from, size_t end, struct buf *out);

/* config_walk.c: the bytes of a JSON text that json_parse accepted. Offsets; CONFIG_NONE: not there. */
#define CONFIG_NONE ((size_t)-1)
struct config_shape {                    /* of the array or object that begins at `open` */
    size_t open, first, last_end, close; /* first, last_end: CONFIG_NONE when it is empty */
};
size_t config_find_member(struct str s, size_t object, struct str key); /* where its value begins */
size_t config_find_path(struct str s, const char *path);
struct config_shape config_shape_at(struct str s, size_t open);

/* The lines on which an array's elements begin, one after the other, in one pass. */
struct config_lines {
    struct str s;
    size_t at, counted;
    int line;
};
struct config_lines config_lines_of(struct str s, const char *path);
int config_next_line(struct config_lines *l); /* 0: unknown */
