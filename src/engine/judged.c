#include "engine/judged.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/verdict.h"

/* Calls that were allowed and given up before they ran stay until so many others came. */
enum { KEPT_MAX = 4096 };

struct judged {
    char *call_id, **places;
    struct judged *next;
};

void
judged_free(char **places)
{
    for (size_t i = 0; places && places[i]; i++)
        free(places[i]);
    free(places);
}

/* Takes the first entry (or the one of that call) out of the list. */
static struct judged *
take(struct judged_list *l, const char *call_id)
{
    struct judged **at = &l->first;
    while (*at && call_id && strcmp((*at)->call_id, call_id) != 0)
        at = &(*at)->next;
    struct judged *j = *at;
    if (!j)
        return NULL;
    *at = j->next;
    if (!j->next)
        l->end = at;
    l->n--;
    return j;
}

static void
drop(struct judged *j)
{
    if (!j)
        return;
    judged_free(j->places);
    free(j->call_id);
    free(j);
}

static char **
places_of(const struct decision *d)
{
    char **places = xcalloc(d->n_effects + 1, sizeof *places);
    size_t n = 0;
    for (size_t i = 0; i < d->n_effects; i++) {
        const struct decision_effect *e = &d->effects[i];
        const char *place = e->leads ? e->leads : e->path;
        if (place && place[0] == '/')
            places[n++] = xstrdup(place);
    }
    if (n)
        return places;
    free(places);
    return NULL;
}

void
judged_note(struct judged_list *l, const char *call_id, const struct decision *d)
{
    char **places = places_of(d);
    drop(take(l, call_id));
    if (!places)
        return;
    if (l->n == KEPT_MAX)
        drop(take(l, NULL));
    struct judged *j = xcalloc(1, sizeof *j);
    j->call_id = xstrdup(call_id);
    j->places = places;
    if (!l->first)
        l->end = &l->first;
    *l->end = j;
    l->end = &j->next;
    l->n++;
}

char **
judged_take(struct judged_list *l, const char *call_id)
{
    struct judged *j = take(l, call_id);
    char **places = j ? j->places : NULL;
    if (j)
        j->places = NULL;
    drop(j);
    return places;
}

void
judged_release(struct judged_list *l)
{
    while (l->first)
        drop(take(l, NULL));
    *l = (struct judged_list){0};
}
