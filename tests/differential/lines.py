"""Command lines made by chance from all that bash has, and mutations of them. The same seed gives the same lines.

make(rng, expansion) gives a line whose words hold no expansion when `expansion` is false: quotes and escapes of all kinds, but no
variable, substitution, glob, brace or tilde. mutate(rng, line, others) changes one a little; most are then wrong, as typing errors are.
"""
import random

PROGRAMS = ["f", "g", "h", "ls", "cat", "echo", "printf", "grep", "make", "npm", "git", "true", "false", "head", "wc", "sort",
            "rm", "touch", "test", "sed", "tee", "pwd", "kill", "sudo", "cmd-x", "p.q", "touch"]
REAL = ["env", "nice", "timeout", "nohup", "stdbuf", "setsid", "xargs", "find", "sh", "bash"]
FILES = ["a", "b", "c1", "x=y", "src/a", "src/m.c", "docs/r.md", "src", "docs", "'my dir'/f", "link/deep", "no-such", "./a", "../up", "lib.sh",
         "'new\nline'", "été", "'[x]'"]
NAMES = ["x", "y", "v", "w", "n"]
PLAIN = ["a", "b", "c1", "-n", "--", "-x", "foo", "x=y", "a.b", "1", "22", "0", "-1", "a:b", "a,b", "+x", "@", "%", "^", "a/b", "été", "--opt=val",
         "a#b", "=", ":", "a=b=c", "-", "_", "a]b", "}", "]", "a}b", "!x", "x!", "ABC", "a-b", "e+f", "1.5", "in", "do", "if", "time"]
SINGLE = ["''", "'a b'", "'a\"b'", "'$x'", "'`f`'", "'a\nb'", "'\\'", "'{a,b}'", "'*'", "'a;b'", "'#'", "'&&'", "'$(f)'", "'\t'"]
DOUBLE = ['""', '"a b"', "\"a'b\"", '"\\$x"', '"\\`f\\`"', '"\\\\"', '"\\a"', '"a;b|c"', '"*"', '"{a,b}"', '"a\nb"', '"#"', '"\\""', '"!"', '"~"',
          '"a\\\nb"']
ESCAPE = ["\\ ", "\\;", "\\$x", "\\*", "\\'", '\\"', "\\\\", "\\a", "\\#", "\\&", "\\\n", "\\{a,b}", "\\~", "\\|", "\\(", "\\é"]
ANSI = ["$'a'", "$'\\n'", "$'\\x41'", "$'\\101'", "$'a\\'b'", "$'\\u00e9'", "$'\\t'", "$'\\\\'", "$'\\e'", "$'\\q'", "$'\\x4'", "$'\\cA'", "$'\\0'",
        "$'\\x41B'", "$'\\1011'", "$'\\U1F600'", "$'a\nb'", "$'\\\"'", "$'\\?'", "$'\\377'", "$'\\u7'"]
GLOBS = ["*", "?", "[ab]", "*.c", "src/*", "s*/*.c", "[!a]*", "[a-c]1", "*x*", "\\**", "'*'*", ".*", "no*such", "\"src\"/*", "[[:alpha:]]", "*/", "[x]",
         "\\[x]", "src/**", "a*\\ b", "?\\ b", "pkg/*", "*[", "[", "[^a]", "@(a|b)", "!(a)", "*'[x]'*"]
BRACES = ["{a,b}", "{1..3}", "{a..c}", "{a,b}{c,d}", "x{1,2}y", "{a,{b,c}}", "{,x}", "{01..3}", "{3..1}", "{a}", "{}", "{a,b", "{1..6..2}", "{'a b',c}",
          "{a\\,b,c}", "{\"$x\",b}", "{$x,b}", "{x,~}", "${x}{a,b}", "$x{a,b}", "{-1..1}", "{Z..b}", "{1..c}", "{a,b}*", "{,,}", "{~,b}", "{a..c..2}",
          "{a,'{b,c}'}", "a{b,c", "{a,b}}", "{{a,b}", "{1..2}{3..4}", "{08..10}", "{1..3..0}", "{0..-2}", "{+1..3}", "{00..1}", "{a,b}=~"]
