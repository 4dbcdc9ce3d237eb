#include "sim/suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "sim/world.h"

/* ---- tables ---- */

static void
print_row(const char *title, const char *const *names, const uint32_t *counts, size_t n)
{
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += counts[i];
    printf("%s:%s", title, all ? "" : " none\n");
    for (size_t i = 0; i < n; i++)
        if (counts[i])
            printf(" %s %u", names[i], counts[i]);
    if (!all)
        return;
    printf("\n");
    bool none = false;
    for (size_t i = 0; i < n; i++)
        if (!counts[i]) {
            printf("%s%s", none ? ", " : "  never: ", names[i]);
            none = true;
        }
    if (none)
        printf("\n");
}

static void
exit_names(const char *ret[LOOP_EXIT_COUNT])
{
    for (int i = 0; i < LOOP_EXIT_COUNT; i++)
        ret[i] = loop_exit_name((enum loop_exit)i);
}

static double
percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

static void
print_failures(const struct sim_profile *p, const struct totals *t)
{
    for (size_t i = 0; i < t->n_failures; i++)
        printf("FAILED seed %" PRIu64 ": %s\n    sim replay %" PRIu64 " --suite %s\n",
               t->failures[i].seed, t->failures[i].why, t->failures[i].seed, p->name);
    if (t->failed > t->n_failures)
        printf("... and %" PRIu64 " more\n", t->failed - t->n_failures);
}

static void
print_text(const struct sim_profile *p, const struct totals *t)
{
    const struct sim_report *s = &t->sum;
    const char *exits[LOOP_EXIT_COUNT];
    exit_names(exits);
    printf(
        "suite %s: %" PRIu64
        " sessions, %u prompts, %u rounds, %u requests, %u side requests, %u counts, %u calls, %u "
        "retries, %u kills, %u resumes\n",
        p->name, t->sessions, s->submits, s->rounds, s->requests, s->side_requests, s->counts,
        s->calls, s->retries, s->kills, s->resumes);
    printf("  %.1f s, %.0f sessions and %.0f rounds a minute; %.1f days of simulated time; slowest "
           "seed %" PRIu64 " %.2f s; outcome %016" PRIx64 "\n",
           t->seconds, (double)t->sessions * 60 / t->seconds, s->rounds * 60 / t->seconds,
           (double)s->virtual_ms / 86400000, t->slowest_seed, (double)t->slowest_us / 1e6,
           t->outcome);
    printf("  messages of the person kept %u, facts looked for %u times; cached %.1f %% of %.1f M "
           "tokens, %u breaks\n",
           s->messages, s->checks, percent((double)s->tokens_cached, (double)s->tokens),
           (double)s->tokens / 1e6, s->cache_breaks);
    print_row("exits", exits, s->exits, LOOP_EXIT_COUNT);
    print_row("transitions", sim_transition_names, s->transitions, SIM_TRANSITIONS);
    print_row("tiers", sim_tier_names, s->tiers, SIM_TIERS);
    print_row("tiers failed", sim_tier_names, s->tiers_failed, SIM_TIERS);
    print_row("faults", sim_fault_names, s->faults, F_COUNT);
    if (s->facts_said)
        printf("facts at the end: %u of %u in the last request (%.1f %%); pinned: %u of %u, and %u "
               "after the last request\n",
               s->facts_kept, s->facts_said, percent(s->facts_kept, s->facts_said), s->pins_kept,
               s->pins_said, s->pins_late);
    print_failures(p, t);
    printf("%s: %" PRIu64 " of %" PRIu64 " sessions failed, %" PRIu64 " stuck\n",
           t->failed ? "FAILED" : "ok", t->failed, t->sessions, t->stuck);
}

static void
json_counts(struct jw *w, const char *key, const char *const *names, const uint32_t *counts,
            size_t n)
{
    jw_key(w, key);
    jw_object(w);
    for (size_t i = 0; i < n; i++)
        jw_kint(w, names[i], counts[i]);
    jw_end(w);
}

static void
json_failures(struct jw *w, const struct totals *t)
{
    jw_key(w, "failures");
    jw_array(w);
    for (size_t i = 0; i < t->n_failures; i++) {
        jw_object(w);
        jw_kint(w, "seed", (int64_t)t->failures[i].seed);
        jw_kcstr(w, "why", t->failures[i].why);
        jw_end(w);
    }
    jw_end(w);
}

static void
print_json(const struct sim_profile *p, const struct totals *t)
{
    const struct sim_report *s = &t->sum;
    const char *exits[LOOP_EXIT_COUNT];
    struct buf b;
    struct jw w;
    exit_names(exits);
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "suite", p->name);
    jw_kint(&w, "sessions", (int64_t)t->sessions);
    jw_kint(&w, "failed", (int64_t)t->failed);
    jw_kint(&w, "stuck", (int64_t)t->stuck);
    jw_knum(&w, "seconds", t->seconds);
    jw_kint(&w, "prompts", s->submits);
    jw_kint(&w, "rounds", s->rounds);
    jw_kint(&w, "requests", s->requests);
    jw_kint(&w, "side_requests", s->side_requests);
    jw_kint(&w, "calls", s->calls);
    json_counts(&w, "exits", exits, s->exits, LOOP_EXIT_COUNT);
    json_counts(&w, "transitions", sim_transition_names, s->transitions, SIM_TRANSITIONS);
    json_counts(&w, "tiers", sim_tier_names, s->tiers, SIM_TIERS);
    json_counts(&w, "faults", sim_fault_names, s->faults, F_COUNT);
    json_counts(&w, "forced", sim_force_names, s->forced, FORCE_COUNT);
    json_counts(&w, "recovered", sim_force_names, s->recovered, FORCE_COUNT);
    json_failures(&w, t);
    jw_end(&w);
    puts(buf_cstr(&b));
    buf_release(&b);
}

