#pragma once
/*
 * Repeated refusals of one kind (F10). A kind is what a rule could speak of: the words of a deny rule, "Bash(npm publish:*)", a program, a
 * tool and a path. The third refusal of a kind in a turn stops it: further calls of that kind are denied without asking
 * anybody, until the person says something. Plain counting; engine thread.
 */
#include <stdbool.h>
#include <stddef.h>

#define DENIALS_OF_A_KIND 3

struct denials {
    struct denials_row {
        char *kind;
        int n, by_classifier;
    } rows[64]; /* the first ones; a turn that has more is not held up by this */
    size_t n;
};
void denials_clear(struct denials *d); /* also in place of a release */
int denials_count(const struct denials *d, const char *kind);
/* One more; true: this one reached DENIALS_OF_A_KIND. */
bool denials_add(struct denials *d, const char *kind, bool by_classifier);
/* A person is asked in the classifier's place from now on: what it refused counts no longer. */
void denials_forgive_classifier(struct denials *d);
