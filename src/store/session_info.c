/* What the lists say of a session, read from its file in one pass that looks at the heads of records only. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "store/conversation_impl.h"
#include "store/find.h"
#include "store/journal_scan.h"
#include "store/records.h"
#include "store/session_impl.h"

enum { TITLE_COLUMNS = 100, WORDS_MAX = 8 };

struct wanted {
    struct str words[WORDS_MAX];
    struct finder finders[WORDS_MAX];
    size_t n;
};

enum { TYPE, TIME, CWD, PRINT, META, HEADS };

/* ---- words ---- */

static void
take_words(struct wanted *w, struct str text)
{
    struct str part;
    w->n = 0;
    while (w->n < WORDS_MAX && str_split(&text, ' ', &part)) {
        part = str_trim(part);
        if (!part.len)
            continue;
        finder_init(&w->finders[w->n], part);
        w->words[w->n++] = part;
    }
}

static bool
holds_all(const struct wanted *w, struct str text, size_t *ret_at)
{
    size_t len;
    for (size_t i = w->n; i-- > 0;)
        if ((*ret_at = find_fold(text, w->words[i], &len)) == SIZE_MAX)
            return false;
    return true;
}

static bool
may_hold_all(const struct wanted *w, struct str json)
{
    for (size_t i = 0; i < w->n; i++)
        if (!finder_may_hold(&w->finders[i], json))
            return false;
    return true;
}

/* ---- prompts and titles ---- */

static char *
first_line(struct str text)
{
    struct str line;
    int width;
    text = str_trim(text);
    if (!str_split(&text, '\n', &line))
        return NULL;
    line = str_trim(line);
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    text_visible(&shown, str_sub(line, 0, text_fit(line, TITLE_COLUMNS, &width)));
    return buf_take(&shown);
}

/* What the person typed, out of a user record: its first text. ptr NULL when it holds none (results of tools). */
static struct str
prompt_of(const struct message *m)
{
    for (size_t k = 0; m && k < m->n_blocks; k++)
        if (m->blocks[k].kind == BLOCK_TEXT && str_trim(m->blocks[k].text).len)
            return m->blocks[k].text;
    return (struct str){0};
}

static void
take_prompt(struct session_info *s, char **first, struct str line, const struct wanted *w)
{
    bool look = w->n && !s->matched && may_hold_all(w, line);
    if (*first && !look)
        return;
    struct message *m = conversation_parse(line);
    struct str text = prompt_of(m);
    size_t at = 0;
    if (!*first && text.len)
        *first = first_line(text);
    if (look && text.len && holds_all(w, text, &at)) {
        s->matched = true;
        s->excerpt = find_excerpt(text, at);
    }
    message_free(m);
}

static void
take_title(struct session_info *s, struct str line)
{
    struct journal_want want[] = {{.key = "customTitle"}, {.key = "title"}};
    journal_scan(line, want, ARRAY_LEN(want));
    char *title = journal_decode(want[0].raw.ptr ? want[0].raw : want[1].raw);
    if (title) {
        free(s->title);
        s->title = first_line(str_from(title));
        s->named = s->title != NULL;
    }
    free(title);
}

static void
take_record(struct session_info *s, char **first, struct str line, const struct wanted *w)
{
    struct journal_want h[HEADS] = {[TYPE] = {.key = "type"},
                                    [TIME] = {.key = "timestamp"},
                                    [CWD] = {.key = "cwd"},
                                    [PRINT] = {.key = "print"},
                                    [META] = {.key = "isMeta"}};
    if (!journal_scan_head(line, h, HEADS, "message"))
        return;
    if (!h[TYPE].raw.ptr || !h[TIME].raw.ptr)
        journal_scan(line, h, HEADS); /* another program's order */
    struct str type = journal_plain(h[TYPE].raw);
    bool user = str_is(type, "user");
    s->messages += (user || str_is(type, "assistant")) && str_ends(str_trim(line), "}");
    int64_t at = journal_time(h[TIME].raw);
    if (!s->created_ms)
        s->created_ms = at;
    if (at)
        s->last_ms = at;
    if (!s->cwd)
        s->cwd = journal_decode(h[CWD].raw);
    if (str_is(type, "session"))
        s->print_mode = str_is(h[PRINT].raw, "true");
    else if (user && !str_is(h[META].raw, "true"))
        take_prompt(s, first, line, w);
    else if (str_is(type, "custom-title"))
        take_title(s, line);
}

static void
fill_gaps(struct session_info *s, const char *path, char *take_first)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        int64_t changed = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        s->bytes = st.st_size;
        if (!s->last_ms)
            s->last_ms = changed;
        if (!s->created_ms)
            s->created_ms = s->last_ms;
    }
    s->first = take_first;
    if (!s->title)
        s->title = xstrdup(take_first ? take_first : "(no prompt yet)");
    if (!s->cwd)
        s->cwd = xstrdup("");
}

bool
session_info_load(const char *path, const char *id, struct str words, struct session_info *ret)
{
    struct records l;
    struct session_info s = {0};
    struct wanted w;
    struct str line;
    int64_t offset;
    size_t at = 0;
    char *first = NULL;
    if (!records_open(&l, path, NULL))
        return false;
    take_words(&w, words);
    memcpy(s.id, id, strnlen(id, ID_MAX));
    s.path = xstrdup(path);
    while (records_next(&l, &line, &offset))
        take_record(&s, &first, line, &w);
    /* What could be read is shown, also of a file that is bad further on. */
    (void)!records_close(&l, path, NULL);
    fill_gaps(&s, path, first);
    if (w.n && holds_all(&w, str_from(s.title), &at))
        s.matched = true;
    *ret = s;
    return true;
}

void
session_info_release(struct session_info *s)
{
    free(s->path);
    free(s->title);
    free(s->first);
    free(s->cwd);
    free(s->excerpt);
    *s = (struct session_info){0};
}
