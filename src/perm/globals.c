/* Which options stand before and between a program's sub-commands, as data. What is not listed may take the next word or not. */
#include "perm/globals.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define KUBE                                                                                       \
    " -n --namespace --context --kubeconfig --cluster --user -s --server --token --as "            \
    "--as-group --request-timeout -v "
#define NPM " --prefix -C -w --workspace --registry --tag --otp --userconfig --loglevel --cache "
#define NPM_FLAGS " -s --silent -q --quiet -g --global -d --verbose --workspaces -f --force "
#define PIP                                                                                        \
    " --proxy --python --log --retries --timeout --cert --client-cert --cache-dir "                \
    "--trusted-host --exists-action "
#define PIP_FLAGS " -q --quiet -v --verbose --no-input --isolated --no-cache-dir --no-color "
#define MAKE " -C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if "
#define MAKE_FLAGS " -B -e -i -k -n -q -r -R -s -S -t -w -j -l --silent --quiet --jobs --dry-run "
#define BOX                                                                                        \
    " -H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey -f --file "    \
    "-p --project-name --profile --project-directory --env-file --ansi --parallel --progress "
#define BOX_FLAGS " -D --debug --tls --tlsverify --compatibility --dry-run --all-resources "
#define APT " -o -c -t -a --option --config-file --target-release --default-release "
#define APT_FLAGS                                                                                  \
    " -y --yes --assume-yes -q --quiet -qq -f --fix-broken -s --simulate -d --download-only "      \
    "--no-install-recommends --allow-downgrades -V -u -m "
#define MVN                                                                                        \
    " -f --file -P --activate-profiles -pl --projects -s --settings -gs --global-settings "        \
    "-T --threads -rf --resume-from -l --log-file -t --toolchains -b --builder -D --define "
#define MVN_FLAGS                                                                                  \
    " -q --quiet -o --offline -B --batch-mode -U -X --debug -e --errors -am --also-make -amd "     \
    "-fae -ff -fn -ntp -N --non-recursive -V -nsu "
#define GRADLE                                                                                     \
    " -p --project-dir -b --build-file -c --settings-file -g --gradle-user-home -I --init-script " \
    "-x --exclude-task --max-workers --console --warning-mode --include-build -D -P "
#define GRADLE_FLAGS                                                                               \
    " -q --quiet -i --info -d --debug -s --stacktrace --offline --daemon --no-daemon --parallel "  \
    "--continue -m --dry-run --rerun-tasks --build-cache --no-build-cache --scan "
#define DNF " -c --config --releasever --installroot --enablerepo --disablerepo --setopt -x "
#define DNF_FLAGS " -y --assumeyes -q --quiet -v --verbose -C --cacheonly --refresh --best "

