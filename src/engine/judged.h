#pragma once
/*
 * Where the files of an allowed call led when it was decided about, kept until its tool runs, which opens no other place
 * (tools/at.h). Engine thread.
 */
#include <stddef.h>

struct decision;
struct judged;

struct judged_list {
    struct judged *first, **end;
    size_t n;
};
/* A decision that names no files leaves nothing behind. A later one for the same call takes its place. */
void judged_note(struct judged_list *l, const char *call_id, const struct decision *d);
/* NULL-terminated, yours (judged_free); NULL: nothing was noted for this call. */
char **judged_take(struct judged_list *l, const char *call_id);
void judged_free(char **places);
void judged_release(struct judged_list *l);
