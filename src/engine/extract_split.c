/* Where a sentence ends, in prose, code, lists and output. */
#include <string.h>
#include <strings.h>

#include "engine/extract.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Gives what stands in s, in pieces where it is long. */
static void
give(struct str s, extract_fn fn, void *user)
{
    s = str_trim(s);
    while (s.len > EXTRACT_SENTENCE) {
        size_t at = EXTRACT_SENTENCE;
        while (at > EXTRACT_SENTENCE / 2 && !is_blank(s.ptr[at]) && s.ptr[at] != '\n')
            at--;
        if (at == EXTRACT_SENTENCE / 2)
            at = EXTRACT_SENTENCE;
        while (at > 1 && ((unsigned char)s.ptr[at] & 0xC0) == 0x80)
            at--;
        fn(user, str_trim(str_sub(s, 0, at)), true);
        s = str_trim(str_sub(s, at, s.len));
    }
    if (s.len)
        fn(user, s, false);
}

/* Words whose dot ends no sentence. */
static bool
is_abbreviation(struct str before)
{
    static const char *const known[] = {"e.g", "i.e", "etc", "vs", "cf",  "approx", "resp",
                                        "no",  "fig", "dr",  "mr", "mrs", "st",     "al"};
    size_t from = before.len;
    while (from > 0 && (is_letter(before.ptr[from - 1]) || before.ptr[from - 1] == '.'))
        from--;
    struct str word = str_sub(before, from, before.len - from);
    if (word.len == 1)
        return true; /* an initial */
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (word.len == strlen(known[i]) && strncasecmp(word.ptr, known[i], word.len) == 0)
            return true;
    return false;
}

/* Does the mark at `at` end a sentence of the paragraph? */
static bool
ends_here(struct str p, size_t at)
{
    size_t next = at + 1;
    while (next < p.len && memchr("\"')]`*", p.ptr[next], 6))
        next++;
    if (next < p.len && !is_blank(p.ptr[next]) && p.ptr[next] != '\n')
        return false; /* inside a path, a number, a name */
    if (p.ptr[at] == '.' && is_abbreviation(str_sub(p, 0, at)))
        return false;
    while (next < p.len && (is_blank(p.ptr[next]) || p.ptr[next] == '\n'))
        next++;
    /* what goes on in lower case is the same sentence */
    return next >= p.len || p.ptr[next] < 'a' || p.ptr[next] > 'z';
}

static void
split_prose(struct str p, extract_fn fn, void *user)
{
    size_t from = 0;
    for (size_t i = 0; i < p.len; i++) {
        if ((p.ptr[i] != '.' && p.ptr[i] != '!' && p.ptr[i] != '?') || !ends_here(p, i))
            continue;
        give(str_sub(p, from, i + 1 - from), fn, user);
        from = i + 1;
    }
    give(str_sub(p, from, p.len - from), fn, user);
}

static bool
is_list_item(struct str line)
{
    if (line.len < 2)
        return false;
    if (memchr("-*+>|#", line.ptr[0], 6) && (is_blank(line.ptr[1]) || line.ptr[1] == line.ptr[0]))
        return true;
    size_t i = 0;
    while (i < line.len && line.ptr[i] >= '0' && line.ptr[i] <= '9')
        i++;
    return i > 0 && i < line.len && memchr(".):\t|", line.ptr[i], 5);
}

/* A line that stands for itself: code, a list, output of a program. Prose begins with a letter at the margin and goes on in words. */
static bool
is_own_line(struct str raw)
{
    struct str line = str_trim(raw);
    if (!line.len || is_list_item(line) || is_blank(raw.ptr[0]))
        return true;
    char last = line.ptr[line.len - 1];
    if (memchr("{};,:=\\", last, 7))
        return true;
    size_t letters = 0, blanks = 0;
    size_t look = line.len < 200 ? line.len : 200;
    for (size_t i = 0; i < look; i++) {
        letters += is_letter(line.ptr[i]);
        blanks += is_blank(line.ptr[i]);
    }
    return (letters + blanks) * 10 < look * 7 || (blanks == 0 && look > 20);
}

/* Prose that goes on in the next line fills its own about so far. */
#define WRAPPED 60

void
extract_split(struct str text, extract_fn fn, void *user)
{
    bool fenced = false;
    size_t from = 0; /* of the paragraph of prose that is gathered */
    for (size_t at = 0; at < text.len;) {
        size_t nl = str_find(text, '\n', at);
        size_t end = nl == (size_t)-1 ? text.len : nl;
        struct str raw = str_sub(text, at, end - at), line = str_trim(raw);
        bool fence = str_starts(line, "```") || str_starts(line, "~~~");
        fenced ^= fence;
        if (fence || fenced || is_own_line(raw)) {
            split_prose(str_sub(text, from, at - from), fn, user);
            if (!fence)
                give(line, fn, user);
            from = end < text.len ? end + 1 : text.len;
        } else if (line.len < WRAPPED) {
            split_prose(str_sub(text, from, end - from), fn, user);
            from = end < text.len ? end + 1 : text.len;
        }
        at = end + 1;
    }
    if (from < text.len)
        split_prose(str_sub(text, from, text.len - from), fn, user);
}
