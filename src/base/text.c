#include "base/text.h"

#include <string.h>
#include <utf8proc.h>

#define REPLACEMENT 0xFFFD

size_t
text_decode(struct str s, size_t off, int32_t *ret_cp)
{
    unsigned char c = (unsigned char)s.ptr[off];
    if (c < 0x80) {
        *ret_cp = c;
        return 1;
    }
    utf8proc_int32_t cp;
    utf8proc_ssize_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)s.ptr + off,
                         (utf8proc_ssize_t)(s.len - off > 4 ? 4 : s.len - off), &cp);
    if (n <= 0) {
        *ret_cp = REPLACEMENT;
        return 1;
    }
    *ret_cp = cp;
    return (size_t)n;
}

size_t
text_encode(int32_t cp, char out[4])
{
    return (size_t)utf8proc_encode_char(cp, (utf8proc_uint8_t *)out);
}

static bool
is_broken(struct str s, size_t off, size_t n, int32_t cp)
{
    return cp == REPLACEMENT && n == 1 && (unsigned char)s.ptr[off] >= 0x80;
}

bool
text_valid_utf8(struct str s)
{
    int32_t cp;
    for (size_t i = 0, n; i < s.len; i += n) {
        n = text_decode(s, i, &cp);
        if (is_broken(s, i, n, cp))
            return false;
    }
    return true;
}

size_t
text_repair(struct buf *out, struct str s)
{
    size_t replaced = 0, good = 0;
    int32_t cp;
    for (size_t i = 0, n; i < s.len; i += n) {
        n = text_decode(s, i, &cp);
        if (!is_broken(s, i, n, cp))
            continue;
        buf_add_str(out, str_sub(s, good, i - good));
        /* a run of broken bytes gives one mark each: the count stays honest */
        buf_adds(out, "\xEF\xBF\xBD");
        replaced++;
        good = i + 1;
    }
    buf_add_str(out, str_sub(s, good, s.len));
    return replaced;
}

struct str
text_start(struct str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.ptr[max] & 0xC0) == 0x80)
        max--;
    return str_sub(s, 0, max);
}

int
text_cp_width(int32_t cp)
{
    if (cp >= 0x20 && cp < 0x7F)
        return 1;
    if (cp < 0x20 || cp == 0x7F)
        return 0;
    int w = utf8proc_charwidth(cp);
    if (w == 0 && utf8proc_category(cp) == UTF8PROC_CATEGORY_MC)
        return 1; /* a vowel sign that takes up room: terminals give it a column */
    return w < 0 ? 0 : w > 2 ? 2 : w;
}

/* A mark that stands beside its letter, not over it: it takes a column of its own. */
static bool
is_beside(int32_t cp)
{
    int bound = utf8proc_get_property(cp)->boundclass;
    return (bound == UTF8PROC_BOUNDCLASS_SPACINGMARK || bound == UTF8PROC_BOUNDCLASS_EXTEND) &&
           text_cp_width(cp) == 1;
}

size_t
text_grapheme(struct str s, size_t off, int *ret_width)
{
    int32_t cp, next;
    size_t n = text_decode(s, off, &cp);
    /* Plain ASCII followed by ASCII is by far the commonest case. */
    if (cp < 0x80 && (off + n >= s.len || (unsigned char)s.ptr[off + n] < 0x80)) {
        *ret_width = text_cp_width(cp);
        return n + (cp == '\r' && off + n < s.len && s.ptr[off + n] == '\n');
    }
    int width = text_cp_width(cp);
    utf8proc_int32_t state = 0;
    size_t len = n;
    while (off + len < s.len) {
        size_t k = text_decode(s, off + len, &next);
        if (utf8proc_grapheme_break_stateful(cp, next, &state))
            break;
        if (is_beside(next)) {
            if (width == 2)
                break; /* no cluster has more than two columns: the mark is one of its own */
            width++;
        }
        /* VS16 asks for the emoji form, and two regional indicators are a flag: wide. */
        if (width == 1 && (next == 0xFE0F || (next >= 0x1F1E6 && next <= 0x1F1FF)))
            width = 2;
        if (text_cp_width(next) > width)
            width = text_cp_width(next);
        cp = next;
        len += k;
    }
    *ret_width = width;
    return len;
}

/* Between two ASCII bytes a cluster always ends, \r\n apart. */
static bool
is_border(struct str s, size_t at)
{
    unsigned char before = (unsigned char)s.ptr[at - 1], here = (unsigned char)s.ptr[at];
    return before < 0x80 && here < 0x80 && !(before == '\r' && here == '\n');
}

