#include "tools/grep_types.h"

static const struct {
    const char *names, *patterns;
} types[] = {
    {"asm", "*.asm *.s *.S"},
    {"bash sh shell", "*.sh *.bash *.zsh *.ksh .bashrc .bash_profile .zshrc .profile"},
    {"c", "*.c *.h *.H *.cats"},
    {"clojure clj", "*.clj *.cljc *.cljs *.cljx"},
    {"cmake", "*.cmake CMakeLists.txt"},
    {"config", "*.cfg *.conf *.config *.ini"},
    {"cpp cxx", "*.cpp *.cc *.cxx *.C *.hpp *.hh *.hxx *.h *.H *.inl"},
    {"cs csharp", "*.cs"},
    {"css", "*.css *.scss"},
    {"csv", "*.csv"},
    {"dart", "*.dart"},
    {"docker", "*Dockerfile*"},
    {"elixir", "*.ex *.eex *.exs *.heex *.leex"},
    {"elm", "*.elm"},
    {"erlang", "*.erl *.hrl"},
    {"fsharp", "*.fs *.fsx *.fsi"},
    {"go", "*.go"},
    {"gradle", "*.gradle *.gradle.kts"},
    {"graphql", "*.graphql *.graphqls"},
    {"groovy", "*.groovy *.gradle"},
    {"haskell hs", "*.hs *.lhs"},
    {"html", "*.htm *.html *.ejs"},
    {"java", "*.java *.jsp *.jspx *.properties"},
    {"js javascript", "*.js *.jsx *.vue *.cjs *.mjs"},
    {"json", "*.json composer.lock *.sarif"},
    {"jsonl", "*.jsonl"},
    {"julia", "*.jl"},
    {"kotlin", "*.kt *.kts"},
    {"less", "*.less"},
    {"lisp", "*.el *.jl *.lisp *.lsp *.sc *.scm"},
    {"lock", "*.lock package-lock.json"},
    {"log", "*.log"},
    {"lua", "*.lua"},
    {"make", "[Mm]akefile [Mm]akefile.* [Gg][Nn][Uu]makefile *.mk *.mak"},
    {"markdown md", "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn"},
    {"nix", "*.nix"},
    {"objc", "*.h *.m"},
    {"ocaml", "*.ml *.mli *.mll *.mly"},
    {"perl", "*.pl *.pm *.t *.PL *.plh *.plx"},
    {"php", "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml"},
    {"protobuf proto", "*.proto"},
    {"py python", "*.py *.pyi"},
    {"r", "*.R *.r *.Rmd *.Rnw"},
    {"rst", "*.rst"},
    {"ruby rb", "*.rb *.rbw *.gemspec Gemfile Rakefile config.ru .irbrc"},
    {"rust rs", "*.rs"},
    {"sass", "*.sass *.scss"},
    {"scala", "*.scala *.sbt"},
    {"sql", "*.sql *.psql"},
    {"svelte", "*.svelte"},
    {"svg", "*.svg"},
    {"swift", "*.swift"},
    {"tcl", "*.tcl"},
    {"tex", "*.tex *.ltx *.cls *.sty *.bib *.dtx *.ins"},
    {"tf terraform", "*.tf *.tfvars *.auto.tfvars"},
    {"toml", "*.toml Cargo.lock"},
    {"ts typescript", "*.ts *.tsx *.cts *.mts"},
    {"txt", "*.txt"},
    {"vim", "*.vim .vimrc .gvimrc vimrc gvimrc"},
    {"vue", "*.vue"},
    {"xml", "*.xml *.xml.dist *.dtd *.xsl *.xslt *.xsd *.xjb *.rng *.sch *.xhtml"},
    {"yaml yml", "*.yaml *.yml"},
    {"zig", "*.zig"},
};

const char *
grep_type_patterns(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct str rest = str_from(types[i].names), name;
        while (str_split(&rest, ' ', &name))
            if (str_eq(name, type))
                return types[i].patterns;
    }
    return NULL;
}
