/* What containers are given of the disk: "docker run -v .:/w", "--mount type=bind,src=.,dst=/w". Rules for files hold for it. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/trees.h"

/* A folder that a container sees, and may write unless it is said otherwise. */
static void
judge_mount(struct chain *c, const struct perm_leaf *l, struct str source, bool read_only)
{
    if (!source.len || source.len >= 4096 || memchr(source.ptr, '\0', source.len))
        return;
    const char *cwd = l->cwd ? l->cwd : c->root;
    char *text = str_dup(source), *path = fs_normalize(cwd, text);
    for (int write = 0; write <= !read_only && fs_exists(path); write++) {
        struct path_names n;
        if (chain_seen(c, xasprintf("mount %d %s", write, path)))
            continue;
        path_names_init(&n, cwd, text, c->fold);
        struct access a = {.kind = write ? EFFECT_WRITE : EFFECT_READ_TREE,
                           .path = n.v[0],
                           .shown = text,
                           .leaf = l,
                           .below = write};
        const struct perm_rule *whole = write ? trees_whole_rule(c, "Edit", &n) : NULL;
        if (whole)
            chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, whole, text,
                      "a container may change '%s', which a deny rule is about", text);
        else
            access_rules(c, &a, &n);
        path_names_release(&n);
    }
    free(path);
    free(text);
}

/* "SRC:DST[:ro]", "type=bind,src=SRC,dst=DST[,readonly]" */
static void
judge_mount_value(struct chain *c, const struct perm_leaf *l, struct str v, bool known)
{
    struct str rest = v, part;
    if (!known) {
        judge_mount(c, l, STR("."), false);
        return;
    }
    if (!memchr(v.ptr, '=', v.len)) {
        size_t colon = str_find(v, ':', 0);
        if (colon != (size_t)-1)
            judge_mount(c, l, str_sub(v, 0, colon),
                        str_ends(v, ":ro") || str_contains(v, STR(":ro,")));
        return;
    }
    bool read_only = str_contains(v, STR("readonly")) || str_contains(v, STR(",ro"));
    while (str_split(&rest, ',', &part))
        if (str_starts(part, "src=") || str_starts(part, "source="))
            judge_mount(c, l, str_sub(part, str_find(part, '=', 0) + 1, part.len), read_only);
}

void
judge_mounts(struct chain *c, const struct perm_leaf *l)
{
    bool boxes = leaf_is(l, "docker") || leaf_is(l, "podman") || leaf_is(l, "nerdctl");
    if (!boxes || !trees_rules_exist(c, true) || !trees_has(l, "run|create"))
        return;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool bundle = s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-' && s.ptr[s.len - 1] == 'v';
        bool name = bundle || str_is(s, "-v") || str_is(s, "--volume") || str_is(s, "--mount");
        if (name && i + 1 < l->n_argv)
            judge_mount_value(c, l, l->argv[i + 1].text, l->argv[i + 1].known);
        else if (str_starts(s, "--volume=") || str_starts(s, "--mount="))
            judge_mount_value(c, l, str_sub(s, str_find(s, '=', 0) + 1, s.len), l->argv[i].known);
        else if (str_starts(s, "-v") && s.len > 2)
            judge_mount_value(c, l, str_sub(s, 2, s.len), l->argv[i].known);
    }
}
