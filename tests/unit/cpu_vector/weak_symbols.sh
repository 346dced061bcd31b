#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weak_symbols.sh OBJECT...: fails where an object defines a weak symbol. The linker keeps one copy of such a symbol, and
# if that is the one built for newer processors, older ones crash in code that never asked for it.
found=$(nm --defined-only "$@" | grep -E ' [WVu] ')
[ -z "$found" ] && exit 0
echo "$found" | c++filt
exit 1
