#include "ui/complete.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/keys.h"
#include "ui/lines.h"

#define HELP_LEAST 24 /* the column where what a command does begins, at least */
#define HELP_GAP 2
#define NAME_BYTES ((size_t)4096) /* of a name that is completed */

void
complete_init(struct complete *c)
{
    *c = (struct complete){0};
}

static void
drop_files(struct complete *c)
{
    for (size_t i = 0; i < c->n_files; i++)
        free(c->files[i]);
    c->n_files = 0;
}

void
complete_release(struct complete *c)
{
    drop_files(c);
    free(c->files);
    free(c->word);
    free(c->closed);
    free(c->asked);
    *c = (struct complete){0};
}

/* No name is longer, and a long text is not gone through at every key. */
static size_t
farthest(const struct input *in)
{
    return in->cursor > NAME_BYTES ? in->cursor - NAME_BYTES : 0;
}

/* An open @" on this line before the cursor: the name may hold blanks. */
static bool
find_quoted(const struct input *in, size_t *ret_start)
{
    size_t least = farthest(in), len = in->cursor - least;
    const char *s = buf_cstr(&in->text), *quote = len ? memrchr(s + least, '"', len) : NULL;
    if (!quote || quote == s)
        return false;
    size_t at = (size_t)(quote - s), behind = in->cursor - at;
    if (memchr(quote, '\n', behind) || memchr(quote, CHIP_MARK, behind) || s[at - 1] != '@')
        return false;
    *ret_start = at + 1;
    return at == 1 || s[at - 2] == ' ' || s[at - 2] == '\n' || s[at - 2] == '\t';
}

/* "/name " and nothing more: the arguments are shown. */
static bool
find_hint(const struct complete *c, const struct input *in, size_t *ret_start)
{
    struct str s = buf_str(&in->text);
    if (!c->commands || s.len < 3 || s.ptr[0] != '/' || in->cursor != s.len ||
        str_find(s, ' ', 0) + 1 != s.len)
        return false;
    const struct command *cmd = commands_find(c->commands, str_sub(s, 1, s.len - 2));
    *ret_start = 1;
    return cmd && *cmd->args;
}

/* The word before the cursor that can be completed. */
static enum complete_kind
find_word(const struct complete *c, const struct input *in, size_t *ret_start)
{
    const char *s = buf_cstr(&in->text);
    size_t at = in->cursor;
    if (find_quoted(in, ret_start))
        return COMPLETE_FILE;
    if (find_hint(c, in, ret_start))
        return COMPLETE_HINT;
    size_t least = farthest(in);
    while (at > least && s[at - 1] != ' ' && s[at - 1] != '\n' && s[at - 1] != '\t' &&
           s[at - 1] != CHIP_MARK)
        at--;
    if (at == in->cursor || (at && at == least))
        return COMPLETE_NONE;
    *ret_start = at + 1;
    if (s[at] == '@')
        return COMPLETE_FILE;
    return s[at] == '/' && at == 0 ? COMPLETE_COMMAND : COMPLETE_NONE;
}

static void
add_row(struct complete *c, const char *row, const char *help)
{
    if (c->n_rows < COMPLETE_MAX) {
        if (!help)
            c->args[c->n_rows] = NULL;
        c->rows[c->n_rows] = row;
        c->helps[c->n_rows++] = help;
    }
}

/* No text, or made from another file: hardly what somebody wants to name in a prompt. By its name alone. */
static bool
is_made(const char *path)
{
    static const char *const ends[] = {
        ".pyc", ".pyo",  ".o",     ".a",    ".so",   ".obj",   ".class", ".jar",
        ".exe", ".dll",  ".dylib", ".gcda", ".gcno", ".png",   ".jpg",   ".jpeg",
        ".gif", ".webp", ".ico",   ".pdf",  ".zip",  ".gz",    ".xz",    ".bz2",
        ".tar", ".mp3",  ".mp4",   ".ttf",  ".woff", ".woff2", ".wasm",  ".bin"};
    static const char *const folders[] = {"__pycache__/",   "node_modules/", ".mypy_cache/",
                                          ".pytest_cache/", ".ruff_cache/",  ".tox/",
                                          ".venv/"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends(str_from(path), ends[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        const char *at = strstr(path, folders[i]);
        if (at && (at == path || at[-1] == '/'))
            return true;
    }
    return false;
}

/* Files whose own name starts so come before those that hold it anywhere, and what is made or no text behind all others. */
static void
sift_files(struct complete *c)
{
    struct str want = str_from(c->word);
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < c->n_files && c->n_rows < COMPLETE_MAX; i++) {
            const char *slash = strrchr(c->files[i], '/');
            bool first = str_starts(str_from(slash ? slash + 1 : c->files[i]), c->word) ||
                         str_starts(str_from(c->files[i]), c->word);
            int rank = (is_made(c->files[i]) ? 2 : 0) + (first ? 0 : 1);
            if (rank == pass && str_contains(str_from(c->files[i]), want))
                add_row(c, c->files[i], NULL);
        }
    }
}