bool
text_in_word(char c)
{
    return (unsigned char)c >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

size_t
text_grapheme_before(struct str s, size_t off)
{
    /* Graphemes are only found forwards: start far enough back, at a line start or an ASCII byte. */
    size_t start = off > 1 ? off - 1 : 0;
    while (start > 0 && !is_border(s, start))
        start--;
    size_t at = start;
    int width;
    for (;;) {
        size_t n = text_grapheme(s, at, &width);
        if (at + n >= off)
            return at;
        at += n;
    }
}

int
text_width(struct str s)
{
    int total = 0, w;
    for (size_t i = 0; i < s.len;) {
        if (s.ptr[i] == '\t')
            w = 1, i++;
        else
            i += text_grapheme(s, i, &w);
        total += w;
    }
    return total;
}

size_t
text_fit(struct str s, int columns, int *ret_width)
{
    int total = 0, w;
    size_t i = 0;
    while (i < s.len) {
        size_t n = text_grapheme(s, i, &w);
        if (s.ptr[i] == '\t')
            w = 1;
        if (total + w > columns)
            break;
        total += w;
        i += n;
    }
    if (ret_width)
        *ret_width = total;
    return i;
}

/* A word longer than a row: behind the last slash in the second half of it, else where the row is full. */
static size_t
long_word(struct str line, size_t fit)
{
    size_t at = fit;
    while (at > fit / 2 && line.ptr[at - 1] != '/')
        at--;
    return at > fit / 2 ? at : fit;
}

/* Between two wide characters a line may be broken: their scripts write no blanks. */
static bool
is_between_wide(struct str line, size_t at)
{
    int before, behind;
    size_t start = text_grapheme_before(line, at);
    (void)text_grapheme(line, start, &before);
    (void)text_grapheme(line, at, &behind);
    return before == 2 && behind == 2;
}

bool
text_wrap(struct str *rest, int columns, struct str *ret_line)
{
    if (!rest->ptr)
        return false;
    if (columns < 1)
        columns = 1;
    size_t nl = str_find(*rest, '\n', 0);
    struct str line = nl == (size_t)-1 ? *rest : str_sub(*rest, 0, nl);
    size_t fit = text_fit(line, columns, NULL);
    if (fit == line.len) {
        *ret_line = line;
        *rest = nl == (size_t)-1 ? (struct str){0} : str_sub(*rest, nl + 1, rest->len);
        return true;
    }
    int w;
    size_t cut = fit, next = fit;
    if (line.ptr[fit] == ' ') {
        next = fit + 1;
    } else if (fit == 0 || !is_between_wide(line, fit)) {
        size_t blank = fit;
        while (blank > 0 && line.ptr[blank - 1] != ' ')
            blank--;
        /* Only indentation before the break: a cut there would make no progress worth a line. */
        if (str_trim(str_sub(line, 0, blank)).len)
            cut = blank - 1, next = blank;
    }
    if (next == fit && cut == fit && fit > 0)
        cut = next = long_word(line, fit);
    if (next == 0) /* a cluster wider than the column: it still has to go somewhere */
        cut = next = text_grapheme(line, 0, &w);
    *ret_line = str_sub(line, 0, cut);
    if (next < line.len)
        *rest = str_sub(*rest, next, rest->len);
    else /* the line was one cluster too wide: it is used up with its newline */
        *rest = nl == (size_t)-1 ? (struct str){0} : str_sub(*rest, nl + 1, rest->len);
    return true;
}

bool
text_is_unsafe_cp(int32_t cp)
{
    if (cp < 0x20)
        return cp != '\n' && cp != '\t';
    if (cp < 0x7F)
        return false;
    return cp <= 0x9F                          /* DEL, C1 */
           || cp == 0xA0 || cp == 0xAD         /* no-break space, soft hyphen */
           || cp == 0x034F || cp == 0x061C     /* grapheme joiner, Arabic letter mark */
           || cp == 0x115F || cp == 0x1160     /* Hangul fillers */
           || cp == 0x1680 || cp == 0x180E     /* odd spaces */
           || (cp >= 0x2000 && cp <= 0x200C)   /* spaces, zero width, ZWNJ */
           || cp == 0x200E || cp == 0x200F     /* direction marks */
           || (cp >= 0x2028 && cp <= 0x202F)   /* separators, bidi overrides, narrow space */
           || (cp >= 0x205F && cp <= 0x206F)   /* math space, invisible operators, isolates */
           || cp == 0x3000 || cp == 0x3164     /* ideographic space, Hangul filler */
           || cp == 0xFEFF || cp == 0xFFA0     /* BOM, half-width filler */
           || (cp >= 0xFFF9 && cp <= 0xFFFB)   /* interlinear annotation */
           || (cp >= 0xE0000 && cp <= 0xE007F) /* tags */
           || (cp >= 0xD800 && cp <= 0xDFFF);
}

bool
text_has_unsafe(struct str s)
{
    int32_t cp;
    for (size_t i = 0; i < s.len;) {
        i += text_decode(s, i, &cp);
        if (text_is_unsafe_cp(cp))
            return true;
    }
    return false;
}

void
text_visible(struct buf *out, struct str s)
{
    int32_t cp;
    for (size_t i = 0, n; i < s.len; i += n) {
        n = text_decode(s, i, &cp);
        if (is_broken(s, i, n, cp))
            buf_adds(out, "\xEF\xBF\xBD");
        else if (!text_is_unsafe_cp(cp))
            buf_add_str(out, str_sub(s, i, n));
        else if (cp < 0x20)
            buf_addf(out, "^%c", (char)(cp + '@'));
        else if (cp == 0x7F)
            buf_adds(out, "^?");
        else
            buf_addf(out, "<U+%04X>", (unsigned)cp);
    }
}

void
text_shell_quote(struct buf *out, struct str s)
{
    buf_addc(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, s.ptr[i]);
    }
    buf_addc(out, '\'');
}

