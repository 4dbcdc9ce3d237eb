/* Which limit a command ran into. First what the limits themselves noted, then how it ended, then what it said: a line with an error's text
 * counts only when the plan really forbids what the line is about. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/confine.h"
#include "perm/sandbox_blame.h"

enum { NOTE_MAX = 4096, LOOK_BACK = 64 << 10, LINES_MAX = 400 };
#define MB ((int64_t)1 << 20)

static void
read_note(const struct sandbox_command *c, struct buf *out)
{
    char *at = buf_reserve(out, NOTE_MAX);
    ssize_t n = c->note_path ? pread(c->note_fd, at, NOTE_MAX, 0) : 0;
    buf_commit(out, n > 0 ? (size_t)n : 0);
}

static void
processes_text(const struct sandbox_plan *p, struct buf *out)
{
    buf_addf(out,
             "The command reached the sandbox's limit of %d processes; sandbox.limits.processes in "
             "the settings changes it.",
             p->caps.processes);
}

static bool
from_note(const struct sandbox_plan *p, struct str note, struct buf *out)
{
    struct str rest = note, line;
    while (str_split(&rest, '\n', &line)) {
        if (str_starts(line, "setup "))
            buf_addf(out, "The sandbox could not be set up (%.*s), so the command did not run.",
                     (int)line.len - 6, line.ptr + 6);
        else if (str_is(line, "memory"))
            buf_addf(
                out,
                "The command was killed at the sandbox's memory limit of %lld MB for the whole "
                "command; sandbox.limits.memoryMB in the settings changes it.",
                (long long)(p->caps.memory_bytes / MB));
        else if (str_is(line, "processes"))
            processes_text(p, out);
        else
            continue;
        return true;
    }
    return false;
}

static bool
ended_by(int status, int sig)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == sig) ||
           (WIFEXITED(status) && WEXITSTATUS(status) == 128 + sig);
}

static bool
has(struct str s, const char *needle)
{
    return str_contains(s, str_from(needle));
}

static bool
has_any(struct str s, const char *const *needles, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (has(s, needles[i]))
            return true;
    return false;
}

static bool
from_end(const struct sandbox_plan *p, int status, struct str output, struct buf *out)
{
    bool too_large = ended_by(status, SIGXFSZ) || has(output, "File too large") ||
                     has(output, "File size limit exceeded") || has(output, "EFBIG");
    if (p->caps.file_bytes && too_large) {
        buf_addf(
            out,
            "The sandbox lets no file grow beyond %lld MB; sandbox.limits.fileMB in the settings "
            "changes it.",
            (long long)(p->caps.file_bytes / MB));
        return true;
    }
    /* Where no cgroup counts, the account's own limit is the brake, and that writes no note. */
    if (p->caps.processes && !sandbox_probe()->cgroup &&
        (has(output, "Resource temporarily unavailable") || has(output, "EAGAIN"))) {
        processes_text(p, out);
        return true;
    }
    if (p->caps.cpu_seconds &&
        (ended_by(status, SIGXCPU) || has(output, "CPU time limit exceeded") ||
         ended_by(status, SIGKILL))) {
        buf_addf(out,
                 "The sandbox gives a process %d seconds of processor time; "
                 "sandbox.limits.cpuSeconds in the settings changes it.",
                 p->caps.cpu_seconds);
        return true;
    }
    return false;
}

/* ---- what it said ---- */

static bool
network_line(const struct sandbox_plan *p, struct str line, struct buf *out)
{
    static const char *const signs[] = {
        "Network is unreachable",
        "Could not resolve host",
        "Couldn't resolve host",
        "could not resolve host",
        "Temporary failure in name resolution",
        "Temporary failure resolving",
        "Name or service not known",
        "nodename nor servname",
        "EAI_AGAIN",
        "ENETUNREACH",
        "No route to host",
        "unable to resolve host address",
        "failed to lookup address information",
        "no such host",
        "dial tcp: lookup",
    };
    static const char *const proxied[] = {"CONNECT tunnel failed, response 403",
                                          "Received HTTP code 403 from proxy",
                                          "Proxy CONNECT aborted", "403 from proxy"};
    static const char *const sockets[] = {"socket: Operation not permitted",
                                          "socket: operation not permitted",
                                          "Couldn't create socket",
                                          "can't create socket",
                                          "cannot create socket",
                                          "Cannot create socket"};
    if (p->network)
        return false;
    bool refused = p->kind == SANDBOX_LANDLOCK && has_any(line, sockets, ARRAY_LEN(sockets));
    if (p->proxy_socket &&
        (has_any(line, proxied, ARRAY_LEN(proxied)) || has_any(line, signs, ARRAY_LEN(signs)))) {
        buf_adds(out,
                 "The sandbox's network is its proxy, which lets through only the hosts of "
                 "sandbox.network.allowedDomains; a program must use HTTP_PROXY to get there.");
        return true;
    }
    if (!refused && !has_any(line, signs, ARRAY_LEN(signs)))
        return false;
    buf_adds(out, "The sandbox has no network; sandbox.network.allowedDomains in the settings lets "
                  "commands reach the hosts it names.");
    return true;
}