TILDES = ["~", "~/x", "~+", "~-", "~root", "~nobody/x", "x=~", "a:~", "x=a:~", "~:~", "\"~\"/x", "~\"/x\"", "\\~", "~'x'", "a~", "~/*", "--o=~", "~+/a", "~/"]
VARS = ["$x", "${x}", "\"$x\"", "\"${x}\"", "$y", "\"$y\"", "$HOME", "\"$HOME\"/x", "$PWD", "\"$PWD\"", "$OLDPWD", "$1", "\"$@\"", "$@", "$*", "\"$*\"", "$#",
        "$?", "$$", "$!", "$-", "$_", "$0", "$RANDOM", "$LINENO", "$IFS", "$SECONDS", "$UID", "$PATH", "${x:-a b}", "${x:-a}", "\"${x:-a b}\"", "${x:+b}",
        "${x:=q}", "${x#a}", "${x%%b*}", "${x/a/b}", "${x^^}", "${x,}", "${#x}", "${x:0:1}", "${x[0]}", "${x[@]}", "\"${x[@]}\"", "${!x}", "${!x*}", "${x@Q}",
        "${x@P}", "${x:?}", "a$x", "$x$y", "$x/b", "\"a $x b\"", "$x'q'", "${x}z", "$xz", "$x*", "${1:-a}", "${x-$y}", "\"${x-'a b'}\"", "${v}", "$v", "$w", "$n",
        "${#}", "${?}", "$", "\"$\"", "a$", "$/x", "$\"a\"", "${n}", "$0", "$BASHPID", "$MACHTYPE", "$REPLY", "${-}", "${_}", "${10}", "$10", "${x+}"]
ARITH = ["$((1+2))", "$((x))", "$((x+1))", "$[1+2]", "$((2*3))x", "$((1<2))", "$((010))", "$((0x1f))", "$((-3))", "$((x=5))", "$((x++))", "$(( 1 + (2) ))",
         "$((7/2))", "$((-7/2))", "$((-7%3))", "$((2**3))", "\"$((1+1))\"", "$((1,2))", "$((!0))", "$((~1))", "$((n+1))", "$((1?2:3))", "$((- 1))", "$((--1))",
         "$((1 - -1))", "$((9999999999))", "$((+1))", "$((1--1))"]
CONDITIONS = ["[ -f a ]", "[ a = b ]", "[[ a == b ]]", "[[ -f a ]]", "[[ a = a* ]]", "[[ 1 -lt 2 ]]", "test -d src", "true", "false", "! true", "! false",
              "[[ -n a && -z b ]]", "[[ ! -f a ]]", "(( 1 ))", "(( 0 ))", "[[ ab =~ ^a ]]", "[[ 'a b' = \"a b\" ]]", "[ a ]", "[[ a < b ]]",
              "[[ ( a = a ) || b = c ]]", ":", "f cond", "cd src", "cd no-such", "[ ! -e zz ]", "grep -q a a", "[[ -e src/a ]]", "[ 1 -eq 1 ]", "[[ a != b ]]"]
EXPANDING_CONDITIONS = ["[ -n \"$x\" ]", "[[ $x == a* ]]", "[[ -n $x ]]", "[ \"$x\" = a ]", "(( x > 1 ))", "(( x++ ))", "[[ $x -eq 1 ]]", "[[ $x =~ a(.) ]]",
                        "[ $# -gt 0 ]", "[ -z $x ]", "x=q", "read x", "[[ -v x ]]", "read -r x <<< 'r s'", "(( x = 3 ))", "let x=4", "[[ a =~ (.) ]]"]
