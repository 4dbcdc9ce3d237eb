/* The whole screen on a pseudo terminal, with an engine that answers by the prompt's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "../fakes/engine_fake.h"
#include "engine/engine.h"
#include "pty.h"
#include "ui/app.h"

#define READY "\x1b[?2004h"

struct child {
    int fd; /* what the engine is told goes here */
    bool untrusted, fails, forbid;
    int *gate; /* start_fake comes back once a byte can be read here; or NULL: at once */
    const char *prompt, *history, *keys, *events;
};

static struct engine *
start_fake(void *user, struct err *err)
{
    struct child *c = user;
    char byte;
    if (c->gate && read(c->gate[0], &byte, 1) != 1)
        _exit(99);
    if (c->fails || (c->gate && byte == 's')) {
        (void)err_set(err, ERR_INVALID, "no provider 'xyz'");
        return NULL;
    }
    return engine_fake_new(c->fd, !c->untrusted);
}

static void
stop_fake(void *user)
{
    struct child *c = user;
    if (c->gate && write(c->gate[1], "s", 1) != 1)
        _exit(98);
}

static int
app_child(void *user)
{
    struct child *c = user;
    sigset_t set;
    sigemptyset(&set);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct app_options o = {.prompt = c->prompt,
                            .history_file = c->history,
                            .keys_file = c->keys,
                            .events_file = c->events,
                            .signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                            .start_engine = start_fake,
                            .stop_start = stop_fake,
                            .user = c};
    return app_run(&o, NULL);
}

struct run {
    struct pty p;
    int told; /* reading end */
    struct buf log;
};

static void
run_start_at(struct run *r, struct child *c, int w, int h)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    c->fd = fds[1];
    buf_init(&r->log, BUF_MAX);
    pty_start(&r->p, w, h, app_child, c);
    close(fds[1]);
    r->told = fds[0];
    assert_true(pty_until(&r->p, 0, READY, 10000));
    (void)pty_until(&r->p, 0, NULL, 60);
}

static void
run_start(struct run *r, struct child *c)
{
    run_start_at(r, c, 80, 24);
}

static void
keys(struct run *r, const char *s)
{
    pty_sends(&r->p, s);
}

/* Waits until the engine was told so. */
static bool
told(struct run *r, const char *line)
{
    for (int i = 0; i < 500; i++) {
        if (r->log.len && memmem(r->log.data, r->log.len, line, strlen(line)))
            return true;
        struct pollfd f[2] = {{r->told, POLLIN, 0}, {r->p.fd, POLLIN, 0}};
        if (poll(f, 2, 20) <= 0)
            continue;
        char bytes[4096];
        if (f[1].revents)
            (void)pty_until(&r->p, r->p.out.len, "\x01never", 0);
        if (f[0].revents) {
            ssize_t n = read(r->told, bytes, sizeof(bytes));
            if (n <= 0)
                return r->log.len && memmem(r->log.data, r->log.len, line, strlen(line));
            buf_add(&r->log, bytes, (size_t)n);
        }
    }
    print_error("engine was told:\n%s", buf_cstr(&r->log));
    return false;
}

/* Until nothing more is drawn: what was posted has come back. */
static void
settle(struct run *r)
{
    (void)pty_until(&r->p, r->p.out.len, "\x01never", 150);
}

static bool
shows(struct run *r, const char *s)
{
    return pty_until(&r->p, 0, s, 5000);
}

static int
run_end(struct run *r)
{
    int status = pty_wait(&r->p);
    assert_true(WIFEXITED(status));
    assert_true(pty_restored(&r->p));
    return WEXITSTATUS(status);
}

static void
run_finish(struct run *r)
{
    close(r->told);
    buf_release(&r->log);
    pty_finish(&r->p);
}

static void
quit_twice(struct run *r, int want)
{
    keys(r, "\x03");
    (void)pty_until(&r->p, r->p.out.len, "again", 2000);
    keys(r, "\x03");
    assert_int_equal(run_end(r), want);
}

static void
a_prompt_is_sent_and_the_answer_left_behind(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hello there\r");
    assert_true(told(&r, "submit hello there\n"));
    assert_true(shows(&r, "you said:"));
    quit_twice(&r, 0);
    /* on the normal screen, after the other one was left */
    size_t off = 0;
    for (size_t i = 0; i + 8 < r.p.out.len; i++)
        if (memcmp(r.p.out.data + i, "\x1b[?1049l", 8) == 0)
            off = i;
    struct str last = str_sub(buf_str(&r.p.out), off, r.p.out.len);
    assert_true(str_contains(last, STR("you said: hello there")));
    assert_true(str_contains(last, STR("yare resume fake-session")));
    assert_true(told(&r, "stop"));
    run_finish(&r);
}

