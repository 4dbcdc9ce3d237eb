#include "perm/danger.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"

/* ---- words ---- */

static bool
is_busybox(const struct perm_leaf *l)
{
    return (leaf_is(l, "busybox") || leaf_is(l, "toybox") || leaf_is(l, "coreutils")) &&
           l->n_argv > 1 && l->argv[1].known;
}

static struct str
base_of(struct str s)
{
    for (size_t i = s.len; i-- > 0;)
        if (s.ptr[i] == '/')
            return str_sub(s, i + 1, s.len);
    return s;
}

struct str
danger_name(const struct perm_leaf *l, size_t *ret_at)
{
    size_t at = is_busybox(l) ? 1 : 0;
    *ret_at = at + 1;
    return l->n_argv > at && l->argv[at].known ? base_of(l->argv[at].text) : str_from(NULL);
}

bool
danger_is(const struct perm_leaf *l, const char *program, size_t *ret_at)
{
    return str_is(danger_name(l, ret_at), program);
}

static bool
in_bundle(struct str have, const char *word)
{
    return word[0] == '-' && word[1] && word[1] != '-' && !word[2] && have.len > 1 &&
           have.ptr[0] == '-' && have.ptr[1] != '-' && memchr(have.ptr + 1, word[1], have.len - 1);
}

bool
danger_has(const struct perm_leaf *l, const char *word)
{
    for (size_t i = 1; i < l->n_argv; i++)
        if (l->argv[i].known && (str_is(l->argv[i].text, word) || in_bundle(l->argv[i].text, word)))
            return true;
    return false;
}

static bool
has_any(const struct perm_leaf *l, const char *words)
{
    struct str rest = str_from(words), word;
    while (rest.len && str_split(&rest, ' ', &word)) {
        char *one = str_dup(word);
        bool has = danger_has(l, one);
        free(one);
        if (has)
            return true;
    }
    return false;
}

/* ---- programs ---- */

/* Without one of `only_with` ("": with anything) they do no harm; one of `not_with` makes them look only. */
static const struct {
    const char *program, *only_with, *not_with, *what;
} programs[] = {
    {"mkfs", "", "--help --version -V", "makes a new file system where one was"},
    {"mke2fs", "", "-n", "makes a new file system where one was"},
    {"mkswap", "", "--help --version", "makes swap space where something was"},
    {"wipefs", "-a --all -o --offset", "-n --no-act", "wipes a device"},
    {"blkdiscard", "", "--help", "wipes a device"},
    {"fdisk", "", "-l --list -x", "changes partitions"},
    {"sfdisk", "", "-l --list -d --dump", "changes partitions"},
    {"cfdisk", "", "--help", "changes partitions"},
    {"gdisk", "", "-l", "changes partitions"},
    {"sgdisk", "", "-p --print", "changes partitions"},
    {"parted", "", "-l --list print", "changes partitions"},
    {"cryptsetup", "luksFormat erase luksErase reencrypt", "",
     "destroys what an encrypted device holds"},
    {"pvremove", "", "--help", "removes a volume"},
    {"vgremove", "", "--help", "removes volumes"},
    {"lvremove", "", "--help", "removes a volume"},
    {"zpool", "destroy labelclear", "", "destroys a pool of disks"},
    {"zfs", "destroy rollback", "-n", "destroys a file system"},
    {"shutdown", "", "-c --help", "stops the machine"},
    {"reboot", "", "--help", "restarts the machine"},
    {"halt", "", "--help", "stops the machine"},
    {"poweroff", "", "--help", "stops the machine"},
    {"telinit", "", "--help", "stops or restarts the machine"},
    {"init", "0 1 6", "", "stops or restarts the machine"},
    {"systemctl", "poweroff reboot halt kexec rescue emergency isolate", "",
     "stops the machine (poweroff and its kind)"},
    {"userdel", "", "--help", "removes an account"},
    {"deluser", "", "--help", "removes an account"},
    {"groupdel", "", "--help", "removes a group"},
    {"crontab", "-r", "-l", "removes all of a person's timed jobs"},
    {"iptables", "-F --flush -X -P", "-L -S", "opens or closes the machine's network"},
    {"ip6tables", "-F --flush -X -P", "-L -S", "opens or closes the machine's network"},
    {"nft", "flush delete", "", "opens or closes the machine's network"},
    {"killall5", "", "", "ends every process"},
    {"loginctl", "poweroff reboot halt suspend terminate-user kill-user", "",
     "stops the machine or the session"},
    {"passwd", "-d -l --delete --lock", "", "changes who may log in"},
    {"mdadm", "--zero-superblock --fail --remove --stop", "", "takes disks apart"},
    {"btrfs", "delete", "", "destroys a subvolume"},
    {"hdparm", "--security-erase --security-erase-enhanced --trim-sector-ranges", "",
     "wipes a device"},
    {"nvme", "format sanitize", "", "wipes a device"},
    {"debugfs", "-w", "", "changes a file system's own data"},
};

