#include "model/error_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define WORD_MAX 60

void
error_text_page(struct str page, struct buf *out)
{
    bool in_tag = false, blank = true;
    char *text = str_dup(str_sub(page, 0, ERROR_TEXT_MAX));
    const char *title = strcasestr(text, "<title>"),
               *end = title ? strcasestr(title, "</title>") : NULL;
    if (title && end) {
        title += strlen("<title>");
        buf_add_str(out, str_trim(str_make(title, (size_t)(end - title))));
        free(text);
        return;
    }
    for (const char *p = text; *p; p++) {
        if (*p == '<' || *p == '>') {
            in_tag = *p == '<';
        } else if (!in_tag) {
            bool is_blank = *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t';
            if (!is_blank || !blank)
                buf_addc(out, is_blank ? ' ' : *p);
            blank = is_blank;
        }
    }
    free(text);
}

bool
error_text_is_passing(int status)
{
    switch (status) {
    case 408:
    case 409:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
    case 529:
        return true;
    default:
        return status >= 520 && status <= 524;
    }
}

const char *
error_text_advice(int status)
{
    switch (status) {
    case 401:
        return ": check the API key";
    case 403:
        return ": the API key may not do this";
    case 404:
        return ": check the model's name and the base URL";
    default:
        return "";
    }
}

char *
error_text_word(struct str s)
{
    struct buf shown;
    buf_init(&shown, ERROR_TEXT_MAX);
    text_visible(&shown, str_sub(s, 0, WORD_MAX));
    return buf_take(&shown);
}
