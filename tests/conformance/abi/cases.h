// SPDX-License-Identifier: Apache-2.0
//
// The files of cases; each adds its own.
#ifndef BACKPLANE_TESTS_CONFORMANCE_ABI_CASES_H_
#define BACKPLANE_TESTS_CONFORMANCE_ABI_CASES_H_

#include "abi.h"

namespace backplane::conformance {

void add_memory_cases(std::vector<Case>& cases);
void add_stream_cases(std::vector<Case>& cases);
void add_struct_cases(std::vector<Case>& cases);
void add_elementwise_cases(std::vector<Case>& cases);
void add_copy_cases(std::vector<Case>& cases);
void add_reduce_cases(std::vector<Case>& cases);
void add_matmul_cases(std::vector<Case>& cases);
void add_rowwise_cases(std::vector<Case>& cases);
void add_scan_cases(std::vector<Case>& cases);
void add_index_cases(std::vector<Case>& cases);
void add_sort_cases(std::vector<Case>& cases);

inline constexpr void (*kCaseFiles[])(std::vector<Case>&) = {
    add_memory_cases, add_stream_cases, add_struct_cases, add_elementwise_cases,
    add_copy_cases,   add_reduce_cases, add_matmul_cases, add_rowwise_cases,
    add_scan_cases,   add_index_cases,  add_sort_cases,
};

}  // namespace backplane::conformance

#endif  // BACKPLANE_TESTS_CONFORMANCE_ABI_CASES_H_
