#pragma once
/*
 * What a tool takes out of its input. The input passed tool_validate, so types are right or tolerably wrong: weaker models send
 * "5" for 5 and "true" for true, and these getters read both. Strings are borrowed from the tree. Pure.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tools/tool.h"

struct cJSON;

struct str tool_arg_str(const struct cJSON *input, const char *key); /* ptr NULL: missing or null */
bool tool_arg_bool(const struct cJSON *input, const char *key, bool fallback);
int64_t tool_arg_int(const struct cJSON *input, const char *key, int64_t fallback);
/* The tolerant readings themselves, for the schema check. */
bool tool_read_int(const struct cJSON *n, int64_t *ret);
bool tool_read_num(const struct cJSON *n, double *ret);
bool tool_read_bool(const struct cJSON *n, bool *ret);

/* The path named by `key`, absolute and cleaned by text: against the cwd, "~/" against home. NULL when missing. Yours. */
char *tool_path_arg(const struct tool_ctx *ctx, const struct cJSON *input, const char *key);
/* As a person reads it: below cwd relative, else as it stands. Borrowed from path. */
const char *tool_path_shown(const char *path, const char *cwd);
/* describe for tools with a path argument. */
void tool_describe_path(const struct cJSON *input, const char *key, const char *cwd,
                        struct buf *out);

/* Text fit for the model: valid UTF-8 without NUL. Returns how many bytes were replaced. */
size_t tool_clean_text(struct buf *out, struct str s);
/* Characters (code points) in s, and the byte offset of the n-th (or s.len). */
size_t tool_count_chars(struct str s);
size_t tool_char_offset(struct str s, size_t n);
/* Offset of the first byte of the character that byte `at` lies in. */
size_t tool_char_start(struct str s, size_t at);