static const struct globals table[] = {
    {.name = "npm", .valued = NPM, .flags = NPM_FLAGS, .shortens = true},
    {.name = "pnpm",
     .valued = NPM " --dir -F --filter ",
     .flags = " -s --silent -r --recursive -g --global --stream --parallel ",
     .between = " run exec "},
    {.name = "yarn",
     .valued = " --cwd ",
     .flags = " -s --silent --verbose --json --offline ",
     .between = " run exec workspaces foreach ",
     .named = " workspace "},
    {.name = "bun", .valued = " --cwd -c --config --filter ", .between = " run "},
    {.name = "docker", .valued = BOX, .flags = BOX_FLAGS, .between = " container image "},
    {.name = "podman",
     .valued = BOX " --url --connection --root ",
     .flags = BOX_FLAGS " --remote -r ",
     .between = " container image "},
    {.name = "nerdctl",
     .valued = BOX " -n --namespace -a --address ",
     .flags = BOX_FLAGS,
     .between = " container image "},
    {.name = "kubectl",
     .valued = KUBE,
     .flags = " --insecure-skip-tls-verify --match-server-version "},
    {.name = "oc", .valued = KUBE, .flags = " --insecure-skip-tls-verify "},
    {.name = "helm",
     .valued = KUBE " --kube-context --registry-config --repository-cache --repository-config ",
     .flags = " --debug "},
    {.name = "cargo",
     .valued = " -C -Z --config --color --manifest-path ",
     .flags = " -q --quiet -v --verbose --locked --offline --frozen "},
    {.name = "aws",
     .valued = " --profile --region --output --endpoint-url --query --color --ca-bundle "
               "--cli-read-timeout --cli-connect-timeout ",
     .flags = " --debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager "},
    {.name = "gcloud",
     .valued = " --project --account --configuration --format --verbosity --zone --region "
               "--impersonate-service-account ",
     .flags = " -q --quiet ",
     .between = " alpha beta "},
    {.name = "az",
     .valued = " --subscription -o --output --query ",
     .flags = " --verbose --debug --only-show-errors "},
    {.name = "gh", .valued = " -R --repo --hostname ", .flags = ""},
    {.name = "glab", .valued = " -R --repo -g --group ", .flags = ""},
    {.name = "go", .valued = " -C ", .flags = ""},
    {.name = "terraform", .valued = "", .flags = ""},
    {.name = "tofu", .valued = "", .flags = ""},
    {.name = "pulumi",
     .valued = " -C --cwd --color -v ",
     .flags = " -e --emoji --non-interactive "},
    {.name = "systemctl",
     .valued = " -t --type -p --property -H --host -M --machine -n -o --output --root --state -s ",
     .flags = " --user --system --now -q --quiet --no-block --no-pager -f --force -a --all "},
    {.name = "pip", .valued = PIP, .flags = PIP_FLAGS},
    {.name = "apt-get", .valued = APT, .flags = APT_FLAGS},
    {.name = "apt", .valued = APT, .flags = APT_FLAGS},
    {.name = "dnf", .valued = DNF, .flags = DNF_FLAGS},
    {.name = "yum", .valued = DNF, .flags = DNF_FLAGS},
    {.name = "brew", .valued = "", .flags = " -v --verbose -q --quiet -d --debug "},
    {.name = "make", .valued = MAKE, .flags = MAKE_FLAGS, .list = true},
    {.name = "gmake", .valued = MAKE, .flags = MAKE_FLAGS, .list = true},
    {.name = "ninja",
     .valued = " -C -f -j -k -l -d -t -w ",
     .flags = " -v -n --quiet ",
     .list = true},
    {.name = "mvn", .valued = MVN, .flags = MVN_FLAGS, .list = true},
    {.name = "mvnw", .valued = MVN, .flags = MVN_FLAGS, .list = true},
    {.name = "gradle", .valued = GRADLE, .flags = GRADLE_FLAGS, .list = true},
    {.name = "gradlew", .valued = GRADLE, .flags = GRADLE_FLAGS, .list = true},
    {.name = "rake",
     .valued = " -f --rakefile -C --directory -I --libdir -r --require ",
     .flags = " -q -s -n -v ",
     .list = true},
    {.name = "just",
     .valued = " -f --justfile -d --working-directory --set --shell ",
     .flags = " -q -n -v --dry-run ",
     .list = true},
    {.name = "task",
     .valued = " -d --dir -t --taskfile -c --concurrency ",
     .flags = " -f --force -s -v -p -y ",
     .list = true},
    {.name = "ant",
     .valued = " -f -file -buildfile -l -logfile -lib ",
     .flags = " -q -quiet -v -d ",
     .list = true},
    {.name = "hg",
     .valued = " -R --repository --cwd --config --encoding --color --pager ",
     .flags = " -y --noninteractive -q --quiet -v --verbose --debug --traceback --hidden ",
     .shortens = true},
    {.name = "svn",
     .valued = " --username --password --config-dir --config-option ",
     .flags = " -q --quiet --non-interactive --no-auth-cache --trust-server-cert "},
    {.name = "dotnet",
     .valued = " --additionalprobingpath --additional-deps --depsfile --fx-version --roll-forward ",
     .flags = " -d --diagnostics "},
    {.name = "composer",
     .valued = " -d --working-dir ",
     .flags = " -q --quiet -n --no-interaction -v -vv -vvv --no-plugins --no-scripts --profile ",
     .shortens = true},
    {.name = "gem",
     .valued = " --config-file ",
     .flags = " -V --verbose -q --quiet --silent --debug ",
     .shortens = true},
    {.name = "bundle",
     .valued = " -r --retry ",
     .flags = " --no-color -V --verbose ",
     .shortens = true},
    {.name = "ip",
     .valued = " -n -netns --netns -l -loops -rc -rcvbuf -f -family ",
     .flags = " -4 -6 -s -o -j -p -d -br ",
     .shortens = true},
    {.name = "nmcli",
     .valued = " -f --fields -g --get-values -m --mode -e -c --colors -w --wait ",
     .flags = " -t -p -a -s ",
     .shortens = true},
    {.name = "jj",
     .valued = " -R --repository --at-op --at-operation --color --config --config-file ",
     .flags = " --no-pager --quiet --debug --ignore-working-copy --ignore-immutable "},
    {.name = "tmux", .valued = " -L -S -f -c -T ", .flags = " -2 -u -v -C -CC -N -D -l "},
    {.name = "poetry",
     .valued = " -C --directory -P --project ",
     .flags = " -q --quiet -v -vv -vvv -n --no-interaction --no-plugins --no-cache --ansi "
              "--no-ansi "},
    {.name = "redis-cli",
     .valued = " -h -p -s -a -u -r -i -n -d -D --user --pass ",
     .flags = " -2 -3 -c -e --tls --raw --no-raw --csv --json --no-auth-warning "},
    {.name = "uv",
     .valued = " --directory --project --config-file --color --cache-dir --allow-insecure-host ",
     .flags = " -q --quiet -v --verbose -n --no-cache --offline --no-progress --no-config "
              "--native-tls --no-python-downloads "},
    {.name = "fly",
     .valued = " -a --app -t --access-token -c --config -o --org ",
     .flags = " --verbose --debug -j --json "},
    {.name = "flyctl",
     .valued = " -a --app -t --access-token -c --config -o --org ",
     .flags = " --verbose --debug -j --json "},
    {.name = "heroku", .valued = " -a --app -r --remote ", .flags = ""},
    {.name = "firebase", .valued = " -P --project --account --token ", .flags = " --debug --json "},
    {.name = "minikube", .valued = " -p --profile ", .flags = ""},
    {.name = "git",
     .valued = " -C -c --git-dir --work-tree --namespace --super-prefix --config-env "
               "--attr-source ",
     .flags = " -p -P --paginate --no-pager --bare --no-replace-objects --no-optional-locks "
              "--literal-pathspecs "},
};

