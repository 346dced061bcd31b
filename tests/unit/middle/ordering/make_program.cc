// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <sstream>

#include "program.h"

namespace backplane::ordering {
namespace {

struct OpRow {
  Op op;
  const char* name;
  int weight;
};
constexpr OpRow kRows[kOps] = {
    {Op::Make, "make", 6},
    {Op::FromHost, "from_host", 4},
    {Op::WrapHost, "wrap_host", 3},
    {Op::Fill, "fill", 3},
    {Op::Add, "add", 8},
    {Op::AddTo, "add_to", 8},
    {Op::Scale, "scale", 6},
    {Op::Rows, "rows", 6},
    {Op::CopyRows, "copy_rows", 6},
    {Op::Sort, "sort", 2},
    {Op::Sum, "sum", 2},
    {Op::Scan, "scan", 2},
    {Op::Take, "take", 2},
    {Op::Copy, "copy", 10},
    {Op::Assign, "assign", 8},
    {Op::Clone, "clone", 3},
    {Op::Transpose, "transpose", 3},
    {Op::Flip, "flip", 2},
    {Op::Free, "free", 8},
    {Op::Read, "read", 2},
    {Op::Write, "write", 2},
    {Op::Busy, "busy", 3},
    {Op::Event, "event", 2},
    {Op::Synchronize, "synchronize", 1},
};

bool slow(const std::string& device) { return device.starts_with("cuda"); }

int64_t draw_side(std::mt19937_64& random, const std::vector<std::string>& devices) {
  constexpr int64_t kSmall[] = {1, 5, 16, 32}, kAny[] = {1, 7, 32, 100, 200, 300};
  if (std::any_of(devices.begin(), devices.end(), slow)) return kSmall[random() % std::size(kSmall)];
  return kAny[random() % std::size(kAny)];
}

std::vector<std::string> draw_devices(std::mt19937_64& random, std::vector<std::string> names) {
  std::shuffle(names.begin(), names.end(), random);
  names.resize(std::min<size_t>(names.size(), 2 + random() % 3));
  return names;
}

}  // namespace

Program make_program(uint64_t seed, const std::vector<std::string>& names) {
  std::mt19937_64 random(seed);
  Program program;
  program.seed = seed;
  program.devices = draw_devices(random, names);
  program.side = draw_side(random, program.devices);
  std::vector<double> weights;
  for (const OpRow& row : kRows) weights.push_back(row.weight);
  std::discrete_distribution<int> op(weights.begin(), weights.end());
  const auto number = [&](auto below) { return static_cast<int>(random() % static_cast<uint64_t>(below)); };
  const int count = 10 + number(40);
  for (int i = 0; i < count; ++i) {
    Step step{i < 3 ? Op::Make : kRows[op(random)].op,
              number(kTensors),
              number(kTensors),
              number(kTensors),
              number(program.devices.size()),
              {},
              number(1000),
              number(1000)};
    for (size_t d = 0; d < program.devices.size(); ++d) step.streams.push_back(number(kStreams));
    program.steps.push_back(std::move(step));
  }
  return program;
}

std::string to_string(const Program& program) {
  std::ostringstream out;
  out << "seed " << program.seed << ", tensors of " << program.side << " x " << program.side << '\n';
  for (const Step& step : program.steps) {
    out << "  " << kRows[static_cast<int>(step.op)].name << " out=" << step.out << " a=" << step.a
        << " b=" << step.b << " p=" << step.p << " q=" << step.q << " on "
        << program.devices[static_cast<size_t>(step.device)] << ", streams";
    for (size_t d = 0; d < program.devices.size(); ++d)
      out << ' ' << program.devices[d] << '/' << step.streams[d];
    out << '\n';
  }
  return out.str();
}

}  // namespace backplane::ordering
