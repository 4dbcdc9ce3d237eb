#include "engine/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/rebuild.h"

/* A JPEG's size may stand behind a long Exif part; nothing else is decoded so far. */
#define HEAD_MAX ((size_t)256 << 10)

/* ---- the head of a file ---- */

static int
digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* The first `max` bytes of what the base64 stands for. */
static void
decode(struct str base64, size_t max, struct buf *out)
{
    uint32_t bits = 0;
    int n = 0;
    for (size_t i = 0; i < base64.len && out->len < max; i++) {
        int d = digit_of(base64.ptr[i]);
        if (d < 0)
            return;
        bits = bits << 6 | (uint32_t)d;
        n += 6;
        if (n < 8)
            continue;
        n -= 8;
        buf_addc(out, (char)(bits >> n & 0xff));
    }
}

static uint32_t
number(struct str s, size_t at, int bytes, bool big)
{
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | (unsigned char)s.ptr[at + (size_t)(big ? i : bytes - 1 - i)];
    return v;
}

static bool
png_size(struct str s, uint32_t *w, uint32_t *h)
{
    if (s.len < 24 || memcmp(s.ptr, "\x89PNG\r\n\x1a\n", 8) != 0)
        return false;
    *w = number(s, 16, 4, true);
    *h = number(s, 20, 4, true);
    return true;
}

static bool
gif_size(struct str s, uint32_t *w, uint32_t *h)
{
    if (s.len < 10 || memcmp(s.ptr, "GIF8", 4) != 0)
        return false;
    *w = number(s, 6, 2, false);
    *h = number(s, 8, 2, false);
    return true;
}

static bool
is_frame(unsigned char marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static bool
jpeg_size(struct str s, uint32_t *w, uint32_t *h)
{
    if (s.len < 4 || memcmp(s.ptr, "\xff\xd8", 2) != 0)
        return false;
    for (size_t at = 2; at + 9 <= s.len;) {
        if ((unsigned char)s.ptr[at] != 0xff)
            return false;
        unsigned char marker = (unsigned char)s.ptr[at + 1];
        if (marker == 0xff) {
            at++;
        } else if (is_frame(marker)) {
            *h = number(s, at + 5, 2, true);
            *w = number(s, at + 7, 2, true);
            return true;
        } else {
            at += 2 + number(s, at + 2, 2, true);
        }
    }
    return false;
}

static bool
webp_size(struct str s, uint32_t *w, uint32_t *h)
{
    if (s.len < 30 || memcmp(s.ptr, "RIFF", 4) != 0 || memcmp(s.ptr + 8, "WEBP", 4) != 0)
        return false;
    if (memcmp(s.ptr + 12, "VP8X", 4) == 0) {
        *w = number(s, 24, 3, false) + 1;
        *h = number(s, 27, 3, false) + 1;
    } else if (memcmp(s.ptr + 12, "VP8L", 4) == 0) {
        uint32_t v = number(s, 21, 4, false);
        *w = (v & 0x3fff) + 1;
        *h = (v >> 14 & 0x3fff) + 1;
    } else {
        *w = number(s, 26, 2, false) & 0x3fff;
        *h = number(s, 28, 2, false) & 0x3fff;
    }
    return true;
}

static const struct {
    const char *media_type;
    bool (*size)(struct str head, uint32_t *w, uint32_t *h);
} types[] = {
    {"image/png", png_size},
    {"image/jpeg", jpeg_size},
    {"image/gif", gif_size},
    {"image/webp", webp_size},
};

/* Sides in pixels from the head of the file; false: it cannot be read. */
static bool
read_size(struct str media_type, struct str base64, uint32_t *ret_width, uint32_t *ret_height)
{
    struct buf head;
    bool ok = false;
    buf_init(&head, HEAD_MAX + 4);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!str_is(media_type, types[i].media_type))
            continue;
        decode(base64, types[i].size == jpeg_size ? HEAD_MAX : 64, &head);
        ok = types[i].size(buf_str(&head), ret_width, ret_height);
    }
    buf_release(&head);
    return ok;
}

static bool
is_wider(struct str media_type, struct str base64, uint32_t side)
{
    uint32_t w, h;
    return read_size(media_type, base64, &w, &h) && (w > side || h > side);
}

bool
images_is_large(struct str media_type, struct str base64)
{
    return is_wider(media_type, base64, IMAGES_SIDE_LARGE);
}