static void
ctrl_c_interrupts_clears_and_quits(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hold\r");
    assert_true(told(&r, "submit hold\n"));
    keys(&r, "\x03");
    assert_true(told(&r, "cancel user\n"));
    settle(&r);
    keys(&r, "some text\x03");
    keys(&r, "\x03");
    assert_true(pty_until(&r.p, 0, "quits", 5000));
    assert_int_equal(waitpid(r.p.pid, NULL, WNOHANG), 0);
    keys(&r, "\x03");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
}

static void
escape_interrupts(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hold\r");
    assert_true(told(&r, "submit hold\n"));
    keys(&r, "\x1b");
    assert_true(told(&r, "cancel user\n"));
    keys(&r, "\x04");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
}

static void
typed_while_running_is_steered(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hold\r");
    assert_true(told(&r, "submit hold\n"));
    keys(&r, "also this\r");
    assert_true(told(&r, "steer also this\n"));
    assert_true(shows(&r, "queued"));
    keys(&r, "\x1b");
    assert_true(told(&r, "cancel user"));
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
commands_and_modes(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "/clear\r");
    assert_true(told(&r, "command /clear\n"));
    keys(&r, "!ls -l\r");
    assert_true(told(&r, "command !ls -l\n"));
    keys(&r, "/etc/hosts is odd\r");
    assert_true(told(&r, "submit /etc/hosts is odd\n"));
    keys(&r, "\x1b[Z");
    assert_true(told(&r, "mode acceptEdits\n"));
    keys(&r, "\x1b"
             "a");
    assert_true(told(&r, "mode auto\n"));
    keys(&r, "\x18"
             "a");
    assert_true(told(&r, "mode acceptEdits\n"));
    keys(&r, "/help\r");
    assert_true(shows(&r, "Shift+Tab"));
    keys(&r, "q/exit\r");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
}

static void
a_request_takes_the_focus_only_when_nobody_types(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "ask\r");
    assert_true(told(&r, "submit ask\n"));
    /* typed on: the letters are text, not answers */
    keys(&r, "yan");
    assert_true(shows(&r, "rm -rf build"));
    keys(&r, "\x15"); /* the prompt is empty, but a key came just now */
    keys(&r, "\x1b"
             "3");
    (void)pty_until(&r.p, r.p.out.len, NULL, 350); /* past the guard against a stray key */
    assert_false(r.log.len && strstr(buf_cstr(&r.log), "answer"));
    keys(&r, "y");
    assert_true(told(&r, "answer once\n"));
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
a_request_takes_the_focus_after_a_second(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "ask\r");
    assert_true(told(&r, "submit ask\n"));
    assert_true(shows(&r, "rm -rf build"));
    assert_true(pty_until(&r.p, 0, "\xe2\x96\xb8 permission", 5000));
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 400);
    keys(&r, "y");
    assert_true(told(&r, "answer once\n"));
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
signals_end_it_cleanly(void **state)
{
    (void)state;
    static const struct {
        int sig, code;
    } ways[] = {{SIGTERM, 143}, {SIGHUP, 143}, {SIGINT, 130}};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct run r;
        struct child c = {0};
        run_start(&r, &c);
        assert_int_equal(kill(r.p.pid, ways[i].sig), 0);
        assert_int_equal(run_end(&r), ways[i].code);
        run_finish(&r);
    }
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hold\r");
    assert_true(told(&r, "submit hold\n"));
    (void)kill(r.p.pid, SIGINT);
    assert_true(told(&r, "cancel user"));
    (void)kill(r.p.pid, SIGTERM);
    assert_true(told(&r, "cancel term"));
    assert_int_equal(run_end(&r), 143);
    run_finish(&r);
}

static void
an_untrusted_folder_is_asked_about(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.untrusted = true};
    run_start(&r, &c);
    assert_true(shows(&r, "y trust"));
    /* a word that starts with y is no answer */
    keys(&r, "yes please\r");
    assert_true(told(&r, "submit yes please\n"));
    assert_null(strstr(buf_cstr(&r.log), "trust"));
    keys(&r, "y");
    assert_true(told(&r, "trust"));
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
an_engine_that_fails_is_said(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.fails = true};
    run_start(&r, &c);
    assert_true(shows(&r, "xyz"));
    keys(&r, "keep this\r");
    assert_true(shows(&r, "not running"));
    keys(&r, "\x03");
    quit_twice(&r, 0);
    run_finish(&r);
}

