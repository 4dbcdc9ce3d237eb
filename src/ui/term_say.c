/* What the terminal is told besides pictures: the bell, a notification, the clipboard. */
#include "ui/term.h"

#include "ui/term_modes.h"
#include "ui/term_private.h"

#define COPY_MAX ((size_t)74000) /* what xterm takes */

void
term_bell(void)
{
    if (term.open)
        modes_write(STR("\a"));
}

void
term_notify(const char *text)
{
    struct buf b;
    if (!term.open)
        return;
    buf_init(&b, 1024);
    buf_addf(&b, "\x1b]9;yare: %s\a", text);
    modes_write(buf_str(&b));
    buf_release(&b);
}

bool
term_copy(struct str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buf b;
    if (!term.open || text.len > COPY_MAX)
        return false;
    buf_init(&b, COPY_MAX * 2);
    buf_adds(&b, "\x1b]52;c;");
    for (size_t i = 0; i < text.len; i += 3) {
        unsigned v = 0;
        size_t n = text.len - i < 3 ? text.len - i : 3;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)text.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_addc(&b, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
    buf_adds(&b, "\a");
    modes_write(buf_str(&b));
    buf_release(&b);
    return true;
}
