// SPDX-License-Identifier: Apache-2.0
// Compiles where LLVM's standard library is installed.
#include <version>
#ifndef _LIBCPP_VERSION
#error "not LLVM's standard library"
#endif
int main() {}
