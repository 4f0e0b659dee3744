#include "cli/schemas/intrinsics.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "compat/wire/base64.h"

namespace mayfly::schemas {

namespace {

using json::Tree;

// Limits the depth of references, because conditions, parameters and table names may refer to each other in a
// cycle.
constexpr std::size_t depth_max = 100;
// The maximum sum of visited values and copied bytes. Nested functions can multiply these numbers.
constexpr std::size_t work_max = 4'000'000;
// CloudFormation's own limit is 500 resources.
constexpr std::size_t entries_max = 10'000;
constexpr std::size_t placeholder_bytes_max = 200;  // a tag's value has at most 256 characters
constexpr std::string_view loop_prefix = "Fn::ForEach::";
constexpr std::string_view reference_begin = "{{resolve:";

const Unexpected<std::string> too_deep{"functions are nested too deeply or refer to each other in a cycle"};

Unexpected<std::string> misused(const std::string& function) {
  return Unexpected{function + " has arguments that CloudFormation does not accept"};
}

// A type of resources that others refer to by name or ARN.
struct Kind {
  std::string_view type;
  const char* name;                       // the property with the resource's name
  std::string_view attribute;             // that has the ARN
  std::string_view service, before_name;  // in the ARN
};

constexpr Kind kinds[] = {
    {"AWS::DynamoDB::Table", "TableName", "Arn", "dynamodb", "table/"},
    {"AWS::DynamoDB::GlobalTable", "TableName", "Arn", "dynamodb", "table/"},
    {"AWS::Serverless::SimpleTable", "TableName", "Arn", "dynamodb", "table/"},
    {"AWS::Lambda::Function", "FunctionName", "Arn", "lambda", "function:"},
    {"AWS::Serverless::Function", "FunctionName", "Arn", "lambda", "function:"},
    {"AWS::SQS::Queue", "QueueName", "Arn", "sqs", ""},
    {"AWS::SNS::Topic", "TopicName", "TopicArn", "sns", ""},
    {"AWS::S3::Bucket", "BucketName", "Arn", "s3", ""},
};

const Kind* kind_of(std::string_view type) {
  for (const Kind& kind : kinds)
    if (kind.type == type) return &kind;
  return nullptr;
}

std::string arn_of(const Kind& kind, const SchemaContext& context, const std::string& name) {
  // A bucket's name is unique in the world.
  const std::string place = kind.service == "s3" ? ":" : context.region + ":" + context.account;
  return "arn:aws:" + std::string(kind.service) + ":" + place + ":" + std::string(kind.before_name) + name;
}

std::string as_text(const Tree& value) {
  return value.is_string() ? value.get<std::string>() : json::print(value);
}

// Whether no request contains a member with this name. Such members are dropped, so the resources that they
// refer to need not be known.
bool is_unused(std::string_view name) {
  for (const std::string_view unused :
       {"ResourcePolicy", "KinesisStreamSpecification", "ImportSourceSpecification",
        "ContributorInsightsSpecification", "KMSMasterKeyId"})
    if (name == unused) return true;
  return false;
}

// Quotes NAME=VALUE as an argument for a shell.
std::string shell_word(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_=.:/+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return is_plain ? text : "'" + text + "'";
}

// Keeps only characters that a tag's value can have:
// https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html
std::string placeholder(const std::string& name) {
  std::string text = "unknown:" + name.substr(0, placeholder_bytes_max);
  for (char& c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view(" _.:/=+-@").find(c) != std::string_view::npos;
    if (!fits) c = '-';
  }
  return text;
}

Tree split(std::string_view whole, std::string_view separator) {
  Tree parts = Tree::array();
  for (std::size_t at = 0; at <= whole.size();) {
    const auto end = std::min(whole.find(separator, at), whole.size());
    parts.push_back(std::string(whole.substr(at, end - at)));
    at = end + separator.size();
  }
  return parts;
}

std::size_t size_of(const Tree& value) {
  std::size_t size = 1 + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  if (value.is_structured())
    for (const Tree& element : value) size += size_of(element);
  return size;
}

}  // namespace

std::string_view Template::Resource::type() const { return json::string_member(*body, "Type").value_or(""); }

bool Template::Resource::is_table() const {
  const Kind* const kind = kind_of(type());
  return kind != nullptr && kind->service == "dynamodb";
}

Expected<Template, std::string> Template::open(const Tree& tree, const SchemaContext& context) {
  Template opened(tree, context);
  const auto read = [&](const char* section, std::vector<Resource>& entries,
                        std::map<std::string, std::size_t>& places) -> Expected<void, std::string> {
    const Tree* const found = json::member(tree, section);
    if (found == nullptr || !found->is_object()) return {};
    if (const auto collected = opened.collect(*found, {}, 0, entries); !collected)
      return Unexpected{std::string(section) + ": " + collected.error()};
    for (std::size_t i = 0; i < entries.size(); ++i) places[entries[i].name] = i;
    return {};
  };
  CHECK_OK(read("Conditions", opened.conditions_, opened.condition_places_));
  CHECK_OK(read("Resources", opened.resources_, opened.resource_places_));
  return opened;
}

Expected<void, std::string> Template::charge(std::size_t work) {
  work_ += std::min(work, work_max + 1);
  if (work_ > work_max) return Unexpected{std::string("its functions and loops expand to too many values")};
  return {};
}

// --- loops

Expected<void, std::string> Template::collect(const Tree& section, const Variables& variables,
                                              std::size_t depth, std::vector<Resource>& entries) {
  const At at{variables, depth};
  if (depth > depth_max) return Unexpected{too_deep.error};
  for (const auto& [name, body] : section.items()) {
    if (!name.starts_with(loop_prefix)) {
      if (entries.size() == entries_max) return Unexpected{std::string("more than 10,000 entries")};
      TRY(std::string own, with_variables(name, at));
      entries.push_back({std::move(own), &body, variables});
      continue;
    }
    const auto loop_read = loop(body, at);
    if (!loop_read) return Unexpected{name + ": " + loop_read.error()};
    for (const std::string& value : loop_read->values) {
      CHECK_OK(charge(1 + value.size()));
      Variables inner = variables;
      inner.emplace_back(loop_read->variable, value);
      CHECK_OK(collect(*loop_read->body, inner, depth + 1, entries));
    }
  }
  return {};
}

// Parses ["Board", ["points", "scores"], {"Table${Board}": {…}}].
Expected<Template::Loop, std::string> Template::loop(const Tree& written, At at) {
  if (!written.is_array() || written.size() != 3 || !written[0].is_string() || !written[2].is_object())
    return misused("Fn::ForEach");
  Loop loop{.variable = written[0].get<std::string>(), .values = {}, .body = &written[2]};
  TRY(const auto values, resolve(written[1], at.deeper()));
  if (!values || !values->is_array()) return misused("Fn::ForEach");
  for (const Tree& value : *values) {
    if (value.is_structured()) return misused("Fn::ForEach");
    loop.values.push_back(as_text(value));
  }
  return loop;
}

// Substitutes ${Board} and &{Board}. For &{Board}, keeps only the letters and digits of the value.
Template::Text Template::with_variables(const std::string& text, At at) {
  CHECK_OK(charge(text.size()));
  if (at.variables.empty()) return text;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto mark = std::min(text.find_first_of("$&", begin), text.size());
    result += text.substr(begin, mark - begin);
    begin = mark;
    if (mark == text.size()) break;
    const auto end = text.compare(mark + 1, 1, "{") == 0 ? text.find('}', mark) : std::string::npos;
    const std::string name = end == std::string::npos ? "" : text.substr(mark + 2, end - mark - 2);
    const auto variable = std::find_if(at.variables.rbegin(), at.variables.rend(),
                                       [&](const auto& each) { return each.first == name; });
    if (variable == at.variables.rend()) {
      result += text[begin++];
      continue;
    }
    CHECK_OK(charge(variable->second.size()));
    for (const char c : variable->second)
      if (text[mark] == '$' || std::isalnum(static_cast<unsigned char>(c)) != 0) result += c;
    begin = end + 1;
  }
  return result;
}

