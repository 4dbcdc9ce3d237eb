#pragma once
/*
 * Memory: the instructions a person keeps in files for the model. Found in this order, so that what is nearest is read last:
 *
 *     managed    /etc/claude-code/CLAUDE.md
 *     user       ~/.claude/CLAUDE.md, ~/.claude/rules/, and yare's own <config dir>/AGENTS.md
 *     project    each folder from the topmost one down to the working folder: CLAUDE.md or .claude/CLAUDE.md,
 *                CLAUDE.local.md, .claude/rules/
 *
 * The topmost folder is the home folder when the project is in it, else the project root. AGENTS.md counts where the whole project
 * chain has no CLAUDE.md (and none .local), or always with `both`. "@path" in the text, outside code, imports that file: relative to the
 * one it stands in, at most MEMORY_HOPS deep, each file once; a project's file leads nowhere outside the project, by import or by link. Comments
 * <!-- --> that begin a line are cut out. A rule file with "paths:" in its front matter waits until a file like that is read.
 *
 * Reads files and nothing else; any thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define MEMORY_HOPS 4
#define MEMORY_FILE_MAX ((size_t)4 << 20)
#define MEMORY_MAX ((size_t)4 << 20) /* all of it */
#define MEMORY_FILES_MAX 200         /* the first one past it is a row that says so */
#define MEMORY_FOLDERS_MAX 200       /* of rules */

enum memory_kind { MEMORY_MANAGED, MEMORY_USER, MEMORY_PROJECT, MEMORY_LOCAL, MEMORY_RULES };
const char *memory_kind_name(enum memory_kind k);

struct memory_file {
    enum memory_kind kind;
    char *path;
    char *imported_by; /* NULL: it was looked for by its name */
    size_t bytes;      /* of it that joined the text */
    char *left_out;    /* why it did not, or NULL */
    bool waits;        /* ... which is as it should be: it is empty, or for other files */
};
struct memory {
    /* "Contents of <path>:" and the text, a file after the other; empty: there is none */
    struct buf text;
    struct memory_file *files;
    size_t n, cap;
};

struct memory_options {     /* absolute, clean paths */
    const char *home;       /* NULL: no home, no files of the user's */
    const char *claude_dir; /* in place of home/.claude; NULL */
    const char *config_dir; /* yare's; NULL */
    const char *system_dir; /* in place of /etc; NULL */
    const char *root, *cwd; /* cwd outside root: only root's own */
    bool both;              /* AGENTS.md also beside a CLAUDE.md */
    /* globs of absolute paths that are passed over; NULL-terminated, may be NULL */
    char *const *excludes;
    /* May the model read it at all? What a deny rule forbids is no memory either. NULL: yes. */
    bool (*may_read)(void *user, const char *path);
    void *user;
};
void memory_init(struct memory *m);
void memory_release(struct memory *m);
/* Never fails: what could not be read, and why, stands in the list. */
void memory_load(const struct memory_options *o, struct memory *ret);
/* The model looked at this file (absolute), after memory_load: the instructions of folders between the root and it that were not
 * read yet, and rules that waited for such a file. What is new is appended to m->text and to the list; a file outside the root has
 * none. visited: of an earlier call with a file of the same folder; then only rules are looked at. */
void memory_touch(const struct memory_options *o, struct memory *m, const char *path, bool visited);
