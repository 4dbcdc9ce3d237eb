/*
 * What is not what it seems in a text that somebody is to say yes to: characters without a column, controls, another direction, and
 * letters that are taken for others. A letter is suspect by the word it stands in: a Cyrillic or Greek word is what it looks like unless
 * all its letters could be Latin ones, or some are.
 */
#include <string.h>

#include "base/text.h"
#include "ui/approval_parts.h"

#define ODD_MAX 4                      /* codes that are named of each kind */
#define LOOKED_MAX ((size_t)256 << 10) /* bytes of a text that are gone through for the warning */

enum script { SCRIPT_NONE, SCRIPT_LATIN, SCRIPT_LIKE, SCRIPT_OTHER };
enum odd { ODD_NONE, ODD_LOOK, ODD_BIDI, ODD_HIDDEN, ODD_CONTROL, ODD_TAB, ODD_KINDS };

static const char *const odd_said[ODD_KINDS] = {
    [ODD_LOOK] = "looks like others",
    [ODD_BIDI] = "direction of the text is changed",
    [ODD_HIDDEN] = "characters that do not show",
    [ODD_CONTROL] = "control characters",
    [ODD_TAB] = "tab inside a line",
};

static bool
is_one_of(const int32_t *set, size_t n, int32_t cp)
{
    for (size_t i = 0; i < n; i++)
        if (set[i] == cp)
            return true;
    return false;
}

/* Letters of Cyrillic, Greek, Armenian and Cherokee that a reader takes for Latin ones. */
static bool
is_like_latin(int32_t cp)
{
    static const int32_t set[] = {
        0x0370, 0x0391, 0x0392, 0x0395, 0x0396, 0x0397, 0x0399, 0x039A, 0x039C, 0x039D, 0x039F,
        0x03A1, 0x03A4, 0x03A5, 0x03A7, 0x03B1, 0x03B3, 0x03B9, 0x03BA, 0x03BD, 0x03BF, 0x03C1,
        0x03C3, 0x03C5, 0x03F2, 0x03F3, 0x03F9, 0x0405, 0x0406, 0x0408, 0x0410, 0x0412, 0x0415,
        0x0417, 0x041A, 0x041C, 0x041D, 0x041E, 0x0420, 0x0421, 0x0422, 0x0423, 0x0425, 0x0430,
        0x0433, 0x0435, 0x043E, 0x043F, 0x0440, 0x0441, 0x0443, 0x0445, 0x044C, 0x0455, 0x0456,
        0x0458, 0x0475, 0x04AE, 0x04AF, 0x04BB, 0x04C0, 0x04CF, 0x0501, 0x050C, 0x051B, 0x051C,
        0x051D, 0x0555, 0x0561, 0x0563, 0x0566, 0x0570, 0x0578, 0x057D, 0x0581, 0x0584, 0x0585};
    return is_one_of(set, ARRAY_LEN(set), cp);
}

/* Signs that pass for '/', '-', ':' and the like, and Latin letters in other clothes: never what they seem in a command. */
static bool
is_always_odd(int32_t cp)
{
    static const int32_t set[] = {0x01C3, 0x02D0, 0x0589, 0x2010, 0x2011, 0x2024, 0x2044, 0x2212,
                                  0x2215, 0x2216, 0x2223, 0x2236, 0x223C, 0x29F5, 0x29F8, 0xA4FA,
                                  0xA4FD, 0xA789, 0xA78C, 0xFE52, 0xFE63, 0xFE68};
    return is_one_of(set, ARRAY_LEN(set), cp) || (cp >= 0xFF01 && cp <= 0xFF5E) || /* full width */
           (cp >= 0x1D400 && cp <= 0x1D7FF) ||                                 /* mathematical */
           (cp >= 0x13A0 && cp <= 0x13F5) || (cp >= 0xAB70 && cp <= 0xABBF) || /* Cherokee */
           (cp >= 0xA4D0 && cp <= 0xA4F7);                                     /* Lisu */
}

static enum script
script_of(int32_t cp)
{
    if ((cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (cp >= 0xC0 && cp <= 0x24F))
        return SCRIPT_LATIN;
    if (cp >= 0x370 && cp <= 0x58F)
        return is_like_latin(cp) ? SCRIPT_LIKE : SCRIPT_OTHER;
    return SCRIPT_NONE;
}

/* Digits and the underscore hold a word together, and marks that have no column cannot cut one in two. */
static bool
in_word(int32_t cp)
{
    return script_of(cp) != SCRIPT_NONE || (cp >= '0' && cp <= '9') || cp == '_' ||
           (cp >= 0x80 && text_cp_width(cp) == 0);
}

/* A word, as far as its letters are needed to judge one of them. */
struct word {
    size_t end;
    bool latin, like, other;
};

static struct word
word_at(struct str s, size_t at)
{
    struct word w = {.end = at};
    int32_t cp;
    for (size_t n; w.end < s.len; w.end += n) {
        n = text_decode(s, w.end, &cp);
        if (!in_word(cp))
            break;
        enum script script = script_of(cp);
        w.latin |= script == SCRIPT_LATIN;
        w.like |= script == SCRIPT_LIKE;
        w.other |= script == SCRIPT_OTHER;
    }
    return w;
}

static bool
is_bidi(int32_t cp)
{
    return cp == 0x061C || cp == 0x200E || cp == 0x200F || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2066 && cp <= 0x2069);
}

