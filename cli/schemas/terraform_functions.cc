#include "cli/schemas/terraform_functions.h"

#include <optional>
#include <utility>

#include "cli/schemas/function_code.h"
#include "engine/base/text.h"

namespace mayfly::schemas {

namespace {

using json::Tree;

std::string known_text(const Tree& values, const char* name) {
  return std::string(json::string_member(values, name).value_or(""));
}

// The first element of a list of blocks.
const Tree* first_block(const Tree* values, const char* name) {
  const Tree* const list = values != nullptr ? json::member(*values, name) : nullptr;
  return list != nullptr && list->is_array() && !list->empty() ? &(*list)[0] : nullptr;
}

// A plan's paths are relative to the directory in which Terraform ran: that of the plan, or the current one.
FunctionCode terraform_code(const Tree& values, const std::string& directory) {
  if (known_text(values, "package_type") == "Image" || !known_text(values, "image_uri").empty())
    return container_image();
  if (const std::string name = known_text(values, "filename"); !name.empty()) {
    FunctionCode code = code_at(directory, name, built_by_terraform);
    if (code.path.empty()) {  // the plan was written elsewhere
      if (FunctionCode here = code_at(".", name, built_by_terraform); !here.path.empty()) return here;
    }
    return code;
  }
  if (const std::string key = known_text(values, "s3_key"); !key.empty())
    return uploaded_code(directory, key, built_by_terraform);
  return no_code("the plan does not know the file with its code before it is applied");
}

class Functions {
 public:
  Functions(const Plan& plan, const std::string& file, const SchemaContext& context, SchemaFiles& files)
      : plan_(plan), file_(file), directory_(directory_of(file)), context_(context), files_(files) {}

  void read(const Plan::Resource& resource) {
    if (resource.is_data) return;
    if (resource.type == "aws_lambda_function") read_function(resource);
    if (resource.type == "aws_lambda_event_source_mapping") read_mapping(resource);
  }

 private:
  void read_function(const Plan::Resource& resource) {
    const Tree& values = *resource.values;
    FunctionSchema function;
    function.where = file_ + ": " + resource.address;
    function.name = known_text(values, "function_name");
    if (function.name.empty())
      return warn(resource, "is left out, because it has no name before the plan is applied");
    function.runtime = known_text(values, "runtime");
    function.handler = known_text(values, "handler");
    function.code = terraform_code(values, directory_);
    function.seconds_max = json::integer_member(values, "timeout").value_or(function.seconds_max);
    function.memory_mb = json::integer_member(values, "memory_size").value_or(function.memory_mb);
    const Tree* const environment = first_block(&values, "environment");
    const Tree* const named = environment != nullptr ? json::member(*environment, "variables") : nullptr;
    if (named != nullptr && named->is_object())
      for (const auto& [name, value] : named->items())
        if (value.is_string()) function.variables[name] = value.get<std::string>();
    auto unknown = plan_.unknown_variables(resource);
    if (unknown.size() == 1 && unknown.front().empty()) {
      warn(resource,
           "has no variables, because the plan does not know them. Set them with --function-env NAME=VALUE");
      unknown.clear();
    }
    for (const std::string& name : unknown) {
      const auto given = context_.parameters.find(resource.address + "." + name);
      function.variables[name] = given != context_.parameters.end() ? given->second : "unknown:" + name;
    }
    if (!unknown.empty())
      warn(resource, "has placeholders for variables that the plan does not know: " +
                         engine::joined(unknown, ", ") + ". Set them with --function-env NAME=VALUE");
    const Tree* const layers = json::member(values, "layers");
    function.has_layers = layers != nullptr && !layers->empty();
    files_.functions.push_back(std::move(function));
  }

  void read_mapping(const Plan::Resource& resource) {
    const Tree& values = *resource.values;
    std::string stream = known_text(values, "event_source_arn");
    if (stream.empty()) {
      const Plan::Resource* const source = plan_.referred(resource, {"event_source_arn"});
      if (source != nullptr && source->type != "aws_dynamodb_table") return;
      stream = source != nullptr ? stream_of(*source) : "";
      if (stream.empty() && known_text(values, "starting_position").empty()) return;  // a queue
      if (stream.empty())
        return warn(resource,
                    "is left out, because the plan does not tell which stream it reads. Pass the state after "
                    "the plan "
                    "is applied");
    }
    if (!table_of_stream(stream)) return;
    std::string function = known_text(values, "function_name");
    if (function.empty()) function = function_of(plan_.referred(resource, {"function_name"}));
    if (function.empty())
      return warn(resource,
                  "is left out, because the plan does not tell which function it calls. Pass the state after "
                  "the plan "
                  "is applied");
    MappingSchema mapping{
        .where = file_ + ": " + resource.address, .stream = std::move(stream), .request = request_of(values)};
    mapping.request["FunctionName"] = function;
    add_destination(resource, mapping.request);
    files_.mappings.push_back(std::move(mapping));
  }

