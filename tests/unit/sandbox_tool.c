/* Runs one command in the sandbox, for the escape suite and for people who want to see what a plan does:
 *     sandbox_tool KIND ROOT [options] -- ARGV...
 * Options: --cwd DIR --home DIR --data DIR --spill DIR --settings JSON-FILE --deny RULE --add DIR --own FILE --proxy SOCKET --untrusted
 * --kill-once FILE (KILL to the tree as soon as it is there) --show (the plan) --probe. Ends as the command did; what sandbox_explain says comes on standard
 * error behind "explain: ". */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/supervise.h"
#include "perm/confine.h"
#include "perm/rules.h"
#include "perm/sandbox.h"

struct opts {
    enum sandbox_kind kind;
    struct sandbox_place at;
    const char *cwd, *own, *settings;
    const char *add[8];
    struct perm_rules rules;
    const char *kill_once;
    bool show;
    const char *const *argv;
};

static _Noreturn void
fail(const char *what)
{
    fprintf(stderr, "sandbox_tool: %s\n", what);
    exit(99);
}

static void
print_probe(void)
{
    const struct sandbox_probe *p = sandbox_probe();
    printf("{\"bwrap\":%s,\"landlock\":%d,\"cgroup\":%s}\n", p->bwrap ? "true" : "false",
           p->landlock_abi, p->cgroup ? "true" : "false");
    if (p->bwrap_why)
        fprintf(stderr, "bwrap: %s\n", p->bwrap_why);
    if (p->landlock_why)
        fprintf(stderr, "landlock: %s\n", p->landlock_why);
    exit(0);
}

static void
option(struct opts *o, const char *name, const char *value)
{
    const struct {
        const char *name, **to;
    } texts[] = {{"--cwd", &o->cwd},
                 {"--home", &o->at.home},
                 {"--data", &o->at.data_dir},
                 {"--config", &o->at.config_dir},
                 {"--spill", &o->at.spill_dir},
                 {"--settings", &o->settings},
                 {"--own", &o->own},
                 {"--tmp", &o->at.tmp},
                 {"--proxy", &o->at.proxy_socket}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!strcmp(name, texts[i].name)) {
            *texts[i].to = value;
            return;
        }
    if (!strcmp(name, "--deny"))
        perm_rules_add(&o->rules, VERDICT_DENY, value, SCOPE_USER, false, NULL, 0);
    else if (!strcmp(name, "--add") && o->at.n_additional_dirs < ARRAY_LEN(o->add))
        o->add[o->at.n_additional_dirs++] = value;
    else if (!strcmp(name, "--kill-once"))
        o->kill_once = value;
    else
        fail(name);
}

static void
parse(int argc, char **argv, struct opts *o)
{
    int i = 3;
    if (argc < 3)
        fail("sandbox_tool KIND ROOT [options] -- ARGV...");
    o->kind = !strcmp(argv[1], "bwrap") ? SANDBOX_BWRAP : SANDBOX_LANDLOCK;
    o->at = (struct sandbox_place){
        .root = argv[2], .cwd = argv[2], .home = getenv("HOME"), .trusted = true};
    o->at.additional_dirs = o->add;
    o->cwd = argv[2];
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--untrusted"))
            o->at.trusted = false;
        else if (!strcmp(argv[i], "--show"))
            o->show = true;
        else if (i + 1 < argc) {
            option(o, argv[i], argv[i + 1]);
            i++;
        }
    }
    o->argv = (const char *const *)(argv + (i < argc ? i + 1 : argc));
    if (!o->argv[0] && !o->show)
        fail("no command");
}

static int
run(const struct opts *o, const struct sandbox_plan *plan)
{
    struct sandbox_command c;
    struct err err = {0};
    struct proc p = {.fd = -1, .status_fd = -1, .death_fd = -1};
    struct buf out, why;
    if (!sandbox_command_init(&c, plan, o->cwd, o->own, o->argv, &err))
        fail(err.text);
    struct proc_spec spec = {.argv = c.argv, .cwd = o->cwd, .new_session = true, .caps = &c.caps};
    if (!proc_start(&spec, &p, &err))
        fail(err.text);
    buf_init(&out, BUF_MAX);
    buf_init(&why, 4096);
    while (!p.exited || p.fd >= 0) {
        if (o->kill_once && fs_exists(o->kill_once))
            break;
        if (!proc_poll(&p, NULL, o->kill_once ? 20 : -1))
            continue;
        if (p.fd >= 0)
            proc_read(&p, &out);
        if (p.exited && p.fd >= 0 && !proc_poll(&p, NULL, 200))
            break;
    }
    bool exited = p.exited;
    int status = p.exit_status;
    if (!exited)
        proc_kill(&p, 0);
    else
        proc_kill(&p, 0);
    proc_finish(&p);
    if (fwrite(out.data ? out.data : "", 1, out.len, stdout) != out.len)
        fail("cannot write");
    fflush(stdout);
    if (exited && sandbox_explain(plan, &c, status, buf_str(&out), &why))
        fprintf(stderr, "explain: %s\n", buf_cstr(&why));
    sandbox_command_release(&c);
    buf_release(&out);
    buf_release(&why);
    if (!exited)
        return 98;
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "signal: %d\n", WTERMSIG(status));
        return 97;
    }
    return WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--supervise"))
        supervise_main(argc, argv);
    confine_entry(argc, argv);
    struct opts o = {0};
    struct err err = {0};
    if (argc > 1 && !strcmp(argv[1], "--probe"))
        print_probe();
    perm_rules_init(&o.rules);
    parse(argc, argv, &o);
    struct config *cfg = NULL;
    if (o.settings)
        cfg = config_load(&(struct config_paths){.home = "/nonexistent",
                                                 .config_dir = "/nonexistent",
                                                 .system_dir = "/nonexistent",
                                                 .cli_settings = o.settings});
    struct sandbox_plan *plan = sandbox_plan_new(o.kind, &o.at, cfg, &o.rules, &err);
    if (!plan)
        fail(err.text);
    if (o.show) {
        struct buf text;
        struct jw w;
        buf_init(&text, BUF_MAX);
        jw_init(&w, &text);
        jw_array(&w);
        sandbox_describe(plan, sandbox_probe(), &w);
        jw_end(&w);
        printf("%s\n", buf_cstr(&text));
        buf_release(&text);
    }
    int code = o.argv[0] ? run(&o, plan) : 0;
    sandbox_plan_free(plan);
    perm_rules_release(&o.rules);
    config_free(cfg);
    return code;
}