// --- values

Template::Resolved Template::resolve(const Tree& value, const Resource& resource) {
  return resolve(value, At{resource.variables});
}

Template::Resolved Template::resolve(const Tree& value, At at) {
  if (at.depth > depth_max) return too_deep;
  CHECK_OK(charge(1));
  if (value.is_string()) {
    TRY(const std::string text, with_variables(value.get_ref<const std::string&>(), at));
    TRY(std::string whole, with_references(text, at));
    return std::optional<Tree>(std::move(whole));
  }
  if (value.is_object() && value.size() == 1) {
    const std::string& name = value.begin().key();
    if (name == "Ref" || (name.starts_with("Fn::") && !name.starts_with(loop_prefix))) {
      TRY(auto resolved, function(name, value.begin().value(), at.deeper()));
      if (!resolved || !resolved->is_string()) return resolved;
      TRY(std::string whole, with_references(resolved->get_ref<const std::string&>(), at));
      return std::optional<Tree>(std::move(whole));
    }
  }
  if (value.is_object()) return resolve_object(value, at);
  if (value.is_array()) {
    Tree result = Tree::array();
    for (const Tree& element : value) {
      TRY(auto resolved, resolve(element, at.deeper()));
      if (resolved) result.push_back(*std::move(resolved));
    }
    return std::optional(std::move(result));
  }
  return std::optional(value);
}

