#pragma once
/* One session's file as the lists show it. Only session*.c include this. */
#include "store/session.h"

enum { ID_MAX = 36 };

/* words: blank-separated; the title or a prompt must hold them all (then s->matched, with an excerpt). False: the file cannot
 * be read. */
bool session_info_load(const char *path, const char *id, struct str words,
                       struct session_info *ret);
void session_info_release(struct session_info *s);
