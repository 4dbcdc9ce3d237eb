/* The message that takes the place of a conversation. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/compact_private.h"
#include "engine/context.h"
#include "engine/core.h"
#include "tools/task.h"

#define TODO HIDDEN_TAG "\nThe todo list, as it stands: "
#define PERSON_PERCENT 5
#define PERSON_TOKENS 10000
#define LOCAL_PERCENT 20 /* extracts miss more than a model does */
#define LOCAL_TOKENS 40000
#define FILES_PERCENT 10
#define FILES_TOKENS 25000
#define PINNED_PERCENT 25 /* of the window, for the files among the pins */
#define PINNED_TOKENS 250000
#define IMAGES_MAX 4
#define TASKS_MAX 16

void
compact_count(struct buf *out, int64_t tokens)
{
    if (tokens >= 10000)
        buf_addf(out, "%lldk", (long long)((tokens + 500) / 1000));
    else if (tokens >= 1000)
        buf_addf(out, "%lld.%lldk", (long long)(tokens / 1000), (long long)(tokens % 1000 / 100));
    else
        buf_addf(out, "%lld", (long long)tokens);
}

/* ---- what the person said ---- */

struct said {
    struct str *list;
    size_t n, cap;
    const struct message *newest;
};

static void
find_said(const struct core *c, struct said *ret)
{
    *ret = (struct said){0};
    for (size_t i = 0; i < c->state.n; i++) {
        const struct message *m = c->state.messages[i];
        for (size_t k = 0; k < m->n_blocks; k++) {
            struct str words = compact_words(m, k);
            if (!words.len)
                continue;
            ARRAY_GROW(ret->list, ret->n, ret->cap);
            ret->list[ret->n++] = words;
            ret->newest = m;
        }
    }
}

static void
add_images(struct message_builder *b, const struct message *m)
{
    size_t n = 0;
    for (size_t i = 0; m && i < m->n_blocks && n < IMAGES_MAX; i++)
        if (m->blocks[i].kind == BLOCK_IMAGE) {
            message_add_raw(b, m->blocks[i].raw);
            n++;
        }
}

/* The newest is never cut; older ones while there is room. */
static void
add_said(const struct core *c, struct message_builder *b, size_t room)
{
    struct said said;
    find_said(c, &said);
    size_t from = said.n ? said.n - 1 : 0;
    while (from > 0 && said.list[from - 1].len <= room) {
        room -= said.list[from - 1].len;
        from--;
    }
    for (size_t i = from; i < said.n; i++) {
        struct buf text;
        buf_init(&text, BUF_MAX);
        buf_adds(&text, COMPACT_WORDS);
        buf_add_str(&text, said.list[i]);
        buf_adds(&text, COMPACT_WORDS_END);
        message_add_text(b, buf_str(&text));
        buf_release(&text);
    }
    add_images(b, said.newest);
    free(said.list);
}

/* ---- what is open ---- */

/* The list as the model set it last, or as an older compaction told it. */
static void
add_todos(const struct core *c, struct message_builder *b)
{
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        for (size_t k = m->n_blocks; k-- > 0;) {
            const struct block *u = &m->blocks[k];
            if (u->kind == BLOCK_TEXT && m->role == ROLE_USER && str_starts(u->text, TODO)) {
                message_add_text(b, u->text);
                return;
            }
            if (u->kind != BLOCK_TOOL_USE || !str_is(u->name, "TodoWrite"))
                continue;
            struct str list = json_raw_member(u->input, "todos");
            if (!list.len)
                continue;
            char *text =
                str_contains(list, STR("pending")) || str_contains(list, STR("in_progress"))
                    ? xasprintf(TODO "%.*s\n" HIDDEN_END, (int)list.len, list.ptr)
                    : NULL;
            if (text)
                message_add_text(b, str_from(text));
            free(text);
            return;
        }
    }
}