Template::Resolved Template::resolve_object(const Tree& value, At at) {
  Tree result = Tree::object();
  for (const auto& [name, member] : value.items()) {
    if (is_unused(name)) continue;
    CHECK_OK(charge(result.size()));  // because `result` is searched once for each name
    if (name.starts_with(loop_prefix)) {
      TRY(const Loop repeated, loop(member, at));
      for (const std::string& each : repeated.values) {
        Variables inner = at.variables;
        inner.emplace_back(repeated.variable, each);
        TRY(const auto made,
            resolve(*repeated.body, At{inner, at.depth + 1, at.may_be_unknown, at.has_only_values}));
        CHECK_OK(charge(result.size() * repeated.body->size()));
        if (made && made->is_object()) result.update(*made);
      }
      continue;
    }
    TRY(std::string own, with_variables(name, at));
    At below = at.deeper();
    below.may_be_unknown = below.may_be_unknown || name == "Tags" || name == "Environment";
    below.has_only_values = below.has_only_values || name == "Environment";
    TRY(auto resolved, resolve(member, below));
    if (resolved) result[own] = *std::move(resolved);
  }
  return std::optional(std::move(result));
}

// Substitutes dynamic references such as "{{resolve:ssm:/path}}".
Template::Text Template::with_references(const std::string& text, At at) {
  if (text.find(reference_begin) == std::string::npos) return text;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto mark = text.find(reference_begin, begin);
    const auto end = mark == std::string::npos ? mark : text.find("}}", mark);
    result += text.substr(begin, end == std::string::npos ? end : mark - begin);
    if (end == std::string::npos) break;
    const std::string name = text.substr(mark + 2, end - mark - 2);
    TRY(const auto value, unknown(name, "{{" + name + "}} is not known here", at));
    CHECK_OK(charge(size_of(*value)));
    result += as_text(*value);
    begin = end + 2;
  }
  return result;
}

Template::Resolved Template::unknown(const std::string& name, const std::string& problem, At at) {
  if (const auto given = context_.parameters.find(name); given != context_.parameters.end())
    return std::optional<Tree>(given->second);
  if (!at.may_be_unknown)
    return Unexpected{problem + ". Give it a value: --schema-parameter " + shell_word(name + "=VALUE")};
  unknown_.insert(name);
  return std::optional<Tree>(placeholder(name));
}

Template::Text Template::text(const Tree& value, At at) {
  TRY(const auto resolved, resolve(value, at.deeper()));
  if (!resolved || resolved->is_structured()) return Unexpected{json::print(value) + " is not text"};
  return as_text(*resolved);
}

// --- functions