/* One whose head cannot be read is left to the server to judge: repair.h takes it out when it is refused. */
const char *
images_fault(struct str media_type, struct str base64, void *arg)
{
    (void)arg;
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        known |= str_is(media_type, types[i].media_type);
    if (!known)
        return "it is of a kind that the API does not take";
    if (!base64.len)
        return "it is empty";
    if (base64.len > IMAGES_BASE64_MAX)
        return "it is larger than 10 MB";
    return is_wider(media_type, base64, IMAGES_SIDE_MAX) ? "it has more than 8,000 pixels a side"
                                                         : NULL;
}

const char *
images_any(struct str media_type, struct str base64, void *arg)
{
    (void)media_type;
    (void)base64;
    (void)arg;
    return "the server refused it";
}

/* ---- in messages ---- */

/* The tree of a result that holds images; NULL: it holds none. */
static struct cJSON *
result_tree(const struct block *b)
{
    if (b->kind != BLOCK_TOOL_RESULT || !str_contains(b->raw, STR("\"image\"")))
        return NULL;
    return json_parse(b->raw, NULL);
}

static bool
is_image(const struct cJSON *n)
{
    return str_is(json_str(n, "type"), "image") && str_is(json_str(n, "source.type"), "base64");
}

/* How many of the message's images `why` names. */
static size_t
count(const struct message *m, images_why why, void *arg)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_IMAGE && b->text.ptr)
            n += why(b->name, b->text, arg) != NULL;
        struct cJSON *tree = result_tree(b);
        for (const struct cJSON *e = json_first(json_get(tree, "content")); e; e = json_next(e))
            n += is_image(e) &&
                 why(json_str(e, "source.media_type"), json_str(e, "source.data"), arg) != NULL;
        json_free(tree);
    }
    return n;
}

static const char *
why_large(struct str media_type, struct str base64, void *arg)
{
    (void)arg;
    return images_is_large(media_type, base64) ? "large" : NULL;
}

size_t
images_count(const struct message *m)
{
    return count(m, images_any, NULL);
}

size_t
images_large(const struct message *m)
{
    return count(m, why_large, NULL);
}

static char *
stand_in(const char *why)
{
    return xasprintf("(an image was left out: %s)", why);
}

/* A result with texts in place of the images that go. */
static void
write_result(struct message_builder *b, const struct block *blk, const struct cJSON *tree,
             images_why why, void *arg, bool *changed)
{
    struct buf out;
    struct jw w;
    buf_init(&out, BUF_MAX);
    jw_init(&w, &out);
    jw_object(&w);
    jw_kcstr(&w, "type", "tool_result");
    jw_kstr(&w, "tool_use_id", blk->id);
    jw_key(&w, "content");
    jw_array(&w);
    bool mine = false;
    for (const struct cJSON *e = json_first(json_get(tree, "content")); e; e = json_next(e)) {
        const char *reason =
            is_image(e) ? why(json_str(e, "source.media_type"), json_str(e, "source.data"), arg)
                        : NULL;
        struct buf one;
        buf_init(&one, BUF_MAX);
        json_print(e, &one);
        if (reason) {
            char *text = stand_in(reason);
            jw_object(&w);
            jw_kcstr(&w, "type", "text");
            jw_kcstr(&w, "text", text);
            jw_end(&w);
            free(text);
        } else {
            jw_raw(&w, buf_str(&one));
        }
        mine |= reason != NULL;
        buf_release(&one);
    }
    jw_end(&w);
    if (blk->is_error)
        jw_kbool(&w, "is_error", true);
    jw_end(&w);
    message_add_raw(b, mine ? buf_str(&out) : blk->raw);
    *changed |= mine;
    buf_release(&out);
}

static void
copy_or_replace(struct message_builder *b, const struct block *blk, images_why why, void *arg,
                bool *changed)
{
    const char *reason =
        blk->kind == BLOCK_IMAGE && blk->text.ptr ? why(blk->name, blk->text, arg) : NULL;
    struct cJSON *tree = result_tree(blk);
    if (reason) {
        char *text = stand_in(reason);
        message_add_text(b, str_from(text));
        free(text);
        *changed = true;
    } else if (tree) {
        write_result(b, blk, tree, why, arg, changed);
    } else {
        rebuild_block(b, blk);
    }
    json_free(tree);
}

const struct message *
images_replace(const struct message *m, images_why why, void *arg)
{
    bool changed = false;
    struct message_builder *b = message_builder_new(m->role);
    for (size_t i = 0; i < m->n_blocks; i++)
        copy_or_replace(b, &m->blocks[i], why, arg, &changed);
    if (!changed) {
        message_builder_free(b);
        return NULL;
    }
    return rebuild_finish(b, m);
}
