#include "engine/retry.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "engine/failure.h"

bool
retry_is_too_long(const struct err *err)
{
    static const char *const words[] = {
        "prompt is too long",     "context_length_exceeded", "exceed_context_size",
        "maximum context length", "context window",          "request_too_large",
    };
    /* The provider knows its own wording, also in an error event after HTTP 200. */
    if (strcmp(err->kind, "prompt_too_long") == 0 || (err->code == ERR_HTTP && err->http == 413))
        return true;
    if (err->code != ERR_HTTP || (err->http != 400 && err->http != 422 && err->http != 500))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasestr(err->text, words[i]) || strcasestr(err->kind, words[i]))
            return true;
    return false;
}

int
retry_tries(const struct retry_policy *p, const struct err *err)
{
    const struct failure *f = failure_of(err);
    if (f->retry != RETRY_BACKOFF && f->retry != RETRY_ONCE)
        return 0;
    return f->tries >= 0 && f->tries < p->max_attempts ? f->tries : p->max_attempts;
}

int64_t
retry_delay(const struct retry_policy *p, const struct err *err, int attempt, int64_t waited_ms,
            uint32_t random)
{
    if (attempt > retry_tries(p, err) || waited_ms >= RETRY_TOTAL_MS)
        return -1;
    if (err->retry_after_ms > 0)
        return err->retry_after_ms <= RETRY_AFTER_MAX_MS ? err->retry_after_ms : -1;
    int64_t delay = p->base_ms;
    for (int i = 1; i < attempt && delay < RETRY_MAX_MS; i++)
        delay *= 2;
    if (delay > RETRY_MAX_MS)
        delay = RETRY_MAX_MS;
    /* Up to a quarter more or less, so that many clients do not come back at once. */
    int64_t spread = delay / 2;
    return delay - spread / 2 + (spread ? (int64_t)(random % (uint32_t)spread) : 0);
}