/* pkill -u me, killall -u me: without a name, all that a person has running. */
static bool
kills_user(const struct perm_leaf *l)
{
    size_t operands = 0;
    if ((!leaf_is(l, "pkill") && !leaf_is(l, "killall")) ||
        !has_any(l, "-u -U --euid --uid --user"))
        return false;
    for (size_t i = 1; i < l->n_argv; i++)
        operands += !l->argv[i].known || !l->argv[i].text.len || l->argv[i].text.ptr[0] != '-';
    return operands < 2;
}

/* git rm -rf . */
static bool
git_removes_all(const struct perm_leaf *l)
{
    return leaf_is(l, "git") && danger_has(l, "rm") && has_any(l, "-f --force") &&
           has_any(l, ". ./ * :/") && !danger_has(l, "--cached");
}

static const char *
program_danger(const struct perm_leaf *l)
{
    size_t at;
    struct str name = danger_name(l, &at), row = str_starts(name, "mkfs.") ? STR("mkfs") : name;
    for (size_t i = 0; i < ARRAY_LEN(programs) && row.len; i++)
        if (programs[i].program[0] == row.ptr[0] && str_is(row, programs[i].program) &&
            (!programs[i].only_with[0] || has_any(l, programs[i].only_with)) &&
            !has_any(l, programs[i].not_with))
            return programs[i].what;
    if (str_is(name, "kill"))
        for (size_t i = at + 1; i < l->n_argv; i++)
            if (l->argv[i].known && str_is(l->argv[i].text, "-1"))
                return "ends every process that it can (pid -1)";
    if (git_removes_all(l))
        return "removes the project's files, with what is not committed";
    return kills_user(l) ? "ends every process of a user" : NULL;
}

/* ---- files that the system cannot do without ---- */

static const char *const vital_files[] = {
    "/etc/passwd",  "/etc/shadow",        "/etc/group",          "/etc/gshadow",
    "/etc/sudoers", "/etc/sudoers.d",     "/etc/fstab",          "/etc/crypttab",
    "/etc/pam.d",   "/etc/ld.so.preload", "/etc/ld.so.conf",     "/etc/inittab",
    "/boot",        "/etc/security",      "/proc/sysrq-trigger", "/etc/ssh/sshd_config",
};

static const char *
vital_file(const char *path)
{
    for (size_t i = 0; path && i < ARRAY_LEN(vital_files); i++)
        if (path_inside(path, vital_files[i], false))
            return vital_files[i];
    return NULL;
}

/* The word as a path, also behind an option ("--directory=/", "-C/", "of=/dev/sda"); yours. */
static char *
word_path(const struct perm_leaf *l, const struct perm_word *w)
{
    struct str s = w->text;
    size_t eq = str_find(s, '=', 0), slash = str_find(s, '/', 0);
    if (!w->known || !s.len)
        return NULL;
    if (eq != (size_t)-1 && (slash == (size_t)-1 || eq < slash))
        s = str_sub(s, eq + 1, s.len);
    else if (s.ptr[0] == '-' && slash == 2)
        s = str_sub(s, 2, s.len);
    if (!s.len || s.ptr[0] == '-' || (!l->cwd && s.ptr[0] != '/'))
        return NULL;
    char *text = str_dup(s), *path = fs_normalize(l->cwd ? l->cwd : "/", text);
    free(text);
    return path;
}

static bool
reads_only(const struct perm_leaf *l)
{
    return (l->cls == CLASS_READER || l->cls == CLASS_GIT_READ) && !l->effects_unknown;
}

