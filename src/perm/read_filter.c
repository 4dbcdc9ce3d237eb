#include "perm/read_filter.h"

#include <stdlib.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

struct read_filter {
    struct perm_rules rules;
    struct perm_anchor anchor;
    char *root, *cwd, *start, *home, *config_home;
    bool deny, ask;
};

static void
keep(struct read_filter *f, const struct perm_rule *r)
{
    struct perm_rules *to = &f->rules;
    ARRAY_GROW(to->rules, to->n, to->cap);
    to->rules[to->n++] = (struct perm_rule){
        .verdict = r->verdict,
        .text = xstrdup(r->text),
        .tool = xstrdup(r->tool),
        .body = xstrdup(r->body),
        .scope = r->scope,
        .claude = r->claude,
        .file = xstrdup(r->file),
    };
    f->deny |= r->verdict == VERDICT_DENY;
    f->ask |= r->verdict == VERDICT_ASK;
}

static bool
keeps_back(const struct perm_rule *r, bool asks)
{
    const struct perm_rules one = {.rules = (struct perm_rule *)r, .n = 1};
    const struct rule_filter list = {.list = r->verdict};
    return (r->verdict == VERDICT_DENY || (asks && r->verdict == VERDICT_ASK)) &&
           rules_any(&one, &list, "Read");
}

/* As the chain anchors them, so that both mean the same files. */
static void
set_anchor(struct read_filter *f, const char *root, const char *cwd, const char *start_cwd,
           const char *home)
{
    f->home = fs_normalize("/", home && *home ? home : fs_home());
    f->cwd = fs_normalize(f->home, cwd ? cwd : "/");
    f->root = fs_normalize(f->cwd, root ? root : f->cwd);
    f->start = start_cwd ? fs_normalize(f->cwd, start_cwd) : NULL;
    f->config_home = fs_join(f->home, ".claude");
    f->anchor = (struct perm_anchor){.root = f->root,
                                     .cwd = f->cwd,
                                     .start = f->start,
                                     .home = f->home,
                                     .config_home = f->config_home,
                                     .fold_case = path_probe_fold(f->root)};
}

struct read_filter *
read_filter_new(const struct perm_rules *rs, const char *root, const char *cwd,
                const char *start_cwd, const char *home, bool asks)
{
    struct read_filter *f = NULL;
    for (size_t i = 0; rs && i < rs->n; i++) {
        if (!keeps_back(&rs->rules[i], asks))
            continue;
        if (!f) {
            f = xcalloc(1, sizeof *f);
            perm_rules_init(&f->rules);
            set_anchor(f, root, cwd, start_cwd, home);
        }
        keep(f, &rs->rules[i]);
    }
    return f;
}

void
read_filter_free(struct read_filter *f)
{
    if (!f)
        return;
    perm_rules_release(&f->rules);
    free(f->root);
    free(f->cwd);
    free(f->start);
    free(f->home);
    free(f->config_home);
    free(f);
}

bool
read_filter_allows(const struct read_filter *f, const char *path)
{
    return !perm_rules_match_path(&f->rules, VERDICT_DENY, "Read", &path, 1, &f->anchor) &&
           !perm_rules_match_path(&f->rules, VERDICT_ASK, "Read", &path, 1, &f->anchor);
}

const char *
read_filter_told(const struct read_filter *f)
{
    return !f->ask ? "a deny rule" : f->deny ? "a deny or ask rule" : "an ask rule";
}