SETTERS = ["x=a", "x='a b'", "x=", "y=$x", "x=\"$y z\"", "x=~", "x=*", "x=a y=b", "export x=a", "export y='c d'", "declare x=e", "declare -u x=abc",
           "declare -l x=ABC", "declare -i n=1+2", "declare -i n; n=2+3", "local x=1", "readonly w=r", "typeset x=t", "x+=b", "x=(a b)", "x=(a 'b c')", "x[1]=b",
           "printf -v x %s val", "read x <<< 'in put'", "read -r x y <<< 'a b c'", "mapfile -t x <<< 'q'", "readarray x < a", "unset x", "unset y", "unset -v x",
           "let x=5", "((x=6))", "IFS=,", "IFS=a", "IFS=", "IFS=$' \\t\\n'", "set -- p q", "set -- 'p q' r", "set a", "shift", "set -u", "set -e", "set +e", "set -f", "set +f",
           "set -o pipefail", "set -euo pipefail", "set -x", "set -a", "set -B", "set +B", "x=$(f)", "x=$(echo a)", "x=`echo a`", "x=$((1+2))", "x=${y:-d}", ": ${x:=d}",
           ": \"${y:=e f}\"", "export x", "export \"x=q r\"", "export $y", "declare -n v=x", "declare -a x=(1 2)", "declare -A v=([k]=1)", "x=$y y=$x", "HOME=src", "HOME=/tmp",
           "PWD=/tmp", "OLDPWD=/tmp", "_=u", "RANDOM=5", "SECONDS=7", "LINENO=3", "UID=9", "REPLY=r", "read <<< word", "getopts ab x", "GLOBIGNORE='a*'", "x=1; x=2", "x=$x$x",
           "x=\"a*\"", "y='x=2'", "y=x", "declare $y", "declare \"$y\"", "eval x=5", "eval 'x=5'", "shopt -s nullglob", "shopt -s extglob", "shopt -s dotglob",
           "x=-n", "x=$'a\\nb'", "x={a,b}", "x=a{b,c}", "declare x={a,b}", "export x={1..2}", "n=3", "n=$((n+1))", "n=${#x}", "((n++))", "n+=1", "for x in 1 2; do :; done",
           "x=a; unset x", "declare -r n=4", "declare +x x", "export -n x=m", "time x=k", "! x=j", "{ x=i; }", "(x=o)", "x=p | f", "x=s &", "wait", "f | x=t", "x=r && y=s",
           "false && x=l", "true || x=l", "false || x=l", "command x=1", "builtin read x <<< z", "command read x <<< z", "command export x=5", "builtin export x=6", "x=1 y=2 z=3",
           "command declare x=9", "printf -vx q", "builtin printf -v x q", "read -a x <<< 'a b'", "coproc x", "exec {v}>/dev/null", "CDPATH=src", "CDPATH=/tmp", "TMOUT=5",
           "x=\"\"", "x=\"$@\"", "x=$*", "x=$'a b'", "x=$_", "x=$?", "x=#", "x=a#b", "x= y=5", "x=\\ ", "\"x\"=a", "x\\=a", "x =a", "x= a", "true x=4", "declare -x x=v",
           "declare -gx x=v", "declare -t x=v", "declare -c x=vee", "readonly x", "select x in a; do break; done", "local x", "declare x", "x[0]=z", "unset 'x[0]'", "wait -p x",
           "declare -u x", "declare -l x", "declare -i x", "x=5+5", "declare -ai x=2+2", "x=BIG", "readarray -t <<< m", "BASH_ENV=a", "POSIXLY_CORRECT=1", "PATH=", "PATH=/nowhere",
           "OPTIND=1", "COMP_WORDS=1", "HISTCMD=4", "DIRSTACK=1", "FUNCNEST=1", "BASH_ARGV0=zz", "EPOCHSECONDS=3", "SRANDOM=3", "BASHOPTS=a", "SHELLOPTS=a", "PPID=3"]
