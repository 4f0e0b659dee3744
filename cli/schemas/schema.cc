#include "cli/schemas/schema.h"

#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>

namespace mayfly::schemas {

using json::Tree;

void SchemaFiles::append(SchemaFiles other) {
  std::move(other.tables.begin(), other.tables.end(), std::back_inserter(tables));
  std::move(other.functions.begin(), other.functions.end(), std::back_inserter(functions));
  std::move(other.mappings.begin(), other.mappings.end(), std::back_inserter(mappings));
  std::move(other.warnings.begin(), other.warnings.end(), std::back_inserter(warnings));
}

Expected<std::map<std::string, std::string>, std::string> schema_parameters(
    const std::vector<std::string>& options) {
  std::map<std::string, std::string> parameters;
  std::string* last = nullptr;
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos && last != nullptr) {
      *last += "," + option;
      continue;
    }
    if (equals == 0 || equals == std::string::npos)
      return Unexpected{"--schema-parameter must be NAME=VALUE, got '" + option + "'"};
    last = &parameters[option.substr(0, equals)];
    *last = option.substr(equals + 1);
  }
  return parameters;
}

Tree members_of(const Tree& from, std::initializer_list<const char*> names) {
  Tree result = Tree::object();
  for (const char* name : names) {
    if (const Tree* found = json::member(from, name)) result[name] = *found;
  }
  return result;
}

Tree with_numbers(Tree value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure == std::errc{} && end == text.data() + text.size()) return number;
  }
  if (value.is_structured()) {
    for (auto& element : value) element = with_numbers(std::move(element));
  }
  return value;
}

bool is_true(const Tree* value) {
  if (value == nullptr) return false;
  return value->is_boolean() ? value->get<bool>() : *value == "true";
}

Tree mapping_request(const Tree& from) {
  Tree request = with_numbers(members_of(
      from, {"StartingPosition", "BatchSize", "MaximumBatchingWindowInSeconds", "ParallelizationFactor",
             "MaximumRetryAttempts", "MaximumRecordAgeInSeconds", "TumblingWindowInSeconds"}));
  for (const char* name : {"Enabled", "BisectBatchOnFunctionError"})
    if (const Tree* value = json::member(from, name)) request[name] = is_true(value);
  request.update(
      members_of(from, {"FunctionResponseTypes", "FilterCriteria", "DestinationConfig", "MetricsConfig"}));
  return request;
}

std::optional<std::string> table_of_stream(std::string_view arn) {
  constexpr std::string_view before = ":table/", after = "/stream/";
  const auto begin = arn.find(before), end = arn.find(after);
  if (!arn.starts_with("arn:") || arn.find(":dynamodb:") == arn.npos || begin == arn.npos ||
      end == arn.npos || end < begin)
    return std::nullopt;
  return std::string(arn.substr(begin + before.size(), end - begin - before.size()));
}

SchemaRequest time_to_live(const std::string& table, const std::string& attribute) {
  return {
      "UpdateTimeToLive",
      {{"TableName", table}, {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", attribute}}}}};
}

SchemaRequest recovery(const std::string& table, const Tree* days) {
  Tree specification = {{"PointInTimeRecoveryEnabled", true}};
  if (days != nullptr) specification["RecoveryPeriodInDays"] = with_numbers(*days);
  return {"UpdateContinuousBackups",
          {{"TableName", table}, {"PointInTimeRecoverySpecification", std::move(specification)}}};
}

SchemaRequest replica(const std::string& table, const std::string& region) {
  Tree create = {{"Create", {{"RegionName", region}}}};
  return {"UpdateTable", {{"TableName", table}, {"ReplicaUpdates", Tree::array({std::move(create)})}}};
}

}  // namespace mayfly::schemas
