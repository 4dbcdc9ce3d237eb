#include "base/http_curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"

enum { IDLE_MULTIS = 8, CERTIFICATES_MAX = 16 << 20 };

static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};

/* `lock` guards all of these. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct http_curl table;
static bool loaded;
static CURLM *idle[IDLE_MULTIS];
static size_t n_idle;

static bool
fill_table(void *library, struct http_curl *ret, const char **ret_missing)
{
    static const char *const names[] = {
#define X(name) "curl_" #name,
        HTTP_CURL_FUNCTIONS(X)
#undef X
    };
    void *addresses[ARRAY_LEN(names)];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        addresses[i] = dlsym(library, names[i]);
        if (!addresses[i]) {
            *ret_missing = names[i];
            return false;
        }
    }
    _Static_assert(sizeof *ret == sizeof addresses,
                   "function pointers are as wide as data pointers");
    memcpy(ret, addresses, sizeof addresses);
    return true;
}

static bool
load_one(const char *name, struct err *err)
{
    struct http_curl found;
    const char *missing = NULL;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, ERR_UNSUPPORTED, "cannot load libcurl (install libcurl4): %s",
                       dlerror());
    if (!fill_table(library, &found, &missing)) {
        dlclose(library);
        return err_set(err, ERR_UNSUPPORTED, "'%s' is too old: it has no %s", name, missing);
    }
    if (found.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        dlclose(library);
        return err_set(err, ERR_UNSUPPORTED, "'%s' cannot be initialised", name);
    }
    table = found;
    return true;
}

const struct http_curl *
http_curl(struct err *err)
{
    struct err first = {0}, other;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ARRAY_LEN(libraries) && !loaded; i++)
        loaded = load_one(libraries[i], i ? &other : &first);
    bool ok = loaded;
    pthread_mutex_unlock(&lock);
    if (!ok && err)
        *err = first;
    return ok ? &table : NULL;
}

CURLM *
http_multi_take(const struct http_curl *curl)
{
    CURLM *multi = NULL;
    pthread_mutex_lock(&lock);
    if (n_idle)
        multi = idle[--n_idle];
    pthread_mutex_unlock(&lock);
    return multi ? multi : curl->multi_init();
}

void
http_multi_give(const struct http_curl *curl, CURLM *take_multi)
{
    pthread_mutex_lock(&lock);
    bool kept = n_idle < IDLE_MULTIS;
    if (kept)
        idle[n_idle++] = take_multi;
    pthread_mutex_unlock(&lock);
    if (!kept)
        curl->multi_cleanup(take_multi);
}

/* ---- certificates ---- */

static const char *
own_bundle(void)
{
    static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

static bool
set_joined(const struct http_curl *curl, CURL *easy, const char *bundle, const char *extra,
           struct err *err)
{
    struct buf all;
    buf_init(&all, CERTIFICATES_MAX);
    bool ok = fs_read(bundle, CERTIFICATES_MAX / 2, &all, err) && buf_addc(&all, '\n') &&
              fs_read(extra, CERTIFICATES_MAX / 2 - 2, &all, err);
    if (ok) {
        struct curl_blob blob = {.data = all.data, .len = all.len, .flags = CURL_BLOB_COPY};
        ok = curl->easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK ||
             err_set(err, ERR_UNSUPPORTED, "this libcurl takes no extra certificates");
    }
    buf_release(&all);
    return ok || err_wrap(err, "NODE_EXTRA_CA_CERTS");
}

bool
http_set_certificates(const struct http_curl *curl, CURL *easy, struct err *err)
{
    const char *bundle = own_bundle(), *extra = getenv("NODE_EXTRA_CA_CERTS");
    if (bundle && curl->easy_setopt(easy, CURLOPT_CAINFO, bundle) != CURLE_OK)
        return err_set(err, ERR_INVALID, "cannot use the certificates in '%s'", bundle);
    if (!extra || !*extra)
        return true;
    char *standard = NULL;
    if (!bundle && curl->easy_getinfo(easy, CURLINFO_CAINFO, &standard) == CURLE_OK)
        bundle = standard;
    return set_joined(curl, easy, bundle ? bundle : "/etc/ssl/certs/ca-certificates.crt", extra,
                      err);
}
