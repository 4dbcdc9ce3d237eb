#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/file_tree.h"
#include "base/fs.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/at.h"
#include "tools/builtin.h"
#include "tools/missing.h"
#include "tools/name_filter.h"
#include "tools/readable.h"

enum { SHOWN_MAX = 100 };

struct found {
    int64_t mtime_ns;
    size_t file;
};

/* The newest files, in order; of the same time the first in the walk. */
struct newest {
    struct found list[SHOWN_MAX];
    size_t n;
};

struct wanted {
    struct name_filter names;
    struct readable readable;
};

static bool
want(void *user, struct str rel)
{
    struct wanted *w = user;

    return name_filter_match(&w->names, rel) && readable_below(&w->readable, rel);
}

static void
add_newest(struct newest *k, struct found f)
{
    size_t at = k->n;

    if (at == SHOWN_MAX && k->list[at - 1].mtime_ns >= f.mtime_ns)
        return;
    while (at > 0 && k->list[at - 1].mtime_ns < f.mtime_ns)
        at--;
    size_t moved = (k->n < SHOWN_MAX ? k->n : SHOWN_MAX - 1) - at;
    memmove(&k->list[at + 1], &k->list[at], moved * sizeof k->list[0]);
    k->list[at] = f;
    k->n += k->n < SHOWN_MAX;
}

static void
list_newest(const struct file_tree *t, const char *cwd, struct tool_result *ret, struct jw *w)
{
    struct newest k = {.n = 0};
    struct buf path;

    buf_init(&path, BUF_MAX);
    for (size_t i = 0; i < file_tree_count(t); i++)
        add_newest(&k, (struct found){file_tree_mtime(t, i), i});
    for (size_t i = 0; i < k.n; i++) {
        const char *shown = tool_path_shown(file_tree_path(t, k.list[i].file, &path, NULL), cwd);
        if (i)
            buf_addc(&ret->text, '\n');
        tool_clean_text(&ret->text, str_from(shown));
        jw_cstr(w, shown);
    }
    buf_release(&path);
}

static void
write_result(const struct file_tree *t, const char *cwd, int64_t ms, struct readable *readable,
             struct tool_result *ret)
{
    size_t n = t ? file_tree_count(t) : 0, shown = n < SHOWN_MAX ? n : SHOWN_MAX;
    bool complete = !t || file_tree_complete(t);
    struct jw w;

    jw_init(&w, &ret->data);
    jw_object(&w);
    jw_kint(&w, "durationMs", ms);
    jw_kint(&w, "numFiles", (int64_t)shown);
    jw_key(&w, "filenames");
    jw_array(&w);
    if (t)
        list_newest(t, cwd, ret, &w);
    jw_end(&w);
    jw_kbool(&w, "truncated", shown < n);
    jw_kint(&w, "totalMatches", (int64_t)n);
    jw_kbool(&w, "countIsComplete", complete);
    jw_end(&w);
    if (!shown)
        buf_adds(&ret->text, "No files found");
    if (shown < n)
        buf_addf(&ret->text,
                 "\n(Results are truncated: the newest %zu of %s%zu files. Consider a more "
                 "specific path "
                 "or pattern.)",
                 shown, complete ? "" : "more than ", n);
    readable_tell(readable, &ret->text);
    snprintf(ret->summary, sizeof ret->summary, "%zu%s file%s", n, complete ? "" : "+",
             n == 1 ? "" : "s");
}

/* The environment may ask for ignored files too. */
static bool
env_no_ignore(void)
{
    const char *v = getenv("CLAUDE_CODE_GLOB_NO_IGNORE");

    return v && (strcmp(v, "1") == 0 || strcasecmp(v, "true") == 0);
}

