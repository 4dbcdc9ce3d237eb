#include "engine/outgoing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/context.h"
#include "engine/core.h"
#include "engine/rebuild.h"

#define REQUEST_MAX ((size_t)32 << 20) /* the server's limit of a body (413) */
#define REQUEST_ROOM ((size_t)1 << 20) /* of it, for what stands around the messages */
#define SMALL_WINDOW 200000            /* models of that size take fewer images */

static void
forget_from(struct outgoing *o, size_t from)
{
    if (o->n > from)
        o->edition = message_edition_new();
    while (o->n > from) {
        o->n--;
        message_free(o->in[o->n]);
        message_free(o->out[o->n]);
    }
}

void
outgoing_release(struct outgoing *o)
{
    forget_from(o, 0);
    free(o->in);
    free(o->out);
    free(o->model);
    validator_proof_release(&o->proof);
    body_text_release(&o->text);
    *o = (struct outgoing){0};
}

/* NULL: as it is. */
static const struct message *
for_model(const struct message *m, const char *model)
{
    if (m->role != ROLE_ASSISTANT || !m->model || strcmp(m->model, model) == 0 ||
        !rebuild_has_thinking(m))
        return NULL;
    return rebuild_without_thinking(m);
}

static void
add(struct outgoing *o, const struct message *m)
{
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 64;
        o->in = xreallocarray(o->in, o->cap, sizeof *o->in);
        o->out = xreallocarray(o->out, o->cap, sizeof *o->out);
    }
    const struct message *other = for_model(m, o->model);
    o->in[o->n] = message_ref(m);
    o->out[o->n++] = other ? other : message_ref(m);
}

/* How many copies still stand for what they were made of. */
static size_t
same_as_before(const struct outgoing *o, const struct model_request *req)
{
    size_t n = o->n < req->n_messages ? o->n : req->n_messages, same = 0;
    if (req->edition && req->edition == o->in_edition)
        return n;
    while (same < n && o->in[same] == req->messages[same])
        same++;
    return same;
}

static void
follow(struct outgoing *o, const struct model_request *req)
{
    if (!o->model || strcmp(o->model, req->model) != 0) {
        forget_from(o, 0);
        free(o->model);
        o->model = xstrdup(req->model);
    }
    forget_from(o, same_as_before(o, req));
    for (size_t i = o->n; i < req->n_messages; i++)
        add(o, req->messages[i]);
    o->in_edition = req->edition;
    if (!o->edition)
        o->edition = message_edition_new();
}

/* What was changed stands in the copies from now on; a list of another length (a tier's, that was not legal) is copied whole. */
static void
take_mended(struct outgoing *o, const struct message *const *list, size_t n,
            struct model_request *req)
{
    if (n != o->n) {
        forget_from(o, 0);
        for (size_t i = 0; i < n; i++)
            add(o, list[i]);
        o->in_edition = 0;
        req->message_break[0] = SIZE_MAX; /* they counted in the other list */
        req->message_break[1] = n ? n - 1 : SIZE_MAX;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (o->out[i] == list[i])
            continue;
        message_free(o->out[i]);
        o->out[i] = message_ref(list[i]);
    }
    o->edition = message_edition_new();
}

static void
prove(struct outgoing *o, struct core *c, struct model_request *req)
{
    struct validator_report r;
    int64_t window = context_window(c);
    const struct validator_limits limits = {
        .bytes = REQUEST_MAX - REQUEST_ROOM - prompt_bytes(&c->prompt),
        .images = window > 0 && window <= SMALL_WINDOW ? 100 : 600,
    };
    const struct message **mended;
    size_t n;
    validator_report_init(&r);
    if (validator_mend_more(&o->proof, (const struct message *const *)o->out, o->n, o->edition,
                            &limits, &r, &mended, &n)) {
        log_warn("validator", "of what was to be sent: %s", buf_cstr(&r.text));
        if (r.text.len)
            core_notice(c, "what is sent was mended: %s", buf_cstr(&r.text));
        take_mended(o, mended, n, req);
        for (size_t i = 0; i < n; i++)
            message_free(mended[i]);
        free(mended);
    }
    log_debug("validator", "%zu of %zu messages looked at", r.looked, o->n);
    validator_report_release(&r);
}

/* A request that was prepared and is sent once more. */
static bool
is_prepared(const struct outgoing *o, const struct model_request *req)
{
    return o->edition && req->edition == o->edition && o->model &&
           strcmp(o->model, req->model) == 0;
}

bool
outgoing_prepare(struct outgoing *o, struct core *c, struct model_request *req, struct err *err)
{
    if (!is_prepared(o, req)) {
        follow(o, req);
        prove(o, c, req);
        req->messages = o->out;
        req->n_messages = o->n;
        req->edition = o->edition;
        req->text = &o->text;
    }
    size_t bytes = o->proof.n ? o->proof.list[o->proof.n - 1].bytes : 0;
    bytes += prompt_bytes(&c->prompt);
    if (bytes <= REQUEST_MAX - REQUEST_ROOM)
        return true;
    err_set(err, ERR_LIMIT, "the request has %zu MB, more than the %zu MB that a server takes",
            bytes >> 20, REQUEST_MAX >> 20);
    (void)snprintf(err->kind, sizeof err->kind, "prompt_too_long");
    return false;
}
