// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "program.h"

namespace backplane::ordering {
namespace {

// Devices that do no more than copy, and those whose compilers take too long for the larger operators.
bool only_copies(const std::string& device) {
  return device.starts_with("null") || device.starts_with("far");
}
bool all_operators(const std::string& device) {
  return device.starts_with("cpu") || device.starts_with("cuda");
}

std::vector<int32_t> made_from(int64_t p, int64_t count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<int32_t>(static_cast<uint32_t>(p + 1) * 2654435761u * static_cast<uint32_t>(i + 1));
  return values;
}

class Runner {
 public:
  Runner(const Program& program, bool in_sequence) : program_(program), in_sequence_(in_sequence) {
    for (const std::string& name : program.devices) {
      devices_.emplace_back(in_sequence ? "cpu:0" : name);
      streams_.push_back(streams_of(devices_.back()));
    }
  }

  Record run() {
    for (const Step& step : program_.steps) run(step);
    for (const Tensor& tensor : tensors_)
      if (tensor.defined()) record_.push_back(read(tensor));
    return std::move(record_);
  }

 private:
  std::vector<Stream> streams_of(const Device& device) const {
    std::vector<Stream> streams{Stream::default_of(device)};
    try {
      while (!in_sequence_ && streams.size() < kStreams) streams.emplace_back(device);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Unimplemented) throw;
    }
    return streams;
  }

  // What the program asks for, whatever device stands in for it.
  const std::string& nominal(int device) const { return program_.devices[static_cast<size_t>(device)]; }

  void run(const Step& step) {
    std::vector<std::unique_ptr<StreamGuard>> guards;
    for (size_t d = 0; d < devices_.size(); ++d)
      guards.push_back(std::make_unique<StreamGuard>(
          streams_[d][static_cast<size_t>(step.streams[d]) % streams_[d].size()]));
    const bool made = make(step) || compute(step) || move(step) || watch(step);
    if (!made) throw std::logic_error("a step that nobody runs");
  }

  Tensor& out(const Step& step, int device) {
    homes_[step.out] = device;
    return tensors_[step.out];
  }
  bool has(int tensor) const { return tensors_[tensor].defined(); }

  bool make(const Step& step) {
    const Device& device = devices_[static_cast<size_t>(step.device)];
    const int64_t side = program_.side, count = side * side;
    switch (step.op) {
      case Op::Make:
        if (!only_copies(nominal(step.device))) {
          const Tensor numbers = arange(count, int32, device).reshape({side, side});
          out(step, step.device) = numbers * step.p + step.q;
          return true;
        }
        [[fallthrough]];
      case Op::FromHost:
        out(step, step.device) = from_host(made_from(step.p, count).data(), {side, side}, int32, device);
        return true;
      case Op::WrapHost:
        out(step, step.device) = wrap(step, device);
        return true;
      default:
        return false;
    }
  }

  Tensor wrap(const Step& step, const Device& device) const {
    const int64_t side = program_.side;
    const auto values = std::make_shared<std::vector<int32_t>>(made_from(step.p, side * side));
    if (!nominal(step.device).starts_with("cpu"))
      return from_host(values->data(), {side, side}, int32, device);
    return wrap_host(
        values->data(), {side, side}, int32, [values] { std::fill(values->begin(), values->end(), -1); },
        false, device);
  }

