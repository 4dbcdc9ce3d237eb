/* What a classifier's answer does to an ask that it may lift. Anything but a clear "allow" or "block" asks. */
#include <string.h>

#include "perm/chain.h"

/* Below this an answer is a guess. */
static const double confident = 0.8;

static void
say(struct decision *d, enum verdict v, double confidence, const char *reason)
{
    struct finding *f = decision_add(d, "L6", v, NULL, NULL, "%s", reason);
    f->confidence = confidence >= 0 && confidence <= 1 ? confidence : 0;
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

void
perm_chain_apply_classifier(struct decision *d, const char *verdict, double confidence,
                            bool interactive)
{
    if (d->verdict == VERDICT_ASK && d->liftable_by == LIFT_CLASSIFIER) {
        bool sure = confidence >= confident && confidence <= 1;
        if (verdict && strcmp(verdict, "block") == 0) {
            say(d, VERDICT_DENY, confidence, "the classifier blocks it");
            d->verdict = VERDICT_DENY;
            d->liftable_by = LIFT_NONE;
        } else if (verdict && strcmp(verdict, "allow") == 0 && sure) {
            lift(d);
            say(d, VERDICT_ALLOW, confidence, "the classifier allows it");
        } else {
            say(d, VERDICT_ASK, confidence, "the classifier has no clear answer");
        }
    }
    if (d->verdict == VERDICT_ASK && !interactive) {
        decision_add(d, "mode", VERDICT_DENY, NULL, NULL,
                     "it needs an approval and nobody is here to answer");
        d->verdict = VERDICT_DENY;
        d->liftable_by = LIFT_NONE;
    }
}