static bool
loopback_line(const struct sandbox_plan *p, struct str line, struct buf *out)
{
    bool refused = has(line, "Connection refused") || has(line, "ECONNREFUSED") ||
                   has(line, "connection refused") || has(line, "Couldn't connect to server") ||
                   has(line, "Could not connect to server");
    bool here = has(line, "localhost") || has(line, "127.0.0.1") || has(line, "::1");
    if (p->network || p->kind != SANDBOX_BWRAP || !refused || !here)
        return false;
    buf_adds(out, "In the sandbox the loopback is the command's own: a server that another command "
                  "or another program runs cannot be reached.");
    return true;
}

static bool
is_separator(char c)
{
    return isspace((unsigned char)c) || strchr("'\"`()[]<>,;=|", c);
}

/* Words of a line, also without a closing ':' (the usual "program: path: reason"). */
static bool
next_word(struct str *rest, struct str *ret)
{
    static const char *const quotes[] = {"\xe2\x80\x98", "\xe2\x80\x99"};
    size_t from = 0, to;
    for (size_t i = 0; i < ARRAY_LEN(quotes); i++)
        if (str_starts(*rest, quotes[i]))
            from = 3;
    while (from < rest->len && is_separator(rest->ptr[from]))
        from++;
    for (to = from; to < rest->len && !is_separator(rest->ptr[to]); to++)
        if (rest->len - to >= 3 && rest->ptr[to] == '\xe2' && rest->ptr[to + 1] == '\x80')
            break;
    if (to == from && to < rest->len)
        to += 3 <= rest->len - to ? 3 : rest->len - to;
    if (from >= rest->len)
        return false;
    *ret = str_sub(*rest, from, to - from);
    *rest = str_sub(*rest, to, rest->len);
    while (ret->len && strchr(":.", ret->ptr[ret->len - 1]))
        ret->len--;
    return true;
}

enum trouble {
    TROUBLE_NONE,
    TROUBLE_READ_ONLY,
    TROUBLE_DENIED,
    TROUBLE_BUSY,
    TROUBLE_FOLDER,
    TROUBLE_MISSING
};

static enum trouble
trouble_of(struct str line)
{
    static const struct {
        enum trouble what;
        const char *sign;
    } signs[] = {{TROUBLE_READ_ONLY, "Read-only file system"},
                 {TROUBLE_READ_ONLY, "read-only file system"},
                 {TROUBLE_READ_ONLY, "EROFS"},
                 {TROUBLE_DENIED, "Permission denied"},
                 {TROUBLE_DENIED, "permission denied"},
                 {TROUBLE_DENIED, "PermissionError"},
                 {TROUBLE_DENIED, "EACCES"},
                 {TROUBLE_DENIED, "Operation not permitted"},
                 {TROUBLE_DENIED, "EPERM"},
                 {TROUBLE_BUSY, "Device or resource busy"},
                 {TROUBLE_BUSY, "EBUSY"},
                 {TROUBLE_FOLDER, "Is a directory"},
                 {TROUBLE_FOLDER, "EISDIR"},
                 {TROUBLE_FOLDER, "File exists"},
                 {TROUBLE_FOLDER, "EEXIST"},
                 {TROUBLE_FOLDER, "cannot overwrite directory"},
                 {TROUBLE_MISSING, "No such file or directory"},
                 {TROUBLE_MISSING, "ENOENT"}};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (has(line, signs[i].sign))
            return signs[i].what;
    return TROUBLE_NONE;
}

/* Can this trouble with this path be the sandbox's doing, and not the system's? */
static bool
fits(const struct sandbox_plan *p, enum trouble t, enum blame b, const char *path)
{
    struct stat st;
    switch (t) {
    case TROUBLE_READ_ONLY:
        return b == BLAME_OUTSIDE || b == BLAME_PROTECTED || b == BLAME_RUN || b == BLAME_HIDDEN;
    case TROUBLE_DENIED:
        if (b == BLAME_HIDDEN || b == BLAME_PROTECTED || b == BLAME_RUN)
            return lstat(path, &st) == 0 || errno == ENOENT;
        return b == BLAME_OUTSIDE && p->kind == SANDBOX_LANDLOCK && sandbox_writable_outside(path);
    case TROUBLE_BUSY:
        return b == BLAME_PROTECTED;
    case TROUBLE_FOLDER: /* the empty one that keeps a name */
        return b == BLAME_PROTECTED && (lstat(path, &st) < 0 || S_ISDIR(st.st_mode));
    case TROUBLE_MISSING:
        return (b == BLAME_RUN || b == BLAME_TMP || b == BLAME_HIDDEN) && lstat(path, &st) == 0;
    case TROUBLE_NONE:
        break;
    }
    return false;
}