static void
add_tasks(const struct core *c, struct message_builder *b)
{
    struct buf text;
    struct task *t;
    size_t n = 0;
    buf_init(&text, BUF_MAX);
    for (size_t i = 0; n < TASKS_MAX && (t = task_running(c->tasks, i)); i++) {
        struct task_info info;
        task_get(t, &info);
        if (info.id && info.session_id && strcmp(info.session_id, c->session_id) == 0) {
            struct str command = str_from(info.command);
            buf_addf(&text, "%s%s (%.*s)", n++ ? ", " : "", info.id,
                     (int)(command.len < 200 ? command.len : 200), command.ptr ? command.ptr : "");
        }
        task_info_release(&info);
        task_unref(t);
    }
    if (n) {
        char *s = xasprintf(HIDDEN_TAG "\nStill running in the background: %s\n" HIDDEN_END,
                            buf_cstr(&text));
        message_add_text(b, str_from(s));
        free(s);
    }
    buf_release(&text);
}

/* ---- all of it ---- */

static void
add_pins(const struct core *c, struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < c->pins.n; i++)
        if (c->pins.list[i].fact) {
            if (!n++)
                buf_adds(out, "The person pinned these; they hold word for word:\n");
            buf_addf(out, "%zu. %s\n", n, c->pins.list[i].fact);
        }
    if (n)
        buf_addc(out, '\n');
}

/* numbers: "182k to 14k". */
static void
add_head(const struct core *c, struct message_builder *b, const struct summary *s,
         const char *numbers)
{
    struct buf text;
    buf_init(&text, BUF_MAX);
    buf_addf(&text,
             COMPACT_OPEN
             "%s tokens. What this message holds stands in its place; the person still "
             "has all of it. Go on from it: do not ask again what is answered here, do "
             "not do again what is done, do not speak of the summary. Between "
             "<person-message> marks are the person's last messages, word for word.\n\n",
             numbers);
    add_pins(c, &text);
    buf_adds(&text, COMPACT_SUMMARY);
    summary_write(s, &text);
    buf_adds(&text, HIDDEN_END);
    message_add_text(b, buf_str(&text));
    buf_release(&text);
}

static size_t
room_for_said(const struct core *c, bool local)
{
    return local ? compact_room(c, LOCAL_PERCENT, LOCAL_TOKENS)
                 : compact_room(c, PERSON_PERCENT, PERSON_TOKENS);
}

/* scale: of the room for files and older messages, in percent. */
static struct message *
build(struct core *c, const struct prompt *prompt, const struct summary *s, const char *numbers,
      size_t scale, const struct compact_want *want)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    size_t pinned = compact_room(c, PINNED_PERCENT, PINNED_TOKENS);
    message_add_text(b, buf_str(&prompt->memory));
    add_head(c, b, s, numbers);
    for (size_t i = 0; i < c->pins.n; i++)
        if (c->pins.list[i].path)
            compact_add_pinned_file(c, b, c->pins.list[i].path, &pinned);
    compact_add_files(c, b, compact_room(c, FILES_PERCENT, FILES_TOKENS) * scale / 100);
    add_todos(c, b);
    add_tasks(c, b);
    add_said(c, b, room_for_said(c, want->local) * scale / 100);
    if (want->going)
        message_add_text(b,
                         STR(HIDDEN_TAG "\nYou are in the middle of this work. Go on with the next "
                                        "step that the summary names.\n" HIDDEN_END));
    return message_build(b);
}

static int64_t
tokens_with(const struct core *c, const struct prompt *prompt, const struct message *m)
{
    return context_estimate(c, prompt_bytes(prompt) + m->json.len);
}

struct message *
compact_build(struct core *c, const struct prompt *prompt, const struct summary *s,
              const struct compact_want *want)
{
    static const size_t scales[] = {100, 40, 10, 0};
    struct message *m = NULL;
    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        m = build(c, prompt, s, "-", scales[i], want);
        if (!m || want->goal <= 0 || tokens_with(c, prompt, m) <= want->goal ||
            i + 1 == ARRAY_LEN(scales)) {
            struct buf numbers;
            buf_init(&numbers, 64);
            compact_count(&numbers, want->before);
            buf_adds(&numbers, " to ");
            compact_count(&numbers, m ? tokens_with(c, prompt, m) : 0);
            message_free(m);
            m = build(c, prompt, s, buf_cstr(&numbers), scales[i], want);
            buf_release(&numbers);
            break;
        }
        message_free(m);
    }
    if (m)
        m->hidden = true;
    return m;
}
