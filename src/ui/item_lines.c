#include "ui/item_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/diffview.h"
#include "ui/fmt.h"

bool
item_is_markdown(const struct item *it)
{
    return it->kind == ITEM_TEXT || (it->kind == ITEM_THINKING && it->open);
}

bool
item_is_empty(const struct item *it)
{
    if (it->kind != ITEM_TEXT)
        return false;
    /* only the front is looked at: a text of many blank bytes does not come before its first word */
    return str_trim(str_sub(buf_str(&it->text), 0, 256)).len == 0;
}

bool
item_gap(const struct item *before, const struct item *it)
{
    if (before->kind == ITEM_USER || it->kind == ITEM_USER)
        return true;
    return it->kind == ITEM_TEXT || (it->kind == ITEM_ERROR && before->kind == ITEM_TEXT);
}

static bool
shows_output(const struct item *it)
{
    return it->text.len &&
           (it->is_diff || it->is_error || (it->name && strcmp(it->name, "Bash") == 0));
}

static size_t
count_lines(struct str s, size_t stop)
{
    size_t n = 0, at = 0;
    if (s.len && s.ptr[s.len - 1] == '\n')
        s.len--;
    while (n < stop && at < s.len) {
        size_t nl = str_find(s, '\n', at);
        n++;
        if (nl == (size_t)-1)
            break;
        at = nl + 1;
    }
    return n;
}

/* Lines of its output that are shown. One line alone is never folded: the note would take its room. */
static size_t
shown_most(const struct item *it)
{
    size_t most = it->open ? ITEM_OPEN_LINES : it->is_diff ? ITEM_DIFF_LINES : ITEM_OUTPUT_LINES;
    return most + (count_lines(buf_str(&it->text), most + 2) == most + 1);
}

bool
item_has_fold(const struct item *it)
{
    switch (it->kind) {
    case ITEM_THINKING:
        return it->text.len > 0;
    case ITEM_USER:
        return it->hidden && it->text.len > 0;
    case ITEM_TOOL:
        if (!it->text.len)
            return false;
        return it->open || !shows_output(it) ||
               count_lines(buf_str(&it->text), ITEM_DIFF_LINES + 2) > shown_most(it);
    default:
        return false;
    }
}

/* ---- people and notices ---- */

/* The mark around yare's own words is for the model. */
static struct str
without_tag(struct str s)
{
    static const char tag[] = "<system-reminder>", end[] = "</system-reminder>";
    s = str_trim(s);
    if (!str_starts(s, tag))
        return s;
    s = str_trim(str_sub(s, sizeof tag - 1, s.len));
    return str_ends(s, end) ? str_trim(str_sub(s, 0, s.len - (sizeof end - 1))) : s;
}

/* A message of yare's own: one line until it is opened. */
static void
hidden_lines(const struct item *it, struct lines *out, int width, bool ascii)
{
    struct flow f;
    struct str s = without_tag(buf_str(&it->text));
    flow_init(&f);
    flow_add(&f, ST_DIM, STR("(yare) "));
    if (it->open) {
        flow_add(&f, ST_DIM, s);
        flow_wrap(&f, out, &(struct indent){.width = width, .first = STR("  "), .rest = STR("  ")});
    } else {
        s = it->over ? str_from(it->over) : s;
        size_t nl = str_find(s, '\n', 0);
        flow_add(&f, ST_DIM, str_sub(s, 0, nl == (size_t)-1 ? s.len : nl));
        lines_begin(out, false);
        lines_raw(out, ST_DIM, STR("  "));
        flow_cut(&f, out, width - 2, ascii);
    }
    flow_release(&f);
}

static void
user_lines(const struct item *it, struct lines *out, int width)
{
    struct flow f;
    flow_init(&f);
    flow_add(&f, ST_USER, it->text.len ? buf_str(&it->text) : STR(" "));
    flow_wrap(
        &f, out,
        &(struct indent){.width = width, .first = STR("> "), .rest = STR("  "), .style = ST_USER});
    flow_release(&f);
}

