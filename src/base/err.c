#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*die_hook)(void);

void
err_clear(struct err *err)
{
    if (err)
        *err = (struct err){0};
}

/* vsnprintf cuts at a byte; this takes a broken last character off again. */
static void
cut_utf8(char *s, size_t len)
{
    size_t i = len;
    while (i > 0 && ((unsigned char)s[i - 1] & 0xC0) == 0x80)
        i--;
    if (i == 0)
        return;
    unsigned char lead = (unsigned char)s[i - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (i - 1 + need > len)
        s[i - 1] = '\0';
}

static void
format(char *out, size_t cap, const char *fmt, va_list ap)
{
    int n = vsnprintf(out, cap, fmt, ap);
    if (n >= (int)cap)
        cut_utf8(out, cap - 1);
}

bool
err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    if (!err)
        return false;
    /* The arguments may point into err->text itself. */
    char text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    format(text, sizeof text, fmt, ap);
    va_end(ap);
    *err = (struct err){.code = code};
    memcpy(err->text, text, sizeof text);
    return false;
}

bool
err_sys(struct err *err, int errnum, const char *fmt, ...)
{
    if (!err)
        return false;
    char text[sizeof err->text], why[128];
    va_list ap;
    va_start(ap, fmt);
    format(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *s = strerror_r(errnum, why, sizeof why);
    err_set(err, ERR_SYS, "%s: %s", text, s);
    err->sys = errnum;
    return false;
}

bool
err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err)
        return false;
    char context[sizeof err->text], both[2 * sizeof err->text + 2];
    va_list ap;
    va_start(ap, fmt);
    format(context, sizeof context, fmt, ap);
    va_end(ap);
    snprintf(both, sizeof both, "%s: %s", context, err->text);
    if (strlen(both) >= sizeof err->text)
        cut_utf8(both, sizeof err->text - 1);
    snprintf(err->text, sizeof err->text, "%.*s", (int)sizeof err->text - 1, both);
    return false;
}

const char *
err_code_name(enum err_code code)
{
    static const char *const names[] = {
        [ERR_NONE] = "none",     [ERR_SYS] = "system",          [ERR_INVALID] = "invalid",
        [ERR_PARSE] = "parse",   [ERR_LIMIT] = "limit",         [ERR_STALE] = "stale",
        [ERR_DENIED] = "denied", [ERR_CANCELLED] = "cancelled", [ERR_TIMEOUT] = "timeout",
        [ERR_NET] = "network",   [ERR_HTTP] = "http",           [ERR_UNSUPPORTED] = "unsupported",
    };
    return names[code];
}

void
die_set_hook(void (*hook)(void))
{
    die_hook = hook;
}

void
die(const char *reason)
{
    if (die_hook)
        die_hook();
    const char *parts[] = {"yare: ", reason, "\n"};
    for (int i = 0; i < 3; i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    abort();
}

void
die_oom(void)
{
    die("out of memory");
}
