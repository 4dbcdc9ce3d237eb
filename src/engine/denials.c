#include "engine/denials.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void
denials_clear(struct denials *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->rows[i].kind);
    memset(d, 0, sizeof *d);
}

static struct denials_row *
find(const struct denials *d, const char *kind)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->rows[i].kind, kind) == 0)
            return (struct denials_row *)&d->rows[i];
    return NULL;
}

int
denials_count(const struct denials *d, const char *kind)
{
    const struct denials_row *r = find(d, kind);
    return r ? r->n : 0;
}

bool
denials_add(struct denials *d, const char *kind, bool by_classifier)
{
    struct denials_row *r = find(d, kind);
    if (!r && d->n == ARRAY_LEN(d->rows))
        return false;
    if (!r) {
        r = &d->rows[d->n++];
        r->kind = xstrdup(kind);
    }
    r->n++;
    r->by_classifier += by_classifier;
    return r->n == DENIALS_OF_A_KIND;
}

void
denials_forgive_classifier(struct denials *d)
{
    for (size_t i = 0; i < d->n; i++) {
        d->rows[i].n -= d->rows[i].by_classifier;
        d->rows[i].by_classifier = 0;
    }
}
