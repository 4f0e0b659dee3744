#include "cli/schemas/cloudformation_functions.h"

#include <set>
#include <string_view>
#include <utility>

#include "cli/schemas/function_code.h"

namespace mayfly::schemas {

namespace {

using json::Tree;

constexpr std::string_view function_type = "AWS::Lambda::Function";
constexpr std::string_view sam_function_type = "AWS::Serverless::Function";
constexpr std::string_view mapping_type = "AWS::Lambda::EventSourceMapping";

struct Properties {
  Tree known = Tree::object();
  std::string problem;  // why another property is not known: "its Runtime is not known: …"
};

// Resolves the named properties of a resource or of Globals.
Properties resolved_of(const Tree* written, const std::set<std::string_view>& names,
                       const Template::Resource& resource, Template& values) {
  Properties properties;
  if (written == nullptr || !written->is_object()) return properties;
  for (const auto& [name, value] : written->items()) {
    if (!names.contains(name)) continue;
    // The bucket of packed code is often known only to AWS.
    const bool is_code = (name == "Code" || name == "CodeUri") && value.is_object() && value.size() > 1;
    // With the name, because the values of some members may be unknown.
    const Tree member{{name, is_code ? members_of(value, {"S3Key", "Key", "ZipFile", "ImageUri"}) : value}};
    const auto resolved = values.resolve(member, resource);
    if (!resolved) properties.problem = "its " + name + " is not known: " + resolved.error();
    if (resolved && *resolved && (*resolved)->is_object()) properties.known.update(**resolved);
  }
  return properties;
}

std::string text_or_empty(const Tree& object, const char* name) {
  const Tree* const value = json::member(object, name);
  if (value == nullptr || value->is_structured()) return {};
  return value->is_string() ? value->get<std::string>() : json::print(*value);
}

// The code of a function, from the resolved properties and the resource's metadata.
FunctionCode code_of(const Tree& properties, const Tree& body, const std::string& directory, bool is_sam) {
  const std::string_view built_by = is_sam ? built_by_sam : built_by_any;
  const Tree* const code = json::member(properties, is_sam ? "CodeUri" : "Code");
  if (text_or_empty(properties, "PackageType") == "Image" || properties.contains("ImageUri") ||
      (code != nullptr && code->contains("ImageUri")))
    return container_image();
  const Tree* const metadata = json::member(body, "Metadata");
  if (metadata != nullptr) {
    if (const auto asset = json::string_member(*metadata, "aws:asset:path"))  // written by CDK
      return code_at(directory, std::string(*asset), "Run 'cdk synth'");
  }
  FunctionCode inlined;
  inlined.text = text_or_empty(properties, "InlineCode");
  if (code != nullptr && inlined.text.empty()) inlined.text = text_or_empty(*code, "ZipFile");
  if (!inlined.text.empty()) return inlined;
  if (code == nullptr) return is_sam ? code_at(directory, ".", built_by) : no_code("it has no Code");
  if (code->is_string()) return code_at(directory, code->get<std::string>(), built_by);
  const std::string key = text_or_empty(*code, is_sam ? "Key" : "S3Key");
  return key.empty() ? no_code("it has no Code") : uploaded_code(directory, key, built_by);
}

class Reader {
 public:
  Reader(const Tree& tree, Template& values, const std::string& file, SchemaFiles& files)
      : values_(values), file_(file), files_(files) {
    const Tree* const globals = json::member(tree, "Globals");
    globals_ = globals != nullptr ? json::member(*globals, "Function") : nullptr;
  }

  Expected<void, std::string> read(const Template::Resource& resource) {
    const bool is_function = resource.type() == function_type || resource.type() == sam_function_type;
    if (!is_function && resource.type() != mapping_type) return {};
    const std::string where = file_ + ": Resources." + resource.name;
    const auto is_made = values_.is_made(resource);
    if (!is_made) return Unexpected{where + ".Condition: " + is_made.error()};
    if (!*is_made) return {};
    const auto done = is_function ? read_function(resource, where) : read_mapping(resource, where);
    return done ? done : Unexpected{where + done.error()};
  }

