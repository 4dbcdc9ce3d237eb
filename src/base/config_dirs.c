#include "base/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* The XDG specification says that relative values are to be ignored. */
static char *
place(const char *own, const char *xdg, const char *below_home)
{
    const char *value = getenv(own);
    if (value && *value) {
        char *real = fs_resolve(value, NULL);
        return real ? real : xstrdup(value);
    }
    value = getenv(xdg);
    if (value && value[0] == '/')
        return fs_join(value, "yare");
    return fs_join(fs_home(), below_home);
}

char *
config_dir(void)
{
    return place("YARE_CONFIG_DIR", "XDG_CONFIG_HOME", ".config/yare");
}

char *
config_data_dir(void)
{
    return place("YARE_DATA_DIR", "XDG_DATA_HOME", ".local/share/yare");
}

char *
config_project_root(const char *cwd)
{
    char *real = fs_resolve(cwd, NULL), *top = real ? fs_find_up(real, ".git") : NULL;
    if (!real)
        return xstrdup(cwd);
    if (!top)
        return real;
    free(real);
    return top;
}
