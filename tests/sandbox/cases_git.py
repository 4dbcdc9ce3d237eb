"""What would run later: git's hooks and settings, agents' and editors' settings, also where nothing is yet."""
import os
import subprocess

from box import refused, want
from cases_files import only

NAMES = [".yare", ".claude", ".mcp.json", ".vscode", ".idea", ".husky", ".envrc", ".npmrc"]


def repository(b, *more):
    b.outside_run("git", "init", "-q", ".")
    b.outside_run("git", "add", "file")
    b.outside_run("git", "commit", "-qm", "first")
    for args in more:
        b.outside_run("git", *args)


def clean(b, *allowed):
    left = sorted(set(os.listdir(b.project)) - {"file", ".git", *allowed})
    want(not left, f"left in the project: {left}")


@only("bwrap")
def case_missing_names(b):
    repository(b)
    for name in NAMES:
        r = b.sh(f"mkdir -p {name}/x; echo evil > {name}/settings.json || echo evil > {name}")
        want(r.code != 0, f"{name} could be made", r)
        want("read-only" in r.explained and name in r.explained, f"{name} is not explained", r)
    clean(b)


@only("bwrap")
def case_missing_names_by_moves(b):
    repository(b)
    b.sh("rmdir .mcp.json; rm -rf .claude; mv .vscode v; ln -s /etc .idea; ln -sfn /etc .husky; mkdir e; echo x > e/settings.json; "
         "mv e .yare; mv -T e .yare; echo x > f; mv -f f .envrc; mv -T f .npmrc; cp -r e .claude/")
    clean(b, "e", "f")
    for name in NAMES:
        want(not b.there(f"project/{name}"), f"{name} came to be")


@only("bwrap")
def case_names_that_are_there(b):
    repository(b)
    b.write("project/.mcp.json", "{}")
    b.write("project/.claude/settings.json", "{}")
    b.write("project/sub/.claude/settings.json", "{}")
    b.write("project/sub/deep/.vscode/tasks.json", "{}")
    refused(b.sh("echo x > .mcp.json"), "read-only", ".mcp.json")
    refused(b.sh("echo x > .claude/settings.json"), "read-only")
    refused(b.sh("echo x > .claude/hooks.json"), "read-only")
    refused(b.sh("echo x > sub/.claude/settings.json"), "read-only")
    refused(b.sh("echo x > sub/deep/.vscode/tasks.json"), "read-only")
    b.sh("mv .claude c; mv .mcp.json m; rm -rf .claude; rm -f .mcp.json; ln -sf /etc/passwd .mcp.json")
    want(b.read("project/.mcp.json") == "{}" and b.read("project/.claude/settings.json") == "{}", "changed")
    want(b.sh("cat .claude/settings.json").out == "{}", "reading is fine")


@only("bwrap")
def case_hooks(b):
    repository(b)
    r = b.sh("echo '#!/bin/sh' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit")
    refused(r, "read-only", "hooks")
    b.sh("rm -rf .git/hooks; mv .git/hooks h; mkdir -p .git/hooks; ln -sfn /tmp .git/hooks")
    want(not b.there("project/.git/hooks/pre-commit") and b.there("project/.git/hooks"), "the hooks were changed")


@only("bwrap")
def case_missing_hooks(b):
    repository(b)
    subprocess.run(["rm", "-rf", f"{b.project}/.git/hooks"], check=True)
    refused(b.sh("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit"), "read-only")
    want(not b.there("project/.git/hooks"), "a placeholder was left")


@only("bwrap")
def case_config(b):
    repository(b)
    before = b.read("project/.git/config")
    refused(b.sh("git config core.fsmonitor ./evil"), "read-only")
    refused(b.sh("echo '[core] fsmonitor = ./evil' >> .git/config"), "read-only")
    b.sh("cp .git/config c; echo '[core] fsmonitor = ./evil' >> c; mv -f c .git/config; rm -f .git/config; ln -sf ../c .git/config")
    want(b.read("project/.git/config") == before, "the settings were changed")


@only("bwrap")
def case_git_folder_swap(b):
    repository(b)
    r = b.sh("mv .git g && mkdir .git && cp -r g/* .git/ && echo evil > .git/hooks/pre-commit")
    want(r.code != 0, ".git was renamed", r)
    b.sh("rm -rf .git; ln -s /tmp .git")
    want(os.path.isdir(f"{b.project}/.git") and not os.path.islink(f"{b.project}/.git"), ".git was replaced")
    clean(b)


