#include "store/export_md.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "store/shell_line.h"

static void
put(FILE *out, struct str s)
{
    fwrite(s.ptr, 1, s.len, out);
}

/* ---- fences ---- */

static size_t
longest_run(struct str s, char c)
{
    size_t best = 0, run = 0;
    for (size_t i = 0; i < s.len; i++) {
        run = s.ptr[i] == c ? run + 1 : 0;
        best = run > best ? run : best;
    }
    return best;
}

static void
put_fence(FILE *out, size_t n, char c)
{
    while (n-- > 0)
        fputc(c, out);
}

/* In a fence longer than any run of backticks inside, so that nothing in there ends it. */
static void
put_fenced(FILE *out, const char *language, struct str text)
{
    struct buf visible;
    buf_init(&visible, BUF_MAX);
    text_visible(&visible, text);
    size_t fence = longest_run(buf_str(&visible), '`') + 1;
    fence = fence < 3 ? 3 : fence;
    put_fence(out, fence, '`');
    fprintf(out, "%s\n", language);
    put(out, buf_str(&visible));
    if (!visible.len || visible.data[visible.len - 1] != '\n')
        fputc('\n', out);
    put_fence(out, fence, '`');
    fputs("\n\n", out);
    buf_release(&visible);
}

struct fence {
    char c; /* 0: none is open */
    size_t n;
};

/* What a line does to the fence that is open (CommonMark 4.5). */
static void
follow_fence(struct fence *f, struct str line)
{
    size_t indent = 0;
    while (indent < line.len && line.ptr[indent] == ' ')
        indent++;
    struct str rest = str_sub(line, indent, line.len);
    char c = rest.len ? rest.ptr[0] : 0;
    size_t n = 0;
    while (n < rest.len && rest.ptr[n] == c)
        n++;
    if (indent > 3 || (c != '`' && c != '~') || n < 3)
        return;
    struct str info = str_trim(str_sub(rest, n, rest.len));
    if (!f->c && !(c == '`' && str_find(info, '`', 0) != (size_t)-1))
        *f = (struct fence){.c = c, .n = n};
    else if (f->c == c && n >= f->n && !info.len)
        f->c = 0;
}

/* An answer's own Markdown; a fence that it left open is closed, or it would swallow what follows. */
static void
put_markdown(FILE *out, struct str text)
{
    struct buf visible;
    struct fence f = {0};
    struct str rest, line;
    buf_init(&visible, BUF_MAX);
    text_visible(&visible, str_trim(text));
    rest = buf_str(&visible);
    while (str_split(&rest, '\n', &line))
        follow_fence(&f, line);
    put(out, buf_str(&visible));
    if (f.c) {
        fputc('\n', out);
        put_fence(out, f.n, f.c);
    }
    fputs("\n\n", out);
    buf_release(&visible);
}

static void
put_quoted(FILE *out, struct str text)
{
    struct buf visible;
    struct str rest, line;
    buf_init(&visible, BUF_MAX);
    text_visible(&visible, str_trim(text));
    rest = buf_str(&visible);
    while (str_split(&rest, '\n', &line)) {
        fputs(line.len ? "> " : ">", out);
        put(out, line);
        fputc('\n', out);
    }
    fputc('\n', out);
    buf_release(&visible);
}

/* ---- messages ---- */

static void
put_heading(FILE *out, const char *who, const struct message *m)
{
    struct buf when;
    buf_init(&when, 64);
    if (m->wall_ms)
        clock_iso8601(m->wall_ms, &when);
    fprintf(out, "## %s", who);
    if (m->model)
        fprintf(out, " (%s)", m->model);
    if (when.len)
        fprintf(out, ", %.10s %.5s", when.data, when.data + 11);
    fputs(m->partial ? ", interrupted\n\n" : "\n\n", out);
    buf_release(&when);
}

/* What the person ran with `!`, and what came of it. */
static void
put_shell(FILE *out, struct str command, struct str output)
{
    struct buf line;
    buf_init(&line, BUF_MAX);
    buf_adds(&line, "! ");
    buf_add_str(&line, command);
    put_quoted(out, buf_str(&line));
    put_fenced(out, "", output);
    buf_release(&line);
}

static void
put_user(FILE *out, const struct message *m)
{
    bool headed = false;
    for (size_t i = 0; i < m->n_blocks && !m->hidden; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_TEXT && str_starts(b->text, "<system-reminder>"))
            continue;
        if (b->kind != BLOCK_TEXT && b->kind != BLOCK_IMAGE)
            continue;
        if (!headed)
            put_heading(out, "Prompt", m);
        headed = true;
        struct str command, output;
        if (b->kind == BLOCK_TEXT && shell_line_read(b->text, &command, &output))
            put_shell(out, command, output);
        else if (b->kind == BLOCK_TEXT)
            put_quoted(out, b->text);
        else
            fprintf(out, "> (an image, %.*s)\n\n", (int)b->name.len, b->name.ptr);
    }
}

static void
put_call(FILE *out, const struct block *use, const struct message *next)
{
    const struct block *r = message_result_of(next, use->id);
    fprintf(out, "### %.*s\n\n", (int)use->name.len, use->name.ptr);
    put_fenced(out, "json", use->input);
    if (!r) {
        fputs("No result.\n\n", out);
        return;
    }
    fputs(r->is_error ? "Failed:\n\n" : "Result:\n\n", out);
    put_fenced(out, "", r->text);
}

static void
put_assistant(FILE *out, const struct message *m, const struct message *next)
{
    if (m->hidden)
        return;
    put_heading(out, "Answer", m);
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_TEXT)
            put_markdown(out, b->text);
        else if (b->kind == BLOCK_TOOL_USE)
            put_call(out, b, next);
    }
}

static void
put_line(FILE *out, const char *name, const char *value)
{
    struct buf visible;
    if (!value || !*value)
        return;
    buf_init(&visible, BUF_MAX);
    text_visible(&visible, str_from(value));
    fprintf(out, "- %s: %s\n", name, buf_cstr(&visible));
    buf_release(&visible);
}

void
export_markdown(struct conversation *conv, const struct export_head *head, FILE *out)
{
    struct buf title;
    buf_init(&title, BUF_MAX);
    text_visible(&title, str_from(head->title && *head->title ? head->title : "Session"));
    fprintf(out, "# %s\n\n", buf_cstr(&title));
    buf_release(&title);
    put_line(out, "session", head->id);
    put_line(out, "folder", head->cwd);
    put_line(out, "begun", head->created);
    fputc('\n', out);
    struct message *m = conversation_message(conv, 0);
    for (size_t i = 0; i < conversation_len(conv) && !ferror(out); i++) {
        struct message *next = conversation_message(conv, i + 1);
        if (m && m->role == ROLE_USER)
            put_user(out, m);
        else if (m)
            put_assistant(out, m, next);
        message_free(m);
        m = next;
    }
    message_free(m);
}