/* Programs that others call to look at such files, and that have no row of their own. */
static bool
is_looking(const struct perm_leaf *l)
{
    static const char *const names[] = {"grep", "less", "more", "vipw", "getent",
                                        "sudo", "doas", "ls",   "stat", "cat",
                                        "head", "tail", "diff", "echo", "printf"};
    return leaf_is_any(l, names, ARRAY_LEN(names));
}

static void
judge_vital(struct chain *c, const struct perm_leaf *l, const char *shown)
{
    const char *hit = NULL;
    for (size_t i = 0; i < l->n_effects && !hit; i++) {
        enum perm_effect_kind kind = l->effects[i].kind;
        if (kind == EFFECT_WRITE || kind == EFFECT_DELETE || kind == EFFECT_DELETE_TREE)
            hit = vital_file(l->effects[i].path);
    }
    bool unsure = l->effects_unknown || l->cls == CLASS_UNKNOWN;
    unsure = unsure && !reads_only(l) && !is_looking(l);
    for (size_t i = 1; i < l->n_argv && !hit && unsure; i++) {
        char *path = word_path(l, &l->argv[i]);
        hit = vital_file(path);
        free(path);
    }
    if (hit)
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown,
                  "it may change '%s', which the system cannot do without", hit);
}

/* ---- whole trees of the system ---- */

/* The system's folders and whoever's home; /tmp is there to be filled. */
static const char *
vital_folder(const struct chain *c, const char *path)
{
    if (strcmp(path, "/") == 0)
        return "the whole system";
    if (strcmp(path, "/tmp") == 0)
        return NULL;
    if (!strchr(path + 1, '/'))
        return "a first-level folder of the system";
    return c->home && path_inside(c->home, path, c->fold) ? "the home folder" : NULL;
}

/* Programs that change whatever lies in a folder they are given, once one of the words is there. */
static const struct {
    const char *program, *with, *what;
    bool here;    /* without a folder: where it runs */
    bool project; /* the project too */
} trees[] = {
    {"rm", "-r -R --recursive", "removes", false, false},
    {"chown", "-R --recursive", "changes owners in", false, false},
    {"chgrp", "-R --recursive", "changes groups in", false, false},
    {"chmod", "-R --recursive", "changes rights in", false, false},
    {"setfacl", "-R --recursive", "changes rights in", false, false},
    {"chattr", "-R", "changes attributes in", false, false},
    {"rsync", "--delete --delete-before --delete-after --delete-during --delete-excluded --del",
     "removes what is not in the other folder from", false, true},
    {"tar", "--remove-files", "moves into an archive", false, true},
    {"tar", "-x --extract --get x xf xzf xvf xvzf xjf xJf xvjf xvJf", "unpacks over", true, false},
    {"bsdtar", "-x xf xvf", "unpacks over", true, false},
    {"unzip", "", "unpacks over", true, false},
    {"cpio", "-i --extract", "unpacks over", true, false},
    {"git", "clean", "removes what git does not know in", true, false},
    {"zip", "-m --move", "moves into an archive", false, true},
    {"7z", "-sdel", "moves into an archive", false, false},
    {"truncate", "", "empties", false, false},
    {"rimraf", "", "removes", false, true},
    {"del", "", "removes", false, false},
    {"del-cli", "", "removes", false, true},
    {"srm", "", "removes", false, true},
    {"wipe", "", "removes", false, true},
    {"trash-empty", "", "removes", false, false},
    {"cmake", "rm remove_directory", "removes", false, true},
};

/* rsync only reads all but its last operand. */
static bool
copied_from(const struct perm_leaf *l, size_t i)
{
    return leaf_is(l, "rsync") && i + 1 < l->n_argv;
}

static const char *
tree_in(const struct chain *c, const struct perm_leaf *l, size_t from, bool project,
        char **ret_path)
{
    for (size_t i = from; i < l->n_argv; i++) {
        char *path = word_path(l, &l->argv[i]);
        size_t n = path ? strlen(path) : 0;
        if (n > 2 && l->argv[i].glob && !strcmp(path + n - 2, "/*"))
            path[n - 2] = 0; /* all that lies there */
        const char *what = path ? vital_folder(c, path) : NULL;
        if (path && !what && project && c->root && path_inside(c->root, path, c->fold) &&
            !copied_from(l, i))
            what = "the project";
        if (what) {
            *ret_path = path;
            return what;
        }
        free(path);
    }
    return NULL;
}