@only("bwrap")
def case_commondir(b):
    """A file commondir in .git would send git to other settings."""
    repository(b)
    r = b.sh("mkdir -p evil/hooks; rm -f .git/commondir; mv .git/commondir x; echo ../evil > .git/commondir")
    want(r.code != 0, "commondir was written", r)
    want(not b.there("project/.git/commondir"), "a placeholder was left")
    b.outside_run("git", "status")


@only("bwrap")
def case_no_repository(b):
    """Neither a .git nor a bare repository's files may come to be."""
    refused(b.sh("git init -q ."), "read-only")
    r = b.sh("mkdir objects refs; echo 'ref: refs/heads/x' > HEAD; printf '[core]\\nfsmonitor=./evil\\n' > config")
    want(not os.path.isfile(f"{b.project}/HEAD"), "a bare repository was made", r)
    want(not b.there("project/.git"), "a placeholder was left")


@only("bwrap")
def case_repository_made_meanwhile(b):
    """One that the person made after the plan was: nothing of it is open that would not be otherwise."""
    repository(b)
    want(b.sh("git commit -q --allow-empty -m second").code == 0, "commit")


@only("bwrap")
def case_nested_repository(b):
    repository(b)
    b.outside_run("git", "init", "-q", "vendor/lib")
    refused(b.sh("echo x > vendor/lib/.git/hooks/post-checkout"), "read-only")
    refused(b.sh("echo x >> vendor/lib/.git/config"), "read-only")
    want(b.sh("cd vendor/lib && git commit -q --allow-empty -m one").code == 0, "commit in a nested repository")


@only("bwrap")
def case_submodule(b):
    repository(b)
    b.outside_run("git", "init", "-q", f"{b.base}/lib")
    b.outside_run("git", "-C", f"{b.base}/lib", "commit", "-q", "--allow-empty", "-m", "one")
    b.outside_run("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", f"{b.base}/lib", "mod")
    refused(b.sh("echo x > .git/modules/mod/hooks/post-commit"), "read-only")
    refused(b.sh("echo x >> .git/modules/mod/config"), "read-only")
    refused(b.sh("echo x > mod/.git"), "read-only")
    want(b.sh("cd mod && git commit -q --allow-empty -m two").code == 0, "commit in a submodule")


@only("bwrap")
def case_worktree(b):
    repository(b, ("worktree", "add", "-q", "../tree"))
    root = f"{b.base}/tree"
    r = b.sh("echo y > new && git add new && git commit -qm second && git status --short && git log --oneline | wc -l", root=root)
    want(r.code == 0 and r.out.strip() == "2", "commit in a work tree", r)
    for script in ("echo 'gitdir: ../evil' > .git", f"echo x > {b.project}/.git/hooks/post-commit",
                   f"echo x >> {b.project}/.git/config", f"echo ../evil > {b.project}/.git/worktrees/tree/commondir",
                   f"echo x > {b.project}/file"):
        want(b.sh(script, root=root).code != 0, f"'{script}' worked")


@only("bwrap")
def case_git_file_that_lies(b):
    """A .git file of the project's own must not open a folder elsewhere."""
    b.write("project/.git", f"gitdir: {b.outside}\n")
    want(b.sh(f"echo x > {b.outside}/new").code != 0, "opened")
    b.write("outside/commondir", f"{b.home}\n")
    b.write("outside/gitdir", f"{b.project}/.git\n")
    want(b.sh(f"echo x > {b.home}/new; echo x > {b.outside}/new").code != 0, "opened by a false work tree")
    want(not b.there("home/new"), "the home was written")


@only("bwrap")
def case_hooks_path(b):
    b.write("project/githooks/pre-commit", "#!/bin/sh\n")
    repository(b, ("config", "core.hooksPath", "githooks"))
    refused(b.sh("echo evil >> githooks/pre-commit"), "read-only")
    b.outside_run("git", "config", "core.hooksPath", "later")
    want(b.sh("mkdir -p later; echo evil > later/pre-commit").code != 0, "a missing hooks folder could be made")
    want(not b.there("project/later"), "a placeholder was left")


