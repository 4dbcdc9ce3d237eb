#include <stdio.h>

#include "base/fs.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/builtin.h"
#include "tools/edit_plan.h"
#include "tools/patch.h"

enum { SNIPPET_AROUND = 4, SNIPPET_MAX = 60 };

bool
tool_edit_validate(const struct cJSON *input, struct err *err)
{
    struct str old = tool_arg_str(input, "old_string"),
               new_text = tool_arg_str(input, "new_string");

    if (old.len && str_eq(old, new_text))
        return err_set(
            err, ERR_INVALID,
            "Edit: 'old_string' and 'new_string' are the same; there is nothing to change");
    return true;
}

static void
say_tolerance(unsigned tolerance, struct buf *out)
{
    const char *what = tolerance == EDIT_QUOTES ? "curly and straight quotes alike"
                       : tolerance == EDIT_BLANKS
                           ? "blanks at line ends not counted"
                           : "quotes alike and blanks at line ends not counted";

    if (tolerance != EDIT_EXACT)
        buf_addf(out, "old_string did not match exactly; it was found at its only place with %s.\n",
                 what);
}

static void
say_done(const struct edit_plan *p, bool all, struct buf *out)
{
    struct str after = buf_str(&p->after);

    if (p->is_new) {
        buf_addf(out, "File created successfully at: %s", p->path);
        return;
    }
    buf_addf(out, "The file %s has been updated.", p->path);
    if (all && p->n_changes > 1) {
        buf_addf(out, " All %zu occurrences were replaced.", p->n_changes);
        return;
    }
    size_t first = edit_line_number(after, p->first_at),
           last = edit_line_number(after, p->last_end);
    size_t from = first > SNIPPET_AROUND ? first - SNIPPET_AROUND : 1, to = last + SNIPPET_AROUND;
    if (to - from >= SNIPPET_MAX)
        to = from + SNIPPET_MAX - 1;
    buf_addc(out, ' ');
    say_tolerance(p->tolerance, out);
    buf_adds(out, "Here's the result of running `cat -n` on a snippet of the edited file:\n");
    patch_snippet(after, from, to, out);
}

static void
write_data(const struct edit_plan *p, const struct cJSON *input, struct tool_result *ret)
{
    struct jw w;

    jw_init(&w, &ret->data);
    jw_object(&w);
    jw_kcstr(&w, "filePath", p->path);
    jw_kstr(&w, "oldString", tool_arg_str(input, "old_string"));
    jw_kstr(&w, "newString", tool_arg_str(input, "new_string"));
    patch_original(&w, buf_str(&p->file.text));
    patch_result(buf_str(&p->file.text), buf_str(&p->after), p->shown, ret, &w);
    jw_kbool(&w, "userModified", false);
    jw_kbool(&w, "replaceAll", tool_arg_bool(input, "replace_all", false));
    jw_end(&w);
}

void
tool_edit_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct edit_plan p;

    edit_plan_init(&p);
    if (edit_plan_open(&p, ctx, input) && edit_plan_edit(&p, input) && edit_plan_commit(&p, ctx)) {
        say_done(&p, tool_arg_bool(input, "replace_all", false), &ret->text);
        write_data(&p, input, ret);
    } else {
        tool_result_fail(ret, "%s", buf_cstr(&p.why));
    }
    edit_plan_release(&p);
}

void
tool_edit_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    tool_describe_path(input, "file_path", cwd, out);
}

void
tool_edit_preview(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *out)
{
    struct edit_plan p;

    edit_plan_init(&p);
    if (edit_plan_open(&p, ctx, input) && edit_plan_edit(&p, input))
        patch_unified(buf_str(&p.file.text), buf_str(&p.after), p.shown, out);
    edit_plan_release(&p);
}

bool
tool_edit_precheck(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *ret_why)
{
    struct edit_plan p;

    edit_plan_init(&p);
    bool known = edit_plan_open(&p, ctx, input);
    /* What the session has read it knows: that the text to replace is not there is no news. */
    if (known && json_at(input, "old_string"))
        known = edit_plan_edit(&p, input);
    /* Outside the project not even that a file is there may be told before somebody said yes. */
    bool ok =
        known || !p.resolved || !fs_is_within(p.resolved, ctx->root) || !fs_exists(p.resolved);
    if (!ok)
        buf_add_str(ret_why, buf_str(&p.why));
    edit_plan_release(&p);
    return ok;
}
