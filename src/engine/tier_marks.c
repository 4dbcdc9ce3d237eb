/* Markers in place of results: one line that says what stood there, how much it was, and how to have it again. */
#include <stdlib.h>
#include <string.h>

#include "engine/extract.h"
#include "engine/rebuild.h"
#include "engine/tier_private.h"

#define NAME_MAX_ 160
#define LINE_MAX_ 200 /* bytes of the line that says most */
#define PATH_MAX_ 300
#define LOOKED_AT ((size_t)64 << 10)
#define KEEP_LEAST 2000 /* bytes: less is not worth a file */
#define OVERHEAD 360    /* of a block around its marker, with what has to be escaped in it */
#define SPILLED "Full text: "

/* The budget tier (E0) put the whole text of a long result on disk and said where. */
static struct str
spilled_to(struct str text)
{
    struct str head = str_sub(text, 0, 4096 + 200);
    const char *at = memmem(head.ptr, head.len, SPILLED, strlen(SPILLED));
    if (!str_starts(text, "The result is too long to show (") || !at)
        return (struct str){0};
    size_t from = (size_t)(at - head.ptr) + strlen(SPILLED), nl = str_find(head, '\n', from);
    return nl == (size_t)-1 ? (struct str){0} : str_sub(head, from, nl - from);
}

static bool
can_repeat(const struct tier_call *c)
{
    return c->reads || str_is(c->name, "Grep") || str_is(c->name, "Glob") ||
           str_is(c->name, "WebFetch");
}

/* Says where the whole text is; never more than a marker has room for. Returns the file it has to be kept in; NULL: none. */
static char *
add_source(const struct tier_view *v, const struct tier_call *c, struct buf *out)
{
    const struct message *m = v->messages[c->result_at];
    const struct block *b = &m->blocks[c->result];
    struct str spill = spilled_to(b->text);
    char *path = NULL;
    if (v->keep_dir && !c->image && b->text.len >= KEEP_LEAST &&
        strlen(v->keep_dir) < PATH_MAX_ - 32)
        path = tier_keep_path(v->keep_dir, b->id, b->text);
    if (spill.len && spill.len < PATH_MAX_)
        buf_addf(out, " Whole text: %.*s", (int)spill.len, spill.ptr);
    else if (c->reads)
        buf_adds(out, " Read it again if you need it.");
    else if (can_repeat(c))
        buf_adds(out, " Make the call again if you need it.");
    else if (path) {
        buf_addf(out, " Whole text: %s", path);
        return path;
    } else
        buf_addf(out, " Whole text: in the transcript, message %s.", m->uuid);
    free(path);
    return NULL;
}

/* What cannot be had again leaves the line that says most of it: an error, a failed test. Ends stand at ends. */
static void
add_line(const struct tier_call *c, struct str text, struct buf *out)
{
    struct buf line;
    if (can_repeat(c) || c->edits || c->image)
        return;
    if (text.len > LOOKED_AT)
        text = str_sub(text, text.len - LOOKED_AT, LOOKED_AT);
    buf_init(&line, BUF_MAX);
    extract_sentences(&text, 1, LINE_MAX_, &line);
    struct str said = str_trim(buf_str(&line));
    for (size_t i = 0; i < said.len; i++)
        line.data[i] = line.data[i] == '\n' ? ';' : line.data[i];
    if (said.len)
        buf_addf(out, " It said: %.*s.", (int)said.len, said.ptr);
    buf_release(&line);
}

int64_t
tier_mark_call(const struct tier_view *v, const struct tier_call *c, const char *word,
               const char *why, struct tier_marks *marks, struct tier_result *ret)
{
    const struct message *m = v->messages[c->result_at];
    const struct block *b = &m->blocks[c->result];
    if (b->raw.len <= TIER_MARKER_MAX + OVERHEAD)
        return 0;
    size_t weight = c->image ? TIER_IMAGE_BYTES : b->raw.len;
    int64_t tokens = (int64_t)((double)weight / v->bytes_per_token);
    struct buf name, text;
    buf_init(&name, 4096);
    buf_init(&text, 4096);
    tier_call_name(v, c, NAME_MAX_, &name);
    buf_addf(&text, "[%s: %s, about %lld tokens%s; %s.", word, buf_cstr(&name), (long long)tokens,
             c->failed ? ", an error" : "", why);
    add_line(c, b->text, &text);
    char *path = add_source(v, c, &text);
    buf_addc(&text, ']');
    /* never more than what it saves in the end, so that a goal that is reached here is reached */
    int64_t left = (int64_t)((double)(text.len + OVERHEAD) / v->bytes_per_token) + 2;
    if (path)
        tier_keep_add(ret, m, c->result, path);
    ARRAY_GROW(marks->list, marks->n, marks->cap);
    marks->list[marks->n++] =
        (struct tier_mark){c->result_at, c->result, buf_take(&text), buf_take(&name)};
    return tokens > left ? tokens - left : 0;
}

static int
by_place(const void *a, const void *b)
{
    const struct tier_mark *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* The message with the marks list[0..n-1], all of it, made. */
static void
make_edit(const struct tier_view *v, const struct tier_mark *list, size_t n,
          struct tier_result *ret)
{
    const struct message *m = v->messages[list[0].at];
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0, k = 0; i < m->n_blocks; i++) {
        if (k < n && list[k].block == i)
            message_add_tool_result(b, m->blocks[i].id, str_from(list[k++].text),
                                    m->blocks[i].is_error);
        else
            rebuild_block(b, &m->blocks[i]);
    }
    struct message *now = rebuild_as(message_build(b), m);
    if (!now)
        return;
    struct tier_edit *e = tier_edit_add(ret);
    e->from = list[0].at;
    e->to = e->from + 1;
    e->with = xcalloc(1, sizeof *e->with);
    e->with[e->n_with++] = now;
    e->what = n > 1 ? xasprintf("%s and %zu more", list[0].name, n - 1) : xstrdup(list[0].name);
    e->saved = tier_tokens(v, m) - tier_tokens(v, now);
}

void
tier_marks_to_edits(const struct tier_view *v, struct tier_marks *marks, struct tier_result *ret)
{
    if (marks->n)
        qsort(marks->list, marks->n, sizeof *marks->list, by_place);
    for (size_t i = 0, to; i < marks->n; i = to) {
        for (to = i + 1; to < marks->n && marks->list[to].at == marks->list[i].at; to++)
            ;
        make_edit(v, marks->list + i, to - i, ret);
    }
    for (size_t i = 0; i < marks->n; i++) {
        free(marks->list[i].text);
        free(marks->list[i].name);
    }
    free(marks->list);
    *marks = (struct tier_marks){0};
    tier_result_finish(v, ret);
}