/* Of several in a line, the one that most surely is what it is about; of equals the last ("cannot copy A to B"). */
static int
weight(enum blame b)
{
    return b == BLAME_NOT ? 0 : b == BLAME_OUTSIDE ? 1 : 2;
}

static bool
path_line(const struct sandbox_plan *p, const struct sandbox_command *c, struct str line,
          struct buf *out)
{
    enum trouble t = trouble_of(line);
    struct str rest = line, word;
    enum blame worst = BLAME_NOT;
    char *about = NULL;
    while (t != TROUBLE_NONE && next_word(&rest, &word)) {
        char *path = NULL;
        enum blame b = word.len ? sandbox_blame(p, c->cwd, word, &path) : BLAME_NOT;
        if (b != BLAME_NOT && fits(p, t, b, path) && weight(b) >= weight(worst)) {
            free(about);
            about = path;
            path = NULL;
            worst = b;
        }
        free(path);
    }
    if (worst != BLAME_NOT)
        sandbox_blame_text(p, worst, about, out);
    else if (t == TROUBLE_READ_ONLY && p->kind == SANDBOX_BWRAP)
        buf_addf(out,
                 "The sandbox lets commands write only below '%s' and TMPDIR; "
                 "sandbox.filesystem.allowWrite in the settings opens a folder.",
                 p->root);
    bool found = worst != BLAME_NOT || (t == TROUBLE_READ_ONLY && p->kind == SANDBOX_BWRAP);
    free(about);
    return found;
}

/* The folders on the way to what is protected are mounts of their own. */
static bool
fixed_line(const struct sandbox_plan *p, const struct sandbox_command *c, struct str line,
           struct buf *out)
{
    bool across = has(line, "cross-device link") || has(line, "EXDEV");
    bool busy = trouble_of(line) == TROUBLE_BUSY, found = false;
    struct str rest = line, word;
    if (p->kind != SANDBOX_BWRAP || !p->fixed.n || (!across && !busy))
        return false;
    while (busy && !found && next_word(&rest, &word)) {
        char *text = str_dup(word), *path = fs_normalize(c->cwd, text);
        found = word.len && paths_has(&p->fixed, path);
        free(path);
        free(text);
    }
    if (across || found)
        buf_adds(out, "Folders on the way to protected files keep their place in the sandbox: they "
                      "cannot be renamed or removed, and a file is copied and removed, not moved, "
                      "from one to another.");
    return across || found;
}

static bool
power_line(struct str line, struct buf *out)
{
    static const struct {
        const char *a, *b, *what;
    } powers[] = {
        {"no new privileges", "", "gain another account's rights (sudo, su)"},
        {"sudo:", "effective uid is not 0", "gain another account's rights (sudo, su)"},
        {"sudo:", "must be owned by uid 0", "gain another account's rights (sudo, su)"},
        {"ptrace", "not permitted", "trace or read other processes"},
        {"PTRACE_", "not permitted", "trace or read other processes"},
        {"unshare", "not permitted", "make namespaces"},
        {"clone", "not permitted", "make namespaces"},
        {"namespace", "not permitted", "make namespaces"},
        {"bwrap:", "", "make namespaces"},
        {"mount", "not permitted", "mount file systems"},
        {"mount:", "denied", "mount file systems"},
        {"mount:", "must be superuser", "mount file systems"},
        {"chmod", "not permitted", "make programs that run as their owner (set-user-ID)"},
        {"changing permissions of", "not permitted",
         "make programs that run as their owner (set-user-ID)"},
        {"keyctl", "not permitted", "use the kernel's keyrings"},
        {"io_uring", "not permitted", "use io_uring"},
        {"perf_event_open", "not permitted", "measure the kernel"},
    };
    for (size_t i = 0; i < ARRAY_LEN(powers); i++)
        if (has(line, powers[i].a) && (!*powers[i].b || has(line, powers[i].b))) {
            buf_addf(out, "In the sandbox no program can %s; no setting lifts that.",
                     powers[i].what);
            return true;
        }
    return false;
}

static bool
from_output(const struct sandbox_plan *p, const struct sandbox_command *c, struct str output,
            struct buf *out)
{
    struct str rest, line;
    int lines = 0;
    if (output.len > LOOK_BACK)
        output = str_sub(output, output.len - LOOK_BACK, LOOK_BACK);
    rest = output;
    while (str_split(&rest, '\n', &line) && lines++ < LINES_MAX)
        if (network_line(p, line, out) || loopback_line(p, line, out) || power_line(line, out) ||
            fixed_line(p, c, line, out) || path_line(p, c, line, out))
            return true;
    return false;
}

bool
sandbox_explain(const struct sandbox_plan *p, const struct sandbox_command *c, int wait_status,
                struct str output, struct buf *out)
{
    struct buf note;
    buf_init(&note, NOTE_MAX);
    read_note(c, &note);
    bool found = from_note(p, buf_str(&note), out);
    buf_release(&note);
    if (found || (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0))
        return found;
    return from_end(p, wait_status, output, out) || from_output(p, c, output, out) ||
           sandbox_silent(p, c, wait_status, output, out);
}
