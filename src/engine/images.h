#pragma once
/*
 * Images in messages, as blocks of their own and in tool results: which the Messages API takes (png, jpeg, gif and
 * webp, 10 MB of base64, 8,000 pixels a side; 2,000 where a request has many), and messages without those it does not. Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

#define IMAGES_BASE64_MAX ((size_t)10 << 20)
#define IMAGES_SIDE_MAX 8000
#define IMAGES_SIDE_LARGE 2000

bool images_is_large(struct str media_type, struct str base64);
size_t images_count(const struct message *m);
size_t images_large(const struct message *m);

/* Says why an image goes; NULL: it stays. */
typedef const char *(*images_why)(struct str media_type, struct str base64, void *arg);
const char *images_fault(struct str media_type, struct str base64, void *arg); /* may not be sent */
const char *images_any(struct str media_type, struct str base64, void *arg);   /* each */
/* The message with a text in place of each image that goes, a new reference; NULL: all stay. */
const struct message *images_replace(const struct message *m, images_why why, void *arg);
