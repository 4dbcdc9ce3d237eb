#!/usr/bin/env bash
# A folder includes only what is below it (docs: src/README.md). Prints each include that points up or sideways; exit 1 when there is one.
set -u
cd "${1:-$(dirname "$0")/..}/src" || exit 2
allowed() {
  case $1 in
    base) echo "base" ;;
    model) echo "base model" ;;
    store) echo "base store" ;;
    perm) echo "base perm" ;;
    tools) echo "base perm model store tools" ;;
    ext) echo "base perm model store tools ext" ;;
    engine) echo "base perm model store tools ext engine" ;;
    agents) echo "base perm model store tools ext engine agents" ;;
    ui) echo "base ui" ;;
    .) echo "base perm model store tools ext engine agents ui ." ;;
    *) echo "" ;;
  esac
}
bad=0
while IFS=: read -r file line text; do
  folder=$(dirname "$file")
  target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")
  to=$(dirname "$target")
  # A front end sees the seam of the engine and nothing else of it.
  if { [ "$folder" = ui ] || [[ $file == headless* ]]; } && [[ $target == engine/engine.h || $target == engine/event.h ]]; then
    continue
  fi
  if [[ $file == headless* ]] && [ "$to" = engine ]; then to=forbidden; fi
  ok=0
  for a in $(allowed "$folder"); do [ "$a" = "$to" ] && ok=1; done
  if [ $ok = 0 ]; then
    echo "src/$file:$line includes \"$target\": $folder may not see $to"
    bad=1
  fi
done < <(grep -nE '^#include "' ./*.c ./*.h ./*/*.c ./*/*.h 2>/dev/null | sed 's|^\./||' | sed -E 's|^([^:]*):([0-9]+):|\1:\2:|')
# Only ui/term* may include curses.
while IFS=: read -r file line _; do
  case $file in
    ui/term*) ;;
    *) echo "src/$file:$line includes curses: only ui/term may"; bad=1 ;;
  esac
done < <(grep -nE '#include <(n?curses|term)(w/|\.h)' ./*/*.c ./*/*.h 2>/dev/null | sed 's|^\./||')
exit $bad
