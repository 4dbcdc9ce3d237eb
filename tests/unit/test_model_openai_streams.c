/* The streams of tests/fixtures/openai, one for each way servers depart from the reference: each is read whole, in pieces of one byte and of seven, and cut short at every event.
 *
 * A file's head says what it must give, its bytes follow behind a line "---":
 *   offer NAME ...            the tools that were offered (default: Read Bash Write)
 *   history ID ...            ids of calls made before
 *   call ID NAME JSON         in order; the ID * is one of ours
 *   badcall ID NAME BYTES     a call whose input is no object
 *   text JSON, thinking JSON  all of it joined
 *   stop REASON, usage IN OUT CACHED, usage est
 *   fails WORDS, kind KIND, retryable yes|no
 */
#include "unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "model/openai_reader.h"

#define DIR_PATH TEST_DIR "/fixtures/openai"
#define ESTIMATE 77

static const char all_tools[] =
    "{\"name\":\"Read\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"file_path\":{"
    "\"type\":\"string\"},\"offset\":{\"type\":\"integer\"}}}},"
    "{\"name\":\"Bash\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"command\":{"
    "\"type\":\"string\"},\"timeout\":{\"type\":\"integer\"}}}},"
    "{\"name\":\"Write\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"file_path\":{"
    "\"type\":\"string\"},\"content\":{\"type\":\"string\"}}}}";

struct want {
    struct buf file;
    struct str head, bytes;
};

struct got {
    struct stream_blocks *blocks;
    enum model_step step;
    struct err err;
};

/* ---- the file ---- */

static void
want_read(struct want *w, const char *name)
{
    char *path = fs_join(DIR_PATH, name);
    buf_init(&w->file, BUF_MAX);
    assert_true(fs_read(path, BUF_MAX, &w->file, NULL));
    const char *mark = strstr(buf_cstr(&w->file), "\n---\n");
    assert_non_null(mark);
    size_t at = (size_t)(mark - w->file.data);
    w->head = str_sub(buf_str(&w->file), 0, at);
    w->bytes = str_sub(buf_str(&w->file), at + 5, w->file.len);
    free(path);
}

/* The rest of the nth line that begins with that word; ptr NULL: there is none. */
static struct str
want_line(const struct want *w, const char *word, size_t n)
{
    struct str rest = w->head, line;
    size_t len = strlen(word);
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, word) && (line.len == len || line.ptr[len] == ' ') && n-- == 0)
            return str_trim(str_sub(line, len, line.len));
    return (struct str){0};
}

/* ---- reading ---- */

static void
offer_of(const struct want *w, struct str_set *ret_ids, struct openai_offer *ret)
{
    struct str names = want_line(w, "offer", 0), ids = want_line(w, "history", 0), id;
    char *tools = xasprintf("[%s]", names.ptr && !names.len ? "" : all_tools);
    *ret = (struct openai_offer){.tools = json_parse(str_from(tools), NULL), .ids = ret_ids};
    assert_non_null(ret->tools);
    free(tools);
    while (ids.len && str_split(&ids, ' ', &id))
        (void)str_set_add(ret_ids, id);
}

static void
pump(struct openai_reader *r, struct got *g)
{
    struct delta d;
    while ((g->step = openai_reader_next(r, &d, &g->err)) == MODEL_DELTA)
        stream_blocks_apply(g->blocks, &d);
}

/* step 0: all at once */
static struct got
read_stream(const struct want *w, struct str bytes, size_t step, bool whole)
{
    struct openai_offer offer;
    struct str_set ids = {0};
    struct got g = {.blocks = stream_blocks_new(), .step = MODEL_IDLE};
    offer_of(w, &ids, &offer);
    struct openai_reader *r = openai_reader_new(&offer, ESTIMATE);
    for (size_t at = 0; at < bytes.len && g.step == MODEL_IDLE;) {
        struct str piece = str_sub(bytes, at, step ? step : bytes.len);
        char *copy = str_dup(piece); /* gone before the deltas are used up: nothing may borrow it */
        openai_reader_feed(r, str_make(copy, piece.len));
        free(copy);
        pump(r, &g);
        at += piece.len;
    }
    if (g.step == MODEL_IDLE) {
        openai_reader_end(r, whole);
        pump(r, &g);
    }
    openai_reader_free(r);
    openai_offer_release(&offer);
    str_set_release(&ids);
    return g;
}

