#pragma once
/* Retry-After (RFC 9110, 10.2.3): seconds or an HTTP date. In milliseconds, at most a day; 0: not given (NULL), not understood, or past. */
int retry_after_ms(const char *value);
