#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs every fenced code block of one page, in order, in one scratch folder.
#   run_snippets.sh PAGE BUILD_FOLDER COMPILER [FLAG...]
#
#   ```cpp [FILE]     a program (it has a main), a plugin (it has a backplane_plugin), or statements, which are put
#                     into a main after backplane.h, in its namespace; compiled with warnings as errors, and run
#   ```cmake [FILE]   a CMakeLists.txt, configured and built beside the FILEs before it; or a part of one
#   ```sh             commands, run with the build's programs on PATH and the installed package findable
#   ```output         what the cpp block before it printed, line by line; … stands for anything within a line
#   ```text           and json, c, opencl, cuda, asm, console: shown, not run; a block without a language is an error
# A block with FILE is saved under that name first. `<!-- not run: REASON -->` on the line before a block exempts it.
set -euo pipefail

page=$1 build=$2
export CXX=$3 CXXFLAGS="${*:4}"
root=$(cd "$(dirname "$0")/../.." && pwd)
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/blocks" "$work/scratch"

# blocks/NNN.head: line, language, file and reason, a line each; blocks/NNN.body: the block itself.
awk -v folder="$work/blocks" '
  inside && $1 == fence { inside = 0; close(body); next }
  inside { sub("^" indent, ""); print > body; next }
  /^ *<!-- not run: .* -->$/ { reason = $0; sub(/^.*not run: */, "", reason); sub(/ *-->$/, "", reason); next }
  match($0, /^ *(```+|~~~+)/) {
    indent = $0; sub(/[^ ].*/, "", indent)
    fence = substr($0, RSTART, RLENGTH); sub(/^ */, "", fence)
    rest = substr($0, RSTART + RLENGTH); split(rest, words, " ")
    name = sprintf("%s/%03d", folder, ++count)
    body = name ".body"; printf "" > body
    printf "%d\n%s\n%s\n%s\n", NR, words[1], words[2], reason > (name ".head"); close(name ".head")
    inside = 1; reason = ""; next
  }
  { reason = "" }
  END { if (inside) { print FILENAME ": a fence is not closed" > "/dev/stderr"; exit 1 } }
' "$page"

fail() { echo "FAILED: $page:$line: $*" >&2; exit 1; }

installed=
install_package() {
  [ -z "$installed" ] || return 0
  installed=$work/package
  cmake --install "$build" --prefix "$installed" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
  export CMAKE_PREFIX_PATH=$installed PATH=$build/bin:$PATH CMAKE_GENERATOR=Ninja
  PKG_CONFIG_PATH=$(dirname "$(find "$installed" -name backplane.pc)")
  LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
}

wrap_statements() {
  echo '#include <iostream>'
  echo '#include "backplane/backplane.h"'
  grep '^#include' "$1" || true
  echo 'using namespace backplane;'
  echo 'int main() {'
  grep -v '^#include' "$1"
  echo '}'
}

# shellcheck disable=SC2086 # flags are meant to be split
run_cpp() {
  local source=$1 name=${1##*/}
  local flags="$CXXFLAGS -Wall -Wextra -Werror -I$root/core/include -I$build/include"
  if grep -q 'backplane_plugin\b' "$source"; then
    "$CXX" $flags -std=c++17 -shared -fPIC -fvisibility=hidden "$source" -o "$work/plugin.so" -Wl,-z,defs
    return
  fi
  if ! grep -qE '\bmain *\(' "$source"; then
    wrap_statements "$source" >"$work/wrapped_$name"
    source=$work/wrapped_$name
    flags+=" -Wno-unused-variable -Wno-unused-but-set-variable"
  fi
  "$CXX" $flags -std=c++20 "$source" -o "$work/program" -L"$build/lib" -lbackplane -Wl,-rpath,"$build/lib" -pthread
  (cd "$work/scratch" && "$work/program" | tee "$work/printed")
}

# The shown lines against the printed ones.
run_output() {
  local shown printed pattern number=0
  exec 3<"$1" 4<"$work/printed"
  while IFS= read -r shown <&3; do
    number=$((number + 1))
    IFS= read -r printed <&4 || { echo "line $number is shown, but not printed: $shown"; return 1; }
    pattern=$(sed 's/[][\\.*^$+?(){}|]/\\&/g; s/…/.*/g' <<<"$shown")
    [[ $printed =~ ^$pattern$ ]] || { echo "line $number: shown: $shown"; echo "line $number: printed: $printed"; return 1; }
  done
  if IFS= read -r printed <&4; then echo "printed, but not shown: $printed"; return 1; fi
}

run_cmake() {
  local folder=$work/scratch
  if ! grep -qi '^ *project *(' "$1"; then
    folder=$work/part
    rm -rf "$folder"
    cp -r "$work/scratch" "$folder"
    { echo 'cmake_minimum_required(VERSION 3.25)'; echo 'project(snippet LANGUAGES CXX)'; cat "$1"; } \
      >"$folder/CMakeLists.txt"
  fi
  cmake -S "$folder" -B "$work/cmake-build"
  cmake --build "$work/cmake-build"
  rm -rf "$work/cmake-build"
}

run_sh() { (cd "$work/scratch" && bash -euo pipefail "$1" </dev/null); }

ran=0
for head in "$work"/blocks/*.head; do
  [ -e "$head" ] || break
  { read -r line; read -r language || true; read -r file || true; read -r reason || true; } <"$head"
  body=${head%.head}.body
  [ -n "$language" ] || fail "the block names no language; text is one"
  if [ -n "$file" ]; then
    mkdir -p "$(dirname "$work/scratch/$file")"
    cp "$body" "$work/scratch/$file"
  fi
  if [ -n "$reason" ]; then
    echo "$page:$line: not run: $reason"
    continue
  fi
  case "$language" in
    cpp)
      cp "$body" "$work/snippet_$line.cc"
      body=$work/snippet_$line.cc ;;
    cmake)
      install_package
      [ -n "$file" ] || [ -z "$(grep -i '^ *project *(' "$body")" ] || cp "$body" "$work/scratch/CMakeLists.txt" ;;
    sh) install_package ;;
    output) ;;
    text | json | c | opencl | cuda | asm | console) continue ;;
    *) fail "$language is no language that this test knows" ;;
  esac
  echo "== $page:$line: $language"
  # Not "|| fail": inside a condition, -e would not stop at a block's first failure.
  set +e
  (set -e; "run_$language" "$body")
  status=$?
  set -e
  [ "$status" = 0 ] || fail "the block does not build and run"
  ran=$((ran + 1))
done
echo "$page: $ran blocks built and run"