 private:
  // The errors of all three continue `where`.
  Expected<void, std::string> read_function(const Template::Resource& resource, const std::string& where) {
    static const std::set<std::string_view> used = {"Handler",    "Runtime",     "Code",     "CodeUri",
                                                    "InlineCode", "PackageType", "ImageUri", "Timeout",
                                                    "MemorySize", "Environment"};
    const bool is_sam = resource.type() == sam_function_type;
    const Tree* const written = json::member(*resource.body, "Properties");
    Properties inherited;
    if (is_sam) inherited = resolved_of(globals_, used, resource, values_);
    const Properties own = resolved_of(written, used, resource, values_);
    std::map<std::string, std::string> variables;
    for (const Tree* from : {&std::as_const(inherited.known), &own.known}) add_variables(*from, variables);
    Tree& properties = inherited.known;
    properties.update(own.known);

    FunctionSchema function;
    function.where = where;
    TRY(function.name, values_.name_of(resource));
    function.runtime = text_or_empty(properties, "Runtime");
    function.handler = text_or_empty(properties, "Handler");
    function.variables = std::move(variables);
    function.code = code_of(properties, *resource.body, directory_of(file_), is_sam);
    const bool has_asset = json::member(*resource.body, "Metadata") != nullptr && !function.code.path.empty();
    for (const std::string& problem : {inherited.problem, own.problem})
      if (!problem.empty() && !(has_asset && problem.starts_with("its Code ")))
        function.code = no_code(problem);
    if (const Tree* seconds = json::member(properties, "Timeout"))
      function.seconds_max = json::integer(with_numbers(*seconds)).value_or(function.seconds_max);
    if (const Tree* memory = json::member(properties, "MemorySize"))
      function.memory_mb = json::integer(with_numbers(*memory)).value_or(function.memory_mb);
    function.has_layers = has_layers(written) || (is_sam && has_layers(globals_));
    const std::string name = function.name;
    files_.functions.push_back(std::move(function));
    const Tree* const events = is_sam && written != nullptr ? json::member(*written, "Events") : nullptr;
    return events != nullptr && events->is_object() ? read_events(*events, resource, name, where)
                                                    : Expected<void, std::string>{};
  }

  Expected<void, std::string> read_events(const Tree& events, const Template::Resource& resource,
                                          const std::string& function, const std::string& where) {
    for (const auto& [name, event] : events.items()) {
      const Tree* const written = json::member(event, "Properties");
      if (json::string_member(event, "Type") != "DynamoDB" || written == nullptr) continue;
      const std::string at = ".Events." + name;
      const auto properties = values_.resolve(*written, resource);
      if (!properties) return Unexpected{at + ": " + properties.error()};
      if (!*properties) continue;
      const std::string stream = text_or_empty(**properties, "Stream");
      if (!table_of_stream(stream))
        return Unexpected{at + ".Stream: '" + stream + "' is not the ARN of a table's stream"};
      add_mapping(**properties, stream, function, where + at);
    }
    return {};
  }

  Expected<void, std::string> read_mapping(const Template::Resource& resource, const std::string& where) {
    const Tree* const written = json::member(*resource.body, "Properties");
    if (written == nullptr) return {};
    const auto source = json::member(*written, "EventSourceArn");
    if (source == nullptr) return {};  // a cluster outside of AWS
    const auto stream = values_.resolve(*source, resource);
    // Without a starting position, the source is not a stream.
    if (!stream && (is_other_source(*source) || !written->contains("StartingPosition"))) return {};
    if (!stream) return Unexpected{".EventSourceArn: " + stream.error()};
    const std::string arn = *stream && (*stream)->is_string() ? (*stream)->get<std::string>() : "";
    if (!table_of_stream(arn)) return {};
    const auto properties = values_.resolve(*written, resource);
    if (!properties) return Unexpected{": " + properties.error()};
    if (*properties) add_mapping(**properties, arn, text_or_empty(**properties, "FunctionName"), where);
    return {};
  }

  // Whether an event source is an attribute that a table does not have, such as the ARN of a queue.
  static bool is_other_source(const Tree& source) {
    const Tree* const attribute = json::member(source, "Fn::GetAtt");
    return attribute != nullptr && json::print(*attribute).find("StreamArn") == std::string::npos;
  }

  static bool has_layers(const Tree* properties) {
    const Tree* const layers = properties != nullptr ? json::member(*properties, "Layers") : nullptr;
    return layers != nullptr && !layers->empty();
  }

  static void add_variables(const Tree& properties, std::map<std::string, std::string>& variables) {
    const Tree* const environment = json::member(properties, "Environment");
    const Tree* const named = environment != nullptr ? json::member(*environment, "Variables") : nullptr;
    if (named == nullptr || !named->is_object()) return;
    for (const auto& [name, value] : named->items()) variables[name] = text_or_empty(*named, name.c_str());
  }

  void add_mapping(const Tree& properties, const std::string& stream, const std::string& function,
                   std::string where) {
    MappingSchema mapping{
        .where = std::move(where), .stream = stream, .request = mapping_request(properties)};
    mapping.request["FunctionName"] = function;
    // SAM's destination also has a type, which only tells how to grant access to it.
    const Tree* const destination = json::member(mapping.request, "DestinationConfig");
    const Tree* const failure = destination != nullptr ? json::member(*destination, "OnFailure") : nullptr;
    if (failure != nullptr)
      mapping.request["DestinationConfig"] = {{"OnFailure", members_of(*failure, {"Destination"})}};
    files_.mappings.push_back(std::move(mapping));
  }

  Template& values_;
  const std::string& file_;
  SchemaFiles& files_;
  const Tree* globals_ = nullptr;
};

}  // namespace

Expected<void, std::string> read_cloudformation_functions(const Tree& tree, Template& values,
                                                          const std::string& file, SchemaFiles& files) {
  Reader reader(tree, values, file, files);
  for (const Template::Resource& resource : values.resources()) CHECK_OK(reader.read(resource));
  return {};
}

}  // namespace mayfly::schemas