@only("bwrap")
def case_folders_above_are_not_renamed(b):
    """A mount goes along when a folder above it is renamed, and its place is free for another."""
    b.write("project/dev/git/hooks/pre-commit", "#!/bin/sh\n")
    b.write("project/a/b/kept", "kept")
    b.write("project/c/d/ruled", "kept")
    repository(b, ("config", "core.hooksPath", "dev/git/hooks"))
    b.outside_run("git", "init", "-q", f"{b.base}/lib")
    b.outside_run("git", "-C", f"{b.base}/lib", "commit", "-q", "--allow-empty", "-m", "one")
    b.outside_run("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", f"{b.base}/lib", "libs/mod")
    b.give()
    options = [*b.settings(filesystem={"denyWrite": ["a/b/kept"]}), "--deny", "Edit(./c/d/ruled)"]
    r = b.sh("echo x > a/b/other && mv a/b/other a/ && mv a/other . && cat other && cd libs/mod && git commit -q --allow-empty -m two && git status", options)
    want(r.code == 0 and r.out.startswith("x\n"), "ordinary work beside them", r)
    refused(b.sh("mv dev moved", options), "keep their place")
    refused(b.py("import os; open('a/b/o', 'w').close(); os.rename('a/b/o', 'dev/o')", options), "copied and removed")
    for path in ("dev/git/hooks/pre-commit", "a/b/kept", "c/d/ruled", ".git/modules/libs/mod/config"):
        before, parts = b.read(f"project/{path}"), path.split("/")
        for n in range(1, len(parts)):
            above = "/".join(parts[:n])
            for how in (f"mv {above} moved-{n}", f"rm -rf {above}"):
                b.sh(f"{how}; mkdir -p {os.path.dirname(path)}; echo evil > {path}", options)
                want(b.there(f"project/{path}") and b.read(f"project/{path}") == before, f"{path} was replaced by '{how}'")


@only("bwrap")
def case_missing_hooks_in_missing_folders(b):
    repository(b, ("config", "core.hooksPath", "dev/git/hooks"), ("config", "include.path", "../etc/git/more"))
    b.sh("mkdir -p dev/git/hooks; echo evil > dev/git/hooks/pre-commit; mkdir -p etc/git; echo evil > etc/git/more")
    want(not b.there("project/dev/git/hooks/pre-commit") and not b.there("project/etc/git/more"), "made")
    want(b.sh("git status --short").code == 0, "git does not work any more")
    clean(b)


@only("bwrap")
def case_folders_above_a_work_tree(b):
    repository(b, ("worktree", "add", "-q", "../tree"))
    at = f"{b.project}/.git/worktrees"
    b.sh(f"mv {at} {at}-moved; mkdir -p {at}/tree; cp {at}-moved/tree/* {at}/tree/; echo ../evil > {at}/tree/commondir", root=f"{b.base}/tree")
    want(b.read("project/.git/worktrees/tree/commondir") == "../..\n", "the work tree was sent to another repository")


