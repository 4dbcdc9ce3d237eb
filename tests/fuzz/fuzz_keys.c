/* Bytes of a terminal, in pieces and with time between them: the decoder never stands still, never reads past what it has,
 * and gives only keys that ui/keys.h knows. */
#include <stdlib.h>

#include "ui/keydec.h"
#include "ui/keys.h"

static void
check_key(int key)
{
    int bare = key & ~(KM_ALT | KM_CTRL | KM_SHIFT);
    if (bare < 0 || bare >= YK_NAMED_END || (bare > 0x10FFFF && bare < KEY_NAMED))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct keydec d;
    struct str paste;
    int64_t now = 0;
    int wait;
    keydec_init(&d, 0);
    keydec_own(&d, "\x1b[[5~", YK_PGUP);
    while (size) {
        /* the first byte of a piece says how long it is and how long the pause after it */
        size_t n = 1 + (data[0] & 15);
        int64_t pause = (data[0] >> 4) * 10;
        data++;
        size--;
        if (n > size)
            n = size;
        keydec_feed(&d, str_make((const char *)data, n), now);
        data += n;
        size -= n;
        size_t keys = 0;
        for (int key; (key = keydec_next(&d, now, &paste, &wait)) >= 0; keys++) {
            check_key(key);
            if (key == YK_PASTE && paste.len && !paste.ptr)
                abort();
            if (keys > 1000000)
                abort();
        }
        if (wait == 0 || wait < -1)
            abort();
        now += pause;
    }
    /* all that is pending is decided when time is up */
    now += 100000;
    while (keydec_next(&d, now, &paste, &wait) >= 0)
        ;
    if (wait != -1 || d.pasting)
        abort();
    keydec_release(&d);
    return 0;
}