static void
notice_lines(const struct item *it, struct lines *out, int width, bool ascii)
{
    struct flow f;
    bool error = it->kind == ITEM_ERROR;
    flow_init(&f);
    if (error)
        flow_add(&f, ST_ERROR, STR("error: "));
    flow_add(&f, error ? ST_ERROR : ST_DIM, str_trim(buf_str(&it->text)));
    struct str mark = error ? (ascii ? STR("x ") : STR("✗ ")) : ascii ? STR(". ") : STR("· ");
    flow_wrap(
        &f, out,
        &(struct indent){
            .width = width, .first = mark, .rest = STR("  "), .style = error ? ST_ERROR : ST_DIM});
    flow_release(&f);
}

static void
thinking_head(const struct item *it, struct lines *out, bool ascii)
{
    struct buf b;
    buf_init(&b, 256);
    lines_begin(out, false);
    lines_raw(out, ST_THINK,
              it->done ? STR("  Thought")
              : ascii  ? STR("* Thinking")
                       : STR("● Thinking"));
    if (it->text.len && !it->open) {
        buf_adds(&b, "  ~");
        fmt_count(&b, (int64_t)(it->text.len + 3) / 4);
        buf_adds(&b, " tokens");
        lines_raw(out, ST_DIM, buf_str(&b));
    }
    buf_release(&b);
}

/* ---- tools ---- */

/* What a tool says in one line stays one line, whatever its maker thought. */
static void
one_line(struct flow *f, enum style st, struct str s)
{
    struct str line;
    bool first = true;
    while (s.len && str_split(&s, '\n', &line)) {
        if (!first)
            flow_add(f, st, STR(" "));
        flow_add(f, st, line);
        first = false;
    }
}

static void
tool_state(const struct item *it, struct flow *f)
{
    struct buf b;
    const char *word = fmt_state_word(it->state);
    buf_init(&b, 1 << 16);
    if (*word) {
        flow_add(f, ST_DIM, STR("  "));
        flow_add(f, fmt_mark_style(it->state), str_from(word));
    }
    if (it->state == TOOL_WAITING && it->bytes > 0 && it->block_index >= 0) {
        buf_adds(&b, " ");
        fmt_bytes(&b, it->bytes);
    }
    if (it->summary && *it->summary) {
        buf_adds(&b, "  ");
        buf_adds(&b, it->summary);
    } else if (it->is_diff && it->done) {
        size_t added, removed;
        diffview_count(buf_str(&it->text), &added, &removed);
        buf_addf(&b, "  +%zu -%zu", added, removed);
    }
    one_line(f, ST_DIM, buf_str(&b));
    buf_release(&b);
}

/* What the calls from here on came to, in the words of a small model. */
static void
batch_head(const struct item *it, struct lines *out, int width, bool ascii)
{
    struct flow f;
    if (!it->over)
        return;
    flow_init(&f);
    one_line(&f, ST_DIM, str_from(it->over));
    lines_begin(out, false);
    lines_raw(out, ST_DIM, ascii ? STR("v ") : STR("▾ "));
    flow_cut(&f, out, width - 2, ascii);
    flow_release(&f);
}

/* Who comes back sees what was done in their name. */
static void
judged_row(const struct item *it, struct lines *out, int width, bool ascii)
{
    struct flow f;
    if (!it->judged)
        return;
    flow_init(&f);
    one_line(&f, ST_WARN, str_from(it->judged));
    lines_begin(out, false);
    lines_raw(out, ST_WARN, STR("    "));
    flow_cut(&f, out, width - 4, ascii);
    flow_release(&f);
}

