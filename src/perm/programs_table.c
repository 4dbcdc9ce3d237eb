/* Finds a program's row. What is in no table is unknown. */
#include "perm/programs.h"

const struct program *
program_find(struct str name)
{
    static const struct program_table *const tables[] = {&programs_text, &programs_system,
                                                         &programs_write, &programs_tools};
    if (str_is(name, "egrep") || str_is(name, "fgrep"))
        name = STR("grep");
    if (str_is(name, "fdfind"))
        name = STR("fd");
    if (str_is(name, "exa"))
        name = STR("eza");
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            if (str_is(name, tables[t]->v[i].name))
                return &tables[t]->v[i];
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
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        if (str_is(name, list[i]))
            return true;
    return false;
}