/* Leading folders without wildcards move from the pattern to the root, so that less is walked. Yours. */
static char *
split_pattern(struct str *pattern, const char *base)
{
    size_t fixed = 0;

    for (size_t i = 0; i < pattern->len && !strchr("*?[{\\", pattern->ptr[i]); i++)
        if (pattern->ptr[i] == '/')
            fixed = i + 1;
    if (fixed == 0)
        return xstrdup(base);
    char *dir = str_dup(str_sub(*pattern, 0, fixed)), *root = fs_normalize(base, dir);
    *pattern = str_sub(*pattern, fixed, pattern->len);
    free(dir);
    return root;
}

/* The permission chain judged `path`: a pattern may not lead out of it, by ".." or by a link. */
static bool
stays_below(const char *root, const char *base)
{
    char *r = fs_resolve(root, NULL), *b = fs_resolve(base, NULL);
    size_t n = b ? strlen(b) : 0;
    bool below =
        r && b && strncmp(r, b, n) == 0 && (r[n] == '\0' || r[n] == '/' || (n && b[n - 1] == '/'));

    free(r);
    free(b);
    return below;
}

/* NULL and no error text: there is no such folder. */
static struct file_tree *
read_tree(struct tool_ctx *ctx, const char *root, struct wanted *wanted, struct str pattern,
          struct err *err)
{
    struct file_tree *t = NULL;
    char *real = NULL;

    err_clear(err);
    if (fs_is_dir(root) && !(real = at_resolve(ctx, root, err)))
        return NULL;
    free(real);
    readable_init(&wanted->readable, ctx, root);
    if (name_filter_add(&wanted->names, pattern, err) && fs_is_dir(root)) {
        t = file_tree_read(&(struct file_tree_options){.root = root,
                                                       .no_ignore = env_no_ignore(),
                                                       .want_mtime = true,
                                                       .cancel = ctx->cancel,
                                                       .want = want,
                                                       .user = wanted});
        if (!t)
            err_set(err, ERR_CANCELLED, "the search was interrupted");
    }
    return t;
}

static void
search(struct tool_ctx *ctx, const char *base, struct str pattern, struct tool_result *ret)
{
    int64_t start = clock_mono_ms();
    struct str rest = pattern;
    struct wanted wanted = {.names.n = 0};
    struct file_tree *t = NULL;
    struct err err;
    char *root = split_pattern(&rest, base);
    /* A pattern that lost its folders is still anchored by them. */
    char *anchored =
        rest.len < pattern.len ? xasprintf("/%.*s", (int)rest.len, rest.ptr) : str_dup(rest);

    if (!stays_below(root, base))
        tool_result_fail(ret,
                         "Glob: the pattern leads out of %s; give the folder %s as 'path' instead",
                         base, root);
    else if (!(t = read_tree(ctx, root, &wanted, str_from(anchored), &err)) && err.text[0])
        tool_result_fail(ret, "Glob: %s", err.text);
    else
        write_result(t, ctx->cwd, clock_mono_ms() - start, &wanted.readable, ret);
    file_tree_free(t);
    name_filter_release(&wanted.names);
    readable_release(&wanted.readable);
    free(anchored);
    free(root);
}

void
tool_glob_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    char *base = tool_path_arg(ctx, input, "path");
    struct str pattern = tool_arg_str(input, "pattern");
    char *expanded = NULL;

    if (!base)
        base = xstrdup(ctx->cwd);
    if (str_starts(pattern, "~/")) {
        expanded = xasprintf("%s%.*s", ctx->home, (int)pattern.len - 1, pattern.ptr + 1);
        pattern = str_from(expanded);
    }
    if (!pattern.len)
        tool_result_fail(ret, "Glob: 'pattern' must not be empty");
    else if (!fs_exists(base))
        tool_fail_missing(ctx, ret, base);
    else if (!fs_is_dir(base))
        tool_result_fail(ret, "Glob: 'path' must be a folder, and %s is none", base);
    else
        search(ctx, base, pattern, ret);
    free(expanded);
    free(base);
}

void
tool_glob_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    buf_add_str(out, tool_arg_str(input, "pattern"));
    if (tool_arg_str(input, "path").len) {
        buf_adds(out, " in ");
        tool_describe_path(input, "path", cwd, out);
    }
}
