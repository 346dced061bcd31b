#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build, moves the installed tree, and then, outside the source tree and knowing only the moved one, builds
# a plugin and a host program and lets the host find the plugin.
#   build_outside.sh cmake|pkg_config BUILD_FOLDER COMPILER [FLAG...]
set -euo pipefail

way=$1 build=$2
export CXX=$3 CXXFLAGS="${*:4}"
here=$(cd "$(dirname "$0")" && pwd)
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
expect() { grep -qF -- "$1" <<<"$output" || fail "the host program did not print: $1"; }

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/package"
package=$work/package
cp -r "$here/plugin" "$here/host" "$work"
if grep -rlF "$(cd "$here/../.." && pwd)" "$package" --include='*.cmake' --include='*.pc' --include='*.h'; then
  fail "the installed files above name the source tree"
fi

build_with_cmake() {
  local part
  for part in plugin host; do
    cmake -S "$work/$part" -B "$work/$part/build" -G Ninja -DCMAKE_PREFIX_PATH="$package" -DCMAKE_BUILD_TYPE=Release
    cmake --build "$work/$part/build"
  done
}

build_with_pkg_config() {
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$package" -name backplane.pc)")
  mkdir -p "$work/plugin/build" "$work/host/build"
  # shellcheck disable=SC2046,SC2086 # flags are meant to be split
  {
    "$CXX" $CXXFLAGS -std=c++17 -shared -fPIC -fvisibility=hidden $(pkg-config --cflags backplane) \
      "$work/plugin/tiny.cc" -o "$work/plugin/build/tiny.so" -Wl,-z,nodelete
    "$CXX" $CXXFLAGS -std=c++20 "$work/host/main.cc" -o "$work/host/build/host" \
      $(pkg-config --cflags --libs backplane) -Wl,-rpath,"$(pkg-config --variable=libdir backplane)"
  }
}

"build_with_$way"

plugin=$work/plugin/build/tiny.so
exported=$(nm -D --defined-only "$plugin" | awk '{print $3}' | grep -v -E '^(_init|_fini|__asan|__odr_asan)' || true)
[ "$exported" = backplane_plugin ] || fail "the plugin exports more or less than backplane_plugin: $exported"

output=$(BACKPLANE_PLUGIN_PATH=$work/plugin/build "$work/host/build/host")
echo "$output"
expect "device tiny:0 Tiny test device"
expect "device cpu:0"
expect "sum on cpu:0: 11 22 33"
expect "there and back on tiny:0: 1 2 3"

output=$("$work/host/build/host")
echo "$output"
expect "device cpu:0"
! grep -q tiny <<<"$output" || fail "the plugin is listed without BACKPLANE_PLUGIN_PATH"
