/* `yare tour`: a scratch folder with a home, settings and data of its own, the guided screen in it, and everything gone at its end. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/fs.h"
#include "engine/engine.h"
#include "front.h"
#include "headless_linear.h"
#include "setup.h"
#include "ui/app.h"

static const struct {
    const char *name, *text;
} files[] = {
    {"notes/list.txt",
     "Things to do\n\n1. paint the hull, any colour\n2. mend teh sail\n3. buy rope\n"},
    {"notes/paint.txt", "Blue is the colour of the hull.\nRed is the colour below the water.\n"},
};
static const char *const kept_apart[] = {"HOME", "YARE_CONFIG_DIR", "YARE_DATA_DIR"};

/* What a tour by plain lines asks of the pilot: the same things, one after the other. */
#define LINEAR_TOUR                                                                                \
    "find colour in notes, then read notes/list.txt, then replace `teh` with `the` in "            \
    "notes/list.txt, then todo look around, change a file, ask why"

struct scratch {
    char *top, *project, *back; /* back: where the person was */
    char *saved[ARRAY_LEN(kept_apart)];
    struct options options;
};

/* ---- in and out ---- */

static bool
make_files(const struct scratch *s, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < ARRAY_LEN(files); i++) {
        char *path = fs_join(s->project, files[i].name), *dir = fs_dirname(path);
        ok = fs_mkdirs(dir, 0700, err) && fs_write_atomic(path, str_from(files[i].text), 0600, err);
        free(dir);
        free(path);
    }
    return ok;
}

/* Nothing of the person's is read or written: not even a home with settings. */
static bool
move_in(struct scratch *s, struct err *err)
{
    static const char *const below[] = {"home", "config", "data"};
    for (size_t i = 0; i < ARRAY_LEN(kept_apart); i++) {
        char *dir = fs_join(s->top, below[i]);
        bool ok = fs_mkdirs(dir, 0700, err);
        s->saved[i] = xstrdup(getenv(kept_apart[i]));
        ok = ok && (setenv(kept_apart[i], dir, 1) == 0 ||
                    err_sys(err, errno, "cannot set %s", kept_apart[i]));
        free(dir);
        if (!ok)
            return false;
    }
    s->back = getcwd(NULL, 0);
    if (chdir(s->project) != 0)
        return err_sys(err, errno, "cannot go to '%s'", s->project);
    return true;
}

static void
move_out(struct scratch *s)
{
    for (size_t i = 0; i < ARRAY_LEN(kept_apart); i++) {
        if (s->saved[i])
            (void)setenv(kept_apart[i], s->saved[i], 1);
        else
            (void)unsetenv(kept_apart[i]);
        free(s->saved[i]);
    }
    if (!s->back || chdir(s->back) != 0)
        (void)!chdir("/");
    free(s->back);
}

static bool
scratch_make(struct scratch *s, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *template = xasprintf("%s/yare-tour-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
    s->top = mkdtemp(template);
    if (!s->top) {
        err_sys(err, errno, "cannot make a folder for the tour ('%s')", template);
        free(template);
        return false;
    }
    char *real = fs_resolve(s->top, NULL);
    if (real) {
        free(s->top);
        s->top = real;
    }
    s->project = fs_join(s->top, "harbour");
    return fs_mkdirs(s->project, 0700, err) && make_files(s, err) && move_in(s, err);
}

/* ---- what is left ---- */

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int found_foreign; /* nftw gives its visitor nothing to carry */
static size_t project_len;

static int
look_at_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    if (type == FTW_D || type == FTW_DP || type == FTW_DNR)
        return 0;
    const char *name = path + project_len + 1;
    bool ours = strncmp(name, ".yare/", 6) == 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        ours = ours || strcmp(name, files[i].name) == 0;
    found_foreign += !ours;
    return 0;
}

