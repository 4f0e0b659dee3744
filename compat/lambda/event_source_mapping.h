// Lambda's EventSourceMappingConfiguration: which stream's records go to which function, and how.
//
//   EventSourceMapping mapping{.scope = scope, .uuid = engine::random_uuid(random)};
//   CHECK_OK(read_creation(request, mapping));     // Lambda's checks, defaults and messages
//   json::print(configuration(mapping, "Creating", "No records processed"))
//
// Defaults and ranges are Lambda's for DynamoDB streams. ScalingConfig, ProvisionedPollerConfig and
// LoggingConfig, which Lambda documents only for other event sources, are rejected; other members for other
// event sources are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json.h"
#include "compat/json/json_tree.h"
#include "compat/lambda/filter_pattern.h"
#include "compat/lambda/function_name.h"
#include "compat/lambda/trigger_options.h"
#include "compat/wire/error.h"
#include "engine/base/clock.h"
#include "engine/storage/documents.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::triggers {

inline constexpr std::int64_t pattern_characters_max = 4096;
inline constexpr std::size_t tags_max = 50;  // per mapping
inline constexpr std::int64_t tag_key_characters_max = 128, tag_value_characters_max = 256;

struct EventSourceMapping {
  engine::Scope scope;
  std::string uuid;
  FunctionName function;
  std::string event_source_arn;
  std::string starting_position;  // TRIM_HORIZON or LATEST
  bool enabled = true;
  std::int64_t batch_size = 100;
  std::int64_t batching_window_seconds = 0;
  std::int64_t parallelization = 1;
  std::int64_t record_age_seconds_max = -1;  // -1: unlimited
  std::int64_t retries_max = -1;             // -1: unlimited
  std::int64_t tumbling_window_seconds = 0;  // 0: no windows
  bool bisect = false;
  bool reports_failures = false;                    // ReportBatchItemFailures
  std::string on_failure;                           // empty: no destination
  std::vector<std::string> patterns;                // as the client wrote them; empty: every record passes
  std::vector<FilterPattern> filters;               // the parsed patterns
  std::optional<std::vector<std::string>> metrics;  // MetricsConfig, stored but not used
  std::string key_arn;                              // KMSKeyArn, stored but not used; empty: not set
  std::map<std::string, std::string> tags;
  engine::Instant last_modified = 0;

  [[nodiscard]] std::string arn() const;
  // Whether the record is to be delivered: one of the filters matches, or the mapping has no filters.
  [[nodiscard]] bool passes(const json::Value& record, FilterWork& work) const;
};

// read_creation reads CreateEventSourceMapping's body into a mapping that has only scope and uuid.
// read_update reads UpdateEventSourceMapping's body into a complete mapping. Neither checks that the stream
// exists. More than `filters_max` filters are rejected.
Result<void> read_creation(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping);
Result<void> read_update(const json::Value& request, std::size_t filters_max, EventSourceMapping& mapping);

// Reads TagResource's body. Errors: "A tag's key must have 1 to 128 characters.", "A tag's key must not begin
// with aws:.", "A tag's value must have at most 256 characters.", and the error for more than fifty tags.
Result<std::map<std::string, std::string>> read_tags(const json::Value& request);
// Error: "Number of tags exceeds resource tag limit." if the mapping would have more than fifty tags.
Result<void> add_tags(const std::map<std::string, std::string>& tags, EventSourceMapping& mapping);

json::Tree configuration(const EventSourceMapping& mapping, std::string_view state,
                         std::string_view last_result);
json::Tree tags_of(const EventSourceMapping& mapping);  // returns the member "Tags"

// A mapping is stored as the document "event-source-mapping" / "REGION/UUID".
inline constexpr std::string_view mapping_kind = "event-source-mapping";
engine::Document to_document(const EventSourceMapping& mapping);
std::optional<EventSourceMapping> from_document(const engine::Document& document);

}  // namespace mayfly::compat::triggers
