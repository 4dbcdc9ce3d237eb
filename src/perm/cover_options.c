/*
 * Options by which a program that runs nothing by itself runs another one: "rg --pre", "tar --to-command", "git push --receive-pack".
 * A rule that only begins with the program's name was not written for these, unless it names the option.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "perm/chain_ctx.h"
#include "perm/cover_words.h"
#include "perm/option_words.h"
#include "perm/programs.h"

/* Blanks part the options. A long one ("--name") may be shortened; "-I" may have its value attached and stand in a bundle. `takes`: the
 * letters behind which the rest of a bundle is a value. */
static const struct {
    const char *program, *sub, *options, *takes;
} rows[] = {
    {"rg", NULL, "--pre --hostname-bin", ""},
    {"sort", NULL, "--compress-program", ""},
    {"tar", NULL,
     "--to-command --checkpoint-action --use-compress-program -I --info-script "
     "--new-volume-script -F --rsh-command --rmt-command",
     "bCfgHKLNTVXIF"},
    {"bsdtar", NULL, "--use-compress-program", ""},
    {"rsync", NULL, "-e --rsh --rsync-path", "fBTM@"},
    {"ssh", NULL, "-o -F -I", "bcDEeiJLlmOpQRSWw"},
    {"scp", NULL, "-S -o -F", "cDiJlPX"},
    {"sftp", NULL, "-S -o -F", "BbcDiJlPRX"},
    {"zip", NULL, "-TT --unzip-command", ""},
    {"man", NULL, "-P --pager -H --html", "CLmMRSsEerpTXZ"},
    {"split", NULL, "--filter", ""},
    {"make", NULL, "--eval -E SHELL MAKEFLAGS", "CfIjloOW"},
    {"wget", NULL, "--use-askpass -e --execute", "oaiBtOTwQPUlARDIX"},
    {"go", NULL, "-toolexec --toolexec -exec --exec -vettool --vettool", ""},
    {"go", "env", "-w", ""},
    {"cargo", NULL, "--config", ""},
    {"npm", NULL, "--script-shell --node-options --git --userconfig --config.script-shell", ""},
    {"pnpm", NULL, "--script-shell --node-options --config.script-shell --config.node-options", ""},
    {"gcc", NULL, "-wrapper -fplugin -specs --specs", ""},
    {"g++", NULL, "-wrapper -fplugin -specs --specs", ""},
    {"cc", NULL, "-wrapper -fplugin -specs --specs", ""},
    {"curl", NULL, "-K --config", "ACDEFHPQTUXYbcdehmoruwxyzt"},
    {"vim", NULL, "-c -S -s --cmd", ""},
    {"vi", NULL, "-c -S -s --cmd", ""},
    {"nvim", NULL, "-c -S -s --cmd -l", ""},
    {"view", NULL, "-c -S -s --cmd", ""},
    {"ex", NULL, "-c -S --cmd", ""},
    {"emacs", NULL, "--eval --execute --load -l --funcall -f --script", ""},
    {"less", NULL, "-k --lesskey-file --lesskey-src", ""},
    {"git", "apply", "--unsafe-paths", ""},
    {"yt-dlp", NULL, "--exec --netrc-cmd", ""},
    {"pandoc", NULL, "--filter --lua-filter -F -L", "ftoMVHBAT"},
    {"prettier", NULL, "--plugin", ""},
    {"git", "push", "--receive-pack --exec", ""},
    {"git", "send-pack", "--receive-pack --exec", ""},
    {"git", "fetch", "--upload-pack", ""},
    {"git", "pull", "--upload-pack", ""},
    {"git", "clone", "--upload-pack -u --template --config -c", "objc"},
    {"git", "ls-remote", "--upload-pack --exec", ""},
    {"git", "archive", "--exec", ""},
    {"git", "grep", "--open-files-in-pager -O", "efABCm"},
    {"git", "init", "--template", ""},
    {"git", "send-email", "--smtp-server --to-cmd --cc-cmd --header-cmd", ""},
    {"helm", NULL, "--post-renderer", ""},
    {"kustomize", NULL, "--enable-exec --enable-alpha-plugins", ""},
    {"pylint", NULL, "--init-hook", ""},
    {"bat", NULL, "--pager", ""},
    {"batcat", NULL, "--pager", ""},
    {"delta", NULL, "--pager", ""},
    {"ag", NULL, "--pager", ""},
    {"ack", NULL, "--pager", ""},
    {"jj", NULL, "--config --config-file --config-toml", ""},
    {"hg", NULL, "--config", ""},
    {"svn", NULL, "--diff-cmd --diff3-cmd --editor-cmd --config-option", ""},
    {"apt", NULL, "-o --option -c --config-file", "at"},
    {"apt-get", NULL, "-o --option -c --config-file", "at"},
    {"apt-cache", NULL, "-o --option -c --config-file", "at"},
    {"tcpdump", NULL, "-z", "BcCDEFGijMrsTVwWy"},
    {"clang", NULL, "-fplugin -fpass-plugin -load", ""},
    {"clang++", NULL, "-fplugin -fpass-plugin -load", ""},
    {"c++", NULL, "-wrapper -fplugin -specs --specs", ""},
    {"rustc", NULL, "-C --codegen", "LloOWAD"},
    {"just", NULL, "--shell --shell-arg --shell-command", ""},
    {"ssh-keygen", NULL, "-D", "abCEfFIJMmNnOPrRSsTtVWwYZz"},
    {"ssh-add", NULL, "-s -e", "tTSHE"},
    {"openssl", NULL, "-engine -provider -provider-path", ""},
    {"pdflatex", NULL, "-shell-escape --shell-escape -enable-write18 --enable-write18", ""},
    {"xelatex", NULL, "-shell-escape --shell-escape -enable-write18 --enable-write18", ""},
    {"lualatex", NULL, "-shell-escape --shell-escape -enable-write18 --enable-write18", ""},
    {"latexmk", NULL, "-e -r -shell-escape --shell-escape -latex -pdflatex -xelatex -lualatex", ""},
    {"cmake", NULL, "-E", "DUGTABCSP"},
};

