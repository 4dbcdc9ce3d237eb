#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/at.h"
#include "tools/builtin.h"
#include "tools/file_list.h"
#include "tools/grep_run.h"
#include "tools/grep_types.h"
#include "tools/missing.h"
#include "tools/readable.h"

enum { DEFAULT_LIMIT = 250, CONTEXT_MAX = 1000, TOO_HARD_NAMED = 3, OUTPUT_MAX = 4 << 20 };

struct grep {
    struct tool_ctx *ctx;
    struct tool_result *ret;
    struct grep_options options;
    struct name_filter names, types;
    size_t limit, offset; /* limit 0: no bound */
    struct buf text;      /* content and count lines that are shown */
    size_t seen, shown;   /* lines found so far, lines in text */
    bool gap;             /* the next line begins a group */
    bool more, cut;       /* there are lines past the limit; past OUTPUT_MAX */
    bool complete;        /* all files were looked at */
    size_t matches, files;
    struct file_list found; /* files mode */
    struct buf too_hard;
    size_t n_too_hard;
    struct readable readable;
};

bool
tool_grep_validate(const struct cJSON *input, struct err *err)
{
    struct str type = tool_arg_str(input, "type"), pattern = tool_arg_str(input, "pattern");

    if (type.len && !grep_type_patterns(type))
        return err_set(err, ERR_INVALID,
                       "Grep: 'type' is not known; use 'glob' instead, e.g. \"*.ext\"");
    if (!pattern.len)
        return err_set(err, ERR_INVALID, "Grep: 'pattern' must not be empty");
    struct grep_pattern *p = grep_pattern_new(pattern, tool_arg_bool(input, "-i", false),
                                              tool_arg_bool(input, "multiline", false), err);
    grep_pattern_free(p);
    return p || err_wrap(err, "Grep");
}

static size_t
size_arg(const struct cJSON *input, const char *key, size_t fallback, size_t max)
{
    int64_t v = tool_arg_int(input, key, (int64_t)fallback);

    return v < 0 ? 0 : (uint64_t)v > max ? max : (size_t)v;
}

/* "*.c,*.h" is a list as "*.c *.h" is; a comma in braces or after a backslash is not one. Yours. */
static char *
split_commas(struct str globs)
{
    char *list = str_dup(globs);
    int depth = 0;

    for (char *p = list; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '{')
            depth++;
        else if (*p == '}' && depth)
            depth--;
        else if (*p == ',' && !depth)
            *p = ' ';
    }
    return list;
}

static bool
read_filters(struct grep *g, const struct cJSON *input, struct err *err)
{
    struct str one;
    char *globs = split_commas(tool_arg_str(input, "glob"));
    struct str rest = str_from(globs);
    bool ok = true;
    const char *types = grep_type_patterns(tool_arg_str(input, "type"));
    struct str type_rest = str_from(types);

    while (ok && rest.len && str_split(&rest, ' ', &one))
        ok = !one.len || name_filter_add(&g->names, one, err);
    while (ok && types && str_split(&type_rest, ' ', &one))
        ok = name_filter_add(&g->types, one, err);
    free(globs);
    return ok;
}

static enum grep_mode
mode_of(const struct cJSON *input)
{
    struct str mode = tool_arg_str(input, "output_mode");

    if (str_is(mode, "content"))
        return GREP_CONTENT;
    return str_is(mode, "count") ? GREP_COUNT : GREP_FILES;
}

static void
read_options(struct grep *g, const struct cJSON *input)
{
    size_t around = size_arg(input, "context", 0, CONTEXT_MAX);

    around = size_arg(input, "-C", around, CONTEXT_MAX);
    g->limit = size_arg(input, "head_limit", DEFAULT_LIMIT, SIZE_MAX / 4);
    g->offset = size_arg(input, "offset", 0, SIZE_MAX / 4);
    g->options.mode = mode_of(input);
    g->options.only_matching = tool_arg_bool(input, "-o", false);
    g->options.line_numbers = tool_arg_bool(input, "-n", true);
    g->options.multiline = tool_arg_bool(input, "multiline", false);
    g->options.before = size_arg(input, "-B", around, CONTEXT_MAX);
    g->options.after = size_arg(input, "-A", around, CONTEXT_MAX);
    if (g->options.only_matching)
        g->options.before = g->options.after = 0;
    g->options.max_lines = g->limit ? g->offset + g->limit + 1 : 0;
    g->options.cancel = g->ctx->cancel;
}

