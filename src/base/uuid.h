#pragma once
/* Random ids. Version 4 UUID text (RFC 9562), 36 characters and NUL. Thread-safe. */
#include <stdbool.h>

#define UUID_LEN 36
void uuid_make(char out[UUID_LEN + 1]);
bool uuid_valid(const char *s);