static bool
is_one_of(struct str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s.len == strlen(names[i]) && strncasecmp(s.ptr, names[i], s.len) == 0)
            return true;
    return false;
}

static bool
plain_text(struct str s, const char *signs)
{
    for (size_t i = 0; i < s.len; i++)
        if (!isalnum((unsigned char)s.ptr[i]) && (!s.ptr[i] || !strchr(signs, s.ptr[i])))
            return false;
    return true;
}

/* "-o NAME=VALUE" of ssh that neither runs nor loads anything. */
static bool
ssh_setting_is_plain(struct str s)
{
    static const char *const plain[] = {"StrictHostKeyChecking",
                                        "BatchMode",
                                        "ConnectTimeout",
                                        "ConnectionAttempts",
                                        "UserKnownHostsFile",
                                        "GlobalKnownHostsFile",
                                        "Port",
                                        "User",
                                        "HostName",
                                        "IdentityFile",
                                        "IdentitiesOnly",
                                        "Compression",
                                        "ServerAliveInterval",
                                        "ServerAliveCountMax",
                                        "LogLevel",
                                        "TCPKeepAlive",
                                        "PreferredAuthentications",
                                        "PasswordAuthentication",
                                        "PubkeyAuthentication",
                                        "HostKeyAlgorithms",
                                        "PubkeyAcceptedAlgorithms",
                                        "PubkeyAcceptedKeyTypes",
                                        "KexAlgorithms",
                                        "Ciphers",
                                        "MACs",
                                        "AddressFamily",
                                        "NumberOfPasswordPrompts",
                                        "ControlMaster",
                                        "ControlPath",
                                        "ControlPersist",
                                        "ProxyJump",
                                        "ForwardAgent",
                                        "RequestTTY",
                                        "ExitOnForwardFailure",
                                        "CheckHostIP",
                                        "HashKnownHosts"};
    size_t end = 0;
    while (end < s.len && isalnum((unsigned char)s.ptr[end]))
        end++;
    return plain_text(s, " =._/~:,@+%-*") && is_one_of(str_sub(s, 0, end), plain, ARRAY_LEN(plain));
}

