/* What tools of the developer do, as data: binaries, archives, package managers; see programs_text.c. */
#include "perm/programs.h"

/* pip and pip3 are one program. */
#define PIP_ROW(name_)                                                                             \
    {                                                                                              \
        .name = name_, .cls = CLASS_READER, .judge = ops_verb, .spec = {                           \
            .shorts = "fleviq",                                                                    \
            .longs =                                                                               \
                "local user editable format= include-editable exclude-editable not-required "      \
                "exclude= files verbose quiet all path=< no-color disable-pip-version-check" HELP, \
            .exact = true                                                                          \
        }                                                                                          \
    }

static const struct program rows[] = {
    /* A word that begins with '@' names a file with further options, a plugin is code: neither is listed. */
    READ_ROW("nm", ops_binary, "aABCDegnoprPSuUvVf:t:",
             "demangle=? no-demangle dynamic extern-only defined-only undefined-only numeric-sort "
             "print-file-name print-size size-sort no-sort reverse-sort format= radix= portability "
             "print-armap debug-syms special-syms synthetic with-symbol-versions"),
    READ_ROW("objdump", ops_binary, "adDfhHprRstTxCwM:j:z",
             "disassemble=? disassemble-all syms dynamic-syms headers section-headers file-headers "
             "private-headers all-headers archive-headers reloc dynamic-reloc full-contents "
             "demangle=? section= start-address= stop-address= no-show-raw-insn wide architecture= "
             "disassemble-zeroes"),
    READ_ROW("readelf", ops_binary, "aehlSgtsnurdVADIWx:p:R:C",
             "all file-header segments program-headers sections section-headers section-groups "
             "section-details symbols syms dyn-syms notes relocs unwind dynamic version-info "
             "arch-specific archive-index hex-dump= string-dump= relocated-dump= histogram wide "
             "headers demangle=?"),
    READ_ROW("size", ops_binary, "ABGdoxt", "format= radix= common totals"),
    READ_ROW("strings", ops_binary, "adfn:t:e:ow",
             "all data print-file-name bytes= radix= encoding= include-all-whitespace"),
    READ_ROW("c++filt", ops_binary, "_in",
             "strip-underscore no-strip-underscore types no-verbose no-params format="),
    READ_ROW("addr2line", ops_binary, "aCe<fij:ps",
             "addresses demangle=? exe=< functions inlines section= pretty-print basenames"),
    {"ar", CLASS_READER, ops_ar, {.single = true}, false},
    {"clang-format", CLASS_READER, ops_clang_format, {.single = true}, false},
    {"tar", CLASS_READER, ops_tar, {.single = true}, false},
    {"bsdtar", CLASS_READER, ops_tar, {.single = true}, false},
    {"unzip", CLASS_READER, ops_unzip, {.shorts = "lvtpcqZ12smhMC", .exact = true}, false},
    {"zipinfo", CLASS_READER, ops_zipinfo, {.shorts = "12slmvhtTzMC", .exact = true}, false},
    EXACT_ROW("tokei", ops_tree, "fCe:s:t:o:c:n:",
              "files hidden compact exclude= sort= type= output= columns= num-format= no-ignore "
              "no-ignore-parent no-ignore-dot no-ignore-vcs"),
    EXACT_ROW("scc", ops_tree, "f:i:s:wx:cdazM:v",
              "by-file format= include-ext= sort= wide exclude-ext= no-complexity no-duplicates "
              "dryness exclude-dir= no-gitignore no-ignore no-cocomo not-match= ci no-size no-gen "
              "no-min-gen"),
    /* Only the verbs that ops_verb knows. */
    {"npm",
     CLASS_READER,
     ops_verb,
     {.shorts = "galps",
      .longs = "prefix=< depth= all json long parseable global link omit= include= workspace= "
               "workspaces silent production only= no-color" HELP,
      .exact = true},
     false},
    PIP_ROW("pip"),
    PIP_ROW("pip3"),
    {"docker",
     CLASS_READER,
     ops_verb,
     {.shorts = "aqlsf:n:",
      .longs = "all quiet latest no-trunc size filter= format= last= digests",
      .exact = true},
     false},
    {"go", CLASS_READER, ops_verb, {.longs = "", .exact = true}, false},
};
const struct program_table programs_tools = {rows, ARRAY_LEN(rows)};
