#pragma once
/*
 * One error convention for the whole program: `bool f(..., struct err *err)`. True is success; on false `err`
 * (which may be NULL) says what happened in a text fit to be shown: lower case, quotes its subject, says what to
 * do. A struct err is a value, nobody frees it. Library code returns errors, its callers show or log them.
 * "Not found" is a success with an empty result.
 *
 *     if (fd < 0)
 *         return err_sys(err, errno, "cannot open '%s'", path);
 *     if (!inner(x, err))
 *         return err_wrap(err, "reading settings");
 */
#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))

enum err_code {
    ERR_NONE,
    ERR_SYS,     /* a system call failed, `sys` holds errno */
    ERR_INVALID, /* bad input from a person, a file or the model */
    ERR_PARSE,   /* bytes that do not follow their grammar */
    ERR_LIMIT,   /* larger than a cap allows */
    ERR_STALE,   /* the thing changed since it was seen */
    ERR_DENIED,  /* a permission says no */
    ERR_CANCELLED,
    ERR_TIMEOUT,
    ERR_NET,         /* could not connect, connection lost */
    ERR_HTTP,        /* `http` holds the status */
    ERR_UNSUPPORTED, /* known, but not available here */
};

struct err {
    enum err_code code;
    int sys;
    int http;
    bool retryable;
    int retry_after_ms; /* from Retry-After; 0 when not given */
    /* machine-readable kind where the peer ("overloaded_error") or the network layer ("refused") gave one, else "" */
    char kind[48];
    char text[512];
};

void err_clear(struct err *err);
/* These set the error and return false, so that they can be returned. Texts past the capacity are cut at a
 * UTF-8 boundary. */
bool err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool err_sys(struct err *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "context: " before the text; keeps everything else. */
bool err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *err_code_name(enum err_code code);

/* Out of memory or a broken invariant that cannot be reported: runs the hook (which restores the terminal),
 * prints the reason on stderr and aborts. The hook must be async-signal-safe in spirit: no allocation. */
void die_set_hook(void (*hook)(void));
_Noreturn void die(const char *reason);
_Noreturn void die_oom(void);
