// SPDX-License-Identifier: Apache-2.0
// Where everything that a program under test does wrong is written down: standard error, the file that
// CUDA_DOUBLE_REPORT names, and a list that tests read through control.h. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace cuda_double {

void report(const std::string& what);
std::vector<std::string> reports();
void clear_reports();
void set_report_file(const std::string& path);

}  // namespace cuda_double
