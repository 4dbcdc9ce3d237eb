#pragma once
/* libcurl through a typed table, filled by dlopen on first use. Private to base/http. */
#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"

/* The easy and multi calls that are used; the macros of curl's headers that check argument types are bypassed by the table. */
#define CURL_CALLS(X)                                                                              \
    X(CURLcode, global_init, curl_global_init, (long))                                             \
    X(CURL *, easy_init, curl_easy_init, (void))                                                   \
    X(void, easy_cleanup, curl_easy_cleanup, (CURL *))                                             \
    X(CURLcode, setopt, curl_easy_setopt, (CURL *, CURLoption, ...))                               \
    X(CURLcode, getinfo, curl_easy_getinfo, (CURL *, CURLINFO, ...))                               \
    X(CURLcode, pause, curl_easy_pause, (CURL *, int))                                             \
    X(const char *, strerror, curl_easy_strerror, (CURLcode))                                      \
    X(CURLM *, multi_init, curl_multi_init, (void))                                                \
    X(CURLMcode, multi_cleanup, curl_multi_cleanup, (CURLM *))                                     \
    X(CURLMcode, add_handle, curl_multi_add_handle, (CURLM *, CURL *))                             \
    X(CURLMcode, remove_handle, curl_multi_remove_handle, (CURLM *, CURL *))                       \
    X(CURLMcode, perform, curl_multi_perform, (CURLM *, int *))                                    \
    X(CURLMcode, poll, curl_multi_poll, (CURLM *, struct curl_waitfd *, unsigned, int, int *))     \
    X(CURLMsg *, info_read, curl_multi_info_read, (CURLM *, int *))                                \
    X(struct curl_slist *, slist_append, curl_slist_append, (struct curl_slist *, const char *))   \
    X(void, slist_free_all, curl_slist_free_all, (struct curl_slist *))

struct curl_calls {
#define X(ret, name, symbol, args) ret(*name) args;
    CURL_CALLS(X)
#undef X
};
/* The table, loading the library when that was not done; NULL with err. Thread-safe. */
const struct curl_calls *curl_load(struct err *err);
