#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program that leaves while the device is still compiling its kernels: every exit must be a quiet 0.
#   run_exit.sh PROGRAM WORK_FOLDER
set -euo pipefail
program=$1 work=$2
rm -rf "$work"
for run in 1 2 3; do
  mkdir -p "$work/$run"
  export POCL_CACHE_DIR=$work/$run BACKPLANE_OPENCL_CACHE_DIR=$work/$run
  if [ $((run % 3)) = 0 ]; then "$program" thread; else "$program"; fi
done
rm -rf "$work"
