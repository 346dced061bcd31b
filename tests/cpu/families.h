// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TESTS_CPU_FAMILIES_H_
#define BACKPLANE_TESTS_CPU_FAMILIES_H_

#include <cstdint>
#include <map>
#include <string>

namespace backplane::cpu_test {

// Work of every kernel family on the default device, on inputs from fixed seeds and of sizes that several
// threads share, with ends that fill no register: a hash of the results' bytes for each piece of work.
std::map<std::string, uint64_t> hash_families();

}  // namespace backplane::cpu_test

#endif  // BACKPLANE_TESTS_CPU_FAMILIES_H_
