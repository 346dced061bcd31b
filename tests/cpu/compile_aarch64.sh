#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compile_aarch64.sh SOURCE_DIR BINARY_DIR [--all]: sources that differ by processor, or with --all every source of
# core and plugins/cpu, checked by an aarch64 compiler against this machine's headers of the libraries.
# 77: there is no such compiler here.
set -euo pipefail
source_dir=$1 binary_dir=$2 extent=${3:-}
compiler=aarch64-linux-gnu-g++
if ! command -v "$compiler" >/dev/null; then
  echo "SKIPPED: no $compiler on this machine (Debian: g++-aarch64-linux-gnu)"
  exit 77
fi
# The libraries' headers are the same for every processor; those of the C library, in the same folder, are not, nor
# is SLEEF's, without which each function runs lane by lane.
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
for each in boost CL dlpack fmt nlohmann oneapi tbb; do
  [ ! -e "/usr/include/$each" ] || ln -s "/usr/include/$each" "$headers/$each"
done
flags=(-std=c++20 -fsyntax-only -ffp-contract=off -Wall -Wextra -fno-math-errno -fno-trapping-math
  -isystem "$headers" -I "$binary_dir/include" -I "$source_dir/core/include" -I "$source_dir/core/src"
  -I "$source_dir/plugins" -DBACKPLANE_CPU_ISA=baseline -DBACKPLANE_VERSION="\"0\"" -DBACKPLANE_BUILDING_CORE
  -DBOOST_DLL_USE_STD_FS)
if [ "$extent" = --all ]; then
  folders=("$source_dir/core/src" "$source_dir/plugins/cpu") pattern='*.cc'
else
  folders=("$source_dir/plugins/cpu") pattern='vector_*.cc'
fi
# What is for x86-64 alone has its instructions' name.
find "${folders[@]}" -name "$pattern" ! -name '*_vnni.cc' -print0 | xargs -0 -P "$(nproc)" -n 4 "$compiler" "${flags[@]}"
"$compiler" "${flags[@]}" "$source_dir"/plugins/cpu/{isa,parallel}.cc
echo "compiled for aarch64"
