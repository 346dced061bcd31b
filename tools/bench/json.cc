// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results.h"

namespace backplane::bench {
namespace {

using nlohmann::json;

json to_json(const Row& row) {
  return {{"device", row.device},
          {"family", row.family},
          {"name", row.name},
          {"type", row.type},
          {"size", row.size},
          {"bytes", row.bytes},
          {"operations", row.operations},
          {"seconds", row.time.seconds},
          {"noise", row.time.noise}};
}

Row row_from(const json& data) {
  return {
      data.at("device"), data.at("family"), data.at("name"),       data.at("type"),
      data.at("size"),   data.at("bytes"),  data.at("operations"), {data.at("seconds"), data.at("noise")}};
}

}  // namespace

void write_json(const Results& results, const std::string& path) {
  json limits = json::array(), rows = json::array();
  for (const Limit& limit : results.limits)
    limits.push_back({{"name", limit.name}, {"value", limit.value}, {"unit", limit.unit}});
  for (const Row& row : results.rows) rows.push_back(to_json(row));
  std::ofstream file(path);
  file << json{{"limits", limits}, {"rows", rows}, {"skipped", results.skipped}}.dump(1) << "\n";
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", path));
}

Results read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path));
  try {
    const json data = json::parse(file);
    Results results;
    for (const json& limit : data.at("limits"))
      results.limits.push_back({limit.at("name"), limit.at("value"), limit.at("unit")});
    for (const json& row : data.at("rows")) results.rows.push_back(row_from(row));
    results.skipped = data.at("skipped");
    return results;
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("{} is not a result of backplane-bench: {}", path, error.what()));
  }
}

}  // namespace backplane::bench
