/* Sub-commands about sessions: sessions, export. */
#include "commands_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "setup.h"
#include "store/export.h"
#include "store/journal.h"
#include "store/session.h"

static int
fail(const struct err *err)
{
    fprintf(stderr, "yare: %s\n", err->text);
    return 1;
}

/* ---- sessions ---- */

static void
print_age(int64_t minutes)
{
    if (minutes < 60)
        printf("%4lld min ago", (long long)minutes);
    else if (minutes < 48 * 60)
        printf("%4lld h ago  ", (long long)(minutes / 60));
    else
        printf("%4lld d ago  ", (long long)(minutes / 1440));
}

static void
print_shown(const char *text, int columns)
{
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    text_visible(&shown, str_from(text));
    buf_truncate(&shown, text_fit(buf_str(&shown), columns, NULL));
    fputs(buf_cstr(&shown), stdout);
    buf_release(&shown);
}

static void
print_session(const struct session_info *info, bool all)
{
    printf("%s  ", info->id);
    int64_t now = clock_wall_ms(); /* it may have been set back since */
    print_age(now > info->last_ms ? (now - info->last_ms) / 60000 : 0);
    printf("  %4lld messages  ", (long long)info->messages);
    print_shown(info->title, 60);
    fputs(info->print_mode ? "  (-p)" : "", stdout);
    if (all) {
        fputs("  ", stdout);
        print_shown(info->cwd, 60);
    }
    putchar('\n');
    if (info->excerpt) {
        fputs("    ", stdout);
        print_shown(info->excerpt, 100);
        putchar('\n');
    }
}

static int
list_sessions(struct setup *s, struct str words, bool everywhere)
{
    struct session_info *list;
    size_t n;
    bool all;
    struct err err = {0};
    if (!session_search(s->data_dir, everywhere ? NULL : s->root, words, &list, &n, &all, &err))
        return fail(&err);
    for (size_t i = 0; i < n; i++)
        print_session(&list[i], everywhere);
    if (!all)
        printf("only the newest %d were looked at\n", SESSION_LIST_MAX);
    if (n == 0 && words.len)
        printf("no session holds '%.*s'\n", (int)words.len, words.ptr);
    else if (n == 0)
        printf("no session of %s yet\n", everywhere ? "any project" : s->root);
    else if (!everywhere)
        printf("go on with: yare resume ID (the first characters are enough)\n");
    session_list_free(list, n);
    return 0;
}

/* The named session's journal, in this project; yours. NULL: told. */
static char *
find_journal(struct setup *s, const char *id_or_title, char ret_id[37], struct err *err)
{
    struct session_paths p;
    ret_id[0] = '\0';
    if (!*id_or_title)
        err_set(err, ERR_INVALID, "which session? `yare sessions` lists them");
    if (!*id_or_title || !session_find(s->data_dir, s->root, id_or_title, ret_id, err))
        return NULL;
    if (!ret_id[0]) {
        err_set(err, ERR_INVALID, "no session '%s' in this project: `yare sessions` lists them",
                id_or_title);
        return NULL;
    }
    session_paths_make(s->data_dir, s->root, ret_id, &p);
    char *journal = xstrdup(p.journal);
    session_paths_release(&p);
    return journal;
}

static int
rename_session(struct setup *s, const char *which, const char *title)
{
    char id[37];
    struct err err = {0};
    char *path = find_journal(s, which, id, &err);
    struct journal *j = path ? journal_open(path, &err) : NULL;
    bool ok = j && journal_append_title(j, id, title, &err) && journal_sync(j, &err);
    journal_close(j);
    free(path);
    return ok ? 0 : fail(&err);
}

int
commands_sessions_run(int argc, char **argv, struct setup *s)
{
    struct buf words;
    bool everywhere = false, wrong = false;
    if (argc > 0 && strcmp(argv[0], "rename") == 0) {
        if (argc == 3 && *str_trim(str_from(argv[2])).ptr)
            return rename_session(s, argv[1], argv[2]);
        fprintf(stderr, "yare: usage: yare sessions rename ID NAME\n");
        return 2;
    }
    buf_init(&words, BUF_MAX);
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            everywhere = true;
        else if (argv[i][0] == '-')
            wrong = true;
        else
            buf_addf(&words, "%s%s", words.len ? " " : "", argv[i]);
    }
    int code = 2;
    if (wrong)
        fprintf(stderr, "yare: usage: yare sessions [--all] [WORDS] | rename ID NAME\n");
    else
        code = list_sessions(s, buf_str(&words), everywhere);
    buf_release(&words);
    return code;
}

/* ---- export ---- */

struct wanted {
    const char *id, *file;
    enum export_format format;
    bool force, named;
};

static bool
read_arguments(int argc, char **argv, struct wanted *ret)
{
    *ret = (struct wanted){.format = EXPORT_MARKDOWN};
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--force") == 0) {
            ret->force = true;
        } else if (strcmp(argv[i], "--format") == 0 && i + 1 < argc) {
            ret->named = true;
            if (!export_format_parse(argv[++i], &ret->format))
                return false;
        } else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            ret->file = argv[++i];
        } else if (argv[i][0] == '-' || ret->id) {
            return false;
        } else {
            ret->id = argv[i];
        }
    }
    if (ret->file && strcmp(ret->file, "-") == 0)
        ret->file = NULL; /* standard output, as without -o */
    if (ret->file && !ret->named && str_ends(str_from(ret->file), ".json"))
        ret->format = EXPORT_JSON;
    if (ret->file && !ret->named && str_ends(str_from(ret->file), ".jsonl"))
        ret->format = EXPORT_JSONL;
    return ret->id != NULL;
}

struct head {
    char *title, *cwd, *created;
};

static void
take_note(void *user, struct str type, struct str record)
{
    struct head *h = user;
    bool session = str_is(type, "session"), title = str_is(type, "custom-title");
    struct cJSON *tree = session || title ? json_parse(record, NULL) : NULL;
    const char *name =
        title ? json_cstr(tree, "customTitle", json_cstr(tree, "title", NULL)) : NULL;
    if (name) {
        free(h->title);
        h->title = xstrdup(name);
    }
    if (session && !h->cwd) {
        h->cwd = xstrdup(json_cstr(tree, "cwd", NULL));
        h->created = xstrdup(json_cstr(tree, "created", NULL));
    }
    json_free(tree);
}

int
commands_export_run(int argc, char **argv, struct setup *s)
{
    struct wanted w;
    struct err err = {0};
    struct head h = {0};
    char id[37];
    if (!read_arguments(argc, argv, &w)) {
        fprintf(stderr,
                "yare: usage: yare export ID [--format md|json|jsonl] [-o FILE] [--force]\n");
        return 2;
    }
    char *path = find_journal(s, w.id, id, &err);
    struct conversation *conv = path ? conversation_open(path, take_note, &h, &err) : NULL;
    const struct export_head head = {
        .title = h.title, .id = id, .cwd = h.cwd, .created = h.created};
    bool ok = conv != NULL;
    if (ok && w.file)
        ok = export_file(conv, &head, w.format, w.file, w.force, &err);
    else if (ok && !export_write(conv, &head, w.format, stdout))
        ok = err_sys(&err, errno ? errno : EIO, "cannot write to standard output");
    conversation_free(conv);
    free(path);
    free(h.title);
    free(h.cwd);
    free(h.created);
    return ok ? 0 : fail(&err);
}
