// SPDX-License-Identifier: Apache-2.0
//
// Runs case files. Every case is run as written, then with its inputs laid out awkwardly, then into a tensor
// that is there already where the operator can; all three must give what the file says.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tensor/check.h"
#include "tensor/compare.h"
#include "tensor/operators.h"
#include "tensor/suite.h"

namespace backplane::conformance::tensors {
namespace {

struct Case {
  std::string name;
  std::string op;
  std::vector<std::string> in;
  std::vector<std::string> out;
  nlohmann::json attrs;
  double rtol = 0;
  double atol = 0;
};

std::vector<Case> parse_cases(const SafetensorsFile& file) {
  const auto found = file.metadata.find("cases");
  if (found == file.metadata.end()) throw Failure("the file's metadata has no 'cases'");
  std::vector<Case> cases;
  for (const nlohmann::json& each : nlohmann::json::parse(found->second)) {
    const auto name = each.value("name", std::string("?"));
    cases.push_back({name, each.value("op", std::string()), each.value("in", std::vector<std::string>()),
                     each.value("out", std::vector<std::string>()),
                     each.value("attrs", nlohmann::json::object()), each.value("rtol", 0.0),
                     each.value("atol", 0.0)});
  }
  return cases;
}

std::vector<Tensor> pick(const std::map<std::string, Tensor>& tensors,
                         const std::vector<std::string>& names) {
  std::vector<Tensor> result;
  for (const std::string& name : names) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) throw Failure("the file has no tensor '" + name + "'");
    result.push_back(found->second);
  }
  return result;
}

void check_results(const Case& each, const char* form, const std::vector<Tensor>& got,
                   const std::vector<Tensor>& want, const Device& device) {
  if (got.size() != want.size())
    throw Failure(fmt::format("{}: {} results, want {}", form, got.size(), want.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].device() != device)
      throw Failure(
          fmt::format("{}: the result is on {}, not on {}", form, got[i].device().name(), device.name()));
    const std::string text = difference(got[i], want[i], each.rtol, each.atol);
    if (!text.empty()) throw Failure(fmt::format("{}: result {}: {}", form, i, text));
  }
}

// A given type changes what the operator computes in, which the type of a result alone does not.
bool can_write_out(const Operator& op, const Attributes& attrs, const std::vector<Tensor>& in) {
  return op.run_out && (in.empty() || !attrs.has({"dtype"}));
}

void run_case(const Case& each, const std::vector<Tensor>& in, const std::vector<Tensor>& want,
              const Device& device) {
  const auto found = operators().find(each.op);
  if (found == operators().end()) throw Skip("operator '" + each.op + "' is not known");
  for (const auto* tensors : {&in, &want})
    for (const Tensor& tensor : *tensors) require_type(device, tensor.dtype());

  const Operator& op = found->second;
  const Attributes attrs(each.attrs);
  const std::vector<Tensor> got = op.run({in, attrs, device});
  attrs.check_all_used();
  check_results(each, "plain", got, want, device);

  if (!in.empty()) {
    std::vector<Tensor> views;
    for (const Tensor& tensor : in) views.push_back(scattered(tensor));
    check_results(each, "of strided views", op.run({views, attrs, device}), want, device);
  }
  if (can_write_out(op, attrs, in)) {
    const Tensor result = empty(want[0].shape(), want[0].dtype(), device);
    op.run_out({in, attrs, device}, result);
    check_results(each, "into an existing tensor", {result}, want, device);
  }
}

// Where wanted values are kept: host memory if there is any, so that a device whose copies are broken does
// not break both sides alike.
Device keeper(const Device& device) {
  for (const Device& each : devices())
    if ((each.properties().flags & plugin::kHostMemory) != 0) return each;
  return device;
}

template <typename Function>
Result guarded(const std::string& name, const Device& device, const Function& function) {
  Result result{device.name(), name, Outcome::Passed, {}, false};
  const auto end = [&result](Outcome outcome, const char* message) {
    result.outcome = outcome;
    result.message = message;
  };
  try {
    function();
  } catch (const Skip& skip) {
    end(Outcome::Skipped, skip.what());
  } catch (const Error& error) {
    result.unimplemented = error.code() == ErrorCode::Unimplemented;
    end(result.unimplemented ? Outcome::Skipped : Outcome::Failed, error.what());
  } catch (const std::exception& error) {
    end(Outcome::Failed, error.what());
  }
  return result;
}

}  // namespace

Result run(const Rule& rule, const Device& device) {
  return guarded(std::string("rule/") + rule.name, device, [&] { rule.run(device); });
}

void run_cases(const std::filesystem::path& path, const Device& device, const Sink& sink) {
  const std::string prefix = "golden/" + path.stem().string() + "/";
  SafetensorsFile inputs, wanted;
  std::vector<Case> cases;
  const Result reading = guarded(prefix + "(reading the file)", device, [&] {
    inputs = load_safetensors(path, device);
    wanted = load_safetensors(path, keeper(device));
    cases = parse_cases(inputs);
  });
  if (reading.outcome != Outcome::Passed) {
    sink({reading.device, reading.name, Outcome::Failed, reading.message, false});
    return;
  }
  for (const Case& each : cases)
    sink(guarded(prefix + each.name, device, [&] {
      run_case(each, pick(inputs.tensors, each.in), pick(wanted.tensors, each.out), device);
    }));
}

std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace backplane::conformance::tensors
