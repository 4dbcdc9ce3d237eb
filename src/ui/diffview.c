#include "ui/diffview.h"

#include <stdlib.h>

/* "--- a/x" and "+++ b/x" stand only before the first hunk of a file. */
static bool
is_header(struct str line, bool in_hunk)
{
    return !in_hunk && (str_starts(line, "--- ") || str_starts(line, "+++ ") ||
                        str_starts(line, "diff ") || str_starts(line, "index "));
}

/* "@@ -41,3 +42,4 @@ next_token" -> "@@ 42  next_token" */
static void
put_hunk(struct flow *f, struct str line)
{
    size_t plus = str_find(line, '+', 0),
           end = plus == (size_t)-1 ? plus : str_find(line, ' ', plus);
    size_t comma = end == (size_t)-1 ? end : str_find(line, ',', plus);
    if (end == (size_t)-1) {
        flow_add(f, ST_HUNK, line);
        return;
    }
    if (comma < end)
        end = comma;
    flow_add(f, ST_HUNK, STR("@@ "));
    flow_add(f, ST_HUNK, str_sub(line, plus + 1, end - plus - 1));
    for (size_t i = end; i + 1 < line.len; i++)
        if (line.ptr[i] == '@' && line.ptr[i + 1] == '@') {
            struct str what = str_trim(str_sub(line, i + 2, line.len));
            if (what.len) {
                flow_add(f, ST_HUNK, STR("  "));
                flow_add(f, ST_HUNK, what);
            }
            break;
        }
}

static void
put_line(struct flow *f, struct str line)
{
    char sign = line.len ? line.ptr[0] : ' ';
    struct str rest = str_sub(line, 1, line.len);
    switch (sign) {
    case '@':
        put_hunk(f, line);
        break;
    case '+':
        flow_add(f, ST_ADD, STR("+ "));
        flow_add(f, ST_ADD, rest);
        break;
    case '-':
        flow_add(f, ST_DEL, STR("- "));
        flow_add(f, ST_DEL, rest);
        break;
    case ' ':
        flow_add(f, ST_TEXT, STR("  "));
        flow_add(f, ST_TEXT, rest);
        break;
    default:
        flow_add(f, ST_DIM, line);
        break;
    }
}

size_t
diffview_lines(struct lines *out, struct str diff, int width, int indent, size_t max_lines)
{
    struct buf blanks;
    struct flow f;
    struct str line;
    size_t shown = 0, left = 0;
    bool in_hunk = false;

    buf_init(&blanks, 4096);
    for (int i = 0; i < indent + 2; i++)
        buf_addc(&blanks, ' ');
    struct str rest = buf_str(&blanks);
    flow_init(&f);
    if (diff.len && diff.ptr[diff.len - 1] == '\n')
        diff.len--;
    while (diff.len && str_split(&diff, '\n', &line)) {
        if (is_header(line, in_hunk))
            continue;
        in_hunk = true;
        if (max_lines && shown >= max_lines) {
            left++;
            continue;
        }
        shown++;
        put_line(&f, line);
        flow_break(&f, out,
                   &(struct indent){
                       .width = width, .first = str_sub(rest, 0, (size_t)indent), .rest = rest});
    }
    flow_release(&f);
    buf_release(&blanks);
    return left;
}

void
diffview_count(struct str diff, size_t *ret_added, size_t *ret_removed)
{
    struct str line;
    bool in_hunk = false;
    *ret_added = *ret_removed = 0;
    while (diff.len && str_split(&diff, '\n', &line)) {
        if (is_header(line, in_hunk))
            continue;
        in_hunk = true;
        *ret_added += line.len && line.ptr[0] == '+';
        *ret_removed += line.len && line.ptr[0] == '-';
    }
}
