// EnableKinesisStreamingDestination and its Disable, Update and Describe counterparts. A change takes effect
// before the response. As on AWS, the response says ENABLING, DISABLING or UPDATING, and the next description
// says ACTIVE or DISABLED.
#include "compat/kinesis/destinations.h"
#include "compat/operations/operations.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr std::string_view precisions[] = {"MILLISECOND", "MICROSECOND"};
constexpr std::string_view precision_name = "ApproximateCreationDateTimePrecision";

constexpr Shape stream_arn = string_shape(37, 1024);
constexpr Shape precision = enum_shape(precisions);
constexpr Member configuration_members[] = {{precision_name, &precision}};
constexpr Shape enable_configuration =
    structure("EnableKinesisStreamingConfiguration", configuration_members);
constexpr Shape update_configuration =
    structure("UpdateKinesisStreamingConfiguration", configuration_members);
constexpr Member enable_members[] = {
    {"TableName", &shapes::table_name_first, required_first},
    {"StreamArn", &stream_arn, required},
    {"EnableKinesisStreamingConfiguration", &enable_configuration},
};
constexpr Shape enable_shape = structure("KinesisStreamingDestinationInput", enable_members);
constexpr Member update_members[] = {
    {"TableName", &shapes::table_name_first, required_first},
    {"StreamArn", &stream_arn, required},
    {"UpdateKinesisStreamingConfiguration", &update_configuration},
};
constexpr Shape update_shape = structure("UpdateKinesisStreamingDestinationInput", update_members);
constexpr Member describe_members[] = {{"TableName", &shapes::table_name_first, required_first}};
constexpr Shape describe_shape = structure("DescribeKinesisStreamingDestinationInput", describe_members);

// Returns whether the request asks for microseconds, or nullopt if the request does not specify a precision.
std::optional<bool> wants_microseconds(const json::Value& request, std::string_view configuration) {
  const json::Value* wanted = request.member(configuration);
  const auto name = wanted == nullptr ? std::nullopt : string_member(*wanted, precision_name);
  return name ? std::optional(*name == "MICROSECOND") : std::nullopt;
}

std::string_view name_of_precision(bool microseconds) { return precisions[microseconds ? 1 : 0]; }

// Changes the destination for the request's table and stream, as `decide` determines.
template <typename Decide>
Result<kinesis::Destination> change(Context& context, const json::Value& request, const Decide& decide) {
  const std::string_view name = *string_member(request, "TableName");
  TRY(const auto table, find_named_table(context, name));
  return context.kinesis.change(*table->description(), *string_member(request, "StreamArn"),
                                [&](kinesis::Destination destination) -> Result<kinesis::Destination> {
                                  if (table->dropped()) return named_table_not_found(destination.table);
                                  return decide(std::move(destination));
                                });
}

// Writes nothing if no precision was chosen; the destination then uses milliseconds.
void write_precision(json::Writer& out, const kinesis::Destination& destination) {
  if (!destination.microseconds) return;
  out.key(precision_name);
  out.string(name_of_precision(*destination.microseconds));
}

void write_answer(json::Writer& out, const kinesis::Destination& destination, std::string_view status,
                  std::string_view configuration) {
  out.begin_object();
  out.key("TableName");
  out.string(destination.table);
  out.key("StreamArn");
  out.string(destination.stream_arn);
  out.key("DestinationStatus");
  out.string(status);
  if (!configuration.empty()) {
    out.key(configuration);
    out.begin_object();
    write_precision(out, destination);
    out.end_object();
  }
  out.end_object();
}

Result<void> enable(Context& context, const json::Value& request, json::Writer& out) {
  const auto microseconds = wants_microseconds(request, "EnableKinesisStreamingConfiguration");
  const auto decide = [&](kinesis::Destination destination) -> Result<kinesis::Destination> {
    if (destination.active) {
      return error::validation(
          "Table is not in a valid state to enable Kinesis Streaming Destination: "
          "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation.");
    }
    destination.active = true;
    destination.microseconds = microseconds;
    return destination;
  };
  TRY(const auto destination, change(context, request, decide));
  write_answer(out, destination, "ENABLING", "EnableKinesisStreamingConfiguration");
  return {};
}

Result<void> disable(Context& context, const json::Value& request, json::Writer& out) {
  const auto decide = [](kinesis::Destination destination) -> Result<kinesis::Destination> {
    if (!destination.active) {
      return error::validation(
          "Table is not in a valid state to disable Kinesis Streaming Destination: "
          "DisableKinesisStreamingDestination must be ACTIVE to perform DISABLE operation.");
    }
    destination.active = false;
    return destination;
  };
  TRY(const auto destination, change(context, request, decide));
  write_answer(out, destination, "DISABLING", "");
  return {};
}

Result<void> update(Context& context, const json::Value& request, json::Writer& out) {
  const auto microseconds = wants_microseconds(request, "UpdateKinesisStreamingConfiguration");
  const auto decide = [&](kinesis::Destination destination) -> Result<kinesis::Destination> {
    if (!microseconds) {
      return error::validation(
          "Streaming destination cannot be updated with given parameters: "
          "UpdateKinesisStreamingConfiguration cannot be null or contain only null values");
    }
    if (!destination.active) {
      return error::validation(
          "Table is not in a valid state to enable Kinesis Streaming Destination: No streaming destination "
          "with streamArn: " +
          destination.stream_arn + " found for table with tableName: " + destination.table);
    }
    if (destination.microseconds == microseconds) {
      return error::validation("Invalid Request: Precision is already set to the desired value of " +
                               std::string(name_of_precision(*microseconds)) + " for tableId: " +
                               destination.table_uuid + ", kdsArn: " + destination.stream_arn);
    }
    destination.microseconds = microseconds;
    return destination;
  };
  TRY(const auto destination, change(context, request, decide));
  write_answer(out, destination, "UPDATING", "UpdateKinesisStreamingConfiguration");
  return {};
}

Result<void> describe(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto table, find_named_table(context, *string_member(request, "TableName")));
  const auto description = table->description();
  out.begin_object();
  out.key("TableName");
  out.string(description->name);
  out.key("KinesisDataStreamDestinations");
  out.begin_array();
  for (const kinesis::Destination& destination : context.kinesis.list(*description)) {
    out.begin_object();
    out.key("StreamArn");
    out.string(destination.stream_arn);
    out.key("DestinationStatus");
    out.string(destination.active ? "ACTIVE" : "DISABLED");
    write_precision(out, destination);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::enable_kinesis_streaming_destination{
    dynamodb, "EnableKinesisStreamingDestination", Access::control, TablesIn::table_name, &enable_shape,
    &enable};
constinit const Operation operations::disable_kinesis_streaming_destination{
    dynamodb, "DisableKinesisStreamingDestination", Access::control, TablesIn::table_name, &enable_shape,
    &disable};
constinit const Operation operations::update_kinesis_streaming_destination{
    dynamodb, "UpdateKinesisStreamingDestination", Access::control, TablesIn::table_name, &update_shape,
    &update};
constinit const Operation operations::describe_kinesis_streaming_destination{
    dynamodb, "DescribeKinesisStreamingDestination", Access::control, TablesIn::table_name, &describe_shape,
    &describe};

}  // namespace mayfly::compat
