// SPDX-License-Identifier: Apache-2.0
// One row: an instruction, the bits of its sources, and the bits of its result as the PTX ISA document
// defines it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/harness.h"

namespace cuda_double_test {

struct Row {
  std::string instruction;  // without operands
  std::string result;       // register types: "b16", "b32", "b64", "f32", "f64" or "pred"
  std::vector<std::string> from;
  std::vector<uint64_t> sources;
  uint64_t expected;
};

class InstructionTest : public DriverTest {
 protected:
  // One kernel a row; 32 threads and then 5, which takes the path for part of a warp.
  void check(const std::vector<Row>& rows) {
    std::string text = kHeader;
    for (size_t i = 0; i < rows.size(); ++i) text += kernel_of(rows[i], i);
    CUmodule module = nullptr;
    std::string log;
    ASSERT_EQ(refuse(text, &log), CUDA_SUCCESS) << log;
    ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS);
    const CUdeviceptr in = allocate(8 * 8), out = allocate(32 * 8);
    for (size_t i = 0; i < rows.size(); ++i) {
      CUfunction function = nullptr;
      ASSERT_EQ(cuModuleGetFunction(&function, module, ("f" + std::to_string(i)).c_str()), CUDA_SUCCESS);
      std::vector<uint64_t> sources = rows[i].sources;
      sources.resize(8, 0);
      ASSERT_EQ(cuMemcpyHtoD(in, sources.data(), 64), CUDA_SUCCESS);
      for (const unsigned threads : {32u, 5u}) {
        ASSERT_EQ(launch(function, threads, in, out), CUDA_SUCCESS);
        for (const uint64_t value : download<uint64_t>(out, threads))
          EXPECT_EQ(value, rows[i].expected) << describe(rows[i]);
      }
    }
  }

 private:
  static std::string describe(const Row& row) {
    std::string text = row.instruction;
    char buffer[32];
    for (const uint64_t source : row.sources) {
      std::snprintf(buffer, sizeof buffer, " %#llx", static_cast<unsigned long long>(source));
      text += buffer;
    }
    return text;
  }

  static std::string memory_type(const std::string& type) { return type == "pred" ? "b32" : type; }

  static std::string kernel_of(const Row& row, size_t index) {
    std::string text =
        ".visible .entry f" + std::to_string(index) +
        "(.param .u64 pi, .param .u64 po)\n{\n.reg .b64 %in, %out, %off, %wide;\n.reg .b32 %t, %flag;\n";
    text += ".reg ." + row.result + " %x;\nld.param.u64 %in, [pi];\nld.param.u64 %out, [po];\n";
    text +=
        "mov.u32 %t, %tid.x;\nmul.wide.u32 %off, %t, 8;\nadd.s64 %out, %out, %off;\nmov.u64 %wide, "
        "0;\nst.global.u64 [%out], %wide;\n";
    std::string operands = "%x";
    for (size_t i = 0; i < row.from.size(); ++i) {
      const std::string name = "%s" + std::to_string(i), offset = std::to_string(8 * i);
      text += ".reg ." + row.from[i] + " " + name + ";\n";
      if (row.from[i] == "pred") {
        text += "ld.global.b32 %flag, [%in+" + offset + "];\nsetp.ne.s32 " + name + ", %flag, 0;\n";
      } else {
        text += "ld.global." + row.from[i] + " " + name + ", [%in+" + offset + "];\n";
      }
      operands += ", " + name;
    }
    text += row.instruction + " " + operands + ";\n";
    if (row.result == "pred")
      text += "selp.b32 %flag, 1, 0, %x;\nst.global.b32 [%out], %flag;\n";
    else
      text += "st.global." + row.result + " [%out], %x;\n";
    return text + "ret;\n}\n";
  }
};

}  // namespace cuda_double_test
