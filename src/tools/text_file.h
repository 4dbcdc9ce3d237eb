#pragma once
/*
 * A text file as the model sees it and as it lies on disk. `text` is UTF-8 without a byte order mark; `raw` are the bytes.
 * Changes are made as ranges of `text` and applied to `raw`, so that every byte outside a changed range stays what it was:
 * line endings, mark, odd bytes and all.
 *
 * Encodings: UTF-8 (with or without mark), UTF-16 with mark, and latin-1 for what is no UTF-8. A stray byte that is no
 * UTF-8 in a file that otherwise is shows as U+FFFD and stays untouched.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

enum text_encoding { TEXT_UTF8, TEXT_UTF16LE, TEXT_UTF16BE, TEXT_LATIN1 };

/* What the first bytes say a file is. */
enum file_kind { KIND_TEXT, KIND_BINARY, KIND_PNG, KIND_JPEG, KIND_GIF, KIND_WEBP, KIND_PDF };

struct text_file {
    enum text_encoding encoding;
    size_t bom; /* bytes of the mark at the start of raw */
    struct buf raw, text;
    struct stat st;
    int64_t mtime_ns;
};

enum { TEXT_FILE_MAX = 48 << 20 };

struct text_change {
    size_t at, len; /* in text */
    struct str with;
};

/* Opens for reading without ever blocking or following a link (tools/at.h); only regular files. -1 and err else. */
int text_file_open(const char *path, struct stat *ret_st, struct err *err);
enum file_kind text_file_kind(struct str head);

/* Loads and decodes. A binary file is ERR_UNSUPPORTED, one past TEXT_FILE_MAX ERR_LIMIT. Release also after failure. */
bool text_file_load(const char *path, struct text_file *ret, struct err *err) MUST_CHECK;
/* ... from an open file whose stat is st; path is for errors. fd stays the caller's. */
bool text_file_load_fd(int fd, const struct stat *st, const char *path, struct text_file *ret,
                       struct err *err) MUST_CHECK;
void text_file_init(struct text_file *f);
void text_file_release(struct text_file *f);
/* Decodes f->raw into f->text. */
void text_file_decode(struct text_file *f);
/* Applies changes (in order, not overlapping) and gives the new raw bytes; false when a character cannot be written in
 * the file's encoding. */
bool text_file_apply(const struct text_file *f, const struct text_change *changes, size_t n,
                     struct buf *ret_raw, struct err *err) MUST_CHECK;
/* Whole new content in the file's encoding, with its mark. */
bool text_file_encode(const struct text_file *f, struct str text, struct buf *ret_raw,
                      struct err *err) MUST_CHECK;
/* Replaces the file, in the folder that holds it by its descriptor, if it still is the one that was loaded (ERR_STALE else); gives the new mtime. */
bool text_file_save(const struct text_file *f, const char *path, struct str raw,
                    int64_t *ret_mtime_ns, struct err *err) MUST_CHECK;
