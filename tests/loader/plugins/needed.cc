// SPDX-License-Identifier: Apache-2.0
// A library that a plugin needs; with NEEDED_FROM, one that itself needs another.
#ifdef NEEDED_FROM
extern "C" int deeper_answer();
extern "C" __attribute__((visibility("default"))) int needed_answer() { return deeper_answer(); }
#else
extern "C" __attribute__((visibility("default"))) int NEEDED_FUNCTION() { return 42; }
#endif
