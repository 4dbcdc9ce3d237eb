#include "store/shell_line.h"

#include <string.h>

#define BEGIN "<bash-input>"
#define BETWEEN "</bash-input>\n<bash-output>\n"
#define END "\n</bash-output>"

void
shell_line_write(struct buf *out, struct str command, struct str output)
{
    buf_adds(out, BEGIN);
    buf_add_str(out, command);
    buf_adds(out, BETWEEN);
    buf_add_str(out, output);
    buf_adds(out, END);
}

bool
shell_line_read(struct str text, struct str *ret_command, struct str *ret_output)
{
    if (!str_starts(text, BEGIN) || !str_ends(text, END))
        return false;
    struct str in = str_sub(text, strlen(BEGIN), text.len - strlen(BEGIN));
    const char *mid = memmem(in.ptr, in.len, BETWEEN, strlen(BETWEEN));
    if (!mid)
        return false;
    size_t at = (size_t)(mid - in.ptr), from = at + strlen(BETWEEN);
    *ret_command = str_sub(in, 0, at);
    /* an empty output shares its line end with the closing tag's */
    *ret_output =
        from + strlen(END) > in.len ? STR("") : str_sub(in, from, in.len - from - strlen(END));
    return true;
}
