/*
 * yare: fast path, options, wiring. What is asked most often and needs least comes first: the supervisor, --version and --help
 * load nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/supervise.h"
#include "cli.h"
#include "commands.h"
#include "engine/engine.h"
#include "front.h"
#include "front_watch.h"
#include "headless.h"
#include "perm/confine.h"
#include "setup.h"
#include "ui/app.h"

#define STDIN_PROMPT_MAX ((size_t)10 << 20)
#define PIPED_WAIT_MS 3000 /* for the first byte beside an argument */

static int
usage_error(const struct err *err)
{
    fprintf(stderr, "yare: %s\n", err->text);
    return 2;
}

/* A closed standard stream would lend its number to the next file opened, a journal say. Its stand-in fails as the closed one did. */
static void
hold_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            _exit(1);
}

static void
set_self(void)
{
    static char self[PATH_MAX]; /* kept by base/proc */
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        proc_set_supervisor(self);
    }
}

/* Until its end, or a signal that asks for ours. */
static bool
read_stdin(const struct front_watch *w, struct buf *out, struct err *err)
{
    while (!front_watch_code(w)) {
        struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = front_watch_fd(w), .events = POLLIN}};
        if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
            return err_sys(err, errno, "cannot wait for standard input");
        if (!p[0].revents)
            continue;
        char *at = buf_reserve(out, 65536);
        if (!at)
            return err_set(err, ERR_LIMIT, "the prompt on standard input is larger than 10 MB");
        ssize_t n = read(STDIN_FILENO, at, 65536);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return err_sys(err, errno, "cannot read standard input");
        if (n == 0)
            return true;
        buf_commit(out, (size_t)n);
    }
    return true;
}

/* A pipe or a file beside the argument is what the prompt is about. A pipe that nobody writes to and nobody closes must not hold the
 * program up; a terminal, and /dev/null, are none. */
static bool
has_piped_input(const struct front_watch *w)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) != 0)
        return false;
    if (S_ISREG(st.st_mode))
        return st.st_size > 0;
    if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
        return false;
    struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                         {.fd = front_watch_fd(w), .events = POLLIN}};
    int n = poll(p, ARRAY_LEN(p), PIPED_WAIT_MS);
    if (n == 0)
        fprintf(stderr,
                "yare: nothing came on standard input within %d s, going on without it "
                "(< /dev/null says so at once)\n",
                PIPED_WAIT_MS / 1000);
    return n > 0 && p[0].revents;
}

/* The argument, and behind it what was piped in, fenced: it is context and names neither commands nor files. */
static bool
add_piped_input(const struct front_watch *w, struct buf *prompt, struct err *err)
{
    struct buf piped;
    buf_init(&piped, STDIN_PROMPT_MAX);
    bool ok = !has_piped_input(w) || read_stdin(w, &piped, err);
    if (ok && piped.len && memchr(piped.data, 0, piped.len))
        ok = err_set(
            err, ERR_INVALID,
            "standard input is no text (it holds a zero byte); name a file for the model instead");
    if (ok && str_trim(buf_str(&piped)).len)
        buf_addf(prompt, "\n\n" PIPED_BEGIN "\n%s%s" PIPED_END, buf_cstr(&piped),
                 piped.data[piped.len - 1] == '\n' ? "" : "\n");
    buf_release(&piped);
    return ok;
}

/* What the pilot's answer could be in place of: said at the end, so that nobody had to wait for it. */
static void
say_offer(struct setup *s)
{
    setup_offer_end(s, true);
    struct str rest = str_from(s->offer_text), line;
    while (s->offer_text && str_split(&rest, '\n', &line))
        fprintf(stderr, "yare: %.*s\n", (int)line.len, line.ptr);
}

static int
run_print(const struct options *o)
{
    struct err err = {0};
    struct setup s;
    struct buf prompt;
    struct engine *e = NULL;
    struct front_watch *w = front_watch_start(true);
    int code = 2;

    buf_init(&prompt, STDIN_PROMPT_MAX + ((size_t)1 << 20)); /* an argument too */
    if (!setup_init(&s, o, &err)) {
        code = usage_error(&err);
        goto out;
    }
    setup_preload(&s);
    if (!o->prompt && !o->stream_input && !read_stdin(w, &prompt, &err)) {
        code = usage_error(&err);
        goto out;
    }
    if (o->prompt)
        buf_adds(&prompt, o->prompt);
    if (o->prompt && !o->stream_input && !add_piped_input(w, &prompt, &err)) {
        code = usage_error(&err);
        goto out;
    }
    if (!o->stream_input && !front_watch_code(w) && str_trim(buf_str(&prompt)).len == 0) {
        fprintf(stderr, "yare: -p wants a prompt, as an argument or on standard input\n");
        goto out;
    }
    e = front_start(&s, w, &code);
    if (!e)
        goto out;
    if (!s.trusted)
        fprintf(
            stderr,
            "yare: this folder is not trusted: of its own settings only deny and ask rules count "
            "(--trust trusts it)\n");
    const char *why, *provider = setup_provider(&s, &why);
    if (strcmp(provider, "offline") == 0 && !o->provider)
        fprintf(stderr, "yare: answered by the offline pilot, which is no language model (%s)\n",
                why);
    code = headless_run(e, o, o->stream_input ? NULL : buf_cstr(&prompt), front_watch_fd(w));
    say_offer(&s);
out:
    setup_free_engine(&s, e);
    setup_release(&s);
    buf_release(&prompt);
    front_watch_free(w);
    return code;
}