FUNCTIONS = ["f() { g in \"$1\"; }", "f() { cd src; }", "function f { h; }", "function h() { x=fun; }", "f() ( cd docs; g )", "ls() { g lsfun; }", "cd() { g cdfun; }",
             "g() if true; then h g; fi", "h() { return 1; }", "f() { local x=loc; g $x; }", "f() { g; } > out", "f() { f2() { h deep; }; }", "echo() { g echofun; }",
             "f () { g; }", "f()\n{ g; }", "x() { h xfun; }", "true() { cd /; }", "command() { g commandfun; }", "f() { shift; g \"$@\"; }", "f() { set -- n m; }", "f() { exec h e; }",
             "g() { y=gset; }", "f() { g \"$@\"; }", "unset -f f", "env() { h envfun; }", "f() { trap 'g t' EXIT; }", "f() { read x; }", "[() { g bracket; }", "sh() { g shfun; }"]
MOVES = ["cd src", "cd docs", "cd ..", "cd no-such", "cd", "cd -", "cd /", "cd .", "cd src/sub", "cd ./src", "cd link", "cd -P link", "cd -L link", "cd link/..", "cd -P link/..",
         "cd 'my dir'", "cd -- src", "cd a", "pushd src", "popd", "pushd", "cd src/../docs", "cd ''", "cd src docs", "cd -e -P src", "cd -x", "command cd src", "builtin cd docs",
         "cd src && cd sub", "cd pkg/one", "cd src > out", "! cd src", "time cd src", "cd src &", "cd src | cat", "(cd src)", "{ cd src; }", "cd src || exit 1", "cd no || cd docs",
         "cd src && cd .. ", "cd \"\"", "cd dead", "cd link; cd ..", "cd -P link; cd ..", "command -p cd src", "cd -@ src", "cd -LP link", "exec cd src", "env cd src", "cd ../../..",
         "cd src;cd -", "cd src && cd - && cd sub", "CDPATH=src cd sub", "HOME=src cd", "OLDPWD=docs cd -", "PWD=/ cd src", "cd //", "cd /bin/..", "cd /tmp", "dirs", "popd -n", "pushd -n src",
         "pushd +0", "pushd docs && popd", "rm -r src; cd src"]
EXPANDING_MOVES = ["cd ~", "cd $HOME", "cd \"$x\"", "cd $x", "cd s*", "cd {src,docs}", "cd $OLDPWD", "cd \"$(f)\"", "cd ${x:-src}", "cd -P \"$PWD\"", "cd ~+", "cd ~-", "cd \"$(dirname a)\"",
                   "cd $PWD/src", "cd \"$OLDPWD\"", "cd $", "cd *sub*", "cd link/*", "cd pkg/*", "cd [s]rc", "cd d?cs"]
ODD = ["#", "==", " == ", "# comment", " # c 'x", "#!x", "\t", "  ", "\r", "\u00a0", "\u2003", "\x01", ";;", "&&", "(", ")", "{", "}", "<<", "'", '"', "`", "\\", "$(", "${", "((", "))", "[[", "]]", "!", "|&", ";;&",
       "fi", "done", "then", "esac", "do", "in", "a" * 3000, "\x7f", "\u202e"]