  bool compute(const Step& step) {
    const int home = homes_[step.a];
    const bool able = has(step.a) && !only_copies(nominal(home));
    const bool able_two = able && has(step.b);
    const bool all = able && all_operators(nominal(home));
    const Tensor a = tensors_[step.a];
    const auto b = [&] { return tensors_[step.b].to(devices_[static_cast<size_t>(home)]); };
    switch (step.op) {
      case Op::Fill:
        if (able) a.fill(step.p);
        return true;
      case Op::Add:
        if (able_two) out(step, home) = add(a, b());
        return true;
      case Op::AddTo:
        if (able_two) add_out(a, a, b());
        return true;
      case Op::Scale:
        if (able) out(step, home) = a * step.p + step.q;
        return true;
      case Op::Rows:
        if (able_two) {
          const auto [to, from] = windows(step);
          add_out(a.slice(0, to), a.slice(0, to), b().slice(0, from));
        }
        return true;
      case Op::Sort:
        if (all) out(step, home) = sort(a);
        return true;
      case Op::Sum:
        if (all) out(step, home) = a + sum(a, 0).astype(int32);
        return true;
      case Op::Scan:
        if (all) out(step, home) = cumulative_sum(a, 1).astype(int32);
        return true;
      case Op::Take:
        if (all) out(step, home) = take(a, order(step, a.device()));
        return true;
      default:
        return false;
    }
  }

  Tensor order(const Step& step, const Device& device) const {
    std::vector<int64_t> rows(static_cast<size_t>(program_.side));
    std::iota(rows.begin(), rows.end(), 0);
    std::rotate(rows.begin(), rows.begin() + step.p % program_.side, rows.end());
    return tensor(rows, device);
  }

  std::pair<Slice, Slice> windows(const Step& step) const {
    const int64_t side = program_.side, rows = side / 2 + 1;
    const int64_t to = step.p % (side - rows + 1), from = step.q % (side - rows + 1);
    return {{to, to + rows}, {from, from + rows}};
  }

  bool move(const Step& step) {
    const Tensor a = tensors_[step.a], b = tensors_[step.b];
    const int home = homes_[step.a];
    switch (step.op) {
      case Op::CopyRows:
        if (a.defined() && b.defined()) {
          const auto [to, from] = windows(step);
          a.slice(0, to).assign(b.slice(0, from));
        }
        return true;
      case Op::Copy:
        if (a.defined()) out(step, step.device) = a.copy_to(devices_[static_cast<size_t>(step.device)]);
        return true;
      case Op::Assign:
        if (a.defined() && b.defined()) a.assign(b);
        return true;
      case Op::Clone:
        if (a.defined()) out(step, home) = a.clone();
        return true;
      case Op::Transpose:
        if (a.defined()) out(step, home) = a.transpose();
        return true;
      case Op::Flip:
        if (a.defined()) out(step, home) = a.flip(0);
        return true;
      case Op::Free:
        tensors_[step.a] = Tensor();
        return true;
      default:
        return false;
    }
  }

  bool watch(const Step& step) {
    const Device& device = devices_[static_cast<size_t>(step.device)];
    switch (step.op) {
      case Op::Read:
        if (has(step.a)) record_.push_back(read(tensors_[step.a]));
        return true;
      case Op::Write:
        if (has(step.a)) {
          const auto values = made_from(step.q, program_.side * program_.side);
          tensors_[step.a].copy_from_host(values.data(), values.size() * sizeof values[0]);
        }
        return true;
      case Op::Busy:
        if (!in_sequence_ && nominal(step.device).starts_with("cpu")) {
          const Tensor x = ones({1 << 17}, int32, device);
          for (int i = 0; i < 4; ++i) x.fill(i);
        }
        return true;
      case Op::Event:
        Stream::current(device).wait(
            Stream::current(devices_[static_cast<size_t>(step.b) % devices_.size()]).record());
        return true;
      case Op::Synchronize:
        device.synchronize();
        return true;
      default:
        return false;
    }
  }

  static std::vector<int32_t> read(const Tensor& tensor) {
    std::vector<int32_t> values(static_cast<size_t>(tensor.size()));
    tensor.copy_to_host(values.data(), tensor.nbytes());
    return values;
  }

  const Program& program_;
  const bool in_sequence_;
  std::vector<Device> devices_;
  std::vector<std::vector<Stream>> streams_;
  Tensor tensors_[kTensors];
  int homes_[kTensors] = {};
  Record record_;
};

}  // namespace

Record run(const Program& program) { return Runner(program, false).run(); }
Record run_in_sequence(const Program& program) { return Runner(program, true).run(); }

}  // namespace backplane::ordering
