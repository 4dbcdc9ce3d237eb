#pragma once
/* libcurl as a table of typed functions, filled by dlopen on first use. Inside base/http. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/err.h"

#define HTTP_CURL_FUNCTIONS(X)                                                                     \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_cleanup)                                                                                \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_pause)                                                                                  \
    X(easy_strerror)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_info_read)                                                                             \
    X(multi_strerror)

struct http_curl {
#define X(name) __typeof__(curl_##name) *name;
    HTTP_CURL_FUNCTIONS(X)
#undef X
};

/* NULL with the reason when there is no libcurl. Thread-safe. */
const struct http_curl *http_curl(struct err *err);

/* A multi handle keeps connections open from one request to the next. It belongs to whoever took it until it is given
 * back; NULL when it cannot be made. */
CURLM *http_multi_take(const struct http_curl *curl);
void http_multi_give(const struct http_curl *curl, CURLM *take_multi);

/* Certificates beside the system's: NODE_EXTRA_CA_CERTS joins them, SSL_CERT_FILE or CURL_CA_BUNDLE takes their place. */
bool http_set_certificates(const struct http_curl *curl, CURL *easy, struct err *err) MUST_CHECK;