static void
make_rows(struct complete *c)
{
    c->n_rows = 0;
    c->selected = c->top = 0;
    c->chosen = false;
    if (!c->word || (c->closed && strcmp(c->closed, c->word) == 0))
        return;
    if (c->kind == COMPLETE_FILE) {
        sift_files(c);
        return;
    }
    const struct command *found[COMPLETE_MAX];
    struct str word = str_trim(str_from(c->word));
    bool hint = c->kind == COMPLETE_HINT;
    size_t n = c->commands ? commands_match(c->commands, word, found, COMPLETE_MAX) : 0;
    for (size_t i = 0; i < n; i++) {
        if (hint && !str_is(word, found[i]->name))
            continue;
        c->args[c->n_rows] = found[i]->args;
        add_row(c, found[i]->name, found[i]->what);
    }
}

static void
set(char **to, const char *s)
{
    free(*to);
    *to = xstrdup(s);
}

/* The last answer says nothing of this word. */
static bool
must_ask(const struct complete *c)
{
    if (c->kind != COMPLETE_FILE || c->seq)
        return false;
    if (!c->asked || !str_contains(str_from(c->word), str_from(c->asked)))
        return true;
    return c->n_files >= COMPLETE_FILES && strcmp(c->asked, c->word) != 0;
}

static struct op *
question(struct complete *c)
{
    if (!must_ask(c))
        return NULL;
    struct op *op = op_new(OP_QUERY, c->word);
    op->query = QUERY_FILES;
    op->seq = c->seq = ++c->last_seq;
    set(&c->asked, c->word);
    return op;
}

struct op *
complete_follow(struct complete *c, const struct input *in)
{
    size_t start = 0;
    enum complete_kind kind = find_word(c, in, &start);
    if (kind == COMPLETE_NONE) {
        set(&c->word, NULL);
        set(&c->closed, NULL);
        /* the next "@" looks at the files as they are then */
        if (!c->seq)
            set(&c->asked, NULL);
        c->kind = COMPLETE_NONE;
        c->n_rows = 0;
        return NULL;
    }
    char *word = str_dup(str_make(in->text.data + start, in->cursor - start));
    bool same = c->word && c->kind == kind && c->start == start && strcmp(c->word, word) == 0;
    free(c->word);
    c->word = word;
    c->kind = kind;
    c->start = start;
    if (!same)
        make_rows(c);
    return question(c);
}

void
complete_hush(struct complete *c, const struct input *in)
{
    size_t start = 0;
    if (find_word(c, in, &start) == COMPLETE_NONE)
        return;
    char *word = str_dup(str_make(in->text.data + start, in->cursor - start));
    set(&c->closed, word);
    free(word);
    c->n_rows = 0;
}

void
complete_answer(struct complete *c, const struct event *ev)
{
    if (!c->seq || ev->seq != c->seq)
        return;
    c->seq = 0;
    c->n_rows = 0; /* they point into what goes now */
    drop_files(c);
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), NULL);
    for (const struct cJSON *f = json_first(json_at(tree, "files")); f; f = json_next(f)) {
        struct str s = json_value_str(f);
        if (!s.len || c->n_files >= COMPLETE_FILES)
            continue;
        ARRAY_GROW(c->files, c->n_files, c->cap_files);
        c->files[c->n_files++] = str_dup(s);
    }
    json_free(tree);
    if (c->kind == COMPLETE_FILE)
        make_rows(c);
}

static void
accept(struct complete *c, struct input *in)
{
    char *row = xstrdup(c->rows[c->selected]);
    struct buf b;
    buf_init(&b, INPUT_MAX);
    /* a name with blanks stands in quotes, the opening one perhaps typed already */
    bool file = c->kind == COMPLETE_FILE;
    bool quoted = file && in->text.data[c->start - 1] == '"';
    bool quote = quoted || (file && strpbrk(row, " \t\n"));
    buf_addf(&b, "%s%s%s ", quote && !quoted ? "\"" : "", row, quote ? "\"" : "");
    while (in->cursor > c->start)
        (void)input_key(in, YK_BACKSPACE);
    input_insert(in, buf_str(&b));
    buf_release(&b);
    free(row);
    c->n_rows = 0;
}

/* The first Down takes the first row, the first Up the last; what is chosen stays in sight. */
static void
choose(struct complete *c, bool down)
{
    if (!c->chosen)
        c->selected = down ? 0 : c->n_rows - 1;
    else
        c->selected = (c->selected + (down ? 1 : c->n_rows - 1)) % c->n_rows;
    c->chosen = true;
    if (c->selected < c->top)
        c->top = c->selected;
    if (c->selected >= c->top + COMPLETE_ROWS)
        c->top = c->selected - COMPLETE_ROWS + 1;
}