Template::Resolved Template::function(const std::string& name, const Tree& argument, At at) {
  if (name == "Ref") {
    if (!argument.is_string()) return misused(name);
    TRY(const std::string referred, with_variables(argument.get_ref<const std::string&>(), at));
    return reference(referred, at);
  }
  if (name == "Fn::Sub") return substituted(argument, at);
  if (name == "Fn::FindInMap") return found_in_map(argument, at);
  if (name == "Fn::GetAtt") return attribute(argument, at);
  if (name == "Fn::If") {
    if (!argument.is_array() || argument.size() != 3 || !argument[0].is_string()) return misused(name);
    TRY(const bool chosen, condition({{"Condition", argument[0]}}, at.deeper()));
    return resolve(argument[chosen ? 1 : 2], at.deeper());
  }
  if (name == "Fn::ImportValue") {
    TRY(const std::string import, text(argument, at));
    return unknown(import, "the import " + import + " is not known here", at);
  }
  if (name == "Fn::Length") {
    TRY(const auto list, resolve(argument, at.deeper()));
    if (!list || !list->is_array()) return misused(name);
    return std::optional<Tree>(list->size());
  }
  if (name == "Fn::ToJsonString") {
    TRY(const auto value, resolve(argument, at.deeper()));
    if (!value || !value->is_structured()) return misused(name);
    CHECK_OK(charge(size_of(*value)));
    return std::optional<Tree>(json::print(*value));
  }
  if (name == "Fn::Base64") {
    TRY(const std::string plain, text(argument, at));
    std::string encoded;
    compat::append_base64(encoded, plain);
    return std::optional<Tree>(std::move(encoded));
  }
  const bool has_two = argument.is_array() && argument.size() == 2;
  if (name == "Fn::Join") {
    if (!has_two) return misused(name);
    TRY(const std::string separator, text(argument[0], at));
    TRY(const auto parts, resolve(argument[1], at.deeper()));
    if (!parts || !parts->is_array()) return misused(name);
    CHECK_OK(charge(size_of(*parts) + parts->size() * separator.size()));
    std::string joined;
    for (std::size_t i = 0; i < parts->size(); ++i) joined += (i > 0 ? separator : "") + as_text((*parts)[i]);
    return std::optional<Tree>(std::move(joined));
  }
  if (name == "Fn::Select") {
    if (!has_two) return misused(name);
    TRY(const auto index, resolve(argument[0], at.deeper()));
    TRY(const auto list, resolve(argument[1], at.deeper()));
    const auto place = index ? json::integer(with_numbers(*index)).value_or(-1) : -1;
    if (!list || !list->is_array() || place < 0 || static_cast<std::size_t>(place) >= list->size())
      return misused(name);
    return std::optional((*list)[static_cast<std::size_t>(place)]);
  }
  if (name == "Fn::Split") {
    if (!has_two) return misused(name);
    TRY(const std::string separator, text(argument[0], at));
    TRY(const std::string whole, text(argument[1], at));
    if (separator.empty()) return misused(name);
    CHECK_OK(charge(whole.size()));
    return std::optional(split(whole, separator));
  }
  if (!at.may_be_unknown)
    return Unexpected{name + " is not supported here. Write the value into the template"};
  return unknown(name, "", at);
}

Template::Resolved Template::reference(const std::string& name, At at) {
  const auto variable = std::find_if(at.variables.rbegin(), at.variables.rend(),
                                     [&](const auto& each) { return each.first == name; });
  if (variable != at.variables.rend()) return std::optional<Tree>(variable->second);
  if (name == "AWS::NoValue") return std::optional<Tree>();
  if (name == "AWS::Region") return std::optional<Tree>(context_.region);
  if (name == "AWS::AccountId") return std::optional<Tree>(context_.account);
  if (name == "AWS::Partition") return std::optional<Tree>("aws");
  if (name == "AWS::URLSuffix") return std::optional<Tree>("amazonaws.com");
  if (name == "AWS::StackName") return std::optional<Tree>("mayfly");
  if (name == "AWS::StackId")
    return std::optional<Tree>("arn:aws:cloudformation:" + context_.region + ":" + context_.account +
                               ":stack/mayfly/00000000-0000-0000-0000-000000000000");
  if (name == "AWS::NotificationARNs") return std::optional<Tree>(Tree::array());
  const Tree* const parameters = json::member(tree_, "Parameters");
  if (const Tree* const declared = parameters != nullptr ? json::member(*parameters, name) : nullptr)
    return parameter(name, *declared, at);
  const auto place = resource_places_.find(name);
  if (place == resource_places_.end())
    return unknown(name, "'" + name + "' is neither a parameter nor a resource of the template", at);
  const Resource& resource = resources_[place->second];
  if (resource.type() == "AWS::Lambda::Alias" || resource.type() == "AWS::Lambda::Version")
    return aliased(resource, at);
  // The names of most resources, and the URLs of queues, are known only to AWS.
  const bool is_named = kind_of(resource.type()) != nullptr && kind_of(resource.type())->service != "sqs";
  if (at.has_only_values && !is_named) return unknown(name, name + " is not known here", at);
  TRY(std::string own, physical_name(resource, at));
  const Kind* const kind = kind_of(resource.type());
  if (kind != nullptr && kind->service == "sns") own = arn_of(*kind, context_, own);
  return std::optional<Tree>(std::move(own));
}

