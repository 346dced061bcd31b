#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# on_nehalem.sh PROGRAM: runs it on an emulated processor of 2008, without AVX; 77 (skipped) where there is no emulator.
if ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: no qemu-x86_64 on this machine (Debian: qemu-user)"
  exit 77
fi
exec qemu-x86_64 -cpu Nehalem "$@"