static void
judge_swept(struct chain *c, const struct perm_leaf *l, const char *shown)
{
    size_t at;
    struct str name = danger_name(l, &at);
    for (size_t i = 0; i < ARRAY_LEN(trees) && name.len && !reads_only(l); i++) {
        char *path = NULL;
        if (trees[i].program[0] != name.ptr[0] || !str_is(name, trees[i].program) ||
            (trees[i].with[0] && !has_any(l, trees[i].with)))
            continue;
        if (leaf_is(l, "unzip") && has_any(l, "-l -t -p -Z -v"))
            continue;
        const char *what = tree_in(c, l, at, trees[i].project, &path);
        if (!what && trees[i].here && l->cwd && (what = vital_folder(c, l->cwd)))
            path = xstrdup(l->cwd);
        if (what)
            chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown, "it %s %s ('%s')",
                      trees[i].what, what, path);
        free(path);
        if (what)
            return;
    }
}

/* fd -x rm -rf, fd . ~ -X rm: each name that it finds. */
static void
judge_found(struct chain *c, const struct perm_leaf *l, const char *shown)
{
    static const char *const removers[] = {"rm", "shred", "unlink", "rmdir", "srm"};
    if (!leaf_is(l, "fd") && !leaf_is(l, "fdfind"))
        return;
    bool exec = has_any(l, "-x -X --exec --exec-batch"), removes = false;
    for (size_t i = 0; i < ARRAY_LEN(removers); i++)
        removes = removes || danger_has(l, removers[i]);
    if (exec && removes && has_any(l, "-r -R --recursive -rf -fr -H -u --hidden --no-ignore"))
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown,
                  "it removes whatever fd finds, whole trees with it");
}

/* find ... -exec rm {} +: as -delete, what it starts from. */
static void
judge_find_runs(struct chain *c, const struct perm_leaf *l)
{
    static const char *const removers[] = {"rm", "shred", "unlink", "truncate", "srm"};
    bool removes = false;
    size_t at;
    if (l->role != LEAF_INNER || l->wrapper >= c->sh.n_leaves)
        return;
    const struct perm_leaf *find = &c->sh.leaves[l->wrapper];
    for (size_t i = 0; i < ARRAY_LEN(removers); i++)
        removes = removes || danger_is(l, removers[i], &at);
    if (!removes || !leaf_is(find, "find"))
        return;
    for (size_t i = 0; i < find->n_effects; i++)
        if (find->effects[i].kind == EFFECT_READ_TREE && find->effects[i].path) {
            struct access a = {.kind = EFFECT_DELETE_TREE,
                               .path = find->effects[i].path,
                               .shown = find->effects[i].shown,
                               .glob = find->effects[i].glob,
                               .cover = &c->covers[l->wrapper],
                               .leaf = find,
                               .cwd = find->cwd,
                               .by_name = leaf_finds_by_name(find)};
            judge_access(c, &a);
        }
}

/* xargs rm -rf: no name is known before it runs, and each takes a tree with it. */
static void
judge_blind(struct chain *c, const struct perm_leaf *l, const char *shown)
{
    size_t at;
    if (l->role != LEAF_INNER || !danger_is(l, "rm", &at) || !has_any(l, "-r -R --recursive"))
        return;
    for (size_t i = at; i < l->n_argv; i++)
        if (l->argv[i].known && l->argv[i].text.len && l->argv[i].text.ptr[0] != '-')
            return;
    chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown,
              "rm removes whole trees whose names are only known when it runs");
}

void
danger_judge(struct chain *c)
{
    for (size_t i = 0; c->has_sh && i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        const char *shown = buf_cstr(&c->texts[i].exact);
        const char *what = l->n_argv ? program_danger(l) : NULL;
        if (what)
            chain_add(c, "L1", VERDICT_ASK, FORCE_HARD, NULL, shown, "it %s", what);
        judge_vital(c, l, shown);
        judge_swept(c, l, shown);
        judge_blind(c, l, shown);
        judge_found(c, l, shown);
        judge_find_runs(c, l);
    }
    danger_judge_flows(c);
    if (c->has_sh)
        danger_judge_texts(c);
}
