/* What programs that read text do, as data: which options keep them readers. Kinds of options: see struct optspec. */
#include "perm/programs.h"

static const struct program rows[] = {
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
      .longs = "bytes chars lines files0-from=@ max-line-length words total=" HELP,
      .safe_all = true},
     true},
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
               "debug files0-from=@ key= merge output=> stable buffer-size= field-separator= "
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
    READ_ROW("pr", ops_read, "acdD:e?fFh:i?Jl:mn?N:o:rs?S?tTvw:W:",
             "across columns= show-control-chars double-space date-format= expand-tabs=? form-feed "
             "header= output-tabs=? join-lines length= merge number-lines=? first-line-number= "
             "indent= no-file-warnings separator=? sep-string=? omit-header omit-pagination "
             "show-nonprinting width= page-width="),
    READ_ROW("basenc", ops_read, "diw:",
             "base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 decode "
             "ignore-garbage wrap="),
    READ_ROW("diff3", ops_read, "AeEimTxX3aL:",
             "show-all ed show-overlap merge initial-tab overlap-only easy-only label= text "
             "strip-trailing-cr diff-program=+"),
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
    {"grep",
     CLASS_READER,
     ops_grep,
     {.shorts = "EFGPe|f~iyvwxcLlm:oqsbHhnTZA:B:C:aD:d:IrRUuz",
      .longs =
          "extended-regexp fixed-strings basic-regexp perl-regexp regexp=| file=~ ignore-case "
          "no-ignore-case invert-match word-regexp line-regexp count color=? colour=? "
          "files-without-match/L files-with-matches/l max-count= only-matching quiet silent "
          "no-messages byte-offset with-filename no-filename label= line-number "
          "initial-tab null/Z after-context= before-context= context= text binary-files= "
          "devices= directories/d=: exclude/J= exclude-from=< exclude-dir/J= include/J= "
          "recursive/r dereference-recursive/R line-buffered binary null-data group-separator= "
          "no-group-separator" HELP,
      .numbers = true,
      .safe_all = true},
     true},
    {"rg",
     CLASS_READER,
     ops_rg,
     {.shorts = "A:B:C:E:F.HILM:NPST:U0abcd:e|f~g:hij:lm:noqr:st:uvwx",
      .longs =
          "after-context= before-context= context= encoding= fixed-strings/F hidden/. "
          "with-filename "
          "no-filename follow/L max-columns= max-columns-preview no-line-number pcre2 smart-case "
          "type-not/T= multiline multiline-dotall null/0 text count count-matches max-depth= "
          "regexp=| file=~ glob/g= iglob/g= ignore-case/i files-with-matches/l files-without-match "
          "threads= max-count= line-number only-matching quiet replace= case-sensitive/s type/t= "
          "unrestricted/u invert-match word-regexp/w line-regexp files/1 type-list/2 color= "
          "colors= "
          "column no-heading heading no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot "
          "no-messages no-config sort= sortr= stats trim vimgrep json passthru "
          "crlf glob-case-insensitive one-file-system no-require-git max-filesize= "
          "context-separator= "
          "no-hidden ignore-file=< engine= auto-hybrid-regex no-unicode line-buffered pretty "
          "type-add= type-clear= no-ignore-global no-ignore-files no-ignore-exclude no-follow "
          "field-match-separator= field-context-separator= include-zero stop-on-nonmatch "
          "no-context-separator binary no-binary null-data path-separator= mmap no-mmap "
          "byte-offset "
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
    SAFE_ROW("b2sum", ops_read, "bl:tzw", "binary length= tag text zero"),
    SAFE_ROW("sha224sum", ops_read, "btzw", "binary tag text zero"),
    SAFE_ROW("sha384sum", ops_read, "btzw", "binary tag text zero"),
    SAFE_ROW("sum", ops_read, "rs", "sysv"),
    READ_ROW("shasum", ops_read, "a:btUp0", "algorithm= binary text tag"),
    READ_ROW("base64", ops_read, "diw:", "decode ignore-garbage wrap="),
    READ_ROW("base32", ops_read, "diw:", "decode ignore-garbage wrap="),
    READ_ROW("shuf", ops_shuf, "ei:n:o>rz",
             "echo/e input-range/i= head-count= output=> random-source=< repeat zero-terminated"),
    SAFE_ROW("tsort", ops_read, "", ""),
    SAFE_ROW("look", ops_grep, "abdft:", "alternative alphanum ignore-case terminate="),
    SAFE_ROW("col", ops_read, "bfhlpx", "no-backspaces fine tabs spaces"),
    SAFE_ROW("colrm", ops_text, "", ""),
    READ_ROW("iconv", ops_read, "cf:lo>st:", "from-code= to-code= list output=> silent verbose"),
    READ_ROW("sdiff", ops_read, "abBdEHilsStvWw:o>",
             "ignore-file-name-case ignore-case ignore-tab-expansion ignore-trailing-space "
             "ignore-space-change ignore-all-space ignore-blank-lines text width= left-column "
             "suppress-common-lines expand-tabs minimal speed-large-files output=> diff-program=+"),
    READ_ROW("diffstat", ops_read, "bcCf:KklmnN:p:qrRstTuvw:", ""),
    /* The scripts around gzip: nothing of theirs goes to a file. */
    READ_ROW("zcat", ops_read, "f", "force"),
    READ_ROW("bzcat", ops_read, "s", ""),
    READ_ROW("xzcat", ops_read, "", ""),
    READ_ROW("lzcat", ops_read, "", ""),
    READ_ROW("zstdcat", ops_read, "f", "force"),
    READ_ROW("lz4cat", ops_read, "", ""),
    READ_ROW("zgrep", ops_zgrep, "EFGPivwxclnhHoqsA:B:C:m:e|", ""),
    /* Without one of -l, -t and -c they replace the file. */
    READ_ROW("gzip", ops_unpack, "cdfklnNqtv123456789",
             "stdout/c to-stdout/c decompress uncompress list/l test/t quiet verbose keep no-name "
             "name force"),
    READ_ROW("gunzip", ops_unpack, "cfklnNqtv",
             "stdout/c to-stdout/c list/l test/t quiet verbose keep no-name name force"),
    READ_ROW("bzip2", ops_unpack, "cdfkqtvs123456789",
             "stdout/c decompress test/t quiet verbose keep force small"),
    READ_ROW("bunzip2", ops_unpack, "cfkqtvs", "stdout/c test/t quiet verbose keep force small"),
    READ_ROW("xz", ops_unpack, "cdfklqtv0123456789eT:",
             "stdout/c to-stdout/c decompress uncompress list/l test/t quiet verbose keep force "
             "threads= robot"),
    READ_ROW("unxz", ops_unpack,
             "cfklqtvT:", "stdout/c to-stdout/c list/l test/t quiet verbose keep force threads="),
    READ_ROW("zstd", ops_unpack, "cdfklqtv",
             "stdout/c decompress uncompress list/l test/t quiet verbose keep force"),
    {"bat",
     CLASS_READER,
     ops_bat,
     {.shorts = "pnAl:H:r:",
      .longs = "plain number show-all language= highlight-line= line-range= style= color= theme= "
               "decorations= wrap= tabs= paging/9= list-themes list-languages" HELP,
      .exact = true},
     false},
    {"batcat",
     CLASS_READER,
     ops_bat,
     {.shorts = "pnAl:H:r:",
      .longs = "plain number show-all language= highlight-line= line-range= style= color= theme= "
               "decorations= wrap= tabs= paging/9=" HELP,
      .exact = true},
     false},
    {"ag",
     CLASS_READER,
     ops_rg,
     {.shorts = "aA:B:C:cG:HilLm:noQsStuUvwz!f!",
      .longs = "ignore-case literal files-with-matches files-without-matches hidden ignore= "
               "nocolor color noheading heading nogroup group count context= after= before= "
               "word-regexp depth= nonumbers numbers vimgrep column all-types all-text "
               "unrestricted invert-match smart-case case-sensitive file-search-regex= max-count= "
               "only-matching silent stats pager=+ path-to-ignore=+ search-zip! follow!" HELP,
      .exact = true},
     false},
    {"xmllint",
     CLASS_READER,
     ops_xml,
     /* --c14n and --noent read what entities name. */
     {.longs = "noout format xpath= nonet nowarning huge recover encode= debug" HELP,
      .exact = true},
     false},
    {"yq",
     CLASS_READER,
     ops_yq,
     {.shorts = "rPnNMCIjceo:p:",
      .longs = "output-format= input-format= prettyPrint no-doc no-colors colors null-input "
               "unwrapScalar=? exit-status raw-output indent=" HELP,
      .exact = true},
     false},
    {"bc",
     CLASS_READER,
     ops_read,
     {.shorts = "lqsw", .longs = "mathlib quiet standard warn" HELP, .exact = true},
     false},
    SAFE_ROW("expr", ops_text, "", ""),
    SAFE_ROW("factor", ops_text, "h", "exponents"),
    READ_ROW("numfmt", ops_text, "d:z",
             "debug delimiter= field= format= from= from-unit= grouping header=? invalid= padding= "
             "round= suffix= to= to-unit= zero-terminated"),
    SAFE_ROW("yes", ops_text, "", ""),
};
const struct program_table programs_text = {rows, ARRAY_LEN(rows)};
