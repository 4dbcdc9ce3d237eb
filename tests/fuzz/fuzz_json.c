/* Any bytes as JSON: what is read prints as JSON that can be read again; what is quoted reads back as a string. */
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_and_print(struct str bytes)
{
    struct err err;
    struct buf printed;
    struct cJSON *tree = json_parse(bytes, &err);
    if (!tree)
        return;
    buf_init(&printed, BUF_MAX);
    json_print(tree, &printed);
    struct cJSON *again = json_parse(buf_str(&printed), &err);
    if (!again || json_len(again) != json_len(tree))
        abort();
    /* a key that is written with escapes is not found by its bytes */
    bool plain = json_is_object(tree) && str_find(bytes, '\\', 0) == (size_t)-1;
    for (const struct cJSON *m = plain ? json_first(tree) : NULL; m; m = json_next(m))
        if (!json_raw_member(bytes, json_key(m)).ptr)
            abort();
    json_free(tree);
    json_free(again);
    buf_release(&printed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_make((const char *)data, size);
    struct err err;
    struct buf quoted;
    read_and_print(bytes);
    json_raw_member(bytes, "a");
    json_line_of(bytes, "a.b", 1);
    buf_init(&quoted, BUF_MAX);
    json_quote(&quoted, bytes);
    struct cJSON *tree = json_parse(buf_str(&quoted), &err);
    /* a NUL is the one character that JSON text can name and that is refused here */
    if (!tree && !(size && str_find(bytes, '\0', 0) != (size_t)-1))
        abort();
    json_free(tree);
    buf_release(&quoted);
    return 0;
}
