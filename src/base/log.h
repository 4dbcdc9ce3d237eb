#pragma once
/* Diagnostics for developers: YARE_LOG=error|warn|info|debug[,file=PATH]. Off by default; never on the terminal. Each line:
 * time, level, thread, module, file:line, text. Control bytes are escaped. Thread-safe, one write per line. */
#include <stdbool.h>

enum log_level { LOG_OFF, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* spec: the value of YARE_LOG or NULL; default_path: where it goes when the spec names no file. */
void log_setup(const char *spec, const char *default_path);
bool log_on(enum log_level level);
void log_write(enum log_level level, const char *module, const char *file, int line,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#define log_at(level, module, ...)                                                                 \
    do {                                                                                           \
        if (log_on(level))                                                                         \
            log_write(level, module, __FILE__, __LINE__, __VA_ARGS__);                             \
    } while (0)
#define log_error(module, ...) log_at(LOG_ERROR, module, __VA_ARGS__)
#define log_warn(module, ...) log_at(LOG_WARN, module, __VA_ARGS__)
#define log_info(module, ...) log_at(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) log_at(LOG_DEBUG, module, __VA_ARGS__)