/* What the person has put there stays, and is named. */
static void
clear_up(const struct scratch *s, bool goes_back)
{
    char *rest[] = {fs_join(s->top, "home"), fs_join(s->top, "config"), fs_join(s->top, "data")};
    for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
        (void)nftw(rest[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
        free(rest[i]);
    }
    found_foreign = 0;
    project_len = strlen(s->project);
    (void)nftw(s->project, look_at_one, 16, FTW_PHYS);
    if (found_foreign) {
        printf("You left files in the tour's folder, so it stays:\n  %s\n", s->project);
        return;
    }
    if (nftw(s->top, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "yare: cannot remove '%s': %s\n", s->top, strerror(errno));
    else
        puts(goes_back ? "The tour's folder is gone again; back to where you were."
                       : "The tour's folder is gone again. To begin for real: yare");
}

/* ---- the tour itself ---- */

static struct engine *
start(void *user, struct err *err)
{
    return setup_start(user, err);
}

static int
run_lines(struct setup *setup)
{
    struct err err = {0};
    struct linear_options l = {
        .prompt = LINEAR_TOUR,
        .notice = "A tour in a scratch folder: the offline pilot works through a few requests, and "
                  "you answer what it asks. Ctrl+D leaves.",
        .signal_fd = front_signals()};
    struct engine *e = setup_start(setup, &err);
    int code = 1;
    if (e)
        code = headless_linear_run(e, &l);
    else
        fprintf(stderr, "yare: %s\n", err.text);
    engine_free(e);
    return code;
}

static int
run(struct scratch *s, const char *keys, bool lines, bool *ret_left_behind)
{
    struct setup setup;
    struct err err = {0};
    if (!setup_init(&setup, &s->options, &err)) {
        fprintf(stderr, "yare: %s\n", err.text);
        return 1;
    }
    free(setup.root); /* whatever lies above the temporary folder is not the project */
    setup.root = xstrdup(s->project);
    int code;
    if (lines) {
        code = run_lines(&setup);
    } else {
        struct app_options a = {.no_color = s->options.no_color,
                                .no_mouse = s->options.no_mouse,
                                .no_alt_screen = s->options.no_alt_screen,
                                .keys_file = keys,
                                .tour = true,
                                .signal_fd = front_signals(),
                                .start_engine = start,
                                .user = &setup};
        code = app_run(&a, ret_left_behind);
    }
    if (!*ret_left_behind)
        setup_release(&setup);
    return code;
}

/* Is there an entry with this ending in a folder of dir? */
static bool
has_below(const char *dir, const char *ending)
{
    bool found = false;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && !found && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        char *path = fs_join(dir, e->d_name);
        found =
            str_ends(str_from(e->d_name), ending) || (fs_is_dir(path) && has_below(path, ending));
        free(path);
    }
    if (d)
        closedir(d);
    return found;
}

bool
front_is_newcomer(const char *data_dir)
{
    char *projects = fs_join(data_dir, "projects");
    bool none = !has_below(projects, ".jsonl");
    free(projects);
    return none;
}

int
front_tour(const struct options *o, bool goes_back)
{
    struct err err = {0};
    struct scratch s = {.options = {.provider = "offline",
                                    .trust = true,
                                    .no_color = o->no_color,
                                    .no_mouse = o->no_mouse,
                                    .no_alt_screen = o->no_alt_screen}};
    bool lines = o->linear || !front_has_screen(&err), left_behind = false;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        fprintf(stderr, "yare: the tour wants a terminal: it waits for your keys\n");
        return 2;
    }
    char *config = config_dir(), *keys = fs_join(config, "keybindings.json");
    int code = 1;
    err_clear(&err);
    if (scratch_make(&s, &err))
        code = run(&s, keys, lines, &left_behind);
    else
        fprintf(stderr, "yare: %s\n", err.text);
    if (s.top) {
        move_out(&s);
        clear_up(&s, goes_back);
    }
    free(keys);
    free(config);
    free(s.project);
    free(s.top);
    return code;
}
