#pragma once
/*
 * Columns and graphemes live here and nowhere else (utf8proc underneath). Text is UTF-8; invalid bytes count as one
 * column each and are shown as U+FFFD. Pure functions, thread-safe.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Decodes one code point at off (< s.len); returns bytes used (>= 1); invalid: U+FFFD, 1 byte. */
size_t text_decode(struct str s, size_t off, int32_t *ret_cp);
size_t text_encode(int32_t cp, char out[4]);
bool text_valid_utf8(struct str s);
/* Copies s with each invalid sequence replaced by U+FFFD; returns how many bytes were replaced. */
size_t text_repair(struct buf *out, struct str s);
/* The beginning of s, at most max bytes, at a whole character. */
struct str text_start(struct str s, size_t max);
/* Columns of one code point: 0 (combining, control), 1 or 2. */
int text_cp_width(int32_t cp);
/* The grapheme cluster that starts at off: its byte length (>= 1) and its columns (0 to 2). */
size_t text_grapheme(struct str s, size_t off, int *ret_width);
/* Offset of the grapheme that ends at off (off > 0). */
size_t text_grapheme_before(struct str s, size_t off);
/* Of a word that editing keys step over: letters, digits, '_', and all that is not ASCII. */
bool text_in_word(char c);
size_t text_lines(struct str s); /* a last one without its end counts */
/* columns of a line without newlines; tabs count 1 */
int text_width(struct str s);
/* bytes of the longest prefix within the columns */
size_t text_fit(struct str s, int columns, int *ret_width);
/* The next line of at most `columns` from *rest, broken at blanks or between wide characters where possible, a
 * longer word behind a slash or at a grapheme; the blank at a break is dropped. False when *rest is used up. A newline ends a line; an empty line is a line. */
bool text_wrap(struct str *rest, int columns, struct str *ret_line);
/* True for what must be shown visibly, never sent raw: C0 and C1 controls (\n and \t apart), DEL, bidi overrides and
 * isolates, zero-width and odd spaces that can hide text, tag characters. */
bool text_is_unsafe_cp(int32_t cp);
/* Copies s with every unsafe code point as visible text (^[ for ESC, <U+202E> ...); \n and \t stay. */
void text_visible(struct buf *out, struct str s);
bool text_has_unsafe(struct str s);
/* Appends s as one word of a POSIX shell, in single quotes whatever it holds. */
void text_shell_quote(struct buf *out, struct str s);
/* Same text when compared without case (Unicode simple fold). */
bool text_equal_fold(struct str a, struct str b);
/* Where the needle stands in s at or after `from`, without case (Unicode simple fold); *ret_len: its bytes there. (size_t)-1: nowhere. */
size_t text_find_fold(struct str s, struct str needle, size_t from, size_t *ret_len);
/* it stands somewhere in there; an empty one does not */
bool text_has_fold(struct str s, struct str needle);
/* The next http or https address in s at or after `from`, without the punctuation behind it; (size_t)-1: none. */
size_t text_find_url(struct str s, size_t from, size_t *ret_len);
