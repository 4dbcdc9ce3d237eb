#include "base/text_form.h"

#include <stdlib.h>
#include <utf8proc.h>

bool
text_one_form(struct str s, struct buf *out)
{
    utf8proc_uint8_t *form = NULL;
    size_t i = 0;
    while (i < s.len && (unsigned char)s.ptr[i] < 0x80)
        i++;
    if (i == s.len)
        return false;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)s.ptr, (utf8proc_ssize_t)s.len, &form,
                     UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE);
    if (n < 0)
        return false;
    buf_add(out, (const char *)form, (size_t)n);
    free(form);
    return true;
}
