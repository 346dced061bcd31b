#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles every header that a plugin may include alone, and the layout's numbers, as plugins may be compiled.
#   check_headers.sh COMPILER ROOT [FLAG...]   exits 77, which ctest reads as skipped, without that compiler
set -euo pipefail
compiler=$1 root=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler"; exit 77; }
flags=(-std=c++17 -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$root/core/include" "$@")
count=0
for header in "$root"/core/include/backplane/plugin/*.h; do
  name=${header#"$root"/core/include/}
  # Twice, as a guard that does not guard is a defect too.
  printf '#include "%s"\n#include "%s"\n' "$name" "$name" | "$compiler" "${flags[@]}" -x c++ -
  count=$((count + 1))
done
"$compiler" "${flags[@]}" "$root/tests/abi/layout.cc"
echo "$count headers"
[ "$count" -ge 5 ]
