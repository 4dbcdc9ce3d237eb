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

enum { LINE_MAX_BYTES = 8 << 20 };

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

static int
older_first(const void *a, const void *b)
{
    const struct audit_row *x = a, *y = b;
    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    int order = strcmp(x->session, y->session);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* Oldest first, and the newest `most` of them; gives how many went. */
static size_t
keep_newest(struct audit_query *q, size_t most)
{
    size_t gone = q->n > most ? q->n - most : 0;
    if (q->n)
        qsort(q->rows, q->n, sizeof *q->rows, older_first);
    for (size_t i = 0; i < gone; i++)
        row_release(&q->rows[i]);
    if (gone)
        memmove(q->rows, q->rows + gone, most * sizeof *q->rows);
    q->n -= gone;
    return gone;
}

static size_t
room(const struct audit_query *q)
{
    return q->room ? q->room : AUDIT_ROWS_MAX;
}

static void
take_row(struct audit_query *q, const struct audit_row *take_r)
{
    ARRAY_GROW(q->rows, q->n, q->cap);
    q->rows[q->n] = *take_r;
    q->rows[q->n++].at = q->taken++;
    if (q->n >= room(q) + room(q) / 8 + 1) /* not at each: it sorts */
        q->dropped += keep_newest(q, room(q));
}

static void
add_line(struct audit_query *q, struct str line, const char *session)
{
    struct audit_row r = {0};
    struct cJSON *entry = line.len ? json_parse(line, NULL) : NULL;
    if (!json_is_object(entry) || !json_cstr(entry, "tool", NULL)) {
        q->skipped += line.len > 0;
        json_free(entry);
        return;
    }
    row_fill(&r, entry, line, session);
    if (is_wanted(q, entry, &r))
        take_row(q, &r);
    else
        row_release(&r);
    json_free(entry);
}

/* ---- a file ---- */

struct reader {
    struct audit_query *q;
    const char *session;
    struct buf line; /* as far as it was read */
    bool too_long;
};

static void
add_piece(struct reader *r, struct str piece)
{
    r->too_long |= r->line.len + piece.len > LINE_MAX_BYTES;
    if (!r->too_long)
        buf_add_str(&r->line, piece);
}

/* whole: its end was read too; a torn one is no entry. */
static void
end_line(struct reader *r, bool whole)
{
    if (r->too_long || !whole)
        r->q->skipped += r->too_long || r->line.len;
    else
        add_line(r->q, str_trim(buf_str(&r->line)), r->session);
    buf_clear(&r->line);
    r->too_long = false;
}

static bool
read_lines(struct reader *r, int fd)
{
    char chunk[65536];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        struct str rest = str_make(chunk, (size_t)n);
        for (size_t nl; (nl = str_find(rest, '\n', 0)) != (size_t)-1;) {
            add_piece(r, str_sub(rest, 0, nl));
            end_line(r, true);
            rest = str_sub(rest, nl + 1, rest.len);
        }
        add_piece(r, rest);
    }
    end_line(r, false);
    return true;
}

bool
audit_query_read(struct audit_query *q, const char *file, const char *session, struct err *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || err_sys(err, errno, "cannot open the audit log '%s'", file);
    struct reader r = {.q = q, .session = session};
    buf_init(&r.line, LINE_MAX_BYTES);
    bool ok = read_lines(&r, fd) || err_sys(err, errno, "cannot read the audit log '%s'", file);
    buf_release(&r.line);
    close(fd);
    return ok;
}

void
audit_query_sort(struct audit_query *q)
{
    q->dropped += keep_newest(q, room(q));
    if (q->last)
        (void)keep_newest(q, q->last);
}