static void
typed_before_the_engine_is_kept(void **state)
{
    (void)state;
    struct run r;
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    struct child c = {.gate = gate};
    run_start(&r, &c);
    keys(&r, "early bird\r");
    assert_true(shows(&r, "queued"));
    keys(&r, "/compact\r");
    keys(&r, "second\r");
    keys(&r, "left over");
    assert_true(shows(&r, "left over"));
    assert_true(shows(&r, "starting"));
    assert_int_equal(r.log.len, 0);
    assert_int_equal(write(gate[1], "g", 1), 1);
    assert_true(told(&r, "submit early bird\n"));
    assert_true(told(&r, "steer second\n"));
    assert_true(told(&r, "command /compact\n"));
    assert_true(shows(&r, "you said:"));
    const char *log = buf_cstr(&r.log);
    assert_true(strstr(log, "early bird") < strstr(log, "/compact"));
    keys(&r, "\x03"); /* what was not sent is still in the prompt: this clears it */
    keys(&r, "\x04");
    assert_int_equal(run_end(&r), 0);
    run_finish(&r);
    close(gate[0]);
    close(gate[1]);
}

static void
quitting_does_not_wait_for_the_engine(void **state)
{
    (void)state;
    static const char *const ways[] = {"\x04", "\x03\x03", "some text\r\x04"};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct run r;
        int gate[2];
        assert_int_equal(pipe(gate), 0);
        struct child c = {.gate = gate};
        run_start(&r, &c);
        keys(&r, ways[i]);
        assert_int_equal(run_end(&r), 0);
        assert_false(told(&r, "submit"));
        run_finish(&r);
        close(gate[0]);
        close(gate[1]);
    }
}

static void
a_start_that_fails_late_gives_the_prompt_back(void **state)
{
    (void)state;
    struct run r;
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    struct child c = {.gate = gate, .fails = true};
    run_start(&r, &c);
    keys(&r, "do not lose me\r");
    assert_true(shows(&r, "queued"));
    size_t before = r.p.out.len;
    assert_int_equal(write(gate[1], "g", 1), 1);
    assert_true(shows(&r, "xyz"));
    assert_true(pty_until(&r.p, before, "do not lose me", 5000));
    keys(&r, "\x03");
    quit_twice(&r, 0);
    run_finish(&r);
    close(gate[0]);
    close(gate[1]);
}

static long
wake_ups(pid_t pid)
{
    char name[64], line[256];
    long n = 0;
    (void)snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
            n = strtol(line + 24, NULL, 10);
    if (f)
        fclose(f);
    return n;
}

static void
idle_means_asleep(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hi\r");
    assert_true(told(&r, "submit hi\n"));
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 500);
    long before = wake_ups(r.p.pid);
    size_t bytes = r.p.out.len;
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 1500);
    assert_int_equal(wake_ups(r.p.pid), before);
    assert_int_equal(r.p.out.len, bytes);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