/* The words behind "ssh" of a transport. */
static bool
ssh_options_are_plain(struct str words)
{
    static const char *const flags[] = {"-4", "-6", "-C",  "-q",   "-v", "-x",
                                        "-a", "-T", "-vv", "-vvv", "-k", "-A"};
    struct str word, value;
    while (str_split(&words, ' ', &word)) {
        bool flag = false;
        for (size_t i = 0; i < ARRAY_LEN(flags); i++)
            flag = flag || str_is(word, flags[i]);
        if (!word.len || flag)
            continue;
        bool taken = word.len == 2;
        if (word.ptr[0] != '-' || word.len < 2 || !strchr("pilcmbJo", word.ptr[1]))
            return false;
        value = str_sub(word, 2, word.len);
        if (taken && !str_split(&words, ' ', &value))
            return false;
        if (!plain_text(value, "=._/~:,@+%-") ||
            (word.ptr[1] == 'o' && !ssh_setting_is_plain(value)))
            return false;
    }
    return true;
}

/* Compressors and the usual transport, without options that name a program in turn. tar gives the value to a shell. */
static bool
program_is_usual(struct str value)
{
    static const char *const packers[] = {"gzip", "pigz",   "bzip2",  "pbzip2", "lbzip2", "xz",
                                          "pixz", "zstd",   "zstdmt", "pzstd",  "lz4",    "lzip",
                                          "lzop", "unzstd", "gunzip", "unxz",   "bunzip2"};
    size_t blank = str_find(value, ' ', 0);
    struct str first = str_sub(value, 0, blank), rest = str_sub(value, first.len, value.len);
    if (str_is(first, "ssh"))
        return ssh_options_are_plain(rest);
    for (size_t i = 0; i < ARRAY_LEN(packers); i++)
        if (str_is(first, packers[i]))
            return plain_text(rest, " -=.,_");
    return false;
}