class Maker:
    def __init__(self, rng, expansion):
        self.r = rng
        self.x = expansion
        self.budget = 60
        self.defined = "f"

    def one(self, items):
        return items[int(self.r.random() * len(items))]

    def odds(self, n):
        return self.r.random() < n

    # ---- words ----
    def piece(self):
        r = self.r.random()
        if self.x and r < 0.45:
            kind = self.one([GLOBS, BRACES, TILDES, VARS, VARS, VARS, ARITH, "sub", "sub"])
            return self.substitution() if kind == "sub" else self.one(kind)
        r = self.r.random()
        if r < 0.45:
            return self.one(PLAIN)
        if r < 0.6:
            return self.one(FILES)
        return self.one(self.one([SINGLE, SINGLE, DOUBLE, DOUBLE, ESCAPE, ANSI]))

    def substitution(self):
        self.budget -= 6
        if self.budget < 0:
            return "$(f)"
        inner = self.command(2)
        kind = self.r.random()
        if kind < 0.35:
            return "$(" + inner + ")"
        if kind < 0.6:
            return '"$(' + inner + ')"'
        if kind < 0.75:
            return "`" + inner.replace("\\", "\\\\").replace("`", "\\`") + "`"
        if kind < 0.85:
            return self.one(["<(", ">("]) + inner + ")"
        if kind < 0.95:
            return '"a $(' + inner + ') b"'
        return self.one(["$(<a)", "$(< src/a)", "\"$(cat <<'E'\nx y\nE\n)\"", "\"$(cat <<E\nx $x\nE\n)\"", "$( )", "\"`f \\\"a b\\\"`\"", "${x:-$(f)}", "\"${x:-$(f)}\"",
                         "${x:-`f`}", "$(echo a)", "\"$(echo 'a b')\"", "$(( $(echo 1) + 1 ))", "<(f)", ">(g)", "$(f # c\n)", "$(case a in a) f;; esac)", "`f \\`g\\``"])

    def word(self):
        return "".join(self.piece() for _ in range(1 if self.odds(0.7) else self.r.randint(2, 4)))

    def words(self):
        blank = " " if self.odds(0.9) else self.one(["  ", "\t", " \\\n", " \\\n  "])
        return blank.join(self.word() for _ in range(self.one([0, 1, 1, 2, 2, 3, 4])))

    def file(self):
        return self.word() if self.odds(0.15) else self.one(FILES + ["out", "out2", "src/out", "/tmp/o", "/dev/null", "-o"])

    def redirect(self):
        d = self.r.random()
        f = self.file()
        blank = self.one(["", " ", " "])
        if d < 0.4:
            return self.one([">", ">>", "2>", ">|", "&>", "&>>", "1>", "3>", "2>>", "1>>", "11>"]) + blank + f
        if d < 0.6:
            return self.one(["<", "<", "<", "<", "0<", "<>", "3<", "<"]) + blank + f
        if d < 0.85:
            return self.one(["2>&1", ">&2", "1>&2", "2>&-", "<&-", "3>&1", ">&1", "2>&1 >out", "3<&0", ">&3-", "0<&0", "2>/dev/null", "&>/dev/null", ">/dev/null 2>&1", ">& out"])
        if d < 0.93:
            return "<<<" + blank + self.word()
        return self.one(["{v}>out", "{v}<a", "> out > out2", ">&out", ">& " + f, "2>out2 1>&2", ">&-", "<a >out", "{x}>>out", "> 'o p'", ">\"out\"", ">out\\ x", "2 >out", "2> out"])

    # ---- commands ----
    def assigns(self):
        n = self.one([1, 1, 2])
        return " ".join(self.one(NAMES + ["V1", "V2"]) + self.one(["=", "=", "=", "+="]) + (self.word() if self.odds(0.8) else "") for _ in range(n))

    def name(self):
        if self.odds(0.06):
            return self.word()
        n = self.one(PROGRAMS)
        d = self.r.random()
        if d < 0.04:
            return self.one(["'%s'", '"%s"', "\\%s", "/bin/%s", "./%s"]) % n
        if d < 0.06:
            return n[0] + "''" + n[1:]
        return n

    def simple(self):
        self.budget -= 1
        parts = []
        if self.odds(0.12):
            parts.append(self.assigns())
        if self.odds(0.04):
            parts.append(self.redirect())
        n = self.name()
        parts += [n, self.words()]
        for _ in range(self.one([0, 0, 0, 0, 1, 1, 2])):
            parts.insert(self.r.randint(1, len(parts)) if self.odds(0.3) else len(parts), self.redirect())
        return " ".join(p for p in parts if p)

    def remember(self, name):
        """The function that is being defined, to be called afterwards."""
        self.defined = name
        return name

    def quote(self, text):
        return "'" + text.replace("'", "'\\''") + "'"

    def wrapped(self, d):
        self.budget -= 2
        s, w = self.simple(), self.one
        return w([
            lambda: "env " + w(["", "x=1 ", "V1=a ", "-i PATH=/bin ", "-u x ", "CI=1 "]) + s,
            lambda: "nice " + w(["", "-n 5 ", "-5 "]) + s,
            lambda: "timeout " + w(["5 ", "1s ", "-k 1 5 ", "-s KILL 3 "]) + s,
            lambda: "nohup " + s,
            lambda: "stdbuf -oL " + s,
            lambda: "setsid " + w(["", "-w "]) + s,
            lambda: "command " + w(["", "-p ", "-- "]) + s,
            lambda: "builtin " + s,
            lambda: "time " + w(["", "-p "]) + s,
            lambda: "exec " + w(["", "-a zz ", "-c "]) + s,
            lambda: "sudo " + s,
            lambda: "env nice timeout 5 " + s,
            lambda: w(["echo a b", "printf a", "cat a", "echo"]) + " | xargs " + w(["", "-n1 ", "-r ", "-I{} ", "-0 ", "-t ", "-I X "]) + w([s, "f", "f {}", "f X z"]),
            lambda: "find " + w(["src", ".", "docs -type f", "src -name '*.c'"]) + " -exec f " + w(["{} \\;", "{} +", "a{}b \\;", "\\;", "-x {} ';'"]),
            lambda: "sh -c " + self.quote(self.command(d - 1)) + w(["", "", " s0", " s0 s1"]),
            lambda: "bash -c " + self.quote(self.command(d - 1)) + w(["", "", " b0", " b0 'b 1'"]),
            lambda: "bash -c \"" + w(["f x", "f \\$x", "f '$x'", "cd src; f", "f \\\"a b\\\"", "f a; g b"]) + "\"",
            lambda: "eval " + w([self.quote(self.command(d - 1)), s, "'f a b' c", "f '\"a b\"'", "'x=5; f' q"]),
            lambda: "trap " + self.quote(self.command(d - 1)) + " " + w(["EXIT", "0", "ERR", "INT", "DEBUG", "RETURN"]),
            lambda: w(["source ", ". "]) + w(["lib.sh", "./lib.sh", "no-such", "src/a", "/dev/null"]),
            lambda: w(["bash ", "sh ", "bash -x ", "bash -e "]) + w(["lib.sh", "a", "no-such", "-s < lib.sh", "<<< 'f here'", "-"]),
            lambda: w(["echo f piped", "cat lib.sh"]) + " | " + w(["sh", "bash", "bash -s z"]),
            lambda: "alias " + w(["f='g alias'", "ls=h", "f=g"]) + "; " + s,
            lambda: "coproc " + w(["", "C "]) + w([s, "{ " + s + "; }", "( " + s + " )"]),
            lambda: "/bin/env " + s,
            lambda: "command -v " + s,
            lambda: "type f; hash f; " + s,
        ])()

    def heredoc(self):
        self.budget -= 2
        tag = self.one(["EOF", "E", "'EOF'", '"E"', "\\E", "-EOF", "-'E'", " EOF", "- E"])
        bare = tag.strip("- '\"\\")
        body = "".join(self.one(["text\n", "a b\n", "\ttab\n", "'q\n", "EOFX\n", "f x\n", "; g\n", "\n", "\\\\\n", "a \\\n", "# c\n"] +
                                (["$x\n", "$(f h)\n", "`g h`\n", "${x:-d}\n", "\\$x\n", "$((1+1))\n", "\"$x\"\n"] if self.x else [])) for _ in range(self.r.randint(0, 3)))
        end = ("\t" if tag.startswith("-") and self.odds(0.5) else "") + bare
        head = self.one(["cat", "f", "cat", "sh", "while read -r l; do g \"$l\"; done" if self.x else "cat", "bash", self.simple()])
        tail = self.one(["", "", "", " | g", " > out", " && h", "; g", " 2>&1", " &"])
        return head + " <<" + tag + tail + "\n" + body + end + "\n"

    def body(self, d):
        s = self.commands(d - 1)
        return s if s.endswith("\n") else s + self.one(["; ", ";", "\n"])

    def condition(self, d):
        c = EXPANDING_CONDITIONS + CONDITIONS if self.x else CONDITIONS
        return self.one(c) if self.odds(0.85) else self.command(d - 1).rstrip("\n")

    def compound(self, d):
        self.budget -= 2
        w, b = self.one, lambda: self.body(d)
        values = lambda: " ".join(self.word() for _ in range(self.one([0, 1, 2, 3])))
        after = self.one(["", "", "", "", "", " > out", " 2>/dev/null", " < a", " | f", " && g"])
        return w([
            lambda: "{ " + b() + "}",
            lambda: "(" + w(["", " "]) + self.commands(d - 1) + ")",
            lambda: "if " + self.condition(d) + "; then " + b() + "fi",
            lambda: "if " + self.condition(d) + "; then " + b() + "else " + b() + "fi",
            lambda: "if " + self.condition(d) + "\nthen " + b() + "elif " + self.condition(d) + "; then " + b() + "fi",
            lambda: "for v in " + values() + "; do " + (w(["f \"$v\"; ", "f $v; ", "cd \"$v\" && g; ", "(cd \"$v\" && make); ", "x=$v; "]) if self.x else "f; ") + b() + "done",
            lambda: "for v in a 'b c' d; do " + b() + w(["", "", "break; ", "continue; "]) + "done",
            lambda: "for v in pkg/*; do (cd \"$v\" && make); done" if self.x else "for v in src docs; do f; done",
            lambda: "for ((i=0; i<2; i++)); do " + b() + "done",
            lambda: "for v; do " + b() + "done",
            lambda: "while " + w(["false", "! true", "[ a = ]", "read -r x"]) + "; do " + b() + "done",
            lambda: "until " + w(["true", "[ a ]"]) + "; do " + b() + "done",
            lambda: "while read -r " + w(NAMES) + "; do " + b() + "done < " + w(["a", "lib.sh", "no-such"]),
            lambda: "i=0; while [[ $i -lt 2 ]]; do i=$((i+1)); " + b() + "done" if self.x else "while true; do " + b() + "break; done",
            lambda: "case " + self.word() + " in " + w(["a", "*", "a|b", "(x)", "\"a b\"", "a*"]) + ") " + self.commands(d - 1) + ";; " +
                    w(["*) " + self.commands(d - 1) + ";; ", "", "b) " + self.command(d - 1) + w([" ;& ", " ;;& "]) + "*) f;; "]) + "esac",
            lambda: "select v in a b; do " + b() + "break; done < /dev/null",
            lambda: w(CONDITIONS) + w([" && ", " || "]) + self.command(d - 1),
            lambda: "(( " + w(["1", "0", "1+1", "x=1" if self.x else "2>1"]) + " ))" + w(["", " && f", " || g"]),
            lambda: "NAME() { ".replace("NAME", self.remember(w(["f", "g", "h"]))) + b() + "}; " + w([self.defined, self.defined + " a", "f", self.defined + " 'a b' c"]),
            lambda: self.remember(w(["f", "ls", "g"])) + "() { " + (w(["h \"$@\"; ", "h \"$1\"; ", "cd \"$1\" && h; ", "local x=$1; h $x; "]) if self.x else "h in; cd docs; ") +
                    "}; " + w([self.defined + " a", self.defined + " src", "g", self.defined + " src; h after"]),
        ])() + after

    def command(self, d):
        r = self.r.random()
        if self.budget < 0 or d <= 0 or r < 0.42:
            return self.simple()
        if r < 0.50:
            return self.wrapped(d)
        if r < 0.56:
            return self.heredoc()
        if r < 0.66:
            common = MOVES[:7] + EXPANDING_MOVES if self.x else MOVES[:9]
            return self.one(common if self.odds(0.6) else MOVES)
        if r < 0.76 and self.x:
            return self.one(SETTERS)
        if r < 0.80 and self.x:
            return self.one(FUNCTIONS)
        if r < 0.84:
            return self.one(["time ", "! ", "! ", "time ", "time -p ", "! ! ", "time ! ", "coproc ", "coproc C "]) + self.command(d - 1)
        if r < 0.92:
            return self.compound(d)
        first = self.command(d - 1)
        if first.endswith("\n"):
            return first
        return first + self.one([" | ", "|", " |& ", " | \\\n", " |\n"]) + self.command(d - 1)

    def commands(self, d):
        out = self.command(d)
        for _ in range(self.one([0, 0, 1, 1, 2, 3])):
            if self.budget < 0:
                break
            sep = "" if out.endswith("\n") else self.one(["; ", ";", " && ", " || ", " & ", "\n", " &&\n", "; ", " && ", " # c\n", "\n\n", " ;\n", "&&"])
            out += sep + self.command(d)
        return out


