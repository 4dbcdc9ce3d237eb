#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"

void
json_quote(struct buf *out, struct str s)
{
    static const char hex[] = "0123456789abcdef";
    size_t start = 0;
    buf_addc(out, '"');
    for (size_t i = 0, n; i < s.len; i += n) {
        unsigned char c = (unsigned char)s.ptr[i];
        n = 1;
        if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\')
            continue;
        int32_t cp = c;
        if (c >= 0x80) {
            n = text_decode(s, i, &cp);
            if (n > 1)
                continue;
        }
        buf_add_str(out, str_sub(s, start, i - start));
        start = i + 1;
        if (c >= 0x80 || c == 0) /* NUL: our own reader, and some servers, refuse it */
            buf_adds(out, "\xEF\xBF\xBD");
        else if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", c);
        else if (c == '\n')
            buf_adds(out, "\\n");
        else if (c == '\t')
            buf_adds(out, "\\t");
        else if (c == '\r')
            buf_adds(out, "\\r");
        else if (c == 0x7F)
            buf_addc(out, 0x7F);
        else
            buf_addf(out, "\\u00%c%c", hex[c >> 4], hex[c & 15]);
    }
    buf_add_str(out, str_sub(s, start, s.len));
    buf_addc(out, '"');
}

void
jw_init(struct jw *w, struct buf *out)
{
    w->out = out;
    w->depth = 0;
    w->comma = false;
}

static void
before_value(struct jw *w)
{
    if (w->comma)
        buf_addc(w->out, ',');
    w->comma = true;
}

static void
open_level(struct jw *w, char open, char close)
{
    before_value(w);
    assert(w->depth < sizeof w->close);
    buf_addc(w->out, open);
    w->close[w->depth++] = close;
    w->comma = false;
}

void
jw_object(struct jw *w)
{
    open_level(w, '{', '}');
}

void
jw_array(struct jw *w)
{
    open_level(w, '[', ']');
}

void
jw_end(struct jw *w)
{
    assert(w->depth > 0);
    buf_addc(w->out, w->close[--w->depth]);
    w->comma = true;
}

void
jw_key(struct jw *w, const char *key)
{
    before_value(w);
    json_quote(w->out, str_from(key));
    buf_addc(w->out, ':');
    w->comma = false;
}

void
jw_str(struct jw *w, struct str s)
{
    before_value(w);
    json_quote(w->out, s);
}

void
jw_cstr(struct jw *w, const char *s)
{
    if (s)
        jw_str(w, str_from(s));
    else
        jw_null(w);
}

void
jw_int(struct jw *w, int64_t v)
{
    before_value(w);
    buf_addf(w->out, "%lld", (long long)v);
}

void
jw_num(struct jw *w, double v)
{
    char text[32];
    before_value(w);
    if (!isfinite(v)) {
        buf_adds(w->out, "null");
        return;
    }
    (void)snprintf(text, sizeof text, "%.12g", v);
    double kept = v == floor(v) ? v : strtod(text, NULL); /* what is read back is written alike */
    if (kept == floor(kept) && fabs(kept) < 1e15)
        buf_addf(w->out, "%.0f", kept);
    else
        buf_adds(w->out, text);
}

void
jw_bool(struct jw *w, bool v)
{
    before_value(w);
    buf_adds(w->out, v ? "true" : "false");
}

void
jw_null(struct jw *w)
{
    before_value(w);
    buf_adds(w->out, "null");
}

void
jw_raw(struct jw *w, struct str json)
{
    before_value(w);
    buf_add_str(w->out, json);
}

void
jw_kstr(struct jw *w, const char *key, struct str s)
{
    jw_key(w, key);
    jw_str(w, s);
}

void
jw_kcstr(struct jw *w, const char *key, const char *s)
{
    jw_key(w, key);
    jw_cstr(w, s);
}

void
jw_kint(struct jw *w, const char *key, int64_t v)
{
    jw_key(w, key);
    jw_int(w, v);
}

void
jw_knum(struct jw *w, const char *key, double v)
{
    jw_key(w, key);
    jw_num(w, v);
}

void
jw_kbool(struct jw *w, const char *key, bool v)
{
    jw_key(w, key);
    jw_bool(w, v);
}

void
jw_kraw(struct jw *w, const char *key, struct str json)
{
    jw_key(w, key);
    jw_raw(w, json);
}
