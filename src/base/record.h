#pragma once
/*
 * Records: one call from anywhere says that something happened. Fields carry their class by type, so a sensitive value
 * cannot reach the public sink: RECORD_SENSITIVE fields are dropped before it sees the record. Sinks are registered by
 * the floor above before threads start and called on the calling thread; they must not block (they queue).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_class { RECORD_PUBLIC, RECORD_SENSITIVE };
enum record_type { RECORD_STR, RECORD_INT, RECORD_NUM, RECORD_BOOL };

struct record_field {
    const char *name;
    enum record_class cls;
    enum record_type type;
    union {
        const char *str;
        int64_t i;
        double num;
        bool b;
    } v;
};

struct record {
    const char *name; /* "tool_result", "api_request", ... */
    const char *session_id;
    int64_t wall_ms;
    const struct record_field *fields;
    size_t n_fields;
};

typedef void (*record_sink_fn)(void *user, const struct record *r);
/* sees_sensitive false: only public fields are handed on. */
void record_add_sink(record_sink_fn sink, void *user, bool sees_sensitive);
void record_clear_sinks(void);
void record_event(const char *name, const char *session_id, const struct record_field *fields,
                  size_t n);

#define REC_S(n, val)                                                                              \
    {                                                                                              \
        .name = n, .cls = RECORD_PUBLIC, .type = RECORD_STR, .v.str = (val)                        \
    }
#define REC_I(n, val)                                                                              \
    {                                                                                              \
        .name = n, .cls = RECORD_PUBLIC, .type = RECORD_INT, .v.i = (val)                          \
    }
#define REC_B(n, val)                                                                              \
    {                                                                                              \
        .name = n, .cls = RECORD_PUBLIC, .type = RECORD_BOOL, .v.b = (val)                         \
    }
#define REC_SECRET(n, val)                                                                         \
    {                                                                                              \
        .name = n, .cls = RECORD_SENSITIVE, .type = RECORD_STR, .v.str = (val)                     \
    }
