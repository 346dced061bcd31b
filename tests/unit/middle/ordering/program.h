// SPDX-License-Identifier: Apache-2.0
//
// Random programs of operators, views, copies and frees over several streams and devices, on int32, whose
// results are the same bits everywhere: run as they are, and in sequence on one stream.
#ifndef BACKPLANE_TESTS_UNIT_MIDDLE_ORDERING_PROGRAM_H_
#define BACKPLANE_TESTS_UNIT_MIDDLE_ORDERING_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/backplane.h"

namespace backplane::ordering {

enum class Op : uint8_t {
  Make,       // out = p * arange + q
  FromHost,   // out = values made from p
  WrapHost,   // out = the same, in memory of the program's own that it overwrites once it is released
  Fill,       // a[...] = p
  Add,        // out = a + b
  AddTo,      // a += b
  Scale,      // out = a * p + q
  Rows,       // rows of a from p on += rows of b from q on
  CopyRows,   // rows of a from p on = rows of b from q on
  Sort,       // out = sort(a)
  Sum,        // out = a + sum(a)
  Scan,       // out = cumulative_sum(a)
  Take,       // out = rows of a in an order made from p
  Copy,       // out = a.copy_to(device)
  Assign,     // a[...] = b
  Clone,      // out = a.clone()
  Transpose,  // out = a view of a
  Flip,       // out = a view of a
  Free,       // a is dropped
  Read,       // the host looks at a
  Write,      // the host writes a
  Busy,       // keeps the stream occupied
  Event,      // the device's stream waits for an event of b's stream
  Synchronize,
};
inline constexpr int kOps = static_cast<int>(Op::Synchronize) + 1;

struct Step {
  Op op;
  int out, a, b;             // numbers of tensors
  int device;                // of what is made; a number in Program::devices
  std::vector<int> streams;  // for each device, the stream that the step's work there goes to
  int64_t p, q;
};

struct Program {
  uint64_t seed = 0;
  int64_t side = 1;  // tensors are side x side
  std::vector<std::string> devices;
  std::vector<Step> steps;
};

inline constexpr int kTensors = 6;
inline constexpr int kStreams = 3;  // for each device: its default one and two more where it has such

// The devices are drawn from `names`; "side" is small where one of them is slow.
Program make_program(uint64_t seed, const std::vector<std::string>& names);

std::string to_string(const Program& program);

// All that the program's host ever sees: what it reads on the way, and every tensor at the end.
using Record = std::vector<std::vector<int32_t>>;

// As written, and with every device replaced by cpu:0 and every stream by its default one.
Record run(const Program& program);
Record run_in_sequence(const Program& program);

}  // namespace backplane::ordering

#endif  // BACKPLANE_TESTS_UNIT_MIDDLE_ORDERING_PROGRAM_H_
