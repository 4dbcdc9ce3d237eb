#include "store/journal_scan.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"

/* The member that begins at *at (a quote); *at moves to the next one. False at the end, and at the member `stop`. */
static bool
next_member(struct str s, size_t *at, const char *stop, struct str *ret_key, struct str *ret_value)
{
    if (*at >= s.len || s.ptr[*at] != '"')
        return false;
    size_t end = json_skip_string(s, *at), colon = json_skip_blanks(s, end);
    if (colon >= s.len || s.ptr[colon] != ':')
        return false;
    *ret_key = str_sub(s, *at + 1, end - *at - 2);
    if (stop && str_is(*ret_key, stop))
        return false;
    size_t value = json_skip_blanks(s, colon + 1), value_end = json_skip_value(s, value);
    *ret_value = str_trim(str_sub(s, value, value_end - value));
    size_t next = json_skip_blanks(s, value_end);
    *at = next < s.len && s.ptr[next] == ',' ? json_skip_blanks(s, next + 1) : s.len;
    return true;
}

static size_t
first_member(struct str line)
{
    size_t at = json_skip_blanks(line, 0);
    return at < line.len && line.ptr[at] == '{' ? json_skip_blanks(line, at + 1) : (size_t)-1;
}

bool
journal_scan(struct str line, struct journal_want *want, size_t n)
{
    return journal_scan_head(line, want, n, NULL);
}

bool
journal_scan_head(struct str line, struct journal_want *want, size_t n, const char *stop)
{
    struct str key, value;
    size_t at = first_member(line), found = 0;
    for (size_t i = 0; i < n; i++)
        want[i].raw = (struct str){0};
    if (at == (size_t)-1)
        return false;
    while (found < n && next_member(line, &at, stop, &key, &value))
        for (size_t i = 0; i < n; i++)
            if (!want[i].raw.ptr && str_is(key, want[i].key)) {
                want[i].raw = value;
                found++;
            }
    return true;
}

size_t
journal_scan_count(struct str line)
{
    struct str key, value;
    size_t at = first_member(line), n = 0;
    while (at != (size_t)-1 && next_member(line, &at, NULL, &key, &value))
        n++;
    return n;
}

struct str
journal_plain(struct str raw)
{
    if (raw.len < 2 || raw.ptr[0] != '"' || raw.ptr[raw.len - 1] != '"' ||
        str_find(raw, '\\', 0) != (size_t)-1)
        return (struct str){0};
    return str_sub(raw, 1, raw.len - 2);
}

char *
journal_decode(struct str raw)
{
    struct cJSON *tree = raw.len ? json_parse(raw, NULL) : NULL;
    char *text = json_is_str(tree) ? str_dup(json_value_str(tree)) : NULL;
    json_free(tree);
    return text;
}

int64_t
journal_time(struct str raw)
{
    char text[40];
    int ms = 0;
    struct tm tm = {0};
    struct str plain = str_starts(raw, "\"") ? journal_plain(raw) : raw;
    if (plain.len < 19 || plain.len >= sizeof text)
        return 0;
    memcpy(text, plain.ptr, plain.len);
    text[plain.len] = '\0';
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms) < 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (int64_t)timegm(&tm) * 1000 + ms;
}
