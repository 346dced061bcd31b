#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules that every tracked file keeps: its licence, its size, its place, and what it may not name.
#   check_tree.sh SOURCE_FOLDER
# Exit code 77, the test's skip, outside a git checkout.
set -euo pipefail

cd "$1"
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo "skipped: not a git checkout"; exit 77; }

bad=0
report() {  # the rule, then what breaks it, a line each
  [ -n "$2" ] || return 0
  echo "FAILED: $1:"
  sed 's/^/  /' <<<"$2"
  bad=1
}
sources() {
  git ls-files '*.h' '*.cc' '*.cu' '*.cl' '*.def' '*.cmake' '*CMakeLists.txt' '*.sh' 'tools/*' '.ci/*' |
    grep -v -e '/data/' -e '^tools/packages.txt$'
}

report "only the build's files, README, LICENSE and the folders of the design may stand at the top" "$(
  git ls-files | cut -d/ -f1 | sort -u |
    grep -vxE 'CMakeLists\.txt|CMakePresets\.json|LICENSE|README\.md|core|plugins|tests|tools|docs|\..*' || true)"

report "a source names its licence" "$(sources | xargs grep -L 'SPDX-License-Identifier: Apache-2.0' || true)"

report "C++ sources end in .cc and headers in .h, which is what the format and tidy checks look for" "$(
  git ls-files | grep -E '\.(cpp|cxx|c\+\+|C|hh|hpp|hxx)$' || true)"

report "no file is longer than 500 lines" "$(sources | xargs wc -l | awk '$2 != "total" && $1 > 500 {print $2 ": " $1}')"

report "nothing unfinished is merged" "$(
  git grep -nwE 'TODO|FIXME|XXX|HACK|not implemented yet|placeholder' -- core plugins tools ':!tests/package/check_tree.sh' || true)"

report "no file names a folder of one machine" "$(
  git grep -nIF -e "$PWD/" -e "$HOME/" -- . || true
  git grep -nIE '/home/[a-z]+/' -- . ':!tests/package/check_tree.sh' || true)"

report "nothing generated is tracked" "$(
  git ls-files | grep -E '\.(o|a|so|so\..*|gch|pch|ptx|pyc)$|(^|/)compile_commands\.json$' || true)"

exit $bad
