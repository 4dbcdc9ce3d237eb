/* Finds a program's row. What is in no table is unknown. */
#include "perm/name_index.h"
#include "perm/programs.h"

const struct program *
program_find(struct str name)
{
    static const struct program_table *const tables[] = {&programs_text, &programs_system,
                                                         &programs_write, &programs_tools};
    static struct name_index index[ARRAY_LEN(tables)];
    if (str_is(name, "egrep") || str_is(name, "fgrep"))
        name = STR("grep");
    if (str_is(name, "fdfind"))
        name = STR("fd");
    if (str_is(name, "exa"))
        name = STR("eza");
    for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
        const struct program_table *in = tables[t];
        size_t i = name_first(&index[t], in->v, in->n, sizeof *in->v, name);
        if (i != NAME_NONE)
            return &in->v[i];
    }
    return NULL;
}

bool
program_is_network(struct str name)
{
    static const char *const list[] = {
        "curl",  "wget",   "nc",     "ncat",   "netcat",   "socat", "ssh",        "scp",
        "sftp",  "rsync",  "ftp",    "telnet", "ping",     "dig",   "nslookup",   "host",
        "whois", "http",   "https",  "xh",     "aria2c",   "lynx",  "w3m",        "openssl",
        "gh",    "aws",    "gcloud", "az",     "kubectl",  "tftp",  "traceroute", "getent",
        "mosh",  "rclone", "s3cmd",  "mail",   "sendmail", "nmap",
    };
    static struct name_index index;
    return name_first(&index, list, ARRAY_LEN(list), sizeof *list, name) != NAME_NONE;
}