@only("bwrap")
def case_project_made_a_repository(b):
    """A .git that is none any more is passed over, and git takes the folder itself for a repository where it looks like one."""
    repository(b)
    b.sh(f"printf '#!/bin/sh\\ntouch {b.base}/project/pwned\\n' > evil; chmod +x evil; echo none > .git/HEAD; mkdir objects refs; "
         f"echo 'ref: refs/heads/x' > HEAD; printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = {b.project}\\nfsmonitor = ./evil\\n' > config")
    subprocess.run(b.as_account(["git", "status"]), cwd=b.project, env=b.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    want(not b.there("project/pwned"), "git ran what the command left")
    b.write("project/.git/HEAD", "ref: refs/heads/master\n")
    r = b.sh("rm HEAD; git add -A && git commit -qm two && git log --oneline HEAD && git diff HEAD && git status --short")
    want(r.code == 0, "git does not work any more", r)
    clean(b, "config", "evil", "objects")


@only("bwrap")
def case_included_settings(b):
    """Settings that git's own take in from the work tree are git's settings."""
    b.write("project/tools/gitconfig", "[include]\n\tpath = more\n")
    b.write("project/tools/more", "[color]\n\tui = false\n")
    b.write("project/tools/cond", "[color]\n\tui = false\n")
    b.write("project/tools/other", "")
    repository(b, ("config", "include.path", "../tools/gitconfig"), ("config", "includeIf.gitdir:/.path", "../tools/cond"),
               ("config", "--add", "include.path", "../tools/later"))
    for name in ("gitconfig", "more", "cond", "later"):
        r = b.sh(f"printf '[core]\\n\\tfsmonitor = ./evil\\n' > tools/{name}")
        want(r.code != 0, f"tools/{name} was written", r)
        b.sh(f"echo x > n; mv -f n tools/{name}; rm -f tools/{name}")
        want(not b.there(f"project/tools/{name}") if name == "later" else "color" in b.read(f"project/tools/{name}") or name == "gitconfig",
             f"tools/{name} was replaced")
    want(b.sh("mv tools t; mkdir tools").code != 0, "the folder was renamed")
    want(b.sh("echo x > tools/other && git status --short").code == 0, "the rest is closed too")


@only("bwrap")
def case_settings_of_a_work_tree(b):
    """config.worktree counts where the repository says so, also when it is not there yet."""
    repository(b, ("config", "extensions.worktreeConfig", "true"), ("worktree", "add", "-q", "../tree"))
    for root, name in ((b.project, f"{b.project}/.git/config.worktree"), (f"{b.base}/tree", f"{b.project}/.git/worktrees/tree/config.worktree")):
        r = b.sh(f"printf '[core]\\n\\tfsmonitor = ./evil\\n' > {name}", root=root)
        want(r.code != 0, f"{name} was written", r)
        want(b.sh("git status --short", root=root).code == 0, "git does not work any more")
        want(not os.path.exists(name), "a placeholder was left")


@only("bwrap")
def case_protected_link(b):
    """No mount stands on a link: the plan says that it does not keep this one, so nothing runs unasked on its strength."""
    repository(b)
    b.write("project/agents/settings.json", "{}")
    os.symlink("agents", f"{b.project}/.claude")
    b.give()
    want(any(l["name"] == "not kept" and ".claude" in l["value"] for l in b.plan()), "the plan does not tell")
    refused(b.sh("echo evil > .claude/settings.json"), "read-only")
    refused(b.sh("echo evil > agents/settings.json"), "read-only")


@only("bwrap")
def case_no_leftovers_in_git_status(b):
    repository(b)
    r = b.sh("echo new > added && git add -A && git commit -qm second && git status --short")
    want(r.code == 0 and r.out == "", "placeholders show up in git", r)


@only("bwrap")
def case_two_at_once(b):
    """Placeholders stay until the last command has ended."""
    repository(b)
    first = b.start(["bash", "-c", "sleep 0.1"])
    second = b.start(["bash", "-c", "until ! kill -0 $PPID 2>/dev/null || [ -e go ]; do sleep 0.02; done; mkdir -p .claude/x; echo x > .mcp.json"])
    first.communicate(timeout=60)
    b.write("project/go", "")
    second.communicate(timeout=60)
    want(second.returncode != 0, "made after the first had ended")
    clean(b, "go")


@only("bwrap")
def case_left_by_a_crash(b):
    """A placeholder of a program that was shot is taken over."""
    repository(b)
    for name in (".claude", ".mcp.json"):
        os.mkdir(f"{b.project}/{name}", 0o555)
        os.chmod(f"{b.project}/{name}", 0o555)
        os.utime(f"{b.project}/{name}", (1, 1))
    b.give()
    want(b.sh("echo x > .mcp.json").code != 0, "made")
    clean(b)
    os.mkdir(f"{b.project}/.idea")
    b.give()
    b.sh("true")
    want(b.there("project/.idea"), "a folder of the person's own was taken away")


@only("bwrap")
def case_home_as_project(b):
    b.outside_run("git", "init", "-q", "repo", cwd=b.home)
    r = b.sh("echo evil >> .bashrc; echo evil > .profile; mkdir -p .ssh/x; cat .ssh/id_ed25519; echo fine > notes", root=b.home)
    want(b.read("home/.bashrc") == "# mine\n" and not b.there("home/.profile"), "a start-up file was written", r)
    want("KEY-OF" not in r.out, "a secret was read", r)
    want(b.read("home/notes") == "fine\n", "notes")
