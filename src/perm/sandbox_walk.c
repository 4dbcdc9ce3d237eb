/* The search below the writable folders, breadth first and bounded: what lies near the top counts most. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/protected.h"
#include "perm/rules_match.h"
#include "perm/sandbox_parts.h"

enum { FOUND_MAX = 400, QUEUE_MAX = 100000 };

struct queue {
    char **v;
    size_t n, cap, at;
};

static void
queue_take(struct queue *q, char *take_path)
{
    if (q->n - q->at >= QUEUE_MAX) {
        free(take_path);
        return;
    }
    ARRAY_GROW(q->v, q->n, q->cap);
    q->v[q->n++] = take_path;
}

static struct sandbox_guards
guards_of(struct sandbox_plan *p)
{
    return (struct sandbox_guards){
        .writable = &p->writable, .read_only = &p->read_only, .missing = &p->missing};
}

/* What is named so but leads elsewhere can be swapped for another, and no mount stands on a link. */
static void
found_link(struct sandbox_walk *w, const char *path)
{
    char *real = paths_real(path);
    if (real && paths_hold(&w->plan->writable, real))
        paths_add(&w->plan->read_only, real);
    paths_take(
        &w->plan->unproven,
        xasprintf("'%s' is a symbolic link in a folder that commands may write, so it can be "
                  "replaced",
                  path));
    free(real);
}

/* Work trees that an agent made below its folder are ordinary projects. */
static void
worktrees_of(struct sandbox_walk *w, struct queue *q, const char *path)
{
    char *trees = fs_join(path, "worktrees");
    struct sandbox_paths l = {0};
    sandbox_subfolders(trees, &l, FOUND_MAX);
    for (size_t i = 0; i < l.n; i++) {
        paths_add(&w->plan->writable, l.v[i]);
        queue_take(q, xstrdup(l.v[i]));
    }
    paths_release(&l);
    free(trees);
}

static void
found(struct sandbox_walk *w, struct queue *q, const char *dir, const char *name, char *path,
      bool link)
{
    struct sandbox_guards g = guards_of(w->plan);
    if (link) {
        found_link(w, path);
    } else if (strcmp(name, ".git") == 0) {
        sandbox_git(&g, dir);
    } else {
        paths_add(&w->plan->read_only, path);
        if (strcmp(name, ".claude") == 0)
            worktrees_of(w, q, path);
    }
}

static const char *
denied(const struct sandbox_walk *w, const char *path)
{
    static const char *const tools[] = {"Read", "Edit"};
    for (size_t i = 0; w->rules && i < ARRAY_LEN(tools); i++)
        if (perm_rules_match_path(w->rules, VERDICT_DENY, tools[i], &path, 1, w->anchor))
            return tools[i];
    return NULL;
}

static bool
full(const struct sandbox_plan *p)
{
    return p->read_only.n + p->unreadable.n >= FOUND_MAX;
}

static void
look_at(struct sandbox_walk *w, struct queue *q, const char *dir, const struct dirent *e)
{
    char *path = fs_join(dir, e->d_name);
    const char *parent = fs_basename(dir);
    char *two = xasprintf("%s/%s", parent, e->d_name);
    const char *tool = denied(w, path);
    /* By the last two names: what stands above was judged on the way here. */
    bool named =
        protected_by_name(e->d_name) || (protected_by_name(two) && !protected_by_name(parent));
    if (tool && e->d_type != DT_LNK)
        paths_add(strcmp(tool, "Read") == 0 ? &w->plan->unreadable : &w->plan->read_only, path);
    if (named)
        found(w, q, dir, e->d_name, path, e->d_type == DT_LNK);
    else if (!tool && e->d_type == DT_DIR && strcmp(e->d_name, "node_modules") != 0) {
        queue_take(q, path);
        path = NULL;
    }
    free(two);
    free(path);
}

static void
look_into(struct sandbox_walk *w, struct queue *q, const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && w->entries_left && !full(w->plan) && (e = readdir(d));) {
        w->entries_left--;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            look_at(w, q, dir, e);
    }
    if (d)
        closedir(d);
}

void
sandbox_walk(struct sandbox_walk *w, const char *dir)
{
    struct queue q = {0};
    queue_take(&q, xstrdup(dir));
    for (; q.at < q.n && w->entries_left && !full(w->plan); q.at++) {
        look_into(w, &q, q.v[q.at]);
        free(q.v[q.at]);
    }
    if (q.at < q.n)
        paths_take(&w->plan->unproven,
                   xasprintf("'%s' is too large to be searched for all protected files", dir));
    while (q.at < q.n)
        free(q.v[q.at++]);
    free(q.v);
}