bool
complete_key(struct complete *c, struct input *in, int key)
{
    if (!c->n_rows || c->kind == COMPLETE_HINT)
        return false;
    switch (key) {
    case YK_UP:
    case YK_DOWN:
        choose(c, key == YK_DOWN);
        return true;
    case YK_ENTER:
        if (!c->chosen)
            return false;
        accept(c, in);
        return true;
    case YK_TAB:
        accept(c, in);
        return true;
    case YK_ESC:
        set(&c->closed, c->word);
        c->n_rows = 0;
        return true;
    default:
        return false;
    }
}

/* The end of a path tells more than its middle. */
static int
draw_name(struct canvas *canvas, struct rect row, int x, enum style st, const char *name,
          bool ascii)
{
    struct buf b;
    buf_init(&b, 1 << 16);
    fold_middle(&b, str_from(name), row.w - x, ascii);
    x = canvas_text(canvas, row, x, 0, st, buf_str(&b));
    buf_release(&b);
    return x;
}

static void
draw_help(struct canvas *canvas, struct rect row, int x, enum style st, const char *help,
          bool ascii)
{
    struct buf b;
    buf_init(&b, 4096);
    fold_end(&b, str_from(help), row.w - x, ascii);
    canvas_text(canvas, row, x, 0, st, buf_str(&b));
    buf_release(&b);
}

/* Over a pane's rule the frame goes on beside the list. */
static void
draw_sides(struct canvas *canvas, struct rect row, enum style st, bool ascii)
{
    const char *side = ascii ? "|" : "│";
    bool framed = row.x >= 2 && row.x + row.w + 2 <= canvas->w;
    if (framed) {
        canvas_fill(canvas, (struct rect){row.x - 2, row.y, row.w + 4, 1}, ST_BORDER, side);
        canvas_fill(canvas, (struct rect){row.x - 1, row.y, row.w + 2, 1}, ST_TEXT, NULL);
    }
    canvas_fill(canvas, row, st, NULL);
}

/* Where the helps begin: behind the longest usage of the list, the same while it scrolls. One that is longer than that pushes its own
 * aside. */
static int
help_column(const struct complete *c, int width)
{
    int most = HELP_LEAST;
    for (size_t i = 0; i < c->n_rows; i++) {
        const char *args = c->args[i] ? c->args[i] : "";
        int w = INPUT_PREFIX + 1 + text_width(str_from(c->rows[i])) + (*args != '\0') +
                text_width(str_from(args)) + HELP_GAP;
        if (c->helps[i] && w > most && w <= width * 2 / 5)
            most = w;
    }
    return most;
}

static void
draw_row(const struct complete *c, struct canvas *canvas, struct rect row, size_t i, int help,
         bool ascii)
{
    enum style st = c->chosen && i == c->selected ? ST_SELECT : ST_STATUS;
    enum style dim = st == ST_SELECT ? st : ST_DIM;
    draw_sides(canvas, row, st, ascii);
    int x = canvas_text(canvas, row, INPUT_PREFIX, 0, st,
                        c->kind == COMPLETE_FILE ? STR("@") : STR("/"));
    x = draw_name(canvas, row, x, st, c->rows[i], ascii);
    if (c->args[i] && *c->args[i])
        x = canvas_text(canvas, row, x + 1, 0, dim, str_from(c->args[i]));
    if (c->helps[i])
        draw_help(canvas, row, x + HELP_GAP < help ? help : x + HELP_GAP, dim, c->helps[i], ascii);
}

/* That there is more than is on the screen, and where one is in it. */
static void
draw_place(const struct complete *c, struct canvas *canvas, struct rect row, size_t first, int n)
{
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, " %zu-%zu of %zu%s ", first + 1, first + (size_t)n, c->n_rows,
             c->n_rows == COMPLETE_MAX ? "+" : "");
    int x = row.w - text_width(buf_str(&b));
    canvas_text(canvas, row, x > 0 ? x : 0, 0, ST_SELECT, buf_str(&b));
    buf_release(&b);
}

void
complete_draw(const struct complete *c, struct canvas *canvas, struct rect r, int bottom,
              bool ascii)
{
    int n = c->n_rows < COMPLETE_ROWS ? (int)c->n_rows : COMPLETE_ROWS;
    size_t first = c->top;
    if (n > bottom)
        n = bottom;
    if (n < 1)
        return;
    if (c->chosen && c->selected >= first + (size_t)n)
        first = c->selected - (size_t)n + 1;
    int help = help_column(c, r.w);
    for (int i = 0; i < n; i++) {
        struct rect row = {r.x, bottom - n + i, r.w, 1};
        draw_row(c, canvas, row, first + (size_t)i, help, ascii);
    }
    if (c->n_rows > (size_t)n) { /* not over the row that is chosen */
        bool last_chosen = c->chosen && c->selected == first + (size_t)n - 1;
        struct rect row = {r.x, last_chosen ? bottom - n : bottom - 1, r.w, 1};
        if (!last_chosen || n > 1)
            draw_place(c, canvas, row, first, n);
    }
}
