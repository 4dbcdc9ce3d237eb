#include "engine/summary.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define UNFORMED_MIN 400 /* a text without headings counts from here */
#define SAME_MIN 24      /* a line of so many bytes is not said twice in a section */
#define CUT "...\n"

static const struct {
    const char *heading;
    unsigned share;
} sections[] = {
#define X(id, heading, share, what) [id] = {heading, share},
    SUMMARY_SECTIONS(X)
#undef X
};

void
summary_init(struct summary *s)
{
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++)
        buf_init(&s->part[i], BUF_MAX);
}

void
summary_release(struct summary *s)
{
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++)
        buf_release(&s->part[i]);
}

/* ---- reading ---- */

/* Without the marks that make a line a heading; ptr NULL: it is none. "Task: rest" is one with its text on the line. */
static struct str
heading_words(struct str line)
{
    struct str s = str_trim(line);
    size_t marks = 0;
    while (marks < s.len && (s.ptr[marks] == '#' || s.ptr[marks] == '*' || s.ptr[marks] == ' ' ||
                             isdigit((unsigned char)s.ptr[marks]) || s.ptr[marks] == '.'))
        marks++;
    bool marked = marks > 0 && (s.ptr[0] == '#' || s.ptr[0] == '*');
    s = str_sub(s, marks, s.len);
    while (s.len && (s.ptr[s.len - 1] == ':' || s.ptr[s.len - 1] == '*' ||
                     s.ptr[s.len - 1] == '#' || s.ptr[s.len - 1] == ' '))
        s.len--;
    return marked ? s : (struct str){0};
}

/* The section, or -1. "Files and code" is Files. */
static int
section_of(struct str line)
{
    struct str s = heading_words(line);
    for (int i = 0; s.ptr && i < SUMMARY_SECTION_COUNT; i++) {
        size_t n = strlen(sections[i].heading);
        n = i == SUMMARY_NEXT ? 4 : n; /* "Next steps" */
        if (s.len >= n && strncasecmp(s.ptr, sections[i].heading, n) == 0 &&
            (s.len == n || !isalpha((unsigned char)s.ptr[n]) || i == SUMMARY_TASK))
            return i;
    }
    return -1;
}

static bool
has_line(struct str text, struct str line)
{
    struct str rest = text, one;
    while (str_split(&rest, '\n', &one))
        if (str_eq(str_trim(one), line))
            return true;
    return false;
}

/* An older summary inside of the answer comes apart here: its headings are the same, its lines are said once. */
static void
add_line(struct buf *to, struct str line)
{
    struct str bare = str_trim(line);
    if (!bare.len ? !to->len : bare.len >= SAME_MIN && has_line(buf_str(to), bare))
        return;
    buf_add_str(to, line);
    buf_addc(to, '\n');
}

static void
trim_end(struct buf *b)
{
    while (b->len && isspace((unsigned char)b->data[b->len - 1]))
        buf_truncate(b, b->len - 1);
    if (b->len)
        buf_addc(b, '\n');
}

bool
summary_parse(struct str answer, struct summary *ret, const char **ret_why)
{
    struct str rest = answer, line;
    bool fenced = false;
    int at = -1, found = 0;
    while (str_split(&rest, '\n', &line)) {
        int to = fenced ? -1 : section_of(line);
        fenced ^= str_starts(str_trim(line), "```");
        if (to >= 0) {
            at = to;
            found++;
        } else if (at >= 0) {
            add_line(&ret->part[at], line);
        }
    }
    size_t bytes = 0;
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++) {
        trim_end(&ret->part[i]);
        bytes += ret->part[i].len;
    }
    if (found && bytes)
        return true;
    answer = str_trim(answer);
    if (answer.len >= UNFORMED_MIN) {
        add_line(&ret->part[SUMMARY_STATE], answer);
        return true;
    }
    *ret_why = "the answer is no summary";
    return false;
}

/* ---- bounding ---- */

static void
cut(struct buf *b, size_t max)
{
    if (b->len <= max)
        return;
    size_t end = max > sizeof CUT - 1 ? max - (sizeof CUT - 1) : 0, line = end;
    while (line > 0 && b->data[line - 1] != '\n')
        line--;
    if (line > end / 2)
        end = line;
    buf_truncate(b, text_start(buf_str(b), end).len);
    if (b->len)
        buf_adds(b, CUT);
}

static size_t
written(const struct summary *s, size_t i)
{
    return s->part[i].len ? s->part[i].len + strlen(sections[i].heading) + 5 : 0;
}

static size_t
all_written(const struct summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++)
        n += written(s, i);
    return n;
}

/* What is smaller than its share leaves the rest of it to the others. */
void
summary_bound(struct summary *s, size_t max_bytes)
{
    bool settled[SUMMARY_SECTION_COUNT] = {0};
    size_t left = max_bytes, shares = 0;
    if (all_written(s) <= max_bytes)
        return;
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++)
        shares += sections[i].share;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++) {
            if (settled[i] || written(s, i) > left * sections[i].share / shares)
                continue;
            settled[i] = again = true;
            left -= written(s, i);
            shares -= sections[i].share;
            if (!shares)
                return;
        }
    }
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++) {
        size_t head = written(s, i) - s->part[i].len, room = left * sections[i].share / shares;
        if (!settled[i])
            cut(&s->part[i], room > head ? room - head : 0);
    }
}

void
summary_write(const struct summary *s, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < SUMMARY_SECTION_COUNT; i++) {
        if (!s->part[i].len)
            continue;
        buf_addf(out, "%s## %s\n", first ? "" : "\n", sections[i].heading);
        buf_add_str(out, buf_str(&s->part[i]));
        first = false;
    }
}
