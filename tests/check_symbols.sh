#!/usr/bin/env bash
# No name is defined in two of the libraries: the linker takes the first that it meets, for everybody, without a word. Prints each such
# name with its libraries; exit 1 when there is one. usage: check_symbols.sh LIBRARY...
set -euo pipefail
[ $# -ge 2 ] || { echo "check_symbols: at least two libraries" >&2; exit 2; }
nm -g --defined-only -A "$@" | awk '
  NF >= 3 {
    split($1, at, ":"); name = $NF; lib = at[1]; sub(/.*\//, "", lib)
    # weak and common ones are meant to be in several
    if ($(NF - 1) ~ /^[TDBR]$/) { where[name] = where[name] " " lib; n[name]++ }
    seen++
  }
  END {
    if (!seen) { print "no names at all: are these libraries?"; exit 2 }
    for (name in n) if (n[name] > 1) { print name ":" where[name]; bad = 1 }
    exit bad
  }'
