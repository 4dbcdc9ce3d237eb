#include "model/retry_after.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7), whatever the locale; 0 when it is none. */
static time_t
parse_date(const char *value)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = {0};
    char month[4] = "";
    if (sscanf(value, "%*3s, %2d %3s %4d %2d:%2d:%2d", &tm.tm_mday, month, &tm.tm_year, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6)
        return 0;
    const char *at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at || (at - months) % 3)
        return 0;
    tm.tm_mon = (int)(at - months) / 3;
    tm.tm_year -= 1900;
    return timegm(&tm);
}

int
retry_after_ms(const char *value)
{
    char *end;
    if (!value)
        return 0;
    double seconds = strtod(value, &end);
    if (end == value) {
        time_t date = parse_date(value);
        seconds = date ? (double)date - (double)clock_wall_ms() / 1000 : 0;
    }
    if (!(seconds > 0))
        return 0;
    return seconds > 86400 ? 86400000 : (int)(seconds * 1000);
}
