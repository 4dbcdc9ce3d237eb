#pragma once
/*
 * Syntax colours for code: tree-sitter's grammars with the highlight queries of their own packages. A `struct highlight` is one
 * block of code whose text only grows, so a block that streams in is parsed on from where it stood. The colours of a byte depend
 * on the text up to the last highlight_add and on nothing else. What is unknown, very long, or takes the parser too long
 * stays plain (ST_CODE). A language's tables are made ready when its name is first asked for. UI thread.
 *
 *     struct highlight *h = highlight_new(str_from("c"));
 *     highlight_add(h, str_from("int x;\n"));
 *     highlight_styles(h, 0, 7, styles);
 *     highlight_free(h);
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define HIGHLIGHT_MAX ((size_t)128 << 10) /* bytes of a block that are looked at */

struct highlight;
/* lang: what stands behind a fence, or a file name's extension. NULL: no such language, the code stays as it is. */
struct highlight *highlight_new(struct str lang);
void highlight_free(struct highlight *h); /* NULL is fine */
void highlight_add(struct highlight *h, struct str text);
/* Forgets what was parsed. A block that is parsed whole may get other colours than one that was parsed as it came in. */
void highlight_afresh(struct highlight *h);
/* The roles (enum style) of the bytes [from, from + len) of the block. */
void highlight_styles(struct highlight *h, size_t from, size_t len, uint8_t *ret);
