#!/usr/bin/env python3
"""Writes command lines of the greatest length that the shell analysis follows, each of one piece of the grammar said over
and over, into a folder: what costs more than its length shows as time per KB (corpus_shell --ms-per-kb)."""
import os
import sys

LENGTH = 9990

PIECES = [
    "a;", "a&&", "a|", "a&", "(", "$(", "`", "{ ", '"', '"$(', "${x", "${x:-", "$((", "a[", "a=1;", "$x", "$x ", "*", "[", "[]",
    "{a,b}", "{a,{", "{1..9}", "{1..99}", "~", "a=~:", ">a", "<a ", "<<E ", "cat <<E\nE\n", "<<<a ", "if a;then ", "fi;",
    "for i in a b;do ", "while a;do ", "case a in a) ", "case a in ", "f(){ ", "f(){ g;};g(){ f;};", "f(){ a;};f;", "a\n",
    "\\\n", "\\a", "#a\n", "'a'", "$'\\x41'", "<(a) ", "<(", "cd a;", "cd a && ", "pushd a;", "xargs ", "sudo ", "env a=1 ",
    "sh -c 'a';", 'sh -c "', "eval a;", "find . -exec a ;", "find . -exec find ", "git -c a=b ", "[[ a ", "[[ a || ",
    "[[ a =~ b ]];", "test a -a ", "! ", "time ", "coproc ", "declare a=1;", "export a=$a;", "local a;", "read a;", "set -- a;",
    "trap a EXIT;", "alias a=b;a;", "a ", "--a ", "-a ", "a=a ", "1>&2 ", "unset a;", "a+=a;", "x+=$x;", "a=(a);", "a=(",
    "a[1]=1;", "${!a}", "${a/b/c}", "${a##*}", "${#a}", "awk 'BEGIN{a}';", "sed -n p;", "sed -e p ", "python -c 'a';", "make a;",
    "rm a;", "rm -rf a ", "cp a b;", "mv a b;", "ln -s a b;", "mkdir a;", "cat a ", "cat a;", "echo a>b;", "tee a ", "tar xf a;",
    "docker run a;", "ssh a b;", "} ", ")", "esac;", "done;", ";;", "<", ">", "&", "|", "``", "?", "@(a|b)", "@(", "$", "=", "/",
    "../", "a/../", "\u00e9", "\\", "a=$((a+1));", "((a++));", "((", "let a=1;", "(a);", "{ a;};",
]
VALUES = ["a" * 16, "[" * 16, "~" * 16, ":~" * 8, "/a" * 8, "../" * 5, "{a,b}" * 3, "*" * 16, "-" * 16, "?" * 16, "=" * 16]
USES = ["echo ", "cat ", "rm ", "git add ", "find . -name ", "echo >", "sh -c ", "eval ", "", 'echo "', "[[ a == ", "case a in ",
        "awk ", "sed ", "xargs ", "cd ", "A=", "export A=", "for i in "]
BRANCHES = ["if a;then b;fi;", "(a);", "a|b;", "a&&b;", "for i in a;do b;done;", "$(a);", "while a;do b;done;",
            "case a in b)c;;esac;", "cd a;", "f(){ a;};f;", "a5=2;"]


def lines():
    for piece in PIECES:
        yield piece * LENGTH
    for value in VALUES:
        for doubled in (6, 12):
            head = f"x='{value}'; " + "x=$x$x; " * doubled
            for use in USES:
                yield head + use + "$x" * LENGTH
                yield head + use + "$x " * LENGTH
                yield head + (use + "$x;") * LENGTH
    names = "".join(f"a{i}=1;" for i in range(700))
    for branch in BRANCHES:
        yield names + branch * LENGTH
    yield "".join(f"f{i}(){{ a;}};" for i in range(300)) + "".join(f"f{i};" for i in range(300)) * 6
    yield "".join(f"f{i}(){{ f{i + 1};f{i + 1};}};" for i in range(200)) + "f200(){ a;};f0"
    yield "".join(f"cd a{i};" for i in range(900)) + "cat b;" * 200
    yield "".join(f"ln -s a{i} b{i};" for i in range(60)) + "cat b5 " * 900
    yield "".join(f"mkdir a{i};" for i in range(300)) + "cat b5;" * 900
    yield "".join(f"cp -r a{i} b{i};" for i in range(60)) + "cat b5/x;" * 900


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for i, line in enumerate(lines()):
        with open(os.path.join(folder, f"line{i:04}"), "wb") as f:
            f.write(line.encode()[:LENGTH])


if __name__ == "__main__":
    main()