/* Puts lines offset .. offset + limit of all there are into the text; a "\0" line stands between groups. */
static void
add_lines(struct grep *g, struct str text)
{
    struct str line;

    while (text.len && str_split(&text, '\n', &line)) {
        if (line.len == 1 && line.ptr[0] == '\0') {
            g->gap = true;
            continue;
        }
        if (g->seen++ < g->offset)
            continue;
        g->more |= g->limit && g->shown == g->limit;
        if (g->more || g->text.len + line.len + 8 > OUTPUT_MAX) {
            g->cut |= !g->more;
            return;
        }
        if (g->text.len)
            buf_adds(&g->text, g->gap ? "\n--\n" : "\n");
        g->gap = false;
        buf_add_str(&g->text, line);
        g->shown++;
    }
}

/* What a search found in a file, in order. */
static bool
take(void *user, const char *path, const struct grep_hits *hits)
{
    struct grep *g = user;
    const char *shown = tool_path_shown(path, g->ctx->cwd);

    if (hits->too_hard && g->n_too_hard++ < TOO_HARD_NAMED)
        buf_addf(&g->too_hard, "%s%s", g->too_hard.len ? ", " : "", shown);
    if (!hits->matches)
        return true;
    g->files++;
    g->matches += hits->matches;
    if (g->options.mode == GREP_FILES) {
        file_list_add(&g->found, "/", path, hits->mtime_ns);
    } else if (g->options.mode == GREP_COUNT) {
        struct buf line;
        buf_init(&line, BUF_MAX);
        tool_clean_text(&line, str_from(shown));
        buf_addf(&line, ":%zu\n", hits->matches);
        add_lines(g, buf_str(&line));
        buf_release(&line);
    } else {
        g->gap = g->options.before || g->options.after;
        if (g->seen + hits->lines > g->offset)
            add_lines(g, buf_str(&hits->text));
        else
            g->seen += hits->lines;
        g->cut |= hits->cut;
    }
    return g->options.mode != GREP_CONTENT || !(g->more || g->cut);
}

static void
list_files(struct grep *g, struct buf *out, struct jw *w)
{
    size_t end = g->found.n;

    file_list_sort(&g->found);
    if (g->limit && g->offset + g->limit < end)
        end = g->offset + g->limit;
    jw_key(w, "filenames");
    jw_array(w);
    for (size_t i = g->offset; i < end; i++) {
        const char *shown = tool_path_shown(g->found.items[i].path, g->ctx->cwd);
        if (out->len)
            buf_addc(out, '\n');
        tool_clean_text(out, str_from(shown));
        jw_cstr(w, shown);
    }
    jw_end(w);
}

static void
write_files(struct grep *g, struct jw *w)
{
    struct buf list;
    bool cut = g->limit && g->found.n > g->offset + g->limit;

    buf_init(&list, BUF_MAX);
    list_files(g, &list, w);
    if (!list.len) {
        buf_adds(&g->ret->text, "No files found");
    } else {
        buf_addf(&g->ret->text, "Found %zu file%s", g->found.n, g->found.n == 1 ? "" : "s");
        if (cut || g->offset)
            buf_addf(&g->ret->text, " (limit: %zu, offset: %zu)", g->limit, g->offset);
        buf_addc(&g->ret->text, '\n');
        buf_add_str(&g->ret->text, buf_str(&list));
    }
    snprintf(g->ret->summary, sizeof g->ret->summary, "%zu file%s", g->found.n,
             g->found.n == 1 ? "" : "s");
    jw_kint(w, "numFiles", (int64_t)g->found.n);
    buf_release(&list);
}

static void
write_lines(struct grep *g, struct jw *w)
{
    bool count = g->options.mode == GREP_COUNT;
    struct buf *out = &g->ret->text;

    if (!g->shown)
        buf_adds(out, g->seen ? "No lines at this offset" : "No matches found");
    buf_add_str(out, buf_str(&g->text));
    if (g->more)
        buf_addf(out,
                 "\n\n[Showing %zu lines from offset %zu; more follow. Go on with offset %zu.]",
                 g->limit, g->offset, g->offset + g->limit);
    if (count && g->shown)
        buf_addf(out, "\n\nFound %zu total occurrence%s across %zu file%s.", g->matches,
                 g->matches == 1 ? "" : "s", g->files, g->files == 1 ? "" : "s");
    snprintf(g->ret->summary, sizeof g->ret->summary, "%zu%s match%s in %zu file%s", g->matches,
             (g->more || g->cut) && !count ? "+" : "", g->matches == 1 ? "" : "es", g->files,
             g->files == 1 ? "" : "s");
    jw_key(w, "filenames");
    jw_array(w);
    jw_end(w);
    jw_kint(w, "numFiles", (int64_t)g->files);
    jw_kstr(w, "content", buf_str(&g->text));
    jw_kint(w, count ? "numMatches" : "numLines", (int64_t)(count ? g->matches : g->shown));
}