static int32_t
fold_cp(int32_t cp)
{
    return utf8proc_tolower(utf8proc_toupper(cp));
}

bool
text_equal_fold(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    int32_t x, y;
    while (i < a.len && j < b.len) {
        i += text_decode(a, i, &x);
        j += text_decode(b, j, &y);
        if (x != y && fold_cp(x) != fold_cp(y))
            return false;
    }
    return i == a.len && j == b.len;
}

/* Bytes of s from `at` that are the needle in another case; 0: they are not. */
static size_t
fold_match(struct str s, size_t at, struct str needle)
{
    size_t i = at, j = 0;
    int32_t x, y;
    while (j < needle.len) {
        if (i >= s.len)
            return 0;
        i += text_decode(s, i, &x);
        j += text_decode(needle, j, &y);
        if (x != y && fold_cp(x) != fold_cp(y))
            return 0;
    }
    return i - at;
}

size_t
text_find_fold(struct str s, struct str needle, size_t from, size_t *ret_len)
{
    int32_t cp, first;
    if (!needle.len)
        return (size_t)-1;
    (void)text_decode(needle, 0, &first);
    first = fold_cp(first);
    for (size_t at = from, n; at < s.len; at += n) {
        unsigned char c = (unsigned char)s.ptr[at];
        n = 1;
        cp = c >= 'A' && c <= 'Z' ? c + 32 : c;
        if (c >= 0x80) {
            n = text_decode(s, at, &cp);
            cp = fold_cp(cp);
        }
        if (cp != first)
            continue;
        size_t len = fold_match(s, at, needle);
        if (len) {
            *ret_len = len;
            return at;
        }
    }
    return (size_t)-1;
}

bool
text_has_fold(struct str s, struct str needle)
{
    size_t len;
    return text_find_fold(s, needle, 0, &len) != (size_t)-1;
}

static bool
is_url_byte(unsigned char c)
{
    return c > ' ' && c < 0x7f && !strchr("<>\"`{}|\\^", c);
}

/* Where the address ends without the punctuation of the sentence around it; a bracket stays when it closes one of its own. */
static size_t
url_end(struct str s, size_t from, size_t end)
{
    int open = 0;
    for (size_t i = from; i < end; i++) {
        open += s.ptr[i] == '(';
        if (s.ptr[i] == ')' && open-- == 0) {
            end = i;
            break;
        }
    }
    while (end > from && strchr(".,:;!?'*_]", s.ptr[end - 1]))
        end--;
    return end;
}

size_t
text_find_url(struct str s, size_t from, size_t *ret_len)
{
    for (size_t at = from; (at = str_find(s, 'h', at)) != (size_t)-1; at++) {
        struct str rest = str_sub(s, at, s.len);
        size_t scheme = str_starts(rest, "https://") ? 8 : str_starts(rest, "http://") ? 7 : 0;
        size_t end = scheme;
        while (scheme && end < rest.len && is_url_byte((unsigned char)rest.ptr[end]))
            end++;
        end = scheme ? url_end(rest, scheme, end) : 0;
        if (scheme && end > scheme) {
            *ret_len = end;
            return at;
        }
    }
    return (size_t)-1;
}

size_t
text_lines(struct str s)
{
    size_t n = s.len && s.ptr[s.len - 1] != '\n';
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == '\n';
    return n;
}
