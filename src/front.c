#include "front.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/fs.h"
#include "engine/engine.h"
#include "front_watch.h"
#include "headless_json.h"
#include "headless_linear.h"
#include "setup.h"
#include "ui/app.h"
#include "ui/term.h"

#define REPLAY_USAGE "yare: usage: yare replay FILE [--speed N|max] [--linear]\n"

int
front_signals(void)
{
    static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool
front_has_screen(struct err *ret_why)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || term_usable(ret_why))
        return true; /* without a terminal the screen itself says what to do */
    struct err why = *ret_why;
    err_set(ret_why, ERR_UNSUPPORTED, "%s: plain lines in place of the full screen", why.text);
    return false;
}

static void
stop_start(void *user)
{
    setup_cancel(user);
}

static void
say_refused(const struct options *o, const char *why)
{
    struct buf line;
    fprintf(stderr, "yare: %s\n", why);
    if (!o->print || o->output == OUTPUT_TEXT)
        return;
    buf_init(&line, BUF_MAX);
    headless_json_refused(why, &line);
    (void)puts(buf_cstr(&line));
    buf_release(&line);
}

struct engine *
front_start(struct setup *s, struct front_watch *w, int *ret_code)
{
    struct err err = {0};
    front_watch_busy(w, stop_start, s);
    struct engine *e = setup_start(s, &err);
    front_watch_busy(w, NULL, NULL);
    int ended = front_watch_take(w);
    if (ended) {
        setup_free_engine(s, e);
        *ret_code = ended;
        return NULL;
    }
    if (!e) {
        say_refused(s->options, err.text);
        *ret_code = s->wrong_usage ? 2 : 1;
    }
    return e;
}

int
front_linear(const struct options *o, const char *notice)
{
    struct err err = {0};
    struct setup s;
    int code;
    if (!isatty(STDIN_FILENO)) {
        fprintf(stderr, "yare: standard input is no terminal: use yare -p \"PROMPT\", or yare -p "
                        "with the prompt on it\n");
        return 2;
    }
    if (!setup_init(&s, o, &err)) {
        fprintf(stderr, "yare: %s\n", err.text);
        return 2;
    }
    struct front_watch *w = front_watch_start(false);
    struct linear_options l = {.prompt = o->prompt,
                               .events_file = o->events,
                               .notice = notice,
                               .signal_fd = front_watch_fd(w)};
    struct engine *e = front_start(&s, w, &code);
    if (e) {
        code = headless_linear_run(e, &l);
        setup_free_engine(&s, e);
    }
    setup_release(&s);
    front_watch_free(w);
    return code;
}

/* ---- a recording ---- */

struct replay_args {
    const char *file;
    double speed;
    bool linear;
};

static bool
parse_speed(const char *text, double *ret)
{
    char *end;
    if (!text)
        return false;
    *ret = strcmp(text, "max") == 0 ? 0 : strtod(text, &end);
    return strcmp(text, "max") == 0 ||
           (end != text && !*end && (*ret == 0 || (*ret >= 0.05 && *ret <= 1000)));
}

static bool
parse_replay(int argc, char **argv, struct replay_args *ret)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--linear") == 0) {
            ret->linear = true;
        } else if (strcmp(argv[i], "--speed") == 0 || strncmp(argv[i], "--speed=", 8) == 0) {
            const char *value = argv[i][7] ? argv[i] + 8 : i + 1 < argc ? argv[++i] : NULL;
            if (!parse_speed(value, &ret->speed)) {
                fprintf(stderr, "yare: --speed is a number from 0.05 to 1000, or max, not '%s'\n",
                        value ? value : "");
                return false;
            }
        } else if (argv[i][0] == '-' || ret->file) {
            fprintf(stderr, "yare: '%s' does not belong here\n" REPLAY_USAGE, argv[i]);
            return false;
        } else {
            ret->file = argv[i];
        }
    }
    if (!ret->file)
        fputs(REPLAY_USAGE, stderr);
    return ret->file != NULL;
}

static struct engine *
give_engine(void *user, struct err *err)
{
    (void)err;
    return user;
}

static int
replay_on_screen(struct engine *e, const struct options *o, int signal_fd)
{
    char *dir = config_dir(), *keys = fs_join(dir, "keybindings.json");
    struct app_options a = {.no_color = o->no_color,
                            .no_mouse = o->no_mouse,
                            .no_alt_screen = o->no_alt_screen,
                            .keys_file = keys,
                            .replay = true,
                            .signal_fd = signal_fd,
                            .start_engine = give_engine,
                            .user = e};
    bool started = false;
    int code = app_run(&a, &started);
    free(keys);
    free(dir);
    return code;
}

static void
leave(void *user)
{
    _exit(front_watch_code(user)); /* nothing is open yet */
}

int
front_replay(int argc, char **argv, const struct options *o)
{
    struct replay_args args = {.speed = 1, .linear = o->linear};
    struct err err = {0};
    if (!parse_replay(argc, argv, &args))
        return 2;
    struct front_watch *w = front_watch_start(false);
    bool screen =
        !args.linear && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && front_has_screen(&err);
    front_watch_busy(w, leave, w); /* a pipe into which nobody writes is waited for */
    struct engine *e = engine_replay(args.file, screen ? args.speed : 0, &err);
    front_watch_busy(w, NULL, NULL);
    int code = 2;
    if (!e) {
        fprintf(stderr, "yare: %s\n", err.text);
    } else if (screen) {
        code = replay_on_screen(e, o, front_watch_fd(w)); /* which frees the engine */
    } else {
        struct linear_options l = {.replay = true, .signal_fd = front_watch_fd(w)};
        code = headless_linear_run(e, &l);
        engine_free(e);
    }
    front_watch_free(w);
    return code;
}
