#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_trial.sh COMPILER ARGUMENT...: compiles, quietly; 77 (skipped) where the compiler is not on this machine.
compiler=$1
shift
if ! command -v "$compiler" >/dev/null; then
  echo "skipped: no $compiler on this machine"
  exit 77
fi
exec "$compiler" "$@"
