#include "tools/read_image.h"

#include <stdio.h>

#include "base/json.h"

enum { IMAGE_MAX = 3750000 }; /* 5 MB as base64, the API's limit */

static void
add_base64(struct buf *out, struct str s)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < s.len; i += 3) {
        size_t n = s.len - i < 3 ? s.len - i : 3;
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)s.ptr[i + k] : 0u);
        char c[4] = {set[v >> 18], set[v >> 12 & 63], n > 1 ? set[v >> 6 & 63] : '=',
                     n > 2 ? set[v & 63] : '='};
        buf_add(out, c, 4);
    }
}

void
read_image(struct str bytes, enum file_kind kind, const char *path, struct tool_result *ret)
{
    const char *type = kind == KIND_PNG    ? "image/png"
                       : kind == KIND_JPEG ? "image/jpeg"
                       : kind == KIND_GIF  ? "image/gif"
                                           : "image/webp";
    struct jw w;

    if (bytes.len > IMAGE_MAX) {
        tool_result_fail(
            ret, "The image %s has %zu bytes; at most %d can be shown. Make a smaller copy first.",
            path, bytes.len, IMAGE_MAX);
        return;
    }
    add_base64(&ret->image, bytes);
    snprintf(ret->image_type, sizeof ret->image_type, "%s", type);
    buf_addf(&ret->text, "Image %s (%s, %zu bytes)", path, type, bytes.len);
    snprintf(ret->summary, sizeof ret->summary, "image, %zu bytes", bytes.len);
    jw_init(&w, &ret->data);
    jw_object(&w);
    jw_kcstr(&w, "type", "image");
    jw_key(&w, "file");
    jw_object(&w);
    jw_kcstr(&w, "filePath", path);
    jw_kcstr(&w, "type", type);
    jw_kint(&w, "originalSize", (int64_t)bytes.len);
    jw_end(&w);
    jw_end(&w);
}