// An alias or a version is referred to by the function's ARN with a suffix. Here all versions of a function
// are the same, so the function is enough.
Template::Resolved Template::aliased(const Resource& alias, At at) {
  const Tree* const properties = json::member(*alias.body, "Properties");
  const Tree* const function = properties != nullptr ? json::member(*properties, "FunctionName") : nullptr;
  if (function == nullptr) return std::optional<Tree>(alias.name);
  return resolve(*function, At{alias.variables, at.depth + 1, at.may_be_unknown, at.has_only_values});
}

Template::Resolved Template::parameter(const std::string& name, const Tree& declared, At at) {
  const auto type = json::string_member(declared, "Type").value_or("");
  const Tree* const standard = json::member(declared, "Default");
  const auto given = context_.parameters.find(name);
  std::string value;
  if (given != context_.parameters.end()) {
    value = given->second;
  } else if (type.starts_with("AWS::SSM::Parameter::Value<")) {
    return unknown(name, "parameter " + name + " takes its value from Parameter Store", at);
  } else if (standard == nullptr) {
    return unknown(name, "parameter " + name + " has no Default", at);
  } else {
    value = as_text(*standard);
  }
  CHECK_OK(charge(value.size()));
  if (type != "CommaDelimitedList" && type.find("List<") == std::string_view::npos)
    return std::optional<Tree>(std::move(value));
  Tree parts = split(value, ",");
  for (Tree& part : parts) {
    const auto& padded = part.get_ref<const std::string&>();
    const auto begin = std::min(padded.find_first_not_of(' '), padded.size());
    part = padded.substr(begin, padded.find_last_not_of(' ') + 1 - begin);
  }
  return std::optional(std::move(parts));
}

// `argument` is ["Base", "Arn"] or "Base.Arn".
Template::Resolved Template::attribute(const Tree& argument, At at) {
  std::string name;
  if (argument.is_string()) {
    TRY(name, with_variables(argument.get_ref<const std::string&>(), at));
  } else if (argument.is_array() && argument.size() == 2) {
    TRY(const std::string resource, text(argument[0], at));
    TRY(const std::string wanted, text(argument[1], at));
    name = resource + "." + wanted;
  } else {
    return misused("Fn::GetAtt");
  }
  const auto dot = name.find('.');
  const auto place = resource_places_.find(name.substr(0, dot));
  if (dot != std::string::npos && place != resource_places_.end() && !context_.parameters.contains(name)) {
    const Resource& resource = resources_[place->second];
    const Kind* const kind = kind_of(resource.type());
    const std::string attribute = name.substr(dot + 1);
    const bool is_stream = resource.is_table() && attribute == "StreamArn";
    if (kind != nullptr && (attribute == kind->attribute || is_stream)) {
      TRY(const std::string own, physical_name(resource, at));
      return std::optional<Tree>(arn_of(*kind, context_, own) + (is_stream ? "/stream/latest" : ""));
    }
  }
  return unknown(name, name + " is not known here", at);
}

// `argument` is a string such as "${Stage}-carts", or [string, map], where the map has the values of names
// in the string.
Template::Resolved Template::substituted(const Tree& argument, At at) {
  const bool has_values = argument.is_array();
  if (has_values && (argument.size() != 2 || !argument[1].is_object())) return misused("Fn::Sub");
  const Tree& written = has_values ? argument[0] : argument;
  if (!written.is_string()) return misused("Fn::Sub");
  TRY(const std::string pattern, with_variables(written.get_ref<const std::string&>(), at));
  std::string result;
  for (std::size_t begin = 0; begin < pattern.size();) {
    const auto mark = std::min(pattern.find("${", begin), pattern.size());
    result += pattern.substr(begin, mark - begin);
    if (mark == pattern.size()) break;
    const auto end = pattern.find('}', mark);
    if (end == std::string::npos) return misused("Fn::Sub");
    const std::string name = pattern.substr(mark + 2, end - mark - 2);
    begin = end + 1;
    if (name.starts_with('!')) {  // "${!Literal}" becomes "${Literal}"
      result += "${" + name.substr(1) + "}";
      continue;
    }
    const Tree* const own = has_values ? json::member(argument[1], name) : nullptr;
    const char* const function = name.find('.') != std::string::npos ? "Fn::GetAtt" : "Ref";
    TRY(const std::string value, text(own != nullptr ? *own : Tree{{function, name}}, at));
    CHECK_OK(charge(value.size()));
    result += value;
  }
  return std::optional<Tree>(std::move(result));
}

