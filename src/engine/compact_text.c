/* A conversation written out as text for the summary's question, and which words in it are the person's. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/compact_private.h"
#include "engine/core.h"
#include "store/shell_line.h"

#define NEWEST 6           /* messages at the end that are told in more detail */
#define NEWEST_RESULT 8000 /* bytes of a result among them */
#define WORDS_MIN 2000     /* bytes of a text that is told in any case */
#define REMINDER_MAX 300

/* ---- whose words ---- */

struct str
compact_words(const struct message *m, size_t block)
{
    const struct block *b = &m->blocks[block];
    struct str command, output, none = {0};
    if (m->role != ROLE_USER || b->kind != BLOCK_TEXT)
        return none;
    if (str_starts(b->text, COMPACT_WORDS)) {
        struct str s = str_sub(b->text, sizeof COMPACT_WORDS - 1, b->text.len);
        if (str_ends(s, COMPACT_WORDS_END))
            s.len -= sizeof COMPACT_WORDS_END - 1;
        return s;
    }
    if (m->hidden || str_starts(b->text, HIDDEN_TAG) || shell_line_read(b->text, &command, &output))
        return none;
    return str_trim(b->text);
}

struct str
compact_newest_words(const struct message *m)
{
    for (size_t i = m->n_blocks; i-- > 0;) {
        struct str s = compact_words(m, i);
        if (s.len)
            return s;
    }
    return (struct str){0};
}

struct str
compact_shown(const struct message *m)
{
    for (size_t i = 0; m->role == ROLE_USER && i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TEXT && str_starts(m->blocks[i].text, COMPACT_OPEN))
            return m->blocks[i].text;
    return (struct str){0};
}

struct str
compact_old_summary(const struct message *m)
{
    static const char end[] = HIDDEN_END;
    struct str s = compact_shown(m);
    const char *at =
        s.len ? memmem(s.ptr, s.len, COMPACT_SUMMARY, sizeof COMPACT_SUMMARY - 1) : NULL;
    if (!at)
        return (struct str){0};
    s = str_sub(s, (size_t)(at - s.ptr) + sizeof COMPACT_SUMMARY - 1, s.len);
    if (str_ends(s, end))
        s.len -= sizeof end - 1;
    return s;
}

char *
compact_line_of(const struct message *m)
{
    struct str s = compact_shown(m);
    s = str_sub(s, sizeof COMPACT_OPEN - 1, 80);
    const char *end = s.len ? memmem(s.ptr, s.len, " tokens", 7) : NULL;
    return end ? xasprintf("compacted %.*s tokens", (int)(end - s.ptr), s.ptr) : NULL;
}

/* ---- written out ---- */

static bool
is_inside(struct str s, size_t at)
{
    return at > 0 && at < s.len && ((unsigned char)s.ptr[at] & 0xc0) == 0x80;
}

/* The beginning and the end; the middle of a long text says least. */
static void
add_cut(struct buf *out, struct str s, size_t max)
{
    if (s.len <= max) {
        buf_add_str(out, s);
        return;
    }
    size_t head = max / 3 * 2, tail = s.len - max / 3;
    while (is_inside(s, head))
        head--;
    while (is_inside(s, tail))
        tail++;
    buf_add_str(out, str_sub(s, 0, head));
    buf_addf(out, "\n[%zu bytes left out]\n", tail - head);
    buf_add_str(out, str_sub(s, tail, s.len));
}

static void
add_user_text(struct buf *out, const struct message *m, size_t i, size_t max)
{
    struct str s = m->blocks[i].text, words = compact_words(m, i), old;
    size_t most = max * 4 > WORDS_MIN ? max * 4 : WORDS_MIN;
    if (words.len) {
        buf_adds(out, "[the person]\n");
        add_cut(out, words, most);
    } else if (str_starts(s, COMPACT_OPEN)) {
        old = compact_old_summary(m);
        buf_adds(out, "[older summary]\n");
        buf_add_str(out, old);
    } else if (str_starts(s, COMPACT_FILE)) {
        size_t nl = str_find(s, '\n', sizeof COMPACT_FILE - 1);
        buf_adds(out, "[a file was given: ");
        buf_add_str(out, str_sub(s, sizeof COMPACT_FILE - 1, nl - (sizeof COMPACT_FILE - 1)));
        buf_adds(out, "]");
    } else if (str_starts(s, HIDDEN_TAG)) {
        if (str_contains(s, STR(HIDDEN_RULES)))
            return; /* they are read again */
        buf_adds(out, "[yare]\n");
        add_cut(out, s, REMINDER_MAX);
    } else {
        buf_adds(out, m->hidden ? "[yare]\n" : "[the person ran a command]\n");
        add_cut(out, s, max);
    }
    buf_addc(out, '\n');
}

static void
add_block(struct buf *out, const struct message *m, size_t i, size_t max)
{
    const struct block *b = &m->blocks[i];
    switch (b->kind) {
    case BLOCK_TEXT:
        if (m->role == ROLE_USER) {
            add_user_text(out, m, i, max);
            return;
        }
        buf_adds(out, "[the agent]\n");
        add_cut(out, str_trim(b->text), max * 4 > WORDS_MIN ? max * 4 : WORDS_MIN);
        break;
    case BLOCK_TOOL_USE:
        buf_adds(out, "[call ");
        buf_add_str(out, b->name);
        buf_adds(out, "] ");
        add_cut(out, b->input, max);
        break;
    case BLOCK_TOOL_RESULT:
        buf_adds(out, b->is_error ? "[result, an error]\n" : "[result]\n");
        add_cut(out, b->text, max);
        break;
    case BLOCK_IMAGE:
        buf_adds(out, "[an image]");
        break;
    case BLOCK_THINKING:
    case BLOCK_REDACTED_THINKING:
    case BLOCK_OTHER:
        return;
    }
    buf_addc(out, '\n');
}

void
compact_texts_make(const struct core *c, size_t result_max, struct compact_texts *ret)
{
    *ret = (struct compact_texts){0};
    for (size_t i = 0; i < c->state.n; i++) {
        const struct message *m = c->state.messages[i];
        struct buf b;
        bool newest = i + NEWEST >= c->state.n;
        size_t more = result_max * 4 < NEWEST_RESULT ? result_max * 4 : NEWEST_RESULT;
        buf_init(&b, BUF_MAX);
        for (size_t k = 0; k < m->n_blocks; k++)
            add_block(&b, m, k, newest && more > result_max ? more : result_max);
        ARRAY_GROW(ret->list, ret->n, ret->cap);
        ret->bytes += b.len;
        ret->list[ret->n++] = buf_take(&b);
    }
}

void
compact_texts_release(struct compact_texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->list[i]);
    free(t->list);
    *t = (struct compact_texts){0};
}
