#include "compat/exports/export_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/json/json_tree.h"
#include "compat/wire/shapes_common.h"
#include "engine/base/text.h"
#include "engine/values/number.h"

namespace mayfly::compat::exports {
namespace {

using data_files::ExportType;
using data_files::Format;

// The length is checked before all other constraints, as it is for table names wherever AWS accepts a name or
// an ARN.
constexpr Shape table_arn = {.type = Shape::Type::string, .min = 1, .max = 1024, .length_first = true};
constexpr Shape client_token = string_shape({}, {}, client_token_pattern);
constexpr Shape bucket = string_shape({}, 255, bucket_name_pattern);
constexpr Shape bucket_owner = string_shape({}, {}, account_pattern);
constexpr Shape prefix = string_shape({}, 1024);
constexpr std::string_view sse_algorithms[] = {"AES256", "KMS"};
constexpr Shape sse_algorithm = enum_shape(sse_algorithms);
constexpr Shape sse_key_id = string_shape(1, 2048);
constexpr std::string_view formats[] = {"DYNAMODB_JSON", "ION"};
constexpr Shape format = enum_shape(formats);
constexpr std::string_view types[] = {"FULL_EXPORT", "INCREMENTAL_EXPORT"};
constexpr Shape type = enum_shape(types);
constexpr std::string_view views[] = {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"};
constexpr Shape view = enum_shape(views);
constexpr Member incremental_members[] = {
    {"ExportFromTime", &shapes::timestamp},
    {"ExportToTime", &shapes::timestamp},
    {"ExportViewType", &view},
};
constexpr Shape incremental = structure("IncrementalExportSpecification", incremental_members);
constexpr Member filter_members[] = {
    {"FilterExpression", &shapes::any_string},
    {"ProjectionExpression", &shapes::any_string},
    {"KeyConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
};
constexpr Shape filter = structure("FilterSpecification", filter_members);
constexpr Member members[] = {
    {"TableArn", &table_arn, required_first},
    {"ExportTime", &shapes::timestamp},
    {"ClientToken", &client_token},
    {"S3Bucket", &bucket, required},
    {"S3BucketOwner", &bucket_owner},
    {"S3Prefix", &prefix},
    {"S3SseAlgorithm", &sse_algorithm},
    {"S3SseKmsKeyId", &sse_key_id},
    {"ExportFormat", &format},
    {"ExportType", &type},
    {"IncrementalExportSpecification", &incremental},
    {"FilterSpecification", &filter},
};

// A request names a KMS key by its id, its ARN, or the name or ARN of an alias. AWS's pattern is not known:
// AWS was observed to reject "not a key" and to accept "alias/aws/s3".
constexpr std::string_view key_id_pattern = "[a-zA-Z0-9:/_-]+";
bool is_key_id(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return engine::is_alphanumeric(c) || c == ':' || c == '/' || c == '_' || c == '-';
  });
}

// AWS's pattern for prefixes is not known. AWS was observed to reject an empty prefix and a prefix that is a
// tab.
constexpr std::string_view prefix_pattern = "[^\\p{Cntrl}]+";
bool is_prefix(std::string_view text) {
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Returns the error for a value that does not match its pattern. AWS checks these patterns after the
// request's other shape constraints.
Unexpected<Error> breaks_pattern(std::string_view value, std::string_view member, std::string_view pattern) {
  return error::validation(
      "Invalid Request: 1 validation error detected: Value '" + std::string(value) + "' at '" +
      std::string(member) +
      "' failed to satisfy constraint: Member must satisfy regular expression pattern: " +
      std::string(pattern));
}

Result<void> check_prefix(const json::Value& request) {
  const auto prefix = string_member(request, "S3Prefix");
  if (prefix && !is_prefix(*prefix)) return breaks_pattern(*prefix, "s3Prefix", prefix_pattern);
  return {};
}

Result<void> check_encryption(const ExportRequest& asked) {
  if (asked.sse_key_id.empty()) return {};
  if (asked.sse_algorithm != "KMS")
    return error::validation("Invalid Request: KMS Key Id is not supported for this encryption type");
  if (!is_key_id(asked.sse_key_id)) return breaks_pattern(asked.sse_key_id, "s3SseKmsKeyId", key_id_pattern);
  return {};
}

Result<void> check_type(const ExportRequest& asked, const json::Value* specification) {
  if (specification == nullptr) {
    if (!asked.incremental()) return {};
    return error::validation(
        "Invalid Request: Incremental Export Specification expected when export type is set as Incremental "
        "Export");
  }
  if (!asked.type) {
    return error::validation(
        "Invalid Request: Export Type expected to be Incremental Export when incremental export "
        "specification is provided");
  }
  if (!asked.incremental()) {
    return error::validation(
        "Invalid Request: When Export Type is Full Export , Incremental Export Specification should not be "
        "provided");
  }
  if (!asked.from) {
    return error::validation(
        "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification");
  }
  return {};
}

std::string text_member(const json::Value& object, std::string_view name) {
  return std::string(string_member(object, name).value_or(""));
}

}  // namespace

constexpr Shape export_request_shape = structure("ExportTableToPointInTimeInput", members);

std::optional<engine::Instant> instant_member(const json::Value& object, std::string_view name) {
  const json::Value* const value = object.member(name);
  if (value == nullptr) return std::nullopt;
  const auto seconds = engine::Number::parse(value->number_text());
  const auto instant = seconds ? seconds->floor_scaled(3) : std::nullopt;
  if (!instant) return value->number_text().starts_with('-') ? 0 : engine::last_instant;
  return std::clamp(*instant, engine::Instant{0}, engine::last_instant);
}

Format ExportRequest::format_or_default() const { return format.value_or(Format::dynamodb_json); }

Result<ExportRequest> ExportRequest::read(const json::Value& request) {
  ExportRequest asked;
  asked.table_arn = text_member(request, "TableArn");
  asked.time = instant_member(request, "ExportTime");
  asked.client_token = text_member(request, "ClientToken");
  asked.bucket = text_member(request, "S3Bucket");
  asked.bucket_owner = text_member(request, "S3BucketOwner");
  asked.prefix = text_member(request, "S3Prefix");
  asked.sse_algorithm = text_member(request, "S3SseAlgorithm");
  asked.sse_key_id = text_member(request, "S3SseKmsKeyId");
  if (const auto name = string_member(request, "ExportFormat"))
    asked.format = *name == "ION" ? Format::ion : Format::dynamodb_json;
  if (const auto name = string_member(request, "ExportType"))
    asked.type = *name == "FULL_EXPORT" ? ExportType::full : ExportType::incremental;
  const json::Value* const specification = request.member("IncrementalExportSpecification");
  if (specification != nullptr) {
    asked.from = instant_member(*specification, "ExportFromTime");
    asked.to = instant_member(*specification, "ExportToTime");
    if (const auto name = string_member(*specification, "ExportViewType"))
      asked.old_images = *name == "NEW_AND_OLD_IMAGES";
  }
  if (const json::Value* const filter = request.member("FilterSpecification"))
    json::Writer(asked.filter).value(*filter);
  CHECK_OK(check_prefix(request));
  CHECK_OK(check_encryption(asked));
  CHECK_OK(check_type(asked, specification));
  return asked;
}

bool ExportRequest::same_as(const ExportRequest& other) const {
  ExportRequest same = other;
  same.until = until;
  return stored() == same.stored();
}

std::string ExportRequest::stored() const {
  json::Tree tree{{"table", table_arn}, {"bucket", bucket}, {"until", until}};
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) tree[name] = value;
  };
  if (time) tree["time"] = *time;
  text("bucket_owner", bucket_owner);
  text("prefix", prefix);
  text("sse_algorithm", sse_algorithm);
  text("sse_key_id", sse_key_id);
  if (format) tree["ion"] = *format == Format::ion;
  if (type) tree["incremental"] = incremental();
  if (from) tree["from"] = *from;
  if (to) tree["to"] = *to;
  if (old_images) tree["old_images"] = *old_images;
  text("filter", filter);
  return json::print(tree);
}

ExportRequest ExportRequest::parse(std::string_view stored) {
  const auto tree = json::parse_tree(stored).value_or(json::Tree::object());
  const auto text = [&](std::string_view name) {
    return std::string(json::string_member(tree, name).value_or(""));
  };
  ExportRequest asked{.table_arn = text("table"),
                      .time = json::integer_member(tree, "time"),
                      .bucket = text("bucket"),
                      .bucket_owner = text("bucket_owner"),
                      .prefix = text("prefix"),
                      .sse_algorithm = text("sse_algorithm"),
                      .sse_key_id = text("sse_key_id"),
                      .from = json::integer_member(tree, "from"),
                      .to = json::integer_member(tree, "to"),
                      .old_images = json::boolean_member(tree, "old_images"),
                      .filter = text("filter"),
                      .until = json::integer_member(tree, "until").value_or(0)};
  if (const auto ion = json::boolean_member(tree, "ion"))
    asked.format = *ion ? Format::ion : Format::dynamodb_json;
  if (const auto incremental = json::boolean_member(tree, "incremental"))
    asked.type = *incremental ? ExportType::incremental : ExportType::full;
  return asked;
}

}  // namespace mayfly::compat::exports
