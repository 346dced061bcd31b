// SPDX-License-Identifier: Apache-2.0
//
// Which kernels run: the tables of loops that follow from the instruction set chosen.
#include "cpu/isa.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cpu/vector_copy.h"
#include "cpu/vector_loops.h"
#include "cpu/vector_matmul.h"
#include "cpu/vector_reduce.h"
#include "cpu/vector_rowwise.h"

namespace backplane::cpu {
namespace {

// Selects an instruction set for one test.
class Selected {
 public:
  explicit Selected(const char* name) : known_(select_isa(name)) {}
  ~Selected() {
    constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};
    select_isa(kNames[static_cast<int>(best_isa())]);
  }
  bool known() const { return known_; }

 private:
  const bool known_;
};

struct Tables {
  const char* name;
  const MatmulTable* matmul;
  const LoopTable* float32;
  const ReduceTable* reduce;
  const RowwiseTable* rowwise;
  int product_rows;  // of a tile of a float32 product: it fills the registers
  int product_columns;
};

const std::vector<Tables>& all_tables() {
  static const std::vector<Tables> tables = {
    {"baseline", &baseline::matmul_table, &baseline::float32_loops, &baseline::reduce_table,
     &baseline::rowwise_table, 6, 8},
#if defined(__x86_64__)
    {"avx2", &avx2::matmul_table, &avx2::float32_loops, &avx2::reduce_table, &avx2::rowwise_table, 6, 16},
    {"avx512", &avx512::matmul_table, &avx512::float32_loops, &avx512::reduce_table, &avx512::rowwise_table,
     12, 32},
#endif
  };
  return tables;
}

class CpuIsa : public testing::TestWithParam<Tables> {};

// Products are this project's own on every processor: no library is called (docs/adr/0005-cpu-matmul.md).
TEST_P(CpuIsa, TheNamedKernelsRun) {
  const Selected selected(GetParam().name);
  if (!selected.known()) GTEST_SKIP() << "this processor has no " << GetParam().name;
  EXPECT_EQ(&active_matmul_table(), GetParam().matmul);
  EXPECT_EQ(&active_float32_loops(), GetParam().float32);
  EXPECT_EQ(&active_reduce_table(), GetParam().reduce);
  EXPECT_EQ(&active_rowwise_table(), GetParam().rowwise);
  const MatmulLoops& products = active_matmul_table().loops[static_cast<int>(SumType::Float32)];
  EXPECT_EQ(products.rows, GetParam().product_rows);
  EXPECT_EQ(products.columns, GetParam().product_columns);
}
INSTANTIATE_TEST_SUITE_P(All, CpuIsa, testing::ValuesIn(all_tables()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CpuIsaChoice, IsTheBestWithoutAnOptionAndRefusesUnknownNames) {
  EXPECT_EQ(active_isa(), best_isa());
  EXPECT_FALSE(select_isa("avx1024"));
  EXPECT_FALSE(select_isa(""));
  EXPECT_EQ(active_isa(), best_isa());
}

}  // namespace
}  // namespace backplane::cpu
