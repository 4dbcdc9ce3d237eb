#include "ui/app_transcript.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "ui/app_private.h"
#include "ui/term.h"

#define PRINT_MAX ((size_t)32 << 20)

extern char **environ;

void
app_ask_past(struct app *a)
{
    struct op *op;
    while ((op = transcript_query(a->transcript, &a->view))) {
        if (!a->engine || a->engine_closed) {
            op_free(op);
            return;
        }
        engine_post(a->engine, op);
    }
}

void
app_find(struct app *a, int dir)
{
    if (a->field.text.len &&
        transcript_search(a->transcript, &a->view, buf_str(&a->field.text), dir) == FIND_NONE)
        app_note(a, dir < 0 ? "no hit above" : "no hit below");
}

/* ---- mouse ---- */

static struct rect
pane_rect(struct app *a)
{
    struct layout l;
    layout_make(&a->view, a->canvas.w, a->canvas.h, 1, &l);
    layout_make(&a->view, a->canvas.w, a->canvas.h, input_rows(&a->input, l.prompt.w), &l);
    return l.transcript;
}

void
app_mouse(struct app *a, int key)
{
    int x, y;
    struct rect r = pane_rect(a);
    if (app_covered(a) || !r.h)
        return;
    term_mouse(&x, &y);
    bool inside = x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
    x -= r.x;
    y -= r.y;
    if (key == YK_MOUSE_DOWN && inside)
        transcript_press(a->transcript, &a->view, x, y);
    else if (key == YK_MOUSE_DRAG)
        transcript_drag(a->transcript, &a->view, x, y < r.h ? y : r.h - 1);
    else if (key == YK_MOUSE_UP && transcript_release(a->transcript, &a->view, x, y) &&
             a->focus == PANE_PROMPT && a->line == LINE_PROMPT && input_empty(&a->input))
        a->focus = PANE_TRANSCRIPT; /* what was chosen is for its keys: y copies */
}

/* What is selected, else the whole item at the cursor as it was written. */
static bool
chosen_text(struct app *a, struct buf *out)
{
    if (transcript_selection(a->transcript, &a->view, out))
        return true;
    buf_clear(out);
    const struct item *item = transcript_item(a->transcript, &a->view);
    return item && buf_add_str(out, buf_str(&item->text));
}

void
app_copy(struct app *a)
{
    struct buf b;
    buf_init(&b, PRINT_MAX);
    if (chosen_text(a, &b))
        app_note(a, term_copy(buf_str(&b)) ? "copied" : "too large to copy");
    buf_release(&b);
}

/* ---- links ---- */

static const char *
opener(void)
{
    const char *own = getenv("BROWSER");
    return own && *own                                                              ? own
           : access("/usr/bin/xdg-open", X_OK) != 0 && access("/System", F_OK) == 0 ? "open"
                                                                                    : "xdg-open";
}

/* $BROWSER may have arguments: the shell splits it, the address comes as a parameter of its own. The shell is gone at once, so
 * nobody has to wait for the browser. */
static bool
open_detached(const char *url)
{
    pid_t pid;
    int status = 0;
    posix_spawnattr_t attr;
    sigset_t none;
    char *script = xasprintf("%s \"$1\" </dev/null >/dev/null 2>&1 &", opener());
    char *argv[] = {"sh", "-c", script, "yare", (char *)(uintptr_t)url, NULL};
    sigemptyset(&none);
    bool ok = posix_spawnattr_init(&attr) == 0;
    if (ok) {
        (void)posix_spawnattr_setsigmask(&attr, &none);
        (void)posix_spawnattr_setpgroup(&attr, 0);
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        ok = posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ) == 0;
        (void)posix_spawnattr_destroy(&attr);
    }
    while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    free(script);
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void
app_open_link(struct app *a)
{
    struct buf b;
    size_t len = 0, at = (size_t)-1;
    buf_init(&b, PRINT_MAX);
    if (chosen_text(a, &b))
        at = text_find_url(buf_str(&b), 0, &len);
    if (at == (size_t)-1) {
        app_note(a, "no link here");
    } else {
        char *url = str_dup(str_sub(buf_str(&b), at, len));
        app_note(a, open_detached(url) ? "opening %.200s" : "cannot open %.200s", url);
        free(url);
    }
    buf_release(&b);
}

void
app_print_transcript(struct app *a)
{
    struct buf b;
    struct err err = {0};
    buf_init(&b, PRINT_MAX);
    if (view_first_message(&a->view) > 0)
        buf_adds(&b, "[what came before is in the session's file]\n");
    transcript_print(&a->view, a->canvas.w > 0 ? a->canvas.w : 80, a->ascii, &b);
    term_leave();
    bool ok = fs_write_all(STDOUT_FILENO, buf_str(&b), &err);
    term_enter();
    if (ok)
        app_note(a, "the transcript stands in the terminal's scrollback");
    else
        app_note(a, "%s", err.text);
    buf_release(&b);
}
