#pragma once
/* A loopback model server (tests/fakes/model_server.py) for the programs that test a wire. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"

struct wire_server {
    pid_t pid;
    int in; /* closing it ends the server */
    int port;
    char dir[64];
};

static void
wire_server_start(struct wire_server *s, const char *script, const char *dribble)
{
    int in[2], out[2];
    char line[64] = "";
    snprintf(s->dir, sizeof s->dir, "/tmp/yare-wire-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    char *script_path = fs_join(s->dir, "script.json"), *log = fs_join(s->dir, "log.jsonl");
    assert_true(fs_write_atomic(script_path, str_from(script), 0600, NULL));
    assert_int_equal(pipe(in) | pipe(out), 0);
    s->pid = fork();
    if (s->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execlp("python3", "python3", TEST_DIR "/fakes/model_server.py", "--script", script_path,
               "--log", log, "--dribble", dribble, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s->in = in[1];
    FILE *f = fdopen(out[0], "r");
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(sscanf(line, "%d", &s->port), 1);
    fclose(f);
    free(script_path);
    free(log);
}

static void
wire_server_stop(struct wire_server *s)
{
    char *cmd[] = {"rm", "-rf", s->dir, NULL};
    close(s->in);
    waitpid(s->pid, NULL, 0);
    pid_t pid = fork();
    if (pid == 0) {
        execvp("rm", cmd);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

/* Line n of what the server was sent, or NULL; the tree is yours. */
static struct cJSON *
wire_server_logged(const struct wire_server *s, size_t n)
{
    char *path = fs_join(s->dir, "log.jsonl");
    struct buf text;
    struct str rest, line;
    struct cJSON *tree = NULL;
    buf_init(&text, BUF_MAX);
    assert_true(fs_read(path, BUF_MAX, &text, NULL));
    rest = buf_str(&text);
    for (size_t i = 0; str_split(&rest, '\n', &line); i++)
        if (i == n && line.len)
            tree = json_parse(line, NULL);
    buf_release(&text);
    free(path);
    return tree;
}
