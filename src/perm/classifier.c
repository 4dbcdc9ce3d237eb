/* What a classifier's answer does to an ask that it may lift. Anything but a clear "allow" or "block" asks. */
#include <string.h>

#include "perm/chain.h"

bool
perm_chain_classifier_may(const struct decision *d)
{
    if (d->verdict != VERDICT_ASK || d->liftable_by != LIFT_CLASSIFIER)
        return false;
    for (size_t i = 0; i < d->n_findings; i++)
        if (strcmp(d->findings[i].layer, "L6") == 0 && d->findings[i].verdict == VERDICT_NONE)
            return true;
    return false;
}

static void
say(struct decision *d, enum verdict v, const struct perm_opinion *o, const char *what)
{
    const char *reason = o->failure ? o->failure : o->reason;
    struct finding *f =
        decision_add(d, "L6", v, NULL, NULL, "%s%s%s%s", what, o->kept ? " (as it did before)" : "",
                     reason ? ": " : "", reason ? reason : "");
    f->confidence = !o->failure && o->confidence >= 0 && o->confidence <= 1 ? o->confidence : 0;
}

/* The asks that were put to the classifier become notes. */
static void
lift(struct decision *d)
{
    for (size_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].verdict == VERDICT_ASK)
            d->findings[i].verdict = VERDICT_NONE;
    d->verdict = VERDICT_ALLOW;
    d->liftable_by = LIFT_NONE;
}

static void
apply(struct decision *d, const struct perm_opinion *o)
{
    const char *verdict = o->verdict ? o->verdict : "";
    bool allow = strcmp(verdict, "allow") == 0, block = strcmp(verdict, "block") == 0;
    bool sure = o->confidence >= PERM_CONFIDENT && o->confidence <= 1;
    if (o->failure) {
        say(d, VERDICT_ASK, o, "the classifier gave no verdict");
    } else if ((allow || block) && !sure) {
        say(d, VERDICT_ASK, o,
            allow ? "the classifier would allow it but is not sure enough"
                  : "the classifier would block it but is not sure enough");
    } else if (block) {
        say(d, VERDICT_DENY, o, "the classifier blocks it");
        d->verdict = VERDICT_DENY;
        d->liftable_by = LIFT_NONE;
    } else if (allow) {
        lift(d);
        say(d, VERDICT_ALLOW, o, "the classifier allows it");
    } else {
        say(d, VERDICT_ASK, o, "the classifier wants a person to decide");
    }
}

void
perm_chain_apply_classifier(struct decision *d, const struct perm_opinion *o, bool interactive)
{
    if (d->verdict == VERDICT_ASK && d->liftable_by == LIFT_CLASSIFIER)
        apply(d, o);
    if (d->verdict == VERDICT_ASK && !interactive) {
        decision_add(d, "mode", VERDICT_DENY, NULL, NULL,
                     "it needs an approval and nobody is here to answer");
        d->verdict = VERDICT_DENY;
        d->liftable_by = LIFT_NONE;
    }
}
