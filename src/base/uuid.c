#include "base/uuid.h"

#include <string.h>
#include <sys/random.h>

#include "base/err.h"

void
uuid_make(char out[UUID_LEN + 1])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        die("the system gave no random bytes");
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    char *p = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[b[i] >> 4];
        *p++ = hex[b[i] & 15];
    }
    *p = '\0';
}

bool
uuid_valid(const char *s)
{
    if (strlen(s) != UUID_LEN)
        return false;
    for (int i = 0; i < UUID_LEN; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (s[i] != '-')
                return false;
        } else if (!strchr("0123456789abcdefABCDEF", s[i])) {
            return false;
        }
    }
    return true;
}
