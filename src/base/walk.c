#include "base/cancel.h"
#include "base/glob.h"
#include "base/walk_scan.h"

#include <unistd.h>

struct walk {
    const struct glob_walk *w;
    struct buf path; /* root, "/", then the path below it */
    size_t rel_at;   /* where that path starts */
    struct buf full; /* what ignore rules speak of */
};

static void
add_component(struct buf *path, size_t first, const char *name)
{
    if (path->len > first)
        buf_addc(path, '/');
    buf_adds(path, name);
}

static bool walk_dir(struct walk *k, struct walk_scope *scope, bool tracked_only, bool is_root);

static bool
visit_entry(struct walk *k, const struct walk_listing *l, size_t i)
{
    const struct glob_walk *w = k->w;
    struct walk_entry e = l->entries[i];
    size_t path_len = k->path.len, full_len = k->full.len;

    if (cancel_fired(w->cancel) != CANCEL_NONE)
        return false;
    add_component(&k->path, k->rel_at, walk_entry_name(l, i));
    add_component(&k->full, 0, walk_entry_name(l, i));
    bool go = w->visit(w->user, k->path.data + k->rel_at, e.is_dir);
    if (go && e.is_dir)
        go = walk_dir(k, l->scope, e.tracked_only, false);
    buf_truncate(&k->path, path_len);
    buf_truncate(&k->full, full_len);
    return go;
}

static bool
walk_dir(struct walk *k, struct walk_scope *scope, bool tracked_only, bool is_root)
{
    const struct walk_folder f = {.path = buf_cstr(&k->path),
                                  .full = buf_str(&k->full),
                                  .scope = scope,
                                  .tracked_only = tracked_only,
                                  .is_root = is_root};
    struct walk_listing l;
    bool go = true;

    if (walk_scan(&f, k->w->cancel, &l)) {
        close(l.fd); /* so that the walk holds none however deep it goes */
        l.fd = -1;
        for (size_t i = 0; i < l.n && go; i++)
            go = visit_entry(k, &l, i);
    }
    walk_listing_release(&l);
    return go && cancel_fired(k->w->cancel) == CANCEL_NONE;
}

bool
glob_walk(const struct glob_walk *w)
{
    struct walk k = {.w = w};
    struct walk_scope *scope = NULL;

    buf_init(&k.path, BUF_MAX);
    buf_init(&k.full, BUF_MAX);
    buf_adds(&k.path, w->root);
    if (!str_ends(buf_str(&k.path), "/"))
        buf_addc(&k.path, '/');
    k.rel_at = k.path.len;
    if (!w->no_ignore)
        scope = walk_scope_root(w->root, &k.full);
    bool done = walk_dir(&k, scope, false, true);
    walk_scope_free(scope);
    buf_release(&k.path);
    buf_release(&k.full);
    return done;
}