/* `indent`: nothing but blanks stands before it on its line. */
static enum odd
odd_of(int32_t cp, const struct word *w, bool indent)
{
    if (cp == '\n')
        return ODD_NONE;
    if (cp == '\t')
        return indent ? ODD_NONE : ODD_TAB;
    if (cp < 0x20 || (cp >= 0x7F && cp <= 0x9F))
        return ODD_CONTROL;
    if (cp < 0x80)
        return ODD_NONE;
    if (is_bidi(cp))
        return ODD_BIDI;
    /* zero-width joiners, variation selectors, combining marks: they change what a word is without a column of their own */
    if (text_is_unsafe_cp(cp) || text_cp_width(cp) == 0)
        return ODD_HIDDEN;
    enum script script = script_of(cp);
    bool foreign = script == SCRIPT_LIKE || script == SCRIPT_OTHER;
    return is_always_odd(cp) || (foreign && (w->latin || !w->other)) ? ODD_LOOK : ODD_NONE;
}

/* Going through a text, character by character. */
struct walk {
    struct str s;
    size_t at, n; /* of the character: where, and how many bytes */
    int32_t cp;
    struct word word;
    bool indent;
};

static bool
walk_next(struct walk *w)
{
    w->indent = w->n == 0 || w->cp == '\n' || (w->indent && (w->cp == ' ' || w->cp == '\t'));
    w->at += w->n;
    if (w->at >= w->s.len)
        return false;
    w->n = text_decode(w->s, w->at, &w->cp);
    if (w->cp < 0x80 && !in_word(w->cp))
        w->word = (struct word){.end = w->at + w->n};
    else if (w->at >= w->word.end)
        w->word = word_at(w->s, w->at);
    return true;
}

void
strict_visible(struct buf *out, struct str s, bool ascii)
{
    struct walk w = {.s = s};
    struct buf b;
    buf_init(&b, BUF_MAX);
    while (walk_next(&w)) {
        enum odd odd = odd_of(w.cp, &w.word, w.indent);
        if ((odd != ODD_NONE || ascii) && w.cp >= 0x80)
            buf_addf(&b, "<U+%04X>", (unsigned)w.cp);
        else if (w.cp == '\r' || odd == ODD_TAB)
            buf_adds(&b, w.cp == '\r' ? "^M" : "^I");
        else
            text_visible(&b, str_sub(s, w.at, w.n));
    }
    visible_add(out, buf_str(&b)); /* only tabs that indent are left to do */
    buf_release(&b);
}

static void
add_code(struct buf *out, int32_t cp)
{
    if (cp >= 0x80)
        buf_addf(out, "U+%04X", (unsigned)cp);
    else
        buf_addf(out, "^%c", cp == 0x7F ? '?' : (char)(cp + '@'));
}

/* In a file tabs and line ends are what they are, and marks that make up a sign are no disguise. */
static enum odd
odd_in_file(enum odd odd, int32_t cp)
{
    bool plain = odd == ODD_TAB || cp == '\r' || (odd == ODD_HIDDEN && !text_is_unsafe_cp(cp));
    return plain ? ODD_NONE : odd;
}

static void
odd_words(struct buf *out, struct str s, bool file)
{
    int32_t seen[ODD_KINDS][ODD_MAX];
    size_t n[ODD_KINDS] = {0}, start = out->len;
    struct walk w = {.s = str_sub(s, 0, s.len < LOOKED_MAX ? s.len : LOOKED_MAX)};
    while (walk_next(&w)) {
        enum odd odd = odd_of(w.cp, &w.word, w.indent);
        odd = file ? odd_in_file(odd, w.cp) : odd;
        size_t known = n[odd] < ODD_MAX ? n[odd] : ODD_MAX;
        if (odd == ODD_NONE || is_one_of(seen[odd], known, w.cp))
            continue;
        if (known < ODD_MAX)
            seen[odd][known] = w.cp;
        n[odd] = known + 1;
    }
    for (int odd = ODD_LOOK; odd < ODD_KINDS; odd++) {
        if (!n[odd])
            continue;
        buf_addf(out, "%s%s:", out->len > start ? "\n" : "", odd_said[odd]);
        for (size_t i = 0; i < n[odd] && i < ODD_MAX; i++) {
            buf_addc(out, ' ');
            add_code(out, seen[odd][i]);
        }
        if (n[odd] > ODD_MAX)
            buf_adds(out, " ...");
    }
}

void
odd_lines(struct lines *out, struct str s, bool file, int width, bool ascii)
{
    struct buf b;
    struct flow f;
    struct str line;
    buf_init(&b, 4096);
    flow_init(&f);
    odd_words(&b, s, file);
    for (struct str rest = buf_str(&b); rest.len && str_split(&rest, '\n', &line);) {
        flow_add(&f, ST_WARN, STR("! "));
        flow_add(&f, ST_WARN, line);
        lines_begin(out, false);
        (void)flow_cut(&f, out, width, ascii);
    }
    flow_release(&f);
    buf_release(&b);
}
