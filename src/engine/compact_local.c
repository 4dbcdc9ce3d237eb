/* A summary without a model: what the older summary said, what was asked, which files were touched, what failed, and the sentences that
 * say most. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/compact_private.h"
#include "engine/core.h"
#include "engine/extract.h"

#define FILES_MAX 40
#define ERRORS_MAX 6
#define LINE_MAX_ 300
#define WORDS_MAX 600
#define TEXT_MAX 1500

static struct str
first_line(struct str s, size_t max)
{
    s = str_trim(s);
    size_t nl = str_find(s, '\n', 0);
    return text_start(str_sub(s, 0, nl == (size_t)-1 ? s.len : nl), max);
}

static void
add_said(const struct core *c, struct summary *s)
{
    struct str first = {0}, last = {0};
    struct buf *b = &s->part[SUMMARY_TASK];
    for (size_t i = 0; i < c->state.n; i++) {
        struct str words = compact_newest_words(c->state.messages[i]);
        if (!words.len)
            continue;
        first = first.len ? first : words;
        last = words;
    }
    if (first.len && first.ptr != last.ptr) {
        buf_adds(b, "The person asked first: ");
        buf_add_str(b, first_line(first, WORDS_MAX));
        buf_addc(b, '\n');
    }
    if (last.len) {
        buf_adds(b, "The person said last: ");
        buf_add_str(b, first_line(last, WORDS_MAX));
        buf_addc(b, '\n');
    }
}

/* Newest first: "Edit src/a.c". */
static void
add_touched(const struct core *c, struct summary *s)
{
    struct buf *b = &s->part[SUMMARY_FILES];
    size_t n = 0;
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        for (size_t k = m->n_blocks; k-- > 0 && n < FILES_MAX;) {
            const struct block *u = &m->blocks[k];
            if (u->kind != BLOCK_TOOL_USE)
                continue;
            struct cJSON *t = json_parse(u->input, NULL);
            const char *path = json_cstr(t, "file_path", NULL);
            char *line = path ? xasprintf("%.*s %s\n", (int)u->name.len, u->name.ptr, path) : NULL;
            if (line && !str_contains(buf_str(b), str_from(line))) {
                buf_adds(b, line);
                n++;
            }
            free(line);
            json_free(t);
        }
    }
}

static void
add_failed(const struct core *c, struct summary *s)
{
    size_t n = 0;
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        for (size_t k = m->n_blocks; k-- > 0 && n < ERRORS_MAX;) {
            if (m->blocks[k].kind != BLOCK_TOOL_RESULT || !m->blocks[k].is_error)
                continue;
            buf_add_str(&s->part[SUMMARY_ERRORS], first_line(m->blocks[k].text, LINE_MAX_));
            buf_addc(&s->part[SUMMARY_ERRORS], '\n');
            n++;
        }
    }
}

static void
add_extracts(const struct core *c, struct summary *s)
{
    struct compact_texts t;
    compact_texts_make(c, TEXT_MAX, &t);
    struct str *texts = xcalloc(t.n + 1, sizeof *texts);
    for (size_t i = 0; i < t.n; i++)
        texts[i] = str_from(t.list[i]);
    buf_adds(
        &s->part[SUMMARY_STATE],
        "No model wrote this summary; these are sentences of the conversation, in their order:\n");
    extract_sentences(texts, t.n,
                      compact_room(c, COMPACT_SUMMARY_PERCENT, COMPACT_SUMMARY_TOKENS) / 2,
                      &s->part[SUMMARY_STATE]);
    buf_addc(&s->part[SUMMARY_STATE], '\n');
    free(texts);
    compact_texts_release(&t);
}

void
compact_local(const struct core *c, struct summary *ret)
{
    const char *why;
    for (size_t i = 0; i < c->state.n; i++) {
        struct str old = compact_old_summary(c->state.messages[i]);
        if (old.len)
            (void)summary_parse(old, ret, &why);
    }
    buf_clear(&ret->part[SUMMARY_STATE]); /* it was said of another time */
    add_said(c, ret);
    add_touched(c, ret);
    add_failed(c, ret);
    add_extracts(c, ret);
    buf_adds(&ret->part[SUMMARY_NEXT], "Look at the files again before you go on.\n");
}

void
compact_fill(const struct core *c, struct summary *s)
{
    struct summary local;
    size_t from = SUMMARY_SECTION_COUNT;
    while (from > 0 && !s->part[from - 1].len)
        from--;
    if (from > 0)
        buf_adds(&s->part[from - 1], "(The summary was cut off here.)\n");
    summary_init(&local);
    compact_local(c, &local);
    for (size_t i = from; i < SUMMARY_SECTION_COUNT; i++)
        if (local.part[i].len) {
            buf_adds(&s->part[i], "(Extracts, since the summary was cut off before this.)\n");
            buf_add_str(&s->part[i], buf_str(&local.part[i]));
        }
    summary_release(&local);
}