static bool
begins_with_one(struct str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s.len >= strlen(names[i]) && strncasecmp(s.ptr, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Values of options that choose a program, or set what chooses one: those that do not. */
static bool
setting_is_usual(const struct perm_leaf *l, struct str option, struct str value)
{
    static const char *const pagers[] = {"less", "never", "cat", "more", "less -R", "less -RF"},
                             *const apt[] = {"Dpkg::Options::=--force-conf",
                                             "Dpkg::Options::=--force-",
                                             "Dpkg::Use-Pty",
                                             "Acquire::Retries",
                                             "Acquire::http::Timeout",
                                             "Acquire::ForceIPv",
                                             "DPkg::Lock::Timeout",
                                             "APT::Get::",
                                             "APT::Install-",
                                             "Debug::"},
                             *const git[] = {"core.autocrlf=", "core.longpaths=", "user.",
                                             "core.symlinks=", "advice.",         "init."},
                             *const cmake[] = {"echo", "compare_files", "md5sum",
                                               "sha",  "make_d",        "copy",
                                               "cat",  "capabilities",  "tar"};
    if (str_is(option, "--pager"))
        return is_one_of(value, pagers, ARRAY_LEN(pagers));
    if (leaf_is(l, "apt") || leaf_is(l, "apt-get") || leaf_is(l, "apt-cache"))
        return !str_is(option, "-c") && !str_is(option, "--config-file") &&
               plain_text(value, ":=-.\"_") && begins_with_one(value, apt, ARRAY_LEN(apt));
    if (leaf_is(l, "git") && (str_is(option, "-c") || str_is(option, "--config")))
        return begins_with_one(value, git, ARRAY_LEN(git));
    if (leaf_is(l, "cmake"))
        return begins_with_one(value, cmake, ARRAY_LEN(cmake));
    return leaf_is(l, "rustc") && value.len && !str_starts(value, "link");
}

/* The value of that option names no program of its own. */
static bool
value_is_usual(const struct perm_leaf *l, struct str option, struct str value)
{
    if (setting_is_usual(l, option, value))
        return true;
    if (leaf_is(l, "apt") || leaf_is(l, "apt-get") || leaf_is(l, "apt-cache"))
        return false;
    if (str_is(option, "-o"))
        return ssh_setting_is_plain(value);
    if (str_is(option, "SHELL"))
        return str_is(value, "/bin/bash") || str_is(value, "/bin/sh") || str_is(value, "bash");
    if (str_is(option, "-e") && leaf_is(l, "wget"))
        return str_starts(value, "robots");
    return !str_is(option, "-F") && !leaf_is(l, "wget") && program_is_usual(value);
}

/* Word i is the option; *ret: its value, empty: it has none that is known. */
static bool
word_is_option(const struct perm_leaf *l, size_t i, struct str option, const char *takes,
               struct str *ret)
{
    struct str s = l->argv[i].text, name = str_sub(s, 0, str_find(s, '=', 0));
    struct option_value v = {.word = i + 1};
    bool is;
    if (option.ptr[0] != '-') { /* make's variables */
        is = str_eq(name, option);
        v = (struct option_value){.word = i, .text = str_sub(s, name.len + 1, s.len)};
    } else if (str_is(option, "-TT")) { /* zip's letters in pairs */
        is = s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-' && str_contains(s, STR("TT"));
        v.text = i + 1 < l->n_argv ? l->argv[i + 1].text : str_from(NULL);
    } else {
        is = !str_is(name, "--checkpoint") && !str_is(name, "--no") &&
             option_is_word(l, i, option, takes, &v);
    }
    *ret = v.word < l->n_argv && l->argv[v.word].known ? v.text : str_from(NULL);
    return is;
}

static bool
head_names(const struct perm_rule *r, struct str word)
{
    struct str head = rule_head(r), part;
    struct str name = str_sub(word, 0, str_find(word, '=', 0));
    while (str_split(&head, ' ', &part))
        if (str_eq(str_sub(part, 0, str_find(part, '=', 0)), name))
            return true;
    return false;
}

static bool
has_sub(const struct perm_leaf *l, const char *sub, size_t *ret_from)
{
    *ret_from = 1;
    for (size_t i = 1; sub && i < l->n_argv; i++)
        if (l->argv[i].known && str_is(l->argv[i].text, sub)) {
            *ret_from = i + 1;
            return true;
        }
    return !sub;
}

/* Where the program's options end. "--" behind an option may be that one's value ("rg -e -- --pre x"), but for those whose "--" always
 * ends them. Of ssh, what is run elsewhere is no option of its own. */
static size_t
options_end(const struct perm_leaf *l, size_t from)
{
    static const char *const strict[] = {"cargo", "npm", "pnpm"};
    bool ends = leaf_is_any(l, strict, ARRAY_LEN(strict)), ssh = leaf_is(l, "ssh");
    size_t operands = 0;
    for (size_t i = from; i < l->n_argv; i++) {
        struct str s = l->argv[i].text, before = l->argv[i - 1].text;
        bool after = i > from && before.len > 1 && before.ptr[0] == '-';
        bool value = after && before.len == 2 && strchr("bcDEeFIiJLlmOopQRSWw", before.ptr[1]);
        if (str_is(s, "--") && (ends || !after))
            return i;
        if (ssh && (!s.len || s.ptr[0] != '-') && !value && ++operands == 2)
            return i;
    }
    return l->n_argv;
}

/* Word i may be a script, and has the letter in it without which none runs anything. */
static bool
is_script_with_e(const struct perm_leaf *l, size_t i, bool first)
{
    struct str s = l->argv[i].text, before = l->argv[i - 1].text;
    bool option = s.len > 1 && s.ptr[0] == '-';
    bool value = i > 1 && before.len > 1 && before.ptr[0] == '-' && str_ends(before, "e");
    bool attached = option && s.len > 2 && (s.ptr[1] == 'e' || s.ptr[2] == 'e');
    size_t from = str_starts(s, "--expression=") ? strlen("--expression=") : option ? 3 : 0;
    return (first || value || attached || str_starts(s, "--expr")) && from < s.len &&
           memchr(s.ptr + from, 'e', s.len - from);
}

/* "1e id", "s/a/b/e": a script that is known and not understood; one with a variable in it is taken at its word. */
static bool
sed_may_run(const struct perm_leaf *l)
{
    bool known = leaf_is(l, "sed") && l->effects_unknown && l->unknown_why, may = false;
    bool first = true;
    for (size_t i = 1; known && i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool operand = !s.len || s.ptr[0] != '-';
        known = l->argv[i].known && !str_is(s, "-f");
        may = may || is_script_with_e(l, i, operand && first);
        first = first && !operand;
    }
    return known && may && strcmp(l->unknown_why, SED_SCRIPT_WHY) == 0;
}

/* "+!id" and "+:!id" of less and editors, "CFLAGS=$(shell id)" and "-f -" of make, "-ldflags=-extld=./x" of go. */
static bool
word_is_code(const struct perm_leaf *l, size_t i)
{
    static const char *const editors[] = {"vim", "vi", "nvim", "view", "gvim", "emacs"};
    static const char *const inputs[] = {"-", "-f-", "--file=-", "--makefile=-", "/dev/stdin"};
    struct str s = l->argv[i].text;
    if (str_starts(s, "+"))
        return (leaf_is(l, "less") && (memchr(s.ptr, '!', s.len) || memchr(s.ptr, '|', s.len))) ||
               (leaf_is_any(l, editors, ARRAY_LEN(editors)) && s.len > 1 &&
                !isdigit((unsigned char)s.ptr[1]) && s.ptr[1] != '/');
    if (leaf_is(l, "go"))
        return str_contains(s, STR("-extld"));
    if (leaf_is(l, "cargo") || leaf_is(l, "rustc")) /* "cargo rustc -- -C linker=PROGRAM" */
        return str_starts(s, "linker=") || str_starts(s, "-Clinker=");
    if (leaf_is(l, "npm"))
        return str_starts(s, "--globalconfig");
    if (leaf_is(l, "gh"))
        return str_starts(s, "!");
    if (leaf_is(l, "psql") || leaf_is(l, "mysql"))
        return sql_word_reaches(s);
    if (leaf_is(l, "sqlite3") || leaf_is(l, "duckdb"))
        return sqlite_word_reaches(s);
    if (!leaf_is(l, "make") && !leaf_is(l, "gmake"))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(inputs); k++)
        if (str_is(s, inputs[k]))
            return true;
    return str_contains(s, STR("$("));
}

/* system(), a pipe to or from a program, and a file outside: an awk program that is more than that of a reader. */
static bool
awk_may_run(const struct perm_leaf *l)
{
    static const char *const names[] = {"awk", "gawk", "mawk", "nawk"};
    if (!l->effects_unknown || !leaf_is_any(l, names, ARRAY_LEN(names)))
        return false;
    for (size_t i = 1; i < l->n_argv; i++)
        if (awk_word_reaches(l->argv[i].text))
            return true;
    return false;
}

const char *
options_gap(const struct perm_leaf *l, const struct perm_rule *r)
{
    size_t from;
    if (awk_may_run(l))
        return "the awk program may run another one, or write elsewhere";
    for (size_t i = 1; i < l->n_argv; i++)
        if (l->argv[i].known && word_is_code(l, i) && !head_names(r, l->argv[i].text))
            return "the rule does not name the word that is run as code";
    if (sed_may_run(l))
        return "the sed script may run a program";
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (!leaf_is(l, rows[k].program) || !has_sub(l, rows[k].sub, &from))
            continue;
        size_t end = options_end(l, from);
        for (size_t i = from; i < end; i++) {
            struct str list = str_from(rows[k].options), option, value;
            while (str_split(&list, ' ', &option))
                if (word_is_option(l, i, option, rows[k].takes, &value) &&
                    !value_is_usual(l, option, value) && !head_names(r, l->argv[i].text))
                    return "the rule does not name the option that runs another program";
        }
    }
    return NULL;
}