struct tui {
    struct setup setup;
    struct termios found; /* the terminal as it was before the first frame */
    bool has_terminal;
    struct proc guard;
    bool failed; /* there is no engine */
};

/* Called when the first frame stands. The guard comes first: from here on a kill must not cost the person the terminal. */
static struct engine *
start_engine(void *user, struct err *err)
{
    struct tui *t = user;
    if (t->has_terminal && !proc_guard_terminal(STDIN_FILENO, &t->found, &t->guard, err)) {
        log_warn("terminal", "no guard: %s", err->text);
        *err = (struct err){0};
    }
    bool newcomer = front_is_newcomer(t->setup.data_dir); /* before there is a session */
    struct engine *e = setup_start(&t->setup, err);
    const char *why;
    t->failed = !e;
    if (e && newcomer && strcmp(setup_provider(&t->setup, &why), "offline") == 0)
        engine_offer(e, "tour", "New here? A two-minute tour, with a scratch folder", "/tour");
    return e;
}

static void
stop_start(void *user)
{
    struct tui *t = user;
    setup_cancel(&t->setup);
}

static void
key_came(void *user)
{
    struct tui *t = user;
    setup_person_is_here(&t->setup);
}

static void
stop_helpers(void *user)
{
    struct tui *t = user;
    setup_offer_end(&t->setup, false);
}

static int
run_app(const struct options *o, struct tui *t, const char *prompt, char **ret_tour)
{
    t->has_terminal = tcgetattr(STDIN_FILENO, &t->found) == 0;
    char *history = fs_join(t->setup.data_dir, "history.jsonl");
    char *keys = fs_join(t->setup.config_dir, "keybindings.json");
    struct app_options a = {.prompt = prompt,
                            .no_color = o->no_color,
                            .no_mouse = o->no_mouse,
                            .no_alt_screen = o->no_alt_screen,
                            .history_file = history,
                            .history_project = t->setup.root,
                            .keys_file = keys,
                            .events_file = o->events,
                            .signal_fd = front_signals(),
                            .ret_tour = ret_tour,
                            .start_engine = start_engine,
                            .stop_start = stop_start,
                            .key_came = key_came,
                            .stop_helpers = stop_helpers,
                            .user = t};
    bool left_behind = false;
    int code = app_run(&a, &left_behind);
    if (left_behind) { /* what it holds on to must stay until the program is gone, which is now */
        fflush(stdout);
        _exit(code);
    }
    if (t->failed && code == 1 && t->setup.wrong_usage)
        code = 2;
    proc_unguard_terminal(&t->guard);
    free(keys);
    free(history);
    return code;
}

static int
run_screen(const struct options *o, char **ret_tour)
{
    struct err err = {0};
    struct tui t = {0};
    bool choose = o->resume && !o->resume_id;
    if (choose && !front_has_screen(&err))
        return commands_sessions();
    if (o->linear)
        return front_linear(o, NULL);
    if (!front_has_screen(&err))
        return front_linear(o, err.text);
    if (!setup_init(&t.setup, o, &err))
        return usage_error(&err);
    t.setup.http_later = !o->prompt;
    int code = run_app(o, &t, choose ? "/resume" : o->prompt /* opens the picker */, ret_tour);
    setup_release(&t.setup);
    return code;
}

/* Who asks for the tour on the screen comes back to the session that was left for it. */
static int
run_tui(const struct options *o)
{
    char *session = NULL;
    int code = run_screen(o, &session);
    while (session) {
        struct options again = *o;
        (void)front_tour(o, true);
        again.prompt = NULL;
        again.fork_session = again.go_on = false;
        again.resume = session[0] != '\0';
        again.resume_id = again.resume ? session : NULL;
        again.session_id = NULL;
        char *next = NULL;
        code = run_screen(&again, &next);
        free(session);
        session = next;
    }
    return code;
}

static void
setup_log(bool debug)
{
    const char *spec = getenv("YARE_LOG");
    if (!spec && !debug)
        return;
    char *dir = config_data_dir(), *path = fs_join(dir, "yare.log");
    log_setup(spec ? spec : "debug", path);
    free(path);
    free(dir);
}

/* What could not be written is no success, and the person hears of it once. */
static int
finish_output(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != 0)
        return code;
    fprintf(stderr, "yare: cannot write to standard output: %s\n", strerror(errno));
    return 1;
}

int
main(int argc, char **argv)
{
    struct options o;
    struct err err = {0};
    int code;

    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    confine_entry(argc, argv);
    xmalloc_init();
    hold_standard_streams();
    if (!cli_parse(argc, argv, &o, &err))
        return usage_error(&err);
    if (o.version) {
        puts("yare " YARE_VERSION);
        return finish_output(0);
    }
    if (o.help) {
        cli_help();
        return finish_output(0);
    }
    set_self();
    setup_log(o.debug);
    if (o.command)
        code = commands_run(argc, argv, &o);
    else if (o.print)
        code = run_print(&o);
    else
        code = run_tui(&o);
    cli_release(&o);
    return finish_output(code);
}
