#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The test of the test: pages that must pass do, and pages that must fail do.
#   check_runner.sh BUILD_FOLDER COMPILER [FLAG...]
set -euo pipefail

runner=$(cd "$(dirname "$0")" && pwd)/run_snippets.sh
arguments=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$work/page.md

passes() {
  printf '%s\n' "$@" >"$page"
  "$runner" "$page" "${arguments[@]}" >"$work/log" 2>&1 || { cat "$work/log"; echo "FAILED: should pass: $*"; exit 1; }
}
fails() {
  printf '%s\n' "$@" >"$page"
  if "$runner" "$page" "${arguments[@]}" >"$work/log" 2>&1; then echo "FAILED: should fail: $*"; exit 1; fi
}

passes 'No block at all.'
passes '```cpp' '#include "backplane/version.h"' 'int main() { return backplane::version()[0] == 0; }' '```'
passes '```sh' 'test -n "$PATH"' '```' '```text' 'anything' '```'
passes '<!-- not run: it would fail -->' '```sh' 'false' '```'
passes '- in a list' '  ```sh' '  cat <<EOF' '  text' '  EOF' '  ```'
passes '```cpp app.cc' '#include "backplane/version.h"' 'int main() { return backplane::version() == nullptr; }' '```' \
  '```cmake' 'cmake_minimum_required(VERSION 3.25)' 'project(app LANGUAGES CXX)' 'set(CMAKE_CXX_STANDARD 20)' \
  'find_package(backplane 0.1 REQUIRED)' 'add_executable(app app.cc)' \
  'target_link_libraries(app PRIVATE backplane::backplane)' '```' \
  '```sh' 'cmake -B build' 'cmake --build build' 'build/app' '```'

passes '```cpp' 'const Tensor a = tensor({1.0f, 2.0f});' 'if ((a + a).to_vector<float>()[1] != 4) return 1;' '```'

fails '```cpp' 'const Tensor a = tensor({1.0f, 2.0f});' 'if ((a + a).to_vector<float>()[1] != 5) return 1;' '```'
fails '```' 'no language' '```'
fails '```cpp' 'int main() { return 1; }' '```'
fails '```cpp' 'int main() { not c++ }' '```'
fails '```sh' 'false' 'true' '```'
fails '```sh' 'true'
fails '```cmake' 'find_package(no_such_package REQUIRED)' '```'
fails '<!-- not run: a reason counts for the next block only -->' '' '```sh' 'false' '```'
fails '<!-- not run:  -->' '```sh' 'false' '```'