// `argument` is [map, first key, second key], optionally followed by {"DefaultValue": …}.
Template::Resolved Template::found_in_map(const Tree& argument, At at) {
  if (!argument.is_array() || argument.size() < 3 || argument.size() > 4) return misused("Fn::FindInMap");
  const Tree* const otherwise = argument.size() == 4 ? json::member(argument[3], "DefaultValue") : nullptr;
  const Tree* found = json::member(tree_, "Mappings");
  for (std::size_t i = 0; i < 3; ++i) {
    TRY(const std::string name, text(argument[i], at));
    found = found != nullptr ? json::member(*found, name) : nullptr;
    if (found == nullptr && otherwise != nullptr) return resolve(*otherwise, at.deeper());
    if (found == nullptr) return Unexpected{"Mappings has no entry for " + json::print(argument)};
  }
  CHECK_OK(charge(size_of(*found)));
  return std::optional(*found);
}

Expected<std::string, std::string> Template::name_of(const Resource& resource) {
  return physical_name(resource, At{resource.variables});
}

Template::Text Template::physical_name(const Resource& resource, At at) {
  const Kind* const kind = kind_of(resource.type());
  if (kind == nullptr) return resource.name;
  const Tree* const properties = json::member(*resource.body, "Properties");
  const Tree* const name = properties != nullptr ? json::member(*properties, kind->name) : nullptr;
  if (name == nullptr) return resource.name;
  TRY(const auto resolved, resolve(*name, At{resource.variables, at.depth + 1, at.may_be_unknown}));
  return resolved ? as_text(*resolved) : resource.name;
}

// --- conditions

Expected<bool, std::string> Template::is_made(const Resource& resource) {
  const Tree* const name = json::member(*resource.body, "Condition");
  if (name == nullptr || !name->is_string()) return true;
  return condition({{"Condition", *name}}, At{resource.variables});
}

// Evaluates a named condition once, however many conditions and resources name it. Otherwise, in a chain of
// conditions that each name the next condition twice, each link would double the time.
Expected<bool, std::string> Template::named_condition(std::size_t place, std::size_t depth) {
  if (const auto known = condition_values_.find(place); known != condition_values_.end())
    return known->second;
  const Resource& found = conditions_[place];
  TRY(const bool holds, condition(*found.body, At{found.variables, depth}));
  condition_values_[place] = holds;
  return holds;
}

Expected<bool, std::string> Template::condition(const Tree& value, At at) {
  if (at.depth > depth_max) return too_deep;
  CHECK_OK(charge(1));
  if (!value.is_object() || value.size() != 1) return misused("a condition");
  const std::string& name = value.begin().key();
  const Tree& argument = value.begin().value();
  if (name == "Condition") {
    if (!argument.is_string()) return misused(name);
    TRY(const std::string own, with_variables(argument.get_ref<const std::string&>(), at));
    const auto place = condition_places_.find(own);
    if (place == condition_places_.end()) return Unexpected{"the template has no condition " + own};
    return named_condition(place->second, at.depth + 1);
  }
  if (!argument.is_array()) return misused(name);
  if (name == "Fn::Equals" && argument.size() == 2) {
    TRY(const auto one, resolve(argument[0], at.deeper()));
    TRY(const auto other, resolve(argument[1], at.deeper()));
    return (one ? as_text(*one) : "") == (other ? as_text(*other) : "");
  }
  if (name == "Fn::Not" && argument.size() == 1) {
    TRY(const bool holds, condition(argument[0], at.deeper()));
    return !holds;
  }
  if (name != "Fn::And" && name != "Fn::Or") return misused(name);
  for (const Tree& part : argument) {
    TRY(const bool holds, condition(part, at.deeper()));
    if (holds == (name == "Fn::Or")) return holds;
  }
  return name == "Fn::And";
}

}  // namespace mayfly::schemas
