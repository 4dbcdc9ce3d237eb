#include "base/glob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/builtin.h"
#include "tools/file_list.h"
#include "tools/missing.h"
#include "tools/name_filter.h"
#include "tools/text_file.h"

enum { SHOWN_MAX = 100 };

struct search {
    const char *root;
    struct name_filter filter;
    struct file_list found;
};

static bool
visit(void *user, const char *rel, bool is_dir)
{
    struct search *s = user;
    struct stat st;

    if (is_dir || !name_filter_match(&s->filter, str_from(rel)))
        return true;
    char *path = fs_join(s->root, rel);
    if (lstat(path, &st) == 0)
        file_list_add(&s->found, s->root, rel, text_file_mtime(&st));
    free(path);
    return true;
}

static void
write_result(struct search *s, const char *cwd, int64_t ms, struct tool_result *ret)
{
    size_t shown = s->found.n < SHOWN_MAX ? s->found.n : SHOWN_MAX;
    struct jw w;

    file_list_sort(&s->found);
    jw_init(&w, &ret->data);
    jw_object(&w);
    jw_kint(&w, "durationMs", ms);
    jw_kint(&w, "numFiles", (int64_t)shown);
    jw_key(&w, "filenames");
    jw_array(&w);
    for (size_t i = 0; i < shown; i++) {
        const char *path = tool_path_shown(s->found.items[i].path, cwd);
        if (i)
            buf_addc(&ret->text, '\n');
        tool_clean_text(&ret->text, str_from(path));
        jw_cstr(&w, path);
    }
    jw_end(&w);
    jw_kbool(&w, "truncated", shown < s->found.n);
    jw_kint(&w, "totalMatches", (int64_t)s->found.n);
    jw_kbool(&w, "countIsComplete", true);
    jw_end(&w);
    if (!shown)
        buf_adds(&ret->text, "No files found");
    if (shown < s->found.n)
        buf_addf(
            &ret->text,
            "\n(Results are truncated: the newest %zu of %zu files. Consider a more specific path "
            "or pattern.)",
            shown, s->found.n);
    snprintf(ret->summary, sizeof ret->summary, "%zu file%s", s->found.n,
             s->found.n == 1 ? "" : "s");
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

static bool
walk(struct tool_ctx *ctx, struct search *s, struct str pattern, struct err *err)
{
    struct glob_walk w = {.root = s->root, .cancel = ctx->cancel, .visit = visit, .user = s};

    if (!name_filter_add(&s->filter, pattern, err))
        return false;
    if (fs_is_dir(s->root) && !glob_walk(&w))
        return err_set(err, ERR_CANCELLED, "the search was interrupted");
    return true;
}

static void
search(struct tool_ctx *ctx, const char *base, struct str pattern, struct tool_result *ret)
{
    struct search s = {.root = NULL};
    int64_t start = clock_mono_ms();
    struct str rest = pattern;
    struct err err;
    char *root = split_pattern(&rest, base);
    /* A pattern that lost its folders is still anchored by them. */
    char *anchored =
        rest.len < pattern.len ? xasprintf("/%.*s", (int)rest.len, rest.ptr) : str_dup(rest);

    s.root = root;
    if (!stays_below(root, base))
        tool_result_fail(ret,
                         "Glob: the pattern leads out of %s; give the folder %s as 'path' instead",
                         base, root);
    else if (!walk(ctx, &s, str_from(anchored), &err))
        tool_result_fail(ret, "Glob: %s", err.text);
    else
        write_result(&s, ctx->cwd, clock_mono_ms() - start, ret);
    name_filter_release(&s.filter);
    file_list_release(&s.found);
    free(anchored);
    free(root);
}

void
tool_glob_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    char *base = tool_path_arg(ctx, input, "path");
    struct str pattern = tool_arg_str(input, "pattern");

    if (!base)
        base = xstrdup(ctx->cwd);
    if (!pattern.len)
        tool_result_fail(ret, "Glob: 'pattern' must not be empty");
    else if (!fs_exists(base))
        tool_fail_missing(ctx, ret, base);
    else if (!fs_is_dir(base))
        tool_result_fail(ret, "Glob: 'path' must be a folder, and %s is none", base);
    else
        search(ctx, base, pattern, ret);
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