def make(rng, expansion):
    m = Maker(rng, expansion)
    if expansion and rng.random() < 0.5:
        # What the shell knows of earlier is where an analysis goes wrong.
        head = "; ".join(m.one(SETTERS + FUNCTIONS + MOVES if rng.random() < 0.3 else SETTERS) for _ in range(m.one([1, 1, 2, 3])))
        use = m.one(["f $x", "f \"$x\"", "f $y \"$y\"", "f $v $w $n", "f \"$@\"", "f ~ $HOME", "f $PWD", "f $_", "f $x*", "f", "f {$x,b}", "f a$x\"$y\"", "f ${x} ${n}", "ls $RANDOM $UID $SECONDS"])
        line = head + m.one(["; ", "\n", " && ", "; "]) + use
        return line if rng.random() < 0.5 else line + "\n" + m.commands(2)
    return m.commands(m.one([1, 2, 3, 3]))


TOKENS = [" ", "\t", "\n", ";", "&", "|", "&&", "||", "(", ")", "{", "}", "<", ">", ">>", "<<", "<<<", "'", '"', "`", "\\", "\\\n", "$", "$(", "${", "$((", "))", "#", " #", "*", "?", "[", "]", "~", "!", "=", "x=1 ",
          " x ", "{a,b}", "$x", "$@", "2>&1", "{v}>", ";;", "in ", "do ", "done", "fi", "then ", "esac", "time ", "coproc ", "! ", "function ", "() ", "[[ ", " ]]", "$'", "$\"", "\r", "|&", "&>", ">|", "\\'", "é",
          "\"$x\"", "<(", ">(", "-", "--", "eval ", "exec ", "command ", "cd src; ", "cd .. && ", "EOF", "\nEOF\n", "<<EOF", "<<-E", "declare ", "local ", "export ", "+=", "x[0]=", "@(", "+(a)", "!(a)", "~+", ":~"]


def mutate(rng, line, others):
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randint(0, len(line))
        end = min(len(line), at + rng.choice([1, 1, 2, 5, 12]))
        kind = rng.random()
        if kind < 0.4:
            line = line[:at] + rng.choice(TOKENS) + line[at:]
        elif kind < 0.6:
            line = line[:at] + line[end:]
        elif kind < 0.75:
            line = line[:at] + rng.choice(TOKENS) + line[end:]
        elif kind < 0.85:
            line = line[:end] + line[at:]
        elif kind < 0.95 and others:
            o = rng.choice(others)
            i = rng.randint(0, len(o))
            line = line[:at] + o[i:i + rng.choice([3, 8, 20, 60])] + line[at:]
        else:
            line = line[:at] + rng.choice(ODD) + line[at:]
    return line[:6000]