/* ---- comparing ---- */

static void
join(const struct got *g, enum block_kind kind, struct buf *ret)
{
    for (size_t i = 0; i < stream_blocks_len(g->blocks); i++) {
        const struct stream_block *b = stream_blocks_at(g->blocks, i);
        if (b->kind == kind)
            buf_add_str(ret, b->text);
    }
}

static void
check_text(const struct want *w, const struct got *g, const char *word, enum block_kind kind,
           const char *name)
{
    struct buf have;
    struct cJSON *tree = json_parse(want_line(w, word, 0), NULL);
    buf_init(&have, BUF_MAX);
    join(g, kind, &have);
    if (!str_eq(json_value_str(tree), buf_str(&have)))
        fail_msg("%s: %s is '%s'", name, word, buf_cstr(&have));
    json_free(tree);
    buf_release(&have);
}

static bool
same_json(struct str a, struct str b)
{
    struct buf pa, pb;
    struct cJSON *ta = json_parse(a, NULL), *tb = json_parse(b, NULL);
    buf_init(&pa, BUF_MAX);
    buf_init(&pb, BUF_MAX);
    if (ta && tb) {
        json_print(ta, &pa);
        json_print(tb, &pb);
    }
    bool same = ta && tb && str_eq(buf_str(&pa), buf_str(&pb));
    json_free(ta);
    json_free(tb);
    buf_release(&pa);
    buf_release(&pb);
    return same;
}

static bool
is_minted(struct str id)
{
    bool ok = str_starts(id, "call_") && id.len == 29;
    for (size_t i = 5; ok && i < id.len; i++)
        ok = strchr("0123456789abcdef", id.ptr[i]) != NULL;
    return ok;
}

/* The calls are those of the head, in order and no others; a prefix of them where the stream was cut. */
static void
check_calls(const struct want *w, const struct got *g, bool all, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < stream_blocks_len(g->blocks); i++) {
        const struct stream_block *b = stream_blocks_at(g->blocks, i);
        if (b->kind != BLOCK_TOOL_USE || !b->complete)
            continue;
        struct str line = want_line(w, b->bad_input ? "badcall" : "call", n++), id, tool;
        if (!line.ptr || !str_split(&line, ' ', &id) || !str_split(&line, ' ', &tool))
            fail_msg("%s: a call too many: %.*s", name, (int)b->input.len, b->input.ptr);
        if (!(str_is(id, "*") ? is_minted(b->id) : str_eq(id, b->id)))
            fail_msg("%s: call %zu has the id '%.*s'", name, n, (int)b->id.len, b->id.ptr);
        if (!str_eq(tool, b->name))
            fail_msg("%s: call %zu is '%.*s'", name, n, (int)b->name.len, b->name.ptr);
        if (b->bad_input ? !str_eq(line, b->input) : !same_json(line, b->input))
            fail_msg("%s: call %zu has %.*s", name, n, (int)b->input.len, b->input.ptr);
        for (size_t k = 0; k < i; k++)
            assert_false(stream_blocks_at(g->blocks, k)->kind == BLOCK_TOOL_USE &&
                         str_eq(stream_blocks_at(g->blocks, k)->id, b->id));
    }
    if (all && (want_line(w, "call", n).ptr || (n == 0 && want_line(w, "badcall", 0).ptr)))
        fail_msg("%s: only %zu calls", name, n);
}

static void
check_usage(const struct want *w, const struct got *g, const char *name)
{
    const struct usage *u = stream_blocks_usage(g->blocks);
    struct str line = want_line(w, "usage", 0);
    char have[80];
    snprintf(have, sizeof have, "%lld %lld %lld", (long long)u->input, (long long)u->output,
             (long long)u->cache_read);
    if (str_is(line, "est")) {
        if (!u->estimated || u->input != ESTIMATE || u->output <= 0)
            fail_msg("%s: estimated %d: %s", name, u->estimated, have);
    } else if (u->estimated || !str_is(line, have)) {
        fail_msg("%s: estimated %d: %s", name, u->estimated, have);
    }
}