  static Tree request_of(const Tree& values) {
    Tree written = Tree::object();
    for (const auto& [theirs, ours] :
         {std::pair{"starting_position", "StartingPosition"},
          {"batch_size", "BatchSize"},
          {"maximum_batching_window_in_seconds", "MaximumBatchingWindowInSeconds"},
          {"parallelization_factor", "ParallelizationFactor"},
          {"maximum_retry_attempts", "MaximumRetryAttempts"},
          {"maximum_record_age_in_seconds", "MaximumRecordAgeInSeconds"},
          {"tumbling_window_in_seconds", "TumblingWindowInSeconds"},
          {"enabled", "Enabled"},
          {"bisect_batch_on_function_error", "BisectBatchOnFunctionError"},
          {"function_response_types", "FunctionResponseTypes"}})
      if (const Tree* value = json::member(values, theirs);
          value != nullptr && !(value->is_array() && value->empty()))
        written[ours] = *value;
    if (const Tree* filters = first_block(&values, "filter_criteria")) {
      const Tree* const list = json::member(*filters, "filter");
      if (list != nullptr && list->is_array())
        for (const Tree& filter : *list)
          if (const auto pattern = json::string_member(filter, "pattern"))
            written["FilterCriteria"]["Filters"].push_back({{"Pattern", std::string(*pattern)}});
    }
    return mapping_request(written);
  }

  void add_destination(const Plan::Resource& resource, Tree& request) {
    const Tree* const failure = first_block(first_block(resource.values, "destination_config"), "on_failure");
    if (failure == nullptr) return;
    std::string arn = known_text(*failure, "destination_arn");
    if (arn.empty()) {
      const Plan::Resource* const target =
          plan_.referred(resource, {"destination_config", "on_failure", "destination_arn"});
      if (target != nullptr) arn = destination_of(*target);
    }
    if (arn.empty())
      return warn(resource, "has no destination for failed batches, because the plan does not tell its ARN");
    request["DestinationConfig"] = {{"OnFailure", {{"Destination", arn}}}};
  }

  // Empty: unknown.
  std::string stream_of(const Plan::Resource& table) const {
    if (std::string known = known_text(*table.values, "stream_arn"); table_of_stream(known)) return known;
    std::string name = known_text(*table.values, "name");
    if (name.empty()) name = plan_.configured_text(table, "name").value_or("");
    return name.empty() ? "" : arn("dynamodb", "table/" + name + "/stream/latest");
  }

  std::string function_of(const Plan::Resource* referred) const {
    if (referred == nullptr) return {};
    if (std::string name = known_text(*referred->values, "function_name"); !name.empty()) return name;
    // An alias of a function.
    return referred->type == "aws_lambda_alias" ? function_of(plan_.referred(*referred, {"function_name"}))
                                                : "";
  }

  std::string destination_of(const Plan::Resource& target) const {
    const std::string name = known_text(*target.values, "name");
    if (target.type == "aws_sqs_queue" && !name.empty()) return arn("sqs", name);
    if (target.type == "aws_sns_topic" && !name.empty()) return arn("sns", name);
    const std::string bucket = known_text(*target.values, "bucket");
    return target.type == "aws_s3_bucket" && !bucket.empty() ? "arn:aws:s3:::" + bucket : "";
  }

  std::string arn(const std::string& service, const std::string& name) const {
    return "arn:aws:" + service + ":" + context_.region + ":" + context_.account + ":" + name;
  }

  void warn(const Plan::Resource& resource, const std::string& sentence) {
    files_.warnings.push_back(file_ + ": " + resource.address + " " + sentence);
  }

  const Plan& plan_;
  const std::string& file_;
  const std::string directory_;
  const SchemaContext& context_;
  SchemaFiles& files_;
};

}  // namespace

void read_terraform_functions(const Plan& plan, const std::string& file, const SchemaContext& context,
                              SchemaFiles& files) {
  Functions functions(plan, file, context, files);
  for (const Plan::Resource& resource : plan.resources()) functions.read(resource);
}

}  // namespace mayfly::schemas
