#include "base/http_curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/buf.h"

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the three below */
static struct curl_calls calls;
static bool loaded;
static void *library;

static bool
load_symbols(void *lib, struct err *err)
{
    /* POSIX lets an object pointer from dlsym become a function pointer; ISO C has no cast for it. */
#define X(ret, name, symbol, args)                                                                 \
    {                                                                                              \
        void *p = dlsym(lib, #symbol);                                                             \
        if (!p)                                                                                    \
            return err_set(err, ERR_UNSUPPORTED, "the system's libcurl is too old: it has no %s",  \
                           #symbol);                                                               \
        memcpy(&calls.name, &p, sizeof p);                                                         \
    }
    CURL_CALLS(X)
#undef X
    return true;
}

static bool
load(struct err *err)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    for (size_t i = 0; !library && i < ARRAY_LEN(names); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, ERR_UNSUPPORTED,
                       "libcurl is not installed: install the package libcurl4");
    if (!load_symbols(library, err))
        return false;
    CURLcode code = calls.global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK)
        return err_set(err, ERR_UNSUPPORTED, "libcurl does not start: %s", calls.strerror(code));
    return true;
}

const struct curl_calls *
curl_load(struct err *err)
{
    pthread_mutex_lock(&load_lock);
    loaded = loaded || load(err);
    bool ok = loaded;
    pthread_mutex_unlock(&load_lock);
    return ok ? &calls : NULL;
}
