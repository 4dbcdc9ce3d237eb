/* Completion of file names: a walk may take a second in a tree of a million files, so it has a thread of its own, one at a time. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/glob.h"
#include "base/json.h"
#include "engine/engine_private.h"
#include "engine/query_private.h"

enum { FILES_MAX = 2000, TIME_MAX_MS = 2000, TIME_EACH = 256, ANSWER_MAX = 16 << 20 };

struct file_query {
    pthread_t thread;
    struct cancel *cancel;
    struct queue *out; /* the engine's; it outlives this */
    char *root, *want;
    uint64_t seq;
};

struct listing {
    struct jw w;
    struct str want;
    size_t n, seen;
    int64_t until;
};

static bool
visit_file(void *user, const char *rel_path, bool is_dir)
{
    struct listing *l = user;

    if (++l->seen % TIME_EACH == 0 && clock_mono_ms() > l->until)
        return false;
    if (is_dir || (l->want.len && !str_contains(str_from(rel_path), l->want)))
        return true;
    jw_cstr(&l->w, rel_path);
    return ++l->n < FILES_MAX;
}

static void *
answer(void *arg)
{
    struct file_query *q = arg;
    struct listing l = {.want = str_from(q->want), .until = clock_mono_ms() + TIME_MAX_MS};
    struct event *ev = event_new(EV_ANSWER);
    struct buf out;

    buf_init(&out, ANSWER_MAX);
    jw_init(&l.w, &out);
    jw_object(&l.w);
    jw_key(&l.w, "files");
    jw_array(&l.w);
    bool all = glob_walk(
        &(struct glob_walk){.root = q->root, .cancel = q->cancel, .visit = visit_file, .user = &l});
    jw_end(&l.w);
    jw_kbool(&l.w, "complete", all);
    jw_end(&l.w);
    ev->seq = q->seq;
    ev->u.answer.json =
        buf_full(&out) ? xstrdup("{\"error\":\"the answer is too large\"}") : buf_take(&out);
    buf_release(&out);
    queue_push(q->out, ev);
    return NULL;
}

static void
query_free(struct file_query *q)
{
    cancel_free(q->cancel);
    free(q->root);
    free(q->want);
    free(q);
}

void
query_files_stop(struct engine *e)
{
    if (!e->files)
        return;
    cancel_fire(e->files->cancel, CANCEL_STOP);
    pthread_join(e->files->thread, NULL);
    query_free(e->files);
    e->files = NULL;
}

void
query_files(struct engine *e, const struct op *op)
{
    struct file_query *q = xcalloc(1, sizeof *q);

    query_files_stop(e); /* its answer says what it had so far */
    q->cancel = cancel_new(e->cancel);
    q->out = e->out;
    q->root = xstrdup(e->core.cwd);
    q->want = xstrdup(op->text ? op->text : "");
    q->seq = op->seq;
    if (pthread_create(&q->thread, NULL, answer, q) == 0) {
        e->files = q;
        return;
    }
    answer(q);
    query_free(q);
}
