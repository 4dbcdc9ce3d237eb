#include "engine/audit_query.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"

enum { ROWS_MAX = 200000, LINE_MAX_BYTES = 8 << 20 };

void
audit_query_init(struct audit_query *q)
{
    *q = (struct audit_query){0};
}

static void
row_release(struct audit_row *r)
{
    free(r->time);
    free(r->session);
    free(r->tool);
    free(r->what);
    free(r->who);
    free(r->mode);
    free(r->by);
    free(r->raw);
}

void
audit_query_release(struct audit_query *q)
{
    for (size_t i = 0; i < q->n; i++)
        row_release(&q->rows[i]);
    free(q->rows);
    audit_query_init(q);
}

/* ---- time ---- */

static bool
parse_date(const char *s, int64_t *ret_ms)
{
    struct tm tm = {0};
    int ms = 0, used = 0;
    if (sscanf(s, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &used) != 3 || used != 10)
        return false;
    s += used;
    if (*s == 'T' || *s == ' ') {
        if (sscanf(s + 1, "%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &used) != 2 || used != 5)
            return false;
        s += 6;
        if (*s == ':' && sscanf(s + 1, "%2d%n", &tm.tm_sec, &used) == 1)
            s += 1 + used;
        if (*s == '.' && sscanf(s + 1, "%3d%n", &ms, &used) == 1 && used == 3)
            s += 1 + used;
        if (*s == 'Z')
            s++;
    }
    bool valid = tm.tm_mon >= 1 && tm.tm_mon <= 12 && tm.tm_mday >= 1 && tm.tm_mday <= 31 &&
                 tm.tm_hour >= 0 && tm.tm_hour <= 23 && tm.tm_min >= 0 && tm.tm_min <= 59 &&
                 tm.tm_sec >= 0 && tm.tm_sec <= 60;
    if (*s || !valid)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ret_ms = (int64_t)timegm(&tm) * 1000 + ms;
    return true;
}

bool
audit_parse_time(const char *s, int64_t now_ms, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    char *end;
    errno = 0;
    long n = strtol(s, &end, 10);
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (*s >= '0' && *s <= '9' && end[0] == units[i].unit && !end[1]) {
            if (errno || n > 100000)
                return false;
            *ret_ms = now_ms - (int64_t)n * units[i].ms;
            return true;
        }
    return parse_date(s, ret_ms);
}

/* ---- what an entry says ---- */

static bool
names_rule(const struct cJSON *entry, const char *text)
{
    for (const struct cJSON *f = json_first(json_at(entry, "findings")); f; f = json_next(f)) {
        const char *rule = json_cstr(f, "rule", NULL);
        if (rule && strstr(rule, text))
            return true;
    }
    return false;
}

static bool
names_path(const struct cJSON *entry, const char *path)
{
    for (const struct cJSON *e = json_first(json_at(entry, "effects")); e; e = json_next(e)) {
        const char *named = json_cstr(e, "path", NULL), *leads = json_cstr(e, "leads", NULL);
        if ((named && fs_is_within(named, path)) || (leads && fs_is_within(leads, path)))
            return true;
    }
    return false;
}

static bool
is_wanted(const struct audit_query *q, const struct cJSON *entry, const struct audit_row *r)
{
    if ((q->tool && strcasecmp(q->tool, r->tool) != 0) || (q->who && strcmp(q->who, r->who) != 0))
        return false;
    if ((q->outcome == AUDIT_ALLOWED && !r->allowed) ||
        (q->outcome == AUDIT_DENIED && (r->allowed || r->replaced)) ||
        (q->outcome == AUDIT_ASKED && !r->asked))
        return false;
    if ((q->since_ms && r->time_ms < q->since_ms) || (q->until_ms && r->time_ms >= q->until_ms))
        return false;
    return (!q->rule || names_rule(entry, q->rule)) && (!q->path || names_path(entry, q->path));
}

/* Those of the chain's layers that take other findings' asks away: where one of them allows, it was the one that did. */
static bool
lifts(const struct cJSON *finding)
{
    static const char *const layers[] = {"hook", "L8", "mode", "L6"};
    const char *layer = json_cstr(finding, "layer", "");
    for (size_t i = 0; i < ARRAY_LEN(layers); i++)
        if (strcmp(layers[i], layer) == 0)
            return true;
    return false;
}

/* The finding that weighed most; of several one that lifted the others' asks, then one with a rule. */
static const struct cJSON *
heaviest(const struct cJSON *entry)
{
    static const char *const order[] = {"none", "allow", "ask", "deny"};
    const struct cJSON *best = NULL;
    size_t most = 0;
    for (const struct cJSON *f = json_first(json_at(entry, "findings")); f; f = json_next(f)) {
        const char *v = json_cstr(f, "decision", "none");
        size_t weight = 0;
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
            weight = strcmp(order[i], v) == 0 ? 4 * i + 1 : weight;
        weight += json_cstr(f, "rule", NULL) != NULL;
        weight += lifts(f) && strcmp(v, "allow") == 0 ? 2 : 0;
        if (!best || weight > most) {
            best = f;
            most = weight;
        }
    }
    return best;
}

static char *
what_decided(const struct cJSON *entry)
{
    const struct cJSON *f = heaviest(entry);
    const char *rule = json_cstr(f, "rule", NULL), *file = json_cstr(f, "file", NULL);
    if (!f)
        return xstrdup("");
    if (!rule)
        return xasprintf("%s: %s", json_cstr(f, "layer", ""), json_cstr(f, "reason", ""));
    if (!file)
        return xasprintf("rule %s", rule);
    return xasprintf("rule %s (%s:%lld)", rule, file, (long long)json_int(f, "line", 0));
}

static void
row_fill(struct audit_row *r, const struct cJSON *entry, struct str line, const char *session)
{
    const char *decision = json_cstr(entry, "decision", "");
    r->time = xstrdup(json_cstr(entry, "time", ""));
    parse_date(r->time, &r->time_ms);
    r->session = xstrdup(json_cstr(entry, "session_id", session));
    r->tool = xstrdup(json_cstr(entry, "tool", ""));
    r->what = xstrdup(json_cstr(entry, "what", ""));
    r->who = xstrdup(json_cstr(entry, "who", ""));
    r->mode = xstrdup(json_cstr(entry, "mode", ""));
    r->waited_ms = json_int(entry, "waited_ms", 0);
    r->allowed = json_bool(entry, "allowed", false);
    r->replaced = strcmp(r->who, "edited") == 0 || strcmp(r->who, "again") == 0;
    r->asked = strcmp(decision, "ask") == 0;
    r->by = what_decided(entry);
    r->raw = str_dup(line);
}

static void
add_line(struct audit_query *q, struct str line, const char *session)
{
    struct audit_row r = {0};
    struct cJSON *entry = line.len ? json_parse(line, NULL) : NULL;
    if (!json_is_object(entry) || !json_cstr(entry, "tool", NULL) || q->n >= ROWS_MAX) {
        q->skipped += line.len > 0;
        json_free(entry);
        return;
    }
    row_fill(&r, entry, line, session);
    if (is_wanted(q, entry, &r)) {
        ARRAY_GROW(q->rows, q->n, q->cap);
        q->rows[q->n++] = r;
    } else {
        row_release(&r);
    }
    json_free(entry);
}

bool
audit_query_read(struct audit_query *q, const char *file, const char *session, struct err *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || err_sys(err, errno, "cannot open the audit log '%s'", file);
    FILE *in = fdopen(fd, "r");
    if (!in) {
        close(fd);
        return err_sys(err, errno, "cannot read the audit log '%s'", file);
    }
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, in)) > 0;) {
        bool whole = line[n - 1] == '\n';
        struct str s = str_trim(str_make(line, (size_t)n));
        if (!whole || n > LINE_MAX_BYTES)
            q->skipped++;
        else
            add_line(q, s, session);
    }
    bool ok = !ferror(in) || err_sys(err, errno, "cannot read the audit log '%s'", file);
    free(line);
    fclose(in);
    return ok;
}

static int
older_first(const void *a, const void *b)
{
    const struct audit_row *x = a, *y = b;
    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    return strcmp(x->session, y->session);
}

void
audit_query_sort(struct audit_query *q)
{
    if (q->n)
        qsort(q->rows, q->n, sizeof *q->rows, older_first);
    if (!q->last || q->n <= q->last)
        return;
    size_t gone = q->n - q->last;
    for (size_t i = 0; i < gone; i++)
        row_release(&q->rows[i]);
    memmove(q->rows, q->rows + gone, q->last * sizeof *q->rows);
    q->n = q->last;
}