a_key_costs_few_bytes(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hello\r");
    assert_true(told(&r, "submit hello\n"));
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 300);
    for (char k = 'a'; k < 'h'; k++) {
        size_t from = r.p.out.len;
        pty_send(&r.p, &k, 1);
        (void)pty_until(&r.p, from, "\x01never", 60);
        size_t cost = r.p.out.len - from;
        assert_true(cost >= 1 && cost <= 200);
    }
    keys(&r, "\x03\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
streams_within_the_frame_cap(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "\x1b[?2026;2$y");
    keys(&r, "stream 5000\r");
    assert_true(shows(&r, "you said: stream"));
    (void)pty_until(&r.p, r.p.out.len, "\x01never", 200);
    assert_true(r.p.out.len < 6 * 25000);
    size_t clears = 0, from = 0;
    for (size_t i = 0; i + 4 < r.p.out.len; i++)
        clears += memcmp(r.p.out.data + i, "\x1b[2J", 4) == 0 ||
                  memcmp(r.p.out.data + i, "\x1b[3J", 4) == 0;
    (void)from;
    assert_true(clears <= 1);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static char *
temp_file(const char *content)
{
    char name[] = "/tmp/yare-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    return xstrdup(name);
}

static void
history_keys_and_recording(void **state)
{
    (void)state;
    struct run r;
    char *history = temp_file(
        "{\"t\":1,\"text\":\"old prompt\"}\nbroken\n{\"t\":2,\"text\":\"two\\nlines\"}\n");
    char *own = temp_file("{\"bindings\":[{\"bindings\":{\"ctrl+q\":\"app:help\"}}]}");
    char *events = temp_file("");
    struct child c = {.history = history, .keys = own, .events = events};
    run_start(&r, &c);
    keys(&r, "\x1b[A");
    keys(&r, "\x1b[A\x1b[A\x1b[A\r"); /* through both lines of the second, to the first */
    assert_true(told(&r, "submit old prompt\n"));
    settle(&r);
    keys(&r, "\x12"
             "lines\r\r");
    assert_true(told(&r, "submit two\nlines\n"));
    keys(&r, "\x11");
    assert_true(shows(&r, "Shift+Tab"));
    keys(&r, "q\x04");
    (void)run_end(&r);
    char bytes[65536];
    FILE *f = fopen(events, "r");
    size_t n = fread(bytes, 1, sizeof(bytes) - 1, f);
    bytes[n] = '\0';
    fclose(f);
    assert_non_null(strstr(bytes, "fake-session"));
    assert_non_null(strstr(bytes, "old prompt"));
    f = fopen(history, "r");
    n = fread(bytes, 1, sizeof(bytes) - 1, f);
    bytes[n] = '\0';
    fclose(f);
    assert_non_null(strstr(bytes + 60, "old prompt"));
    unlink(history);
    unlink(own);
    unlink(events);
    free(history);
    free(own);
    free(events);
    run_finish(&r);
}

static void
paste_and_enter_submit_once(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "\x1b[200~one\ntwo\x1b[201~\r");
    assert_true(told(&r, "submit one\ntwo\n"));
    assert_true(shows(&r, "you said: one"));
    size_t count = 0;
    for (const char *s = buf_cstr(&r.log); (s = strstr(s, "submit")); s++)
        count++;
    assert_int_equal(count, 1);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
any_size(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 2}, {10, 3}, {40, 12}, {20, 6}, {200, 60}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct run r;
        struct child c = {.prompt = "first"};
        run_start_at(&r, &c, sizes[i][0], sizes[i][1]);
        assert_true(told(&r, "submit first\n"));
        keys(&r, "ask\r");
        assert_true(told(&r, "submit ask\n"));
        for (int k = 1; k < 100; k += 9) {
            struct winsize ws = {.ws_col = (unsigned short)(100 - k),
                                 .ws_row = (unsigned short)(k / 3 + 1)};
            (void)ioctl(r.p.fd, TIOCSWINSZ, &ws);
            keys(&r, "x\x0c");
            (void)pty_until(&r.p, r.p.out.len, "\x01never", 5);
        }
        (void)kill(r.p.pid, SIGTERM);
        assert_int_equal(run_end(&r), 143);
        run_finish(&r);
    }
}

static void
commands_and_files_complete(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "/comp");
    assert_true(shows(&r, "shrink the conversation"));
    keys(&r, "\t\r");
    assert_true(told(&r, "command /compact"));
    keys(&r, "see @par");
    assert_true(told(&r, "query \n"));
    assert_true(shows(&r, "@src/parse.c"));
    keys(&r, "\x1b[B\r\r");
    assert_true(told(&r, "submit see @src/parse.c \n"));
    settle(&r);
    /* Enter sends what was typed when nothing was chosen */
    keys(&r, "@lex");
    settle(&r);
    keys(&r, "\r");
    assert_true(told(&r, "submit @lex\n"));
    settle(&r);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

