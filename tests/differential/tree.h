#pragma once
/* The files among which the generated lines run; differential.py reads nothing of it, lines.py knows the names. A folder has no text. */
struct entry {
    const char *path, *text, *link;
};
static const struct entry tree[] = {
    {"a", "a\n", 0},         {"b", "b\n", 0},
    {"c1", "", 0},           {"x=y", "", 0},
    {"-n", "", 0},           {"a b", "blank\n", 0},
    {"new\nline", "", 0},    {"\xc3\xa9t\xc3\xa9", "", 0},
    {".hidden", "", 0},      {"[x]", "", 0},
    {"back\\slash", "", 0},  {"lib.sh", "f lib\n", 0},
    {"src", 0, 0},           {"src/a", "a\n", 0},
    {"src/m.c", "int\n", 0}, {"src/n.c", "", 0},
    {"src/sub", 0, 0},       {"src/sub/deep", "", 0},
    {"src/.dot", "", 0},     {"docs", 0, 0},
    {"docs/a", "", 0},       {"docs/r.md", "", 0},
    {"my dir", 0, 0},        {"my dir/f", "", 0},
    {"link", 0, "src/sub"},  {"dead", 0, "nowhere"},
    {"pkg", 0, 0},           {"pkg/one", 0, 0},
    {"pkg/two", 0, 0},       {"pkg/one/m", "", 0},
};