static void
tool_head(const struct item *it, struct lines *out, int width, bool ascii)
{
    struct flow what, tail;
    flow_init(&what);
    flow_init(&tail);
    lines_begin(out, false);
    lines_raw(out, fmt_mark_style(it->state),
              it->state == TOOL_DONE ? STR(" ") : str_from(fmt_mark(it->state, ascii)));
    flow_add(&what, ST_TOOL, STR(" "));
    one_line(&what, ST_TOOL, str_from(it->name ? it->name : "tool"));
    if (it->what && *it->what) {
        flow_add(&what, ST_TEXT, STR(" "));
        one_line(&what, ST_TEXT, str_from(it->what));
    }
    tool_state(it, &tail);
    int room = width - 1 - flow_width(&tail), least = width * 2 / 5;
    int drawn = flow_cut(&what, out, room > least ? room : least, ascii);
    flow_cut(&tail, out, width - 1 - drawn, ascii);
    flow_release(&what);
    flow_release(&tail);
}

static void
more_line(struct lines *out, size_t left, bool open, bool ascii)
{
    if (!left)
        return;
    lines_begin(out, false);
    lines_addf(out, ST_DIM, "    %s %zu more line%s%s", ascii ? ".." : "…", left,
               left == 1 ? "" : "s", open ? " in the session file" : ", Enter opens");
}

/* The output's lines, `max` of them; returns how many were left out. */
static size_t
output_lines(const struct item *it, struct lines *out, int width, size_t max)
{
    struct str s = buf_str(&it->text), line;
    struct flow f;
    size_t n = 0, left = 0;
    flow_init(&f);
    if (s.len && s.ptr[s.len - 1] == '\n')
        s.len--;
    while (s.len && n < max && str_split(&s, '\n', &line)) {
        n++;
        flow_add(&f, it->is_error ? ST_WARN : ST_DIM, line);
        if (f.text.len)
            flow_break(
                &f, out,
                &(struct indent){
                    .width = width, .first = STR("    "), .rest = STR("    "), .drop = true});
        else
            lines_begin(out, false);
    }
    if (s.ptr && s.len)
        left = count_lines(s, (size_t)-1);
    flow_release(&f);
    return left;
}

static void
tool_body(const struct item *it, struct lines *out, int width, bool ascii)
{
    size_t left;
    if (it->last_line && !it->done) {
        struct flow f;
        flow_init(&f);
        one_line(&f, ST_DIM, str_from(it->last_line));
        lines_begin(out, false);
        lines_raw(out, ST_DIM, STR("    "));
        flow_cut(&f, out, width - 4, ascii);
        flow_release(&f);
    }
    if (!it->text.len || (!it->open && !shows_output(it)))
        return;
    if (it->is_diff)
        left = diffview_lines(out, buf_str(&it->text), width, 4, shown_most(it));
    else
        left = output_lines(it, out, width, shown_most(it));
    more_line(out, left, it->open, ascii);
}

/* An opened call says in full what its folded line had to cut. */
static void
tool_what(const struct item *it, struct lines *out, int width)
{
    struct flow f;
    if (!it->open || !it->what || text_width(str_from(it->what)) <= width / 2)
        return;
    flow_init(&f);
    flow_add(&f, ST_TEXT, str_from(it->what));
    flow_wrap(&f, out, &(struct indent){.width = width, .first = STR("    "), .rest = STR("    ")});
    flow_release(&f);
}

void
item_lines(const struct item *it, struct lines *out, int width, bool ascii)
{
    switch (it->kind) {
    case ITEM_USER:
        if (it->hidden)
            hidden_lines(it, out, width, ascii);
        else
            user_lines(it, out, width);
        break;
    case ITEM_TEXT:
        break;
    case ITEM_THINKING:
        thinking_head(it, out, ascii);
        break;
    case ITEM_TOOL:
        batch_head(it, out, width, ascii);
        tool_head(it, out, width, ascii);
        judged_row(it, out, width, ascii);
        tool_what(it, out, width);
        tool_body(it, out, width, ascii);
        break;
    case ITEM_NOTICE:
    case ITEM_ERROR:
        notice_lines(it, out, width, ascii);
        break;
    }
}