/* Without a UTF-8 locale only ASCII goes out. */
static void
ascii_where_the_locale_says_so(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    setenv("LC_ALL", "C", 1);
    run_start(&r, &c);
    keys(&r, "\xe6\x97\xa5 \xc3\xa9 ask\r");
    assert_true(told(&r, "submit \xe6\x97\xa5 \xc3\xa9 ask\n"));
    assert_true(shows(&r, "you said"));
    keys(&r, "/help\r");
    assert_true(shows(&r, "Shift+Tab"));
    for (size_t i = 0; i < r.p.out.len; i++)
        assert_true((unsigned char)r.p.out.data[i] < 0x80);
    keys(&r, "q\x04");
    (void)run_end(&r);
    run_finish(&r);
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void
the_editor_writes_the_prompt(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    setenv("VISUAL", "sh -c 'printf from-the-editor > \"$1\"' editor", 1);
    run_start(&r, &c);
    keys(&r, "before\x07");
    assert_true(shows(&r, "from-the-editor"));
    keys(&r, "\r");
    assert_true(told(&r, "submit from-the-editor\n"));
    keys(&r, "\x04");
    (void)run_end(&r);
    unsetenv("VISUAL");
    run_finish(&r);
}

static size_t
times_told(const struct run *r, const char *line)
{
    size_t n = 0;
    for (const char *s = buf_cstr(&r->log); (s = strstr(s, line)); s++)
        n++;
    return n;
}

/* Nothing is done unasked: an offer is a line until its key comes. */
static void
an_offer_waits_for_its_key(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "offer\r");
    assert_true(shows(&r, "a server answers nearby"));
    settle(&r);
    keys(&r, "yes I type y and n\r");
    assert_true(told(&r, "submit yes I type y and n\n"));
    assert_int_equal(times_told(&r, "connect"), 0);
    keys(&r, "\x1b"
             "y");
    assert_true(told(&r, "command /connect nearby\n"));
    settle(&r);
    keys(&r, "\x1b"
             "y"); /* it is gone */
    keys(&r, "offer\r");
    assert_true(told(&r, "submit offer\n"));
    settle(&r);
    keys(&r, "\x1b"
             "n");
    settle(&r);
    keys(&r, "\x1b"
             "y");
    settle(&r);
    assert_int_equal(times_told(&r, "connect"), 1);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
a_model_is_picked(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "half a prompt\x1b"
             "p");
    assert_true(shows(&r, "model-b"));
    settle(&r);
    keys(&r, "\x1b[B\r");
    assert_true(told(&r, "command /model model-c\n"));
    settle(&r);
    keys(&r, "\r"); /* what was typed is still there */
    assert_true(told(&r, "submit half a prompt\n"));
    settle(&r);
    keys(&r, "/model model-x\r"); /* with an argument it is the engine's */
    assert_true(told(&r, "command /model model-x\n"));
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
an_open_page_follows_the_turns(void **state)
{
    (void)state;
    struct run r;
    struct child c = {0};
    run_start(&r, &c);
    keys(&r, "hold\r");
    assert_true(told(&r, "submit hold\n"));
    keys(&r, "/state\r");
    assert_true(shows(&r, "12345"));
    settle(&r);
    size_t before = times_told(&r, "query");
    (void)kill(r.p.pid, SIGINT); /* the turn ends while the page stands */
    assert_true(told(&r, "cancel user\n"));
    settle(&r);
    keys(&r, "qend\r");
    assert_true(told(&r, "submit end\n"));
    assert_true(times_told(&r, "query") > before);
    settle(&r);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

static void
trust_shows_what_waits_for_it(void **state)
{
    (void)state;
    struct run r;
    struct child c = {.untrusted = true};
    run_start(&r, &c);
    assert_true(shows(&r, "Bash(make:*)"));
    settle(&r);
    keys(&r, "n");
    assert_true(shows(&r, "restricted"));
    keys(&r, "y later\r");
    assert_true(told(&r, "submit y later\n"));
    assert_int_equal(times_told(&r, "trust"), 0);
    keys(&r, "\x04");
    (void)run_end(&r);
    run_finish(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offer_waits_for_its_key),
        cmocka_unit_test(a_model_is_picked),
        cmocka_unit_test(an_open_page_follows_the_turns),
        cmocka_unit_test(trust_shows_what_waits_for_it),
        cmocka_unit_test(a_prompt_is_sent_and_the_answer_left_behind),
        cmocka_unit_test(ctrl_c_interrupts_clears_and_quits),
        cmocka_unit_test(escape_interrupts),
        cmocka_unit_test(typed_while_running_is_steered),
        cmocka_unit_test(commands_and_modes),
        cmocka_unit_test(a_request_takes_the_focus_only_when_nobody_types),
        cmocka_unit_test(a_request_takes_the_focus_after_a_second),
        cmocka_unit_test(signals_end_it_cleanly),
        cmocka_unit_test(an_untrusted_folder_is_asked_about),
        cmocka_unit_test(an_engine_that_fails_is_said),
        cmocka_unit_test(typed_before_the_engine_is_kept),
        cmocka_unit_test(quitting_does_not_wait_for_the_engine),
        cmocka_unit_test(a_start_that_fails_late_gives_the_prompt_back),
        cmocka_unit_test(idle_means_asleep),
        cmocka_unit_test(a_key_costs_few_bytes),
        cmocka_unit_test(streams_within_the_frame_cap),
        cmocka_unit_test(history_keys_and_recording),
        cmocka_unit_test(paste_and_enter_submit_once),
        cmocka_unit_test(any_size),
        cmocka_unit_test(the_editor_writes_the_prompt),
        cmocka_unit_test(commands_and_files_complete),
        cmocka_unit_test(ascii_where_the_locale_says_so),
    };
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLORFGBG");
    unsetenv("NO_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