struct str
spelling_unversioned(struct str name)
{
    size_t n = name.len;
    while (n > 1 && (isdigit((unsigned char)name.ptr[n - 1]) || name.ptr[n - 1] == '.'))
        n--;
    return str_sub(name, 0, n);
}

bool
words_list(const char *list, struct str word)
{
    const char *p = list ? list : "";
    while (word.len && (p = strchr(p, ' ')) && *++p)
        if (strncmp(p, word.ptr, word.len) == 0 && p[word.len] == ' ')
            return true;
    return false;
}

bool
spelled_same(struct str a, struct str b, bool fold)
{
    return a.len == b.len &&
           (fold ? strncasecmp(a.ptr, b.ptr, a.len) : memcmp(a.ptr, b.ptr, a.len)) == 0;
}

const struct globals *
globals_of(struct str name, bool fold)
{
    struct str plain = spelling_unversioned(name);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (spelled_same(str_from(table[i].name), name, fold) ||
            spelled_same(str_from(table[i].name), plain, fold))
            return &table[i];
    return NULL;
}

enum takes
globals_take(const struct globals *g, struct str s)
{
    if (memchr(s.ptr, '=', s.len) || str_is(s, "--"))
        return TAKES_NONE;
    if (!g)
        return TAKES_UNSURE;
    if (words_list(g->valued, s))
        return TAKES_NEXT;
    if (words_list(g->flags, s))
        return TAKES_NONE;
    /* "-j4", "-nx": a letter of the table with its value attached, or letters of which the last may take one */
    bool known = s.len > 2 && s.ptr[1] != '-' && words_list(g->valued, str_sub(s, 0, 2));
    return known ? TAKES_NONE : TAKES_UNSURE;
}
