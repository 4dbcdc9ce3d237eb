/* What programs do, as data: which options keep them read-only, which take a value, which write. A row or an option that is not
 * here is unknown. Kinds of options: see struct optspec. */
#include <string.h>

#include "perm/programs.h"

#define HELP " help version"

static const struct program programs[] = {
    /* name, class, operands, { shorts, longs, ... }, harmless for xargs */
    {"cat",
     CLASS_READER,
     ops_read,
     {.shorts = "AbeEnstTuv",
      .longs = "show-all number-nonblank show-ends number squeeze-blank show-tabs "
               "show-nonprinting" HELP,
      .safe_all = true},
     true},
    {"tac",
     CLASS_READER,
     ops_read,
     {.shorts = "brs:", .longs = "before regex separator=" HELP, .safe_all = true},
     true},
    {"nl",
     CLASS_READER,
     ops_read,
     {.shorts = "b:d:f:h:i:l:n:ps:v:w:",
      .longs = "body-numbering= section-delimiter= footer-numbering= header-numbering= "
               "line-increment= join-blank-lines= number-format= no-renumber number-separator= "
               "starting-line-number= number-width=" HELP,
      .safe_all = true},
     true},
    {"head",
     CLASS_READER,
     ops_read,
     {.shorts = "c:n:qvz",
      .longs = "bytes= lines= quiet silent verbose zero-terminated" HELP,
      .numbers = true,
      .safe_all = true},
     true},
    {"tail",
     CLASS_READER,
     ops_read,
     {.shorts = "c:fFn:qs:vz",
      .longs = "bytes= follow=? lines= max-unchanged-stats= pid= quiet silent retry "
               "sleep-interval= verbose zero-terminated" HELP,
      .numbers = true,
      .plus = true,
      .safe_all = true},
     true},
    {"wc",
     CLASS_READER,
     ops_wc,
     {.shorts = "cmlLw",
      .longs = "bytes chars lines files0-from=+ max-line-length words total=" HELP,
      .safe_all = true},
     true},
    {"ls",
     CLASS_READER,
     ops_list,
     {.shorts = "aAbBcCdfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1",
      .longs = "all almost-all author escape block-size= ignore-backups color=? directory dired "
               "classify=? file-type format= full-time group-directories-first no-group "
               "human-readable si dereference-command-line "
               "dereference-command-line-symlink-to-dir hide= hyperlink=? indicator-style= inode "
               "ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars "
               "show-control-chars quote-name quoting-style= reverse recursive/R size sort= time= "
               "time-style= tabsize= width= context zero" HELP,
      .safe_all = true},
     true},
    {"stat",
     CLASS_READER,
     ops_read,
     {.shorts = "LfZc:t",
      .longs = "dereference file-system cached= format= printf= terse" HELP,
      .safe_all = true},
     true},
    {"file",
     CLASS_READER,
     ops_read,
     {.shorts = "bcEhikLlnNp!rsv0e:F:P:f<",
      .longs = "brief mime mime-type mime-encoding dereference no-dereference keep-going "
               "separator= exclude= extension raw no-pad print0 preserve-date!" HELP},
     false},
    {"cut",
     CLASS_READER,
     ops_read,
     {.shorts = "b:c:d:f:nsz",
      .longs = "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= "
               "zero-terminated" HELP,
      .safe_all = true},
     true},
    {"tr",
     CLASS_READER,
     ops_text,
     {.shorts = "cCdst",
      .longs = "complement delete squeeze-repeats truncate-set1" HELP,
      .safe_all = true},
     false},
    {"sort",
     CLASS_READER,
     ops_read,
     {.shorts = "bdfghiMnRrVcCk:mo>sS:t:uzT+",
      .longs = "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort "
               "ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort "
               "random-source=< reverse sort= version-sort batch-size= check=? compress-program=+ "
               "debug files0-from=+ key= merge output=> stable buffer-size= field-separator= "
               "temporary-directory=+ parallel= unique zero-terminated" HELP},
     false},
    {"uniq",
     CLASS_READER,
     ops_uniq,
     {.shorts = "cdDf:is:uzw:",
      .longs = "count repeated all-repeated=? skip-fields= group=? ignore-case skip-chars= unique "
               "zero-terminated check-chars=" HELP,
      .numbers = true},
     false},
    {"comm",
     CLASS_READER,
     ops_read,
     {.shorts = "123z",
      .longs = "check-order nocheck-order output-delimiter= total "
               "zero-terminated" HELP,
      .safe_all = true},
     false},
    {"join",
     CLASS_READER,
     ops_read,
     {.shorts = "a:e:ij:o:t:v:1:2:z",
      .longs = "ignore-case check-order nocheck-order header zero-terminated" HELP,
      .safe_all = true},
     false},
    {"paste",
     CLASS_READER,
     ops_read,
     {.shorts = "d:sz", .longs = "delimiters= serial zero-terminated" HELP, .safe_all = true},
     true},
    {"fold",
     CLASS_READER,
     ops_read,
     {.shorts = "bsw:", .longs = "bytes spaces width=" HELP, .numbers = true, .safe_all = true},
     true},
    {"expand",
     CLASS_READER,
     ops_read,
     {.shorts = "it:", .longs = "initial tabs=" HELP, .numbers = true, .safe_all = true},
     true},
    {"unexpand",
     CLASS_READER,
     ops_read,
     {.shorts = "at:", .longs = "all first-only tabs=" HELP, .safe_all = true},
     true},
    {"fmt",
     CLASS_READER,
     ops_read,
     {.shorts = "cp:stuw:g:",
      .longs = "crown-margin prefix= split-only tagged-paragraph "
               "uniform-spacing width= goal=" HELP,
      .numbers = true,
      .safe_all = true},
     true},
    {"column",
     CLASS_READER,
     ops_read,
     {.shorts = "tc:s:o:N:R:H:xeLJn:",
      .longs = "table separator= output-separator= output-width= "
               "columns= table-columns= table-right= json" HELP,
      .safe_all = true},
     false},
    {"rev", CLASS_READER, ops_read, {.shorts = "0", .longs = "zero" HELP, .safe_all = true}, true},
    {"cmp",
     CLASS_READER,
     ops_read,
     {.shorts = "bi:ln:s",
      .longs = "print-bytes ignore-initial= verbose bytes= quiet silent" HELP,
      .safe_all = true},
     false},
    {"diff",
     CLASS_READER,
     ops_diff,
     {.shorts = "abBcC:dD:eEF:hHiI:nNpqrsS:tTuU:vwW:x:X<yZ",
      .longs = "normal brief report-identical-files context=? unified=? ed rcs side-by-side width= "
               "left-column suppress-common-lines show-c-function show-function-line= label= "
               "expand-tabs initial-tab tabsize= suppress-blank-empty recursive/r "
               "no-dereference/1 new-file unidirectional-new-file ignore-file-name-case "
               "no-ignore-file-name-case exclude= exclude-from=< starting-file= from-file=< "
               "to-file=< ignore-case ignore-tab-expansion ignore-trailing-space "
               "ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= "
               "text strip-trailing-cr ifdef= line-format= minimal horizon-lines= "
               "speed-large-files color=? palette=" HELP,
      .numbers = true},
     false},
    {"md5sum",
     CLASS_READER,
     ops_read,
     {.shorts = "btzw", .longs = "binary tag text zero" HELP, .safe_all = true},
     true},
    {"sha1sum",
     CLASS_READER,
     ops_read,
     {.shorts = "btzw", .longs = "binary tag text zero" HELP, .safe_all = true},
     true},
    {"sha256sum",
     CLASS_READER,
     ops_read,
     {.shorts = "btzw", .longs = "binary tag text zero" HELP, .safe_all = true},
     true},
    {"sha512sum",
     CLASS_READER,
     ops_read,
     {.shorts = "btzw", .longs = "binary tag text zero" HELP, .safe_all = true},
     true},
    {"cksum",
     CLASS_READER,
     ops_read,
     {.shorts = "a:", .longs = "algorithm=" HELP, .safe_all = true},
     true},
    {"od",
     CLASS_READER,
     ops_read,
     {.shorts = "A:j:N:S:t:vw?abcdfilosx",
      .longs = "address-radix= endian= skip-bytes= read-bytes= strings=? format= "
               "output-duplicates width=?" HELP,
      .safe_all = true},
     true},
    {"hexdump",
     CLASS_READER,
     ops_read,
     {.shorts = "bcCde:n:os:vx", .longs = "canonical length= skip=" HELP},
     true},
    {"xxd",
     CLASS_READER,
     ops_xxd,
     {.shorts = "abc:eEg:hio:l:ps:u", .posix = true, .exact = true},
     false},
    {"tree",
     CLASS_READER,
     ops_tree,
     {.shorts = "adfilxL:P:I:psugDFqNnCAShJXtcUvro>",
      .longs = "noreport dirsfirst filelimit= prune gitignore matchdirs du si sort=? inodes device "
               "charset= filesfirst ignore-case" HELP,
      .exact = true},
     false},
    {"du",
     CLASS_READER,
     ops_tree,
     {.shorts = "0aB:bcDd:HhklLmPSst:xX<",
      .longs = "null all apparent-size block-size= bytes total dereference-args max-depth= "
               "human-readable inodes dereference no-dereference separate-dirs si summarize "
               "threshold= time=? time-style= exclude-from=< exclude= one-file-system" HELP},
     false},
    {"df",
     CLASS_READER,
     ops_text,
     {.shorts = "aB:hHiklPTt:x:",
      .longs = "all block-size= human-readable si inodes local "
               "output=? portability print-type total type= "
               "exclude-type=" HELP},
     false},
    {"grep",
     CLASS_READER,
     ops_grep,
     {.shorts = "EFGPe|f~iyvwxcLlm:oqsbHhnTZA:B:C:aD:d:IrRUuz",
      .longs = "extended-regexp fixed-strings basic-regexp perl-regexp regexp=| file=~ ignore-case "
               "no-ignore-case invert-match word-regexp line-regexp count color=? colour=? "
               "files-without-match files-with-matches max-count= only-matching quiet silent "
               "no-messages byte-offset with-filename no-filename label= line-number "
               "initial-tab null after-context= before-context= context= text binary-files= "
               "devices= directories/d=: exclude= exclude-from=< exclude-dir= include= "
               "recursive/r dereference-recursive/R line-buffered binary null-data" HELP,
      .numbers = true,
      .safe_all = true},
     true},
    {"rg",
     CLASS_READER,
     ops_rg,
     {.shorts = "A:B:C:E:F.HILM:NPST:U0abcd:e|f~g:hij:lm:noqr:st:uvwx",
      .longs =
          "after-context= before-context= context= encoding= fixed-strings hidden with-filename "
          "no-filename follow/L max-columns= max-columns-preview no-line-number pcre2 smart-case "
          "type-not= multiline multiline-dotall null text count count-matches max-depth= "
          "regexp=| file=~ glob= iglob= ignore-case files-with-matches files-without-match "
          "threads= max-count= line-number only-matching quiet replace= case-sensitive type= "
          "unrestricted invert-match word-regexp line-regexp files/1 type-list/2 color= colors= "
          "column no-heading heading no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot "
          "no-messages no-config sort= sortr= stats trim vimgrep json passthru "
          "crlf glob-case-insensitive one-file-system no-require-git max-filesize= "
          "context-separator= "
          "no-hidden ignore-file=< engine= auto-hybrid-regex no-unicode line-buffered pretty "
          "pre=+ pre-glob= hostname-bin=+ search-zip! debug trace" HELP,
      .exact = true},
     false},
    {"jq",
     CLASS_READER,
     ops_jq,
     {.shorts = "nrcsReMCSjaehV",
      .longs = "null-input raw-input raw-output raw-output0 compact-output slurp "
               "exit-status monochrome-output color-output sort-keys join-output ascii-output tab "
               "stream seq indent=" HELP,
      .exact = true},
     false},
    {"sed",
     CLASS_READER,
     ops_sed,
     {.shorts = "ne|Eruzsl:bf+i?",
      .longs =
          "quiet silent expression=| file=+ regexp-extended line-length= posix separate "
          "unbuffered null-data zero-terminated sandbox debug follow-symlinks in-place/i=?" HELP},
     false},
    {"awk", CLASS_READER, ops_awk, {.shorts = "F:v:", .posix = true, .exact = true}, false},
    {"gawk", CLASS_READER, ops_awk, {.shorts = "F:v:", .posix = true, .exact = true}, false},
    {"mawk", CLASS_READER, ops_awk, {.shorts = "F:v:", .posix = true, .exact = true}, false},
    {"find", CLASS_READER, NULL, {0}, false},
    {"git", CLASS_GIT_READ, NULL, {0}, false},
    {"echo", CLASS_READER, ops_echo, {.single = true, .safe_all = true}, true},
    {"printf", CLASS_READER, ops_printf, {.single = true}, false},
    {"test", CLASS_READER, ops_test, {.single = true}, false},
    {"[", CLASS_READER, ops_test, {.single = true}, false},
    {"[[", CLASS_READER, ops_text, {.single = true, .safe_all = true}, false},
    {":", CLASS_READER, ops_text, {.single = true, .safe_all = true}, false},
    {"true", CLASS_READER, ops_text, {.single = true, .safe_all = true}, false},
    {"false", CLASS_READER, ops_text, {.single = true, .safe_all = true}, false},
    {"pwd", CLASS_READER, ops_none, {.shorts = "LP", .longs = "logical physical" HELP}, false},
    {"sleep", CLASS_READER, ops_text, {.longs = "help version", .safe_all = true}, false},
    {"which", CLASS_READER, ops_text, {.shorts = "as", .longs = "all", .safe_all = true}, false},
    {"basename",
     CLASS_READER,
     ops_text,
     {.shorts = "as:z", .longs = "multiple suffix= zero" HELP, .safe_all = true},
     true},
    {"dirname",
     CLASS_READER,
     ops_text,
     {.shorts = "z", .longs = "zero" HELP, .safe_all = true},
     true},
    {"realpath",
     CLASS_READER,
     ops_text,
     {.shorts = "emLPqsz",
      .longs = "canonicalize-existing canonicalize-missing logical physical quiet "
               "relative-to= relative-base= strip no-symlinks zero" HELP,
      .safe_all = true},
     true},
    {"readlink",
     CLASS_READER,
     ops_text,
     {.shorts = "femnqsvz",
      .longs = "canonicalize canonicalize-existing canonicalize-missing no-newline "
               "quiet silent verbose zero" HELP,
      .safe_all = true},
     true},
    {"date",
     CLASS_READER,
     ops_date,
     {.shorts = "d:f<I?r<Rs+u",
      .longs = "date= debug file=< iso-8601=? rfc-email rfc-3339= reference=< "
               "set=+ utc universal" HELP,
      .plus = true},
     false},
    {"uname",
     CLASS_READER,
     ops_none,
     {.shorts = "asnrvmpio",
      .longs = "all kernel-name nodename kernel-release kernel-version machine "
               "processor hardware-platform operating-system" HELP,
      .safe_all = true},
     false},
    {"id",
     CLASS_READER,
     ops_text,
     {.shorts = "agGnruzZ",
      .longs = "context group groups name real "
               "user zero" HELP,
      .safe_all = true},
     false},
    {"hostname", CLASS_READER, ops_none, {.shorts = "s", .longs = "short"}, false},
    {"whoami", CLASS_READER, ops_none, {.longs = "help version", .safe_all = true}, false},
    {"arch", CLASS_READER, ops_none, {.longs = "help version", .safe_all = true}, false},
    {"nproc", CLASS_READER, ops_none, {.longs = "all ignore=" HELP, .safe_all = true}, false},
    {"seq",
     CLASS_READER,
     ops_text,
     {.shorts = "f:s:w0123456789.",
      .longs = "format= separator= equal-width" HELP,
      .safe_all = true},
     false},
    {"uptime", CLASS_READER, ops_none, {.shorts = "psV", .longs = "pretty since" HELP}, false},
    {"free",
     CLASS_READER,
     ops_none,
     {.shorts = "bkmghtwl", .longs = "bytes kibi mebi gibi human total wide" HELP},
     false},

    /* Editors: accept-edits covers them. */
    {"mkdir",
     CLASS_EDITOR,
     ops_mkdir,
     {.shorts = "m:pv", .longs = "mode= parents verbose" HELP},
     false},
    {"touch",
     CLASS_EDITOR,
     ops_write,
     {.shorts = "acd:fhmr<t:", .longs = "no-create date= no-dereference reference=< time=" HELP},
     false},
    {"cp",
     CLASS_EDITOR,
     ops_cp,
     {.shorts = "abdfHiLnPpRrt:Tuvx",
      .longs = "archive/a backup=? force interactive dereference no-clobber no-dereference "
               "preserve=? no-preserve= recursive/r reflink=? remove-destination sparse= "
               "strip-trailing-slashes target-directory/t=: no-target-directory/T update=? "
               "verbose one-file-system" HELP},
     false},
    {"mv",
     CLASS_EDITOR,
     ops_cp,
     {.shorts = "bfint:Tuv",
      .longs = "backup=? force interactive no-clobber strip-trailing-slashes "
               "target-directory/t=: no-target-directory/T update=? verbose" HELP},
     false},

    /* Effects known, but a rule or a person decides. */
    {"rm",
     CLASS_KNOWN,
     ops_rm,
     {.shorts = "dfiIrRv",
      .longs = "force interactive=? one-file-system no-preserve-root "
               "preserve-root=? recursive/r dir verbose" HELP},
     false},
    {"rmdir",
     CLASS_KNOWN,
     ops_rmdir,
     {.shorts = "pv", .longs = "ignore-fail-on-non-empty parents verbose" HELP},
     false},
    {"unlink", CLASS_KNOWN, ops_rmdir, {.longs = "help version"}, false},
    {"shred",
     CLASS_KNOWN,
     ops_rmdir,
     {.shorts = "fn:s:uvxz",
      .longs = "force iterations= size= remove=? verbose exact zero random-source=<" HELP},
     false},
    {"tee",
     CLASS_KNOWN,
     ops_write,
     {.shorts = "aip", .longs = "append ignore-interrupts output-error=?" HELP},
     false},
    {"truncate",
     CLASS_KNOWN,
     ops_write,
     {.shorts = "cor<s:", .longs = "no-create io-blocks reference=< size=" HELP},
     false},
    {"ln",
     CLASS_KNOWN,
     ops_ln,
     {.shorts = "bdFfiLnPrst:Tv",
      .longs = "backup=? directory force interactive logical no-dereference physical relative "
               "symbolic target-directory/t=: no-target-directory/T verbose" HELP},
     false},
    {"install",
     CLASS_KNOWN,
     ops_cp,
     {.shorts = "bcCdDg:m:o:pst:Tv",
      .longs = "backup=? compare group= mode= owner= "
               "preserve-timestamps target-directory/t=: no-target-directory/T verbose" HELP},
     false},
    {"chmod",
     CLASS_KNOWN,
     ops_chmod,
     {.shorts = "cfvRrwxXstugoa",
      .longs = "changes quiet silent verbose reference=< recursive/R "
               "no-preserve-root preserve-root" HELP},
     false},
    {"chown",
     CLASS_KNOWN,
     ops_chmod,
     {.shorts = "cfhvRHLP",
      .longs = "changes quiet silent verbose dereference no-dereference from= "
               "reference=< recursive/R no-preserve-root preserve-root" HELP},
     false},
    {"chgrp",
     CLASS_KNOWN,
     ops_chmod,
     {.shorts = "cfhvRHLP", .longs = "changes quiet silent verbose reference=< recursive/R" HELP},
     false},
    {"dd", CLASS_KNOWN, ops_dd, {.single = true}, false},
};

const struct program *
program_find(struct str name)
{
    if (str_is(name, "egrep") || str_is(name, "fgrep"))
        name = STR("grep");
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (str_is(name, programs[i].name))
            return &programs[i];
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