void
suites_print(const struct sim_profile *p, const struct totals *t, bool json)
{
    if (json)
        print_json(p, t);
    else
        print_text(p, t);
}

/* ---- recovery ---- */

static double
print_rate(const char *title, const struct totals *t)
{
    const struct sim_report *s = &t->sum;
    uint32_t forced = 0, recovered = 0;
    printf("%-14s", title);
    for (int i = 0; i < FORCE_COUNT; i++) {
        forced += s->forced[i];
        recovered += s->recovered[i];
        printf("  %s %u/%u (%.1f %%)", sim_force_names[i], s->recovered[i], s->forced[i],
               percent(s->recovered[i], s->forced[i]));
    }
    printf("  all %u/%u (%.2f %%)\n", recovered, forced, percent(recovered, forced));
    return percent(recovered, forced);
}

int
suites_recovery(const struct sim_profile *p, uint64_t from, uint64_t to, int jobs, double at_least)
{
    static struct totals ours, plain;
    runner_run(p, from, to, jobs, &ours);
    suites_print(p, &ours, false);
    runner_run(profile_find("plain"), from, to, jobs, &plain);
    printf("\nrequests forced to be too long, and the turn was completed:\n");
    double rate = print_rate("yare", &ours);
    print_rate("plain retry", &plain);
    if (rate < at_least)
        printf("FAILED: fewer than %.1f %% recovered\n", at_least);
    return ours.failed || rate < at_least ? 1 : 0;
}

/* ---- one long session ---- */

#define LONG_ROUNDS 5000 /* a shorter session says nothing of growth */
#define RSS_MAX_KB (80 * 1024)
#define SLOPE_MAX_KB (2 * 1024)
#define PROBES 4000
static struct probe {
    uint32_t rounds, requests;
    int64_t us, rss_kb;
} probes[PROBES];
static size_t n_probes;

static int64_t
rss_kb(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    if (fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Of the processor: other programs must not count. */
static int64_t
cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
probe(const struct sim_report *r)
{
    if (n_probes == PROBES) { /* keep every second one */
        for (size_t i = 0; i < PROBES / 2; i++)
            probes[i] = probes[2 * i + 1];
        n_probes = PROBES / 2;
    }
    probes[n_probes++] = (struct probe){r->rounds, r->requests, cpu_us(), rss_kb()};
}

/* Microseconds a round, over a part of the session. */
static double
round_us(size_t from, size_t to)
{
    const struct probe *a = &probes[from], *b = &probes[to];
    return b->rounds > a->rounds ? (double)(b->us - a->us) / (b->rounds - a->rounds) : 0;
}

static double
slope_kb(size_t from, size_t to)
{
    double n = (double)(to - from), sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = from; i < to; i++) {
        double x = probes[i].rounds, y = (double)probes[i].rss_kb;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    double d = n * sxx - sx * sx;
    return d > 0 ? (n * sxy - sx * sy) / d * (probes[to - 1].rounds - probes[from].rounds) : 0;
}

int
suites_long(const struct sim_profile *p, uint64_t seed, unsigned rounds)
{
    struct totals t = {0};
    struct sim_report r;
    int64_t began = world_real_us();
    session_long(p, seed, rounds, probe, &r);
    t.sessions = 1;
    t.sum = r;
    t.seconds = (double)(world_real_us() - began) / 1e6;
    if (!r.ok) {
        t.failed = t.n_failures = 1;
        t.failures[0] = r;
    }
    suites_print(p, &t, false);
    size_t n = n_probes;
    if (n < 20)
        return 1;
    double slope = slope_kb(n / 2, n);
    double early = round_us(n / 20, n / 5), late = round_us(n - n / 5, n - 1);
    printf("RSS %.1f MB after a tenth, %.1f MB in the middle, %.1f MB at the end; over the last "
           "half %+.2f MB\n",
           (double)probes[n / 10].rss_kb / 1024, (double)probes[n / 2].rss_kb / 1024,
           (double)probes[n - 1].rss_kb / 1024, slope / 1024);
    printf("a round takes %.0f us early, %.0f us late (x %.2f); bodies of %.0f kB on average\n",
           early, late, late / early, r.requests ? (double)r.body_bytes / r.requests / 1000 : 0);
    bool small =
        rounds < LONG_ROUNDS || (probes[n - 1].rss_kb < RSS_MAX_KB && slope < SLOPE_MAX_KB);
    if (!small)
        printf("FAILED: more than %d MB, or %d MB more over the last half\n", RSS_MAX_KB / 1024,
               SLOPE_MAX_KB / 1024);
    return r.ok && small ? 0 : 1;
}
