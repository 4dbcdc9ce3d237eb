/* What to tell a model whose old_string is not there: the line most like it, with its whitespace made visible. */
#include <string.h>

#include "base/text.h"
#include "tools/args.h"
#include "tools/edit_match.h"

enum { MAX_LINES = 200000, MAX_COMPARED = 400, SHOWN_CHARS = 160 };

static struct str
first_telling_line(struct str old)
{
    struct str line, best = {"", 0};

    while (str_split(&old, '\n', &line)) {
        struct str t = str_trim(line);
        if (t.len > str_trim(best).len)
            best = line;
        if (t.len >= 8)
            break;
    }
    return best;
}

/* How many pairs of neighbouring bytes two lines share, from 0 to 1000. */
static unsigned
likeness(struct str a, struct str b)
{
    unsigned short count[1024] = {0};
    size_t shared = 0;

    a = str_sub(str_trim(a), 0, MAX_COMPARED);
    b = str_sub(str_trim(b), 0, MAX_COMPARED);
    if (str_eq(a, b))
        return 1000;
    if (a.len < 2 || b.len < 2)
        return 0;
    for (size_t i = 0; i + 1 < a.len; i++)
        count[((unsigned char)a.ptr[i] * 31u + (unsigned char)a.ptr[i + 1]) % 1024]++;
    for (size_t i = 0; i + 1 < b.len; i++) {
        unsigned short *c =
            &count[((unsigned char)b.ptr[i] * 31u + (unsigned char)b.ptr[i + 1]) % 1024];
        if (*c) {
            --*c;
            shared++;
        }
    }
    return (unsigned)(2000 * shared / (a.len + b.len - 2));
}

bool
edit_nearest_line(struct str text, struct str old, size_t *ret_number, struct str *ret_line,
                  struct str *ret_old_line)
{
    struct str want = first_telling_line(old), line;
    unsigned best = 400; /* less than that is no likeness */
    bool found = false;

    for (size_t n = 1; n <= MAX_LINES && str_split(&text, '\n', &line); n++) {
        unsigned l = likeness(want, line);
        if (l <= best)
            continue;
        best = l;
        found = true;
        *ret_number = n;
        *ret_line = line;
        if (l == 1000)
            break;
    }
    *ret_old_line = want;
    return found;
}

void
edit_show_line(struct buf *out, struct str line)
{
    size_t cut = tool_char_offset(line, SHOWN_CHARS), start = 0, end;
    bool is_cut = cut < line.len;
    struct buf safe;

    line.len = cut;
    end = line.len;
    while (start < line.len && (line.ptr[start] == ' ' || line.ptr[start] == '\t'))
        start++;
    while (end > start && (line.ptr[end - 1] == ' ' || line.ptr[end - 1] == '\t'))
        end--;
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '\t') {
            buf_adds(out, "→");
        } else if (line.ptr[i] == ' ' && (i < start || i >= end)) {
            buf_adds(out, "·");
        } else {
            size_t n = i;
            while (n < line.len && line.ptr[n] != '\t' &&
                   !(line.ptr[n] == ' ' && (n < start || n >= end)))
                n++;
            buf_init(&safe, BUF_MAX);
            tool_clean_text(&safe, str_sub(line, i, n - i));
            text_visible(out, buf_str(&safe));
            buf_release(&safe);
            i = n - 1;
        }
    }
    if (is_cut)
        buf_adds(out, "...");
}
