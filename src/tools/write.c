#include "base/json.h"
#include "tools/args.h"
#include "tools/builtin.h"
#include "tools/edit_plan.h"
#include "tools/patch.h"

static void
write_data(const struct edit_plan *p, struct tool_result *ret)
{
    struct jw w;

    jw_init(&w, &ret->data);
    jw_object(&w);
    jw_kcstr(&w, "type", p->is_new ? "create" : "update");
    jw_kcstr(&w, "filePath", p->path);
    jw_kstr(&w, "content", buf_str(&p->after));
    patch_result(buf_str(&p->file.text), buf_str(&p->after), p->shown, ret, &w);
    if (p->is_new) {
        jw_key(&w, "originalFile");
        jw_null(&w);
    } else {
        patch_original(&w, buf_str(&p->file.text));
    }
    jw_end(&w);
}

void
tool_write_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    struct edit_plan p;

    edit_plan_init(&p);
    if (edit_plan_open(&p, ctx, input) && edit_plan_write(&p, tool_arg_str(input, "content")) &&
        edit_plan_commit(&p, ctx)) {
        buf_addf(&ret->text,
                 p.is_new ? "File created successfully at: %s" : "The file %s has been updated.",
                 p.path);
        write_data(&p, ret);
    } else {
        tool_result_fail(ret, "%s", buf_cstr(&p.why));
    }
    edit_plan_release(&p);
}

void
tool_write_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    tool_describe_path(input, "file_path", cwd, out);
}

void
tool_write_preview(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *out)
{
    struct edit_plan p;

    edit_plan_init(&p);
    if (edit_plan_open(&p, ctx, input) && edit_plan_write(&p, tool_arg_str(input, "content")))
        patch_unified(buf_str(&p.file.text), buf_str(&p.after), p.shown, out);
    edit_plan_release(&p);
}
