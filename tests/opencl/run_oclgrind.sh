#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_oclgrind.sh CONFORMANCE PLUGIN LAYER KIND [CASES]: runs a sample of the conformance cases of every kernel family on
# oclgrind's simulator, with its memory and data-race checks, as KIND ("gpu", or "cpu" for the simulator as it is).
# Fails on any report of oclgrind, and when a case fails. oclgrind itself exits 0 whatever it finds, so its log decides.
set -euo pipefail
conformance=$1 plugin=$2 layer=$3 kind=$4 cases=${5:-}

driver=
for folder in /usr/lib/oclgrind /usr/local/lib/oclgrind /usr/lib/*/oclgrind; do
  if [ -e "$folder/liboclgrind-rt-icd.so" ]; then driver=$folder/liboclgrind-rt-icd.so; fi
done
if [ -z "$driver" ]; then
  echo "skipped: oclgrind is not installed"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "$driver" >"$scratch/oclgrind.icd"
sample='*elementwise/add of *:*copy/*float32:*reduce/* of float32 over the*:*rowwise/*float32*'
sample+=':*matmul/float32 by float32 in float32 to float32*:*scan/sum of float32*:*sort/*float32*:*index/*'
code=0
OCL_ICD_VENDORS="$scratch/" OPENCL_LAYERS=$layer BACKPLANE_TEST_LAYER=$kind \
  OCLGRIND_LOG="$scratch/log" OCLGRIND_DATA_RACES=1 \
  "$conformance" --plugin "$plugin" --set cache=off --lenient \
  --gtest_filter="${cases:-$sample}:-*large*:*long*:*wide*:*blocks*" || code=$?
if [ -s "$scratch/log" ]; then
  echo "oclgrind reports:"
  head -100 "$scratch/log"
  code=1
fi
exit "$code"