static void
check_failure(const struct want *w, const struct got *g, const char *name)
{
    char *words = str_dup(want_line(w, "fails", 0));
    struct str kind = want_line(w, "kind", 0);
    if (g->step != MODEL_FAILED || !strstr(g->err.text, words))
        fail_msg("%s: %d %s", name, (int)g->step, g->err.text);
    if (kind.ptr && !str_is(kind, g->err.kind))
        fail_msg("%s: kind '%s'", name, g->err.kind);
    if (g->err.retryable != str_is(want_line(w, "retryable", 0), "yes"))
        fail_msg("%s: retryable %d", name, g->err.retryable);
    free(words);
}

static void
check_whole(const struct want *w, size_t step, const char *name)
{
    bool fails = want_line(w, "fails", 0).ptr != NULL;
    struct got g = read_stream(w, w->bytes, step, true);
    if (fails)
        check_failure(w, &g, name);
    else if (g.step != MODEL_DONE)
        fail_msg("%s (by %zu): %d %s", name, step, (int)g.step, g.err.text);
    check_text(w, &g, "text", BLOCK_TEXT, name);
    check_text(w, &g, "thinking", BLOCK_THINKING, name);
    check_calls(w, &g, true, name);
    if (!fails) {
        check_usage(w, &g, name);
        if (!str_is(want_line(w, "stop", 0), stop_reason_name(stream_blocks_stop(g.blocks))))
            fail_msg("%s: stop %s", name, stop_reason_name(stream_blocks_stop(g.blocks)));
    }
    stream_blocks_free(g.blocks);
}

/* Whatever was missing: no call but the ones that were meant, with the input that was meant, and none of an answer that failed. */
static void
check_cut(const struct want *w, size_t at, bool clean, const char *name)
{
    struct got g = read_stream(w, str_sub(w->bytes, 0, at), 0, clean);
    char *where = xasprintf("%s, cut %s at %zu", name, clean ? "cleanly" : "off", at);
    check_calls(w, &g, false, where);
    for (size_t i = 0; g.step != MODEL_DONE && i < stream_blocks_len(g.blocks); i++) {
        const struct stream_block *b = stream_blocks_at(g.blocks, i);
        if (b->kind == BLOCK_TOOL_USE && b->complete)
            fail_msg("%s: a call of a broken answer", where);
    }
    if (g.step != MODEL_DONE && g.step != MODEL_FAILED)
        fail_msg("%s: neither whole nor broken", where);
    if (g.step == MODEL_FAILED && !g.err.text[0])
        fail_msg("%s: no reason", where);
    free(where);
    stream_blocks_free(g.blocks);
}

static bool
is_boundary(struct str s, size_t at)
{
    return at == 0 || s.ptr[at - 1] == '\n' || s.ptr[at - 1] == '\r' || at % 11 == 0;
}

/* ---- the tests ---- */

static size_t
each_file(void (*f)(const struct want *w, const char *name))
{
    size_t n = 0;
    const char *only = getenv("ONLY"); /* one file, for whoever looks into it */
    DIR *d = opendir(DIR_PATH);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct want w;
        if (!strstr(e->d_name, ".stream") || (only && !strstr(e->d_name, only)))
            continue;
        want_read(&w, e->d_name);
        f(&w, e->d_name);
        buf_release(&w.file);
        n++;
    }
    closedir(d);
    return n;
}

static void
one_whole(const struct want *w, const char *name)
{
    static const size_t steps[] = {0, 1, 7};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        check_whole(w, steps[i], name);
}

static void
one_cut(const struct want *w, const char *name)
{
    for (size_t at = 0; at < w->bytes.len; at++) {
        if (!is_boundary(w->bytes, at))
            continue;
        check_cut(w, at, true, name);
        check_cut(w, at, false, name);
    }
}

static void
all_give_what_they_say(void **state)
{
    (void)state;
    assert_true(each_file(one_whole) >= 100 || getenv("ONLY"));
}

static void
cut_at_every_event(void **state)
{
    (void)state;
    assert_true(each_file(one_cut) >= 100 || getenv("ONLY"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_give_what_they_say),
                                       cmocka_unit_test(cut_at_every_event)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
