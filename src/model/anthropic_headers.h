#pragma once
/*
 * The request headers of the Messages API, made once from the provider's settings. A header given by the person replaces ours of the
 * same name; anthropic-beta values join into one comma list, each once, and the header is left out when the list is empty.
 */
#include "base/buf.h"
#include "model/provider.h"

struct header_list {
    char **lines; /* NULL-terminated */
    size_t n, cap;
    struct buf betas;   /* "a,b"; not among the lines */
    struct buf refused; /* of requests, those that the server does not know */
};
void headers_init(struct header_list *h, const struct anthropic_config *c);
/* For another wire: no header at first, each put in by name. One that ends or smuggles a line is left out; "Name: value" lines by the
 * person replace ours. */
void headers_init_empty(struct header_list *h);
void headers_put(struct header_list *h, struct str name, const char *prefix, struct str value);
void headers_put_lines(struct header_list *h, const char *lines);
void headers_release(struct header_list *h);
/* Puts stars over each key and token of these headers that stands in the text: what a server sends back of them goes into errors, and these
 * into logs and recordings. */
void headers_mask(const struct header_list *h, char *text, size_t len);
/* "anthropic-beta: a,b" of ours and of one request's `more` (NULL: none), each once and without those the server refused; yours,
 * or NULL when there are none. */
char *headers_beta_line(const struct header_list *h, const char *more);
/* Drops the betas that a server's refusal names; when it names none of them, all. Those of `more` that are dropped are appended
 * to ret_refused; all of them stay refused. */
void headers_drop_betas(struct header_list *h, const char *more, struct str refusal,
                        struct buf *ret_refused);
