#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ptxas makes of the kernels that matter: 16-byte loads and stores where the operands are contiguous, no register
# spilled, no multiplication fused with an addition that was not written so.
#   check_ptx.sh PTXAS FOLDER_OF_PTX ARCHITECTURE MODULE...
set -euo pipefail

ptxas=$1 folder=$2 architecture=$3 modules=("${@:4}")
bad=0
complain() { echo "FAILED: $*"; bad=1; }

# The text of one kernel.
kernel() { awk -v name="$2" '$0 ~ "\\.entry " name "\\(" {on=1} on {print} on && /^}/ {exit}' "$folder/$1.ptx"; }

# Whether a kernel has such an instruction. Not by a pipe, which would break when grep has seen enough.
has() { grep -qE "$3" <<<"$(kernel "$1" "$2")"; }

wide='\.(v4\.(b32|u32|f32)|v2\.(b64|u64|f64))'
for type in bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64; do
  has elementwise_$type same "ld\.global(\.nc)?$wide" || complain "elementwise_$type: no 16-byte load"
  has elementwise_$type same "st\.global$wide" || complain "elementwise_$type: no 16-byte store"
done
for class in i64 u64 f32 f64; do
  has reduce_$class reduce_sum "ld\.global(\.nc)?$wide" || complain "reduce_$class: no 16-byte load"
done
has copy copy_vector "ld\.global(\.nc)?$wide" || complain "copy: no 16-byte load"

# Arithmetic of floats without an explicit rounding is what ptxas may fuse.
if grep -nE '^\s+(@%p[0-9]+ )?(mad|add|sub|mul)\.(f32|f64|ftz)' "$folder"/*.ptx; then
  complain "arithmetic without an explicit rounding"
fi

# A report of ptxas's for one module, and what is wrong with it.
check_module() {
  local report
  report=$("$ptxas" -arch="sm_$architecture" -v -o /dev/null "$folder/$1.ptx" 2>&1) ||
    { echo "FAILED: $1: ptxas does not take it"; return 1; }
  ! grep -qE '[1-9][0-9]* bytes spill' <<<"$report" || { echo "FAILED: $1: spills"; return 1; }
  # The report has been read: it names every kernel's registers.
  grep -qE 'Used [0-9]+ registers' <<<"$report" || { echo "FAILED: $1: no report"; return 1; }
}
export -f check_module
export ptxas folder architecture
printf '%s\n' "${modules[@]}" | xargs -P "$(nproc)" -I{} bash -c 'check_module {}' || bad=1
exit $bad