static void
write_result(struct grep *g)
{
    static const char *const names[] = {"content", "files_with_matches", "count"};
    struct jw w;

    jw_init(&w, &g->ret->data);
    jw_object(&w);
    jw_kcstr(&w, "mode", names[g->options.mode]);
    if (g->options.mode == GREP_FILES)
        write_files(g, &w);
    else
        write_lines(g, &w);
    if (g->limit)
        jw_kint(&w, "appliedLimit", (int64_t)g->limit);
    if (g->offset)
        jw_kint(&w, "appliedOffset", (int64_t)g->offset);
    jw_end(&w);
    if (g->n_too_hard)
        buf_addf(
            &g->ret->text,
            "\n\n[The pattern took too long in %zu file%s (%s%s): not all of their matches are "
            "here. Use a simpler pattern.]",
            g->n_too_hard, g->n_too_hard == 1 ? "" : "s", buf_cstr(&g->too_hard),
            g->n_too_hard > TOO_HARD_NAMED ? ", ..." : "");
    if (g->cut)
        buf_addf(&g->ret->text,
                 "\n\n[Cut at %d MB. Use a narrower pattern, path or glob, or head_limit.]",
                 OUTPUT_MAX >> 20);
    if (!g->complete)
        buf_adds(&g->ret->text,
                 "\n\n[There are more files than are searched: give a 'path' below.]");
    readable_tell(&g->readable, &g->ret->text);
}

/* named: root as the call names it, where root is what that leads to. */
static void
search(struct grep *g, const char *root, const char *named, const char *within, bool is_file)
{
    struct grep_run run = {
        .root = root,
        .cwd = g->ctx->cwd,
        .within = within,
        .is_file = is_file,
        .names = g->names.n ? &g->names : NULL,
        .types = g->types.n ? &g->types : NULL,
        .readable = &g->readable,
        .options = &g->options,
        .cancel = g->ctx->cancel,
        .take = take,
        .user = g,
    };

    g->options.show_name = !is_file;
    readable_init(&g->readable, g->ctx, named);
    if (grep_run(&run, &g->complete))
        write_result(g);
    else
        tool_result_fail(g->ret, "The search was interrupted.");
}

static void
grep_init(struct grep *g, struct tool_ctx *ctx, struct tool_result *ret)
{
    *g = (struct grep){.ctx = ctx, .ret = ret};
    buf_init(&g->text, OUTPUT_MAX);
    buf_init(&g->too_hard, 4096);
}

static void
grep_release(struct grep *g)
{
    buf_release(&g->text);
    buf_release(&g->too_hard);
    name_filter_release(&g->names);
    name_filter_release(&g->types);
    file_list_release(&g->found);
    readable_release(&g->readable);
}

void
tool_grep_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    char *root = tool_path_arg(ctx, input, "path"), *resolved = NULL;
    struct grep_pattern *pattern;
    struct grep g;
    struct err err;

    grep_init(&g, ctx, ret);
    if (!root)
        root = xstrdup(ctx->cwd);
    read_options(&g, input);
    pattern = grep_pattern_new(tool_arg_str(input, "pattern"), tool_arg_bool(input, "-i", false),
                               g.options.multiline, &err);
    g.options.pattern = pattern;
    if (!pattern || !read_filters(&g, input, &err))
        tool_result_fail(ret, "Grep: %s", err.text);
    else if (!fs_exists(root))
        tool_fail_missing(ctx, ret, root);
    else if (!(resolved = at_resolve(ctx, root, &err)))
        tool_result_fail(ret, "Grep: %s", err.text);
    else if (fs_is_dir(resolved))
        search(&g, root, root, resolved, false);
    else
        search(&g, resolved, root, NULL, true);
    grep_pattern_free(pattern);
    grep_release(&g);
    free(resolved);
    free(root);
}

void
tool_grep_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    buf_add_str(out, tool_arg_str(input, "pattern"));
    if (tool_arg_str(input, "path").len) {
        buf_adds(out, " in ");
        tool_describe_path(input, "path", cwd, out);
    }
    if (tool_arg_str(input, "glob").len) {
        buf_adds(out, " (");
        buf_add_str(out, tool_arg_str(input, "glob"));
        buf_addc(out, ')');
    }
}
