#!/usr/bin/env bash
# What the pages name is there: files of the tree in backquotes, what links lead to, the tests that tests/README.md gives for a complaint, and
# the options of README.md in --help. Prints what is not; exit 1 when there is any. usage: check_docs.sh SOURCE_DIR [PROGRAM]
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: check_docs.sh SOURCE_DIR [PROGRAM]" >&2; exit 2; }
cd "$1"
bad=0 looked=0

missing() {
  echo "$1: $2 is not there"
  bad=1
}

pages=(README.md src/README.md tests/README.md docs/*.md)
files=$(find src tests bench scripts assets docs cmake -type f | sort)

# A name, or a pattern, with or without its folders: "loop.c", "engine/loop_*.c".
is_file() {
  local pattern=${1//./\\.}
  pattern=${pattern//\*/[^/]*}
  grep -qE "(^|/)$pattern\$" <<<"$files"
}

for page in "${pages[@]}"; do
  while read -r name; do
    looked=$((looked + 1))
    [ "$page" = README.md ] || is_file "$name" || missing "$page" "$name" # the files in README.md are the reader's
  done < <(grep -oE '`[A-Za-z0-9_*/]+(\.[a-z]+)*\.(c|h|py|sh|cmake)`' "$page" | tr -d '`' | sort -u)
  while read -r link; do
    looked=$((looked + 1))
    [ -e "$(dirname "$page")/$link" ] || missing "$page" "$link"
  done < <(grep -oE '\]\([^)#:]+' "$page" | cut -c3- | sort -u)
done

# "engine_loop: retry_then_success"; a name that ends with "..." is the beginning of one.
while read -r name; do
  looked=$((looked + 1))
  more='\b'
  [ "${name%...}" = "$name" ] || more='\w*'
  is_file "test_${name%...}.c" || grep -rqE --include='*.c' --include='*.py' "\b(test_)?${name%...}$more" tests ||
    missing tests/README.md "the test $name"
done < <(grep -oE '`[a-z0-9]+(_[a-z0-9]+){2,}(_?\.\.\.)?`' tests/README.md | tr -d '`' | sed 's/_\.\.\.$/.../' | sort -u)

if [ $# -ge 2 ]; then
  help=$("$2" --help; grep -hoE '\[--[a-z-]+\]' src/engine/*.c) # and what commands of the screen take
  while read -r option; do
    looked=$((looked + 1))
    grep -qF -- "$option" <<<"$help" || missing README.md "the option $option"
  done < <(grep -oE '`(yare[^`]*)?--[a-z][^`]*`' README.md | grep -oE -- '--[a-z][a-z-]+' | sort -u)
fi
[ "$looked" -gt 100 ] || { echo "only $looked names were found: are these the pages?" >&2; exit 2; }
exit "$bad"
