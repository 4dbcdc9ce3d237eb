#include "model/anthropic_headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MASKED_MIN 8 /* a shorter word is no key */

#define API_VERSION "2023-06-01"
#define BETAS_MAX 4096

static bool
is_listed(struct str list, struct str name)
{
    struct str part;
    while (str_split(&list, ',', &part))
        if (str_eq(part, name))
            return true;
    return false;
}

/* Those of the list that are not in it yet, nor in `but`. */
static void
join_betas(struct buf *to, struct str values, struct str but)
{
    struct str part;
    while (str_split(&values, ',', &part)) {
        part = str_trim(part);
        if (!part.len || is_listed(buf_str(to), part) || is_listed(but, part) ||
            to->len + part.len + 1 > BETAS_MAX)
            continue;
        if (to->len)
            buf_addc(to, ',');
        buf_add_str(to, part);
    }
}

static void
add_betas(struct header_list *h, struct str values)
{
    join_betas(&h->betas, values, STR(""));
}

/* Control bytes would end the header and begin another. */
static bool
is_clean(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < 0x20 && s.ptr[i] != '\t')
            return false;
    return true;
}

static size_t
find(const struct header_list *h, struct str name)
{
    for (size_t i = 0; i < h->n; i++)
        if (strncasecmp(h->lines[i], name.ptr, name.len) == 0 && h->lines[i][name.len] == ':')
            return i;
    return h->n;
}

void
headers_put(struct header_list *h, struct str name, const char *prefix, struct str value)
{
    name = str_trim(name);
    value = str_trim(value);
    if (!name.len || !is_clean(name) || !is_clean(value))
        return;
    if (name.len == strlen("anthropic-beta") &&
        strncasecmp(name.ptr, "anthropic-beta", name.len) == 0) {
        add_betas(h, value);
        return;
    }
    size_t at = find(h, name);
    if (at == h->n) {
        ARRAY_GROW(h->lines, h->n + 1, h->cap);
        h->lines[++h->n] = NULL;
    } else {
        free(h->lines[at]);
    }
    h->lines[at] =
        xasprintf("%.*s: %s%.*s", (int)name.len, name.ptr, prefix, (int)value.len, value.ptr);
}

void
headers_put_lines(struct header_list *h, const char *lines)
{
    struct str rest = str_from(lines), line;
    while (str_split(&rest, '\n', &line)) {
        size_t colon = str_find(line, ':', 0);
        if (colon != (size_t)-1)
            headers_put(h, str_sub(line, 0, colon), "", str_sub(line, colon + 1, line.len));
    }
}

void
headers_init_empty(struct header_list *h)
{
    *h = (struct header_list){0};
    buf_init(&h->betas, BETAS_MAX);
    buf_init(&h->refused, BETAS_MAX);
}

void
headers_init(struct header_list *h, const struct anthropic_config *c)
{
    headers_init_empty(h);
    headers_put(h, STR("content-type"), "", STR("application/json"));
    headers_put(h, STR("accept"), "", STR("text/event-stream"));
    headers_put(h, STR("anthropic-version"), "", STR(API_VERSION));
    if (c->user_agent)
        headers_put(h, STR("user-agent"), "", str_from(c->user_agent));
    if (c->api_key)
        headers_put(h, STR("x-api-key"), "", str_from(c->api_key));
    else if (c->auth_token)
        headers_put(h, STR("authorization"), "Bearer ", str_from(c->auth_token));
    add_betas(h, str_from(c->betas));
    if (c->custom_headers)
        headers_put_lines(h, c->custom_headers);
}

void
headers_release(struct header_list *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->lines[i]);
    free(h->lines);
    buf_release(&h->betas);
    buf_release(&h->refused);
    *h = (struct header_list){0};
}

static bool
is_credential(struct str name)
{
    static const char *const parts[] = {"key", "auth", "token", "secret", "cookie"};
    char *text = str_dup(name);
    bool yes = false;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        yes = yes || strcasestr(text, parts[i]);
    free(text);
    return yes;
}

void
headers_mask(const struct header_list *h, char *text, size_t len)
{
    for (size_t i = 0; i < h->n; i++) {
        struct str line = str_from(h->lines[i]);
        size_t colon = str_find(line, ':', 0);
        if (colon == (size_t)-1 || !is_credential(str_sub(line, 0, colon)))
            continue;
        struct str value = str_trim(str_sub(line, colon + 1, line.len));
        size_t blank = str_find(value, ' ', 0); /* behind "Bearer" */
        if (blank != (size_t)-1)
            value = str_trim(str_sub(value, blank, value.len));
        char *at = text;
        while (value.len >= MASKED_MIN &&
               (at = memmem(at, len - (size_t)(at - text), value.ptr, value.len)) != NULL)
            at = (char *)memset(at, '*', value.len) + value.len;
    }
}

/* Control bytes would end the header. */
char *
headers_beta_line(const struct header_list *h, const char *more)
{
    struct buf all;
    buf_init(&all, BETAS_MAX);
    join_betas(&all, buf_str(&h->betas), STR(""));
    if (more && is_clean(str_from(more)))
        join_betas(&all, str_from(more), buf_str(&h->refused));
    char *line = all.len ? xasprintf("anthropic-beta: %s", buf_cstr(&all)) : NULL;
    buf_release(&all);
    return line;
}

static bool
names_one(struct str refusal, struct str list)
{
    struct str part;
    while (str_split(&list, ',', &part))
        if (str_trim(part).len && str_contains(refusal, str_trim(part)))
            return true;
    return false;
}

void
headers_drop_betas(struct header_list *h, const char *more, struct str refusal,
                   struct buf *ret_refused)
{
    char *ours = str_dup(buf_str(&h->betas));
    struct str rest = str_from(ours), part, asked = str_from(more ? more : "");
    bool all = !names_one(refusal, rest) && !names_one(refusal, asked);
    buf_clear(&h->betas);
    while (str_split(&rest, ',', &part))
        if (!all && !str_contains(refusal, part))
            add_betas(h, part);
    while (str_split(&asked, ',', &part)) {
        part = str_trim(part);
        if (all || str_contains(refusal, part))
            join_betas(ret_refused, part, buf_str(&h->refused));
    }
    join_betas(&h->refused, buf_str(ret_refused), STR(""));
    free(ours);
}
