#include "compat/lambda/event_source_mapping.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/lambda/failure_destination.h"
#include "compat/lambda/lambda_error.h"
#include "compat/wire/java_string.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::int64_t age_seconds_min = 60;

// --- the request's members

constexpr std::string_view positions[] = {"LATEST", "AT_TIMESTAMP", "TRIM_HORIZON"};
constexpr std::string_view response_types[] = {"ReportBatchItemFailures"};
constexpr std::string_view event_count = "EventCount";
constexpr std::string_view metric_names[] = {event_count, "ErrorCount", "KafkaMetrics"};

constexpr Shape text = string_shape();
constexpr Shape function_name = string_shape(1, 256);
constexpr Shape batch_size = integer_shape(1, 10'000);
constexpr Shape pattern = string_shape(0, pattern_characters_max);
constexpr Member filter_members[] = {{"Pattern", &pattern}};
constexpr Shape filter = structure("Filter", filter_members);
constexpr Shape filters = list_of(filter);
constexpr Member criteria_members[] = {{"Filters", &filters}};
constexpr Shape criteria = structure("FilterCriteria", criteria_members);
constexpr Shape key_arn = string_shape(0, 10'000, key_arn_pattern);
constexpr Shape metric = enum_shape(metric_names);
constexpr Shape metric_list = list_of(metric, 0, 3);
constexpr Member metrics_members[] = {{"Metrics", &metric_list}};
constexpr Shape metrics = structure("EventSourceMappingMetricsConfig", metrics_members);
// The members of these structures are not checked.
constexpr Shape logging = structure("EventSourceMappingLoggingConfig", {});
constexpr Shape scaling = structure("ScalingConfig", {});
constexpr Shape pollers = structure("ProvisionedPollerConfig", {});
constexpr Shape batching_window = integer_shape(0, 300);
constexpr Shape parallelization = integer_shape(1, 10);
constexpr Shape position = enum_shape(positions);
constexpr Shape destination = string_shape(0, 350);
constexpr Member on_failure_members[] = {{"Destination", &destination}};
constexpr Shape on_failure = structure("OnFailure", on_failure_members);
constexpr Member destination_members[] = {{"OnFailure", &on_failure}};
constexpr Shape destinations = structure("DestinationConfig", destination_members);
constexpr Shape record_age = integer_shape(-1, 604'800);
constexpr Shape retries = integer_shape(-1, 10'000);
constexpr Shape tags = map_of(text);
constexpr Shape tumbling_window = integer_shape(0, 900);
constexpr Shape response_type = enum_shape(response_types);
constexpr Shape response_types_list = list_of(response_type, 0, 1);

constexpr Member create_members[] = {
    {"FunctionName", &function_name, required},
    {"EventSourceArn", &text},
    {"Enabled", &shapes::boolean},
    {"BatchSize", &batch_size},
    {"FilterCriteria", &criteria},
    {"KMSKeyArn", &key_arn},
    {"MetricsConfig", &metrics},
    {"LoggingConfig", &logging},
    {"ScalingConfig", &scaling},
    {"MaximumBatchingWindowInSeconds", &batching_window},
    {"ParallelizationFactor", &parallelization},
    {"StartingPosition", &position},
    {"StartingPositionTimestamp", &shapes::timestamp},
    {"DestinationConfig", &destinations},
    {"MaximumRecordAgeInSeconds", &record_age},
    {"BisectBatchOnFunctionError", &shapes::boolean},
    {"MaximumRetryAttempts", &retries},
    {"Tags", &tags},
    {"TumblingWindowInSeconds", &tumbling_window},
    {"FunctionResponseTypes", &response_types_list},
    {"ProvisionedPollerConfig", &pollers},
};
constexpr Shape create_shape = structure("CreateEventSourceMappingRequest", create_members);
constexpr Member update_members[] = {
    {"FunctionName", &function_name},
    {"Enabled", &shapes::boolean},
    {"BatchSize", &batch_size},
    {"FilterCriteria", &criteria},
    {"KMSKeyArn", &key_arn},
    {"MetricsConfig", &metrics},
    {"LoggingConfig", &logging},
    {"ScalingConfig", &scaling},
    {"MaximumBatchingWindowInSeconds", &batching_window},
    {"ParallelizationFactor", &parallelization},
    {"DestinationConfig", &destinations},
    {"MaximumRecordAgeInSeconds", &record_age},
    {"BisectBatchOnFunctionError", &shapes::boolean},
    {"MaximumRetryAttempts", &retries},
    {"TumblingWindowInSeconds", &tumbling_window},
    {"FunctionResponseTypes", &response_types_list},
    {"ProvisionedPollerConfig", &pollers},
};
constexpr Shape update_shape = structure("UpdateEventSourceMappingRequest", update_members);
constexpr Member tag_members[] = {
    {"Tags", &tags, required},
};
constexpr Shape tag_shape = structure("TagResourceRequest", tag_members);

// The shape check returns DynamoDB's errors. Lambda uses the same messages, so only the exception changes.
Result<void> check(const Shape& shape, const json::Value& request) {
  if (auto types = check_types(shape, request); !types) {
    return Unexpected{Error{Error::Kind::lambda_serialization, std::move(types).error().message}};
  }
  if (auto constraints = check_constraints(shape, request); !constraints) {
    return lambda_error::validation(std::move(constraints).error().message);
  }
  return {};
}

Result<void> read_function(const json::Value& request, EventSourceMapping& mapping) {
  const auto name = string_member(request, "FunctionName");
  if (!name) return {};
  auto function = FunctionName::parse(*name, mapping.scope);
  if (!function) {
    return lambda_error::validation(
        "1 validation error detected: Value '" + std::string(*name) +
        "' at 'functionName' failed to satisfy constraint: Member must satisfy regular expression pattern: "
        R"((arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\d{1}:)?(\d{12}:)?(function:)?)"
        R"(([a-zA-Z0-9-_\.]+)(:(\$LATEST(\.PUBLISHED)?|[a-zA-Z0-9-_]+))?)");
  }
  mapping.function = *std::move(function);
  return {};
}

Result<void> read_filters(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping) {
  const json::Value* wanted = request.member("FilterCriteria");
  if (wanted == nullptr) return {};
  mapping.patterns.clear();
  mapping.filters.clear();
  const json::Value* list = wanted->member("Filters");
  if (list == nullptr) return {};
  if (list->items().size() > filters_max) {
    return lambda_error::invalid_parameter("FilterCriteria can have at most " + std::to_string(filters_max) +
                                           " filters, got " + std::to_string(list->items().size()) +
                                           " (--mapping-filters-max).");
  }
  for (const json::Value& one : list->items()) {
    auto parsed = FilterPattern::parse(string_member(one, "Pattern").value_or(""));
    if (!parsed) return lambda_error::invalid_parameter("Invalid filter pattern definition.");
    mapping.patterns.emplace_back(*string_member(one, "Pattern"));
    mapping.filters.push_back(*std::move(parsed));
  }
  return {};
}

// Rejects members that Lambda documents only for other event sources. An empty member requests nothing and is
// accepted. The wording of the error is Mayfly's own.
Result<void> refuse_others(const json::Value& request) {
  for (const std::string_view name : {"ScalingConfig", "ProvisionedPollerConfig", "LoggingConfig"}) {
    const json::Value* const wanted = request.member(name);
    if (wanted != nullptr && !wanted->members().empty()) {
      return lambda_error::invalid_parameter(
          std::string(name) + " is not supported for event source mappings of DynamoDB streams.");
    }
  }
  return {};
}

Result<void> read_metrics(const json::Value& request, EventSourceMapping& mapping) {
  const json::Value* const wanted = request.member("MetricsConfig");
  if (wanted == nullptr) return {};
  std::vector<std::string> names;
  if (const json::Value* const list = wanted->member("Metrics")) {
    for (const json::Value& name : list->items()) {
      if (name.string() != event_count) {
        return lambda_error::invalid_parameter(
            "The metric " + std::string(name.string()) +
            " is not supported for event source mappings of DynamoDB streams.");
      }
      names.emplace_back(name.string());
    }
  }
  mapping.metrics = std::move(names);
  return {};
}

void read_integer(const json::Value& request, std::string_view name, std::int64_t& value) {
  value = integer_member(request, name).value_or(value);
}

// Reads the settings that can be given at creation and changed later.
Result<void> read_settings(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping) {
  CHECK_OK(refuse_others(request));
  CHECK_OK(read_function(request, mapping));
  CHECK_OK(read_filters(request, filters_max, mapping));
  CHECK_OK(read_metrics(request, mapping));
  if (const auto arn = string_member(request, "KMSKeyArn")) mapping.key_arn = *arn;
  mapping.enabled = boolean_member(request, "Enabled").value_or(mapping.enabled);
  mapping.bisect = boolean_member(request, "BisectBatchOnFunctionError").value_or(mapping.bisect);
  read_integer(request, "BatchSize", mapping.batch_size);
  read_integer(request, "MaximumBatchingWindowInSeconds", mapping.batching_window_seconds);
  read_integer(request, "ParallelizationFactor", mapping.parallelization);
  read_integer(request, "MaximumRecordAgeInSeconds", mapping.record_age_seconds_max);
  read_integer(request, "MaximumRetryAttempts", mapping.retries_max);
  read_integer(request, "TumblingWindowInSeconds", mapping.tumbling_window_seconds);
  if (mapping.record_age_seconds_max != -1 && mapping.record_age_seconds_max < age_seconds_min) {
    return lambda_error::invalid_parameter("MaximumRecordAgeInSeconds must be -1 or between 60 and 604800.");
  }
  if (const json::Value* wanted = request.member("FunctionResponseTypes")) {
    mapping.reports_failures = !wanted->items().empty();
  }
  if (const json::Value* wanted = request.member("DestinationConfig")) {
    const json::Value* failure = wanted->member("OnFailure");
    mapping.on_failure = failure == nullptr ? "" : string_member(*failure, "Destination").value_or("");
    if (auto known = check_destination(mapping.on_failure); !known) {
      return lambda_error::invalid_parameter("Invalid destination. " + known.error() + ".");
    }
  }
  return {};
}

// LocalStack uses the same wording. The wording of the other tag errors is Mayfly's own.
Unexpected<Error> too_many_tags() {
  return lambda_error::invalid_parameter("Number of tags exceeds resource tag limit.");
}

Result<void> check_tag(std::string_view key, std::string_view value) {
  const std::int64_t characters = java_length(key);
  if (characters == 0 || characters > tag_key_characters_max) {
    return lambda_error::invalid_parameter("A tag's key must have 1 to " +
                                           std::to_string(tag_key_characters_max) + " characters.");
  }
  if (key.starts_with("aws:")) {
    return lambda_error::invalid_parameter("A tag's key must not begin with aws:.");
  }
  if (java_length(value) > tag_value_characters_max) {
    return lambda_error::invalid_parameter("A tag's value must have at most " +
                                           std::to_string(tag_value_characters_max) + " characters.");
  }
  return {};
}

// Requires: `wanted` is a map.
Result<std::map<std::string, std::string>> tags_in(const json::Value& wanted) {
  std::map<std::string, std::string> read;
  for (const auto& [key, value] : wanted.members()) {
    CHECK_OK(check_tag(key, value.string()));
    read.insert_or_assign(std::string(key), std::string(value.string()));
    if (read.size() > tags_max) return too_many_tags();
  }
  return read;
}

// Reads all members of a creation request except the tags.
Result<void> read_mapping(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping) {
  CHECK_OK(check(create_shape, request));
  const auto source = string_member(request, "EventSourceArn");
  const auto position_name = string_member(request, "StartingPosition");
  if (!source) return lambda_error::invalid_parameter("Unrecognized event source.");
  if (!source->starts_with("arn:aws:dynamodb:")) {
    return lambda_error::invalid_parameter(
        "Unrecognized event source, must be kinesis, dynamodb stream or sqs. Unsupported source arn : " +
        std::string(*source));
  }
  if (!position_name) {
    return lambda_error::invalid_parameter(
        "1 validation error detected: Value null at 'startingPosition' failed to satisfy constraint: Member "
        "must not "
        "be null.");
  }
  if (*position_name == "AT_TIMESTAMP") {
    return lambda_error::invalid_parameter("Unsupported starting position for arn type: " +
                                           std::string(*source));
  }
  mapping.event_source_arn = *source;
  mapping.starting_position = *position_name;
  return read_settings(request, filters_max, mapping);
}

json::Tree filters_of(const EventSourceMapping& mapping) {
  json::Tree list = json::Tree::array();
  for (const std::string& one : mapping.patterns) list.push_back({{"Pattern", one}});
  return {{"Filters", std::move(list)}};
}

// Adds the members that the response and the stored document have in common.
void add_settings(json::Tree& shown, const EventSourceMapping& mapping) {
  shown["StartingPosition"] = mapping.starting_position;
  shown["BatchSize"] = mapping.batch_size;
  shown["MaximumBatchingWindowInSeconds"] = mapping.batching_window_seconds;
  shown["ParallelizationFactor"] = mapping.parallelization;
  shown["EventSourceArn"] = mapping.event_source_arn;
  if (!mapping.patterns.empty()) shown["FilterCriteria"] = filters_of(mapping);
  if (!mapping.key_arn.empty()) shown["KMSKeyArn"] = mapping.key_arn;
  if (mapping.metrics) shown["MetricsConfig"] = {{"Metrics", *mapping.metrics}};
  json::Tree on_failure = json::Tree::object();
  if (!mapping.on_failure.empty()) on_failure["Destination"] = mapping.on_failure;
  shown["DestinationConfig"] = {{"OnFailure", std::move(on_failure)}};
  shown["MaximumRecordAgeInSeconds"] = mapping.record_age_seconds_max;
  shown["BisectBatchOnFunctionError"] = mapping.bisect;
  shown["MaximumRetryAttempts"] = mapping.retries_max;
  shown["TumblingWindowInSeconds"] = mapping.tumbling_window_seconds;
  json::Tree& types = shown["FunctionResponseTypes"] = json::Tree::array();
  if (mapping.reports_failures) types.push_back("ReportBatchItemFailures");
}

}  // namespace

json::Tree tags_of(const EventSourceMapping& mapping) {
  json::Tree tags = json::Tree::object();
  for (const auto& [name, value] : mapping.tags) json::add_member(tags, name, value);
  return tags;
}

std::string EventSourceMapping::arn() const {
  return "arn:aws:lambda:" + scope.region + ":" + scope.account + ":event-source-mapping:" + uuid;
}

bool EventSourceMapping::passes(const json::Value& record, FilterWork& work) const {
  return filters.empty() || std::any_of(filters.begin(), filters.end(),
                                        [&](const FilterPattern& one) { return one.matches(record, work); });
}

Result<void> read_creation(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping) {
  CHECK_OK(read_mapping(request, filters_max, mapping));
  if (const json::Value* wanted = request.member("Tags")) {
    TRY(mapping.tags, tags_in(*wanted));
  }
  return {};
}

Result<void> read_update(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping) {
  CHECK_OK(check(update_shape, request));
  return read_settings(request, filters_max, mapping);
}

Result<std::map<std::string, std::string>> read_tags(const json::Value& request) {
  CHECK_OK(check(tag_shape, request));
  return tags_in(*request.member("Tags"));
}

Result<void> add_tags(const std::map<std::string, std::string>& tags, EventSourceMapping& mapping) {
  for (const auto& [key, value] : tags) mapping.tags.insert_or_assign(key, value);
  if (mapping.tags.size() > tags_max) return too_many_tags();
  return {};
}

json::Tree configuration(const EventSourceMapping& mapping, std::string_view state,
                         std::string_view last_result) {
  json::Tree shown{{"UUID", mapping.uuid}};
  add_settings(shown, mapping);
  shown["FunctionArn"] = mapping.function.arn();
  shown["LastModified"] = json::seconds(mapping.last_modified);
  shown["LastProcessingResult"] = last_result;
  shown["State"] = state;
  shown["StateTransitionReason"] = "User action";
  shown["EventSourceMappingArn"] = mapping.arn();
  return shown;
}

// {"FunctionName":arn,"Enabled":true,"Tags":{…},"LastModifiedMs":1700000000000, and the settings}
engine::Document to_document(const EventSourceMapping& mapping) {
  json::Tree shown{{"FunctionName", mapping.function.arn()},
                   {"Enabled", mapping.enabled},
                   {"Tags", tags_of(mapping)},
                   {"LastModifiedMs", mapping.last_modified}};
  add_settings(shown, mapping);
  return {{mapping.scope.account, std::string(mapping_kind), mapping.scope.region + "/" + mapping.uuid},
          json::print(shown)};
}

// A document has the form of a creation request and is read like one, except that its tags are not checked,
// because an earlier version of Mayfly, which did not limit tags, may have stored the document.
std::optional<EventSourceMapping> from_document(const engine::Document& document) {
  const auto slash = document.name.name.find('/');
  const auto parsed = json::parse(document.bytes);
  if (slash == std::string::npos || parsed == nullptr) return std::nullopt;
  EventSourceMapping mapping;
  mapping.scope = {document.name.account, document.name.name.substr(0, slash)};
  mapping.uuid = document.name.name.substr(slash + 1);
  if (!read_mapping(parsed->root(), filters_quota_raised, mapping)) return std::nullopt;
  if (const json::Value* tags = parsed->root().member("Tags")) {
    for (const auto& [key, value] : tags->members()) mapping.tags[std::string(key)] = value.string();
  }
  mapping.last_modified = integer_member(parsed->root(), "LastModifiedMs").value_or(0);
  return mapping;
}

}  // namespace mayfly::compat::triggers
