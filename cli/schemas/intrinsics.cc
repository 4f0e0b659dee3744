#include "cli/schemas/intrinsics.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace mayfly::schemas {

namespace {

using json::Tree;

// Conditions and parameters may name each other in a circle.
constexpr std::size_t depth_max = 100;

const Unexpected<std::string> too_deep{"its functions are nested too deeply, or refer to themselves"};

Unexpected<std::string> misused(const std::string& function) {
  return Unexpected{function + " is given something else than CloudFormation has it take"};
}

std::string as_text(const Tree& value) {
  return value.is_string() ? value.get<std::string>() : json::print(value);
}

}  // namespace

Template::Resolved Template::resolve(const Tree& value) const { return resolve(value, 0); }

Template::Resolved Template::resolve(const Tree& value, std::size_t depth) const {
  if (depth > depth_max) return too_deep;
  if (value.is_object() && value.size() == 1) {
    const std::string& name = value.begin().key();
    if (name == "Ref" || name.starts_with("Fn::")) return function(name, value.begin().value(), depth + 1);
  }
  if (value.is_object()) {
    Tree result = Tree::object();
    for (const auto& [name, member] : value.items()) {
      TRY(auto resolved, resolve(member, depth + 1));
      if (resolved) result[name] = *std::move(resolved);
    }
    return std::optional(std::move(result));
  }
  if (value.is_array()) {
    Tree result = Tree::array();
    for (const Tree& element : value) {
      TRY(auto resolved, resolve(element, depth + 1));
      if (resolved) result.push_back(*std::move(resolved));
    }
    return std::optional(std::move(result));
  }
  return std::optional(value);
}

Template::Resolved Template::function(const std::string& name, const Tree& argument,
                                      std::size_t depth) const {
  if (name == "Ref") return argument.is_string() ? reference(argument.get<std::string>()) : misused(name);
  if (name == "Fn::Sub") return substituted(argument, depth);
  if (name == "Fn::FindInMap") return found_in_map(argument, depth);
  if (name == "Fn::If") {
    if (!argument.is_array() || argument.size() != 3 || !argument[0].is_string()) return misused(name);
    TRY(const bool chosen, condition({{"Condition", argument[0]}}, depth + 1));
    return resolve(argument[chosen ? 1 : 2], depth + 1);
  }
  if (name == "Fn::GetAtt") {
    return Unexpected{"it takes " + json::print(argument) +
                      " of another resource, which there is none of here: give the value itself"};
  }
  if (!argument.is_array() || argument.size() != 2) {
    return Unexpected{name + " is none of the functions that are known here"};
  }
  if (name == "Fn::Join") {
    TRY(const std::string separator, text(argument[0], depth));
    TRY(const auto parts, resolve(argument[1], depth + 1));
    if (!parts || !parts->is_array()) return misused(name);
    std::string joined;
    for (std::size_t i = 0; i < parts->size(); ++i) joined += (i > 0 ? separator : "") + as_text((*parts)[i]);
    return std::optional<Tree>(joined);
  }
  if (name == "Fn::Select") {
    TRY(const auto index, resolve(argument[0], depth + 1));
    TRY(const auto list, resolve(argument[1], depth + 1));
    const auto at = index ? json::integer(with_numbers(*index)).value_or(-1) : -1;
    if (!list || !list->is_array() || at < 0 || static_cast<std::size_t>(at) >= list->size())
      return misused(name);
    return std::optional((*list)[static_cast<std::size_t>(at)]);
  }
  if (name == "Fn::Split") {
    TRY(const std::string separator, text(argument[0], depth));
    TRY(const std::string whole, text(argument[1], depth));
    if (separator.empty()) return misused(name);
    Tree parts = Tree::array();
    for (std::size_t at = 0; at <= whole.size();) {
      const auto end = std::min(whole.find(separator, at), whole.size());
      parts.push_back(whole.substr(at, end - at));
      at = end + separator.size();
    }
    return std::optional(std::move(parts));
  }
  return Unexpected{name + " is none of the functions that are known here"};
}

Template::Resolved Template::reference(const std::string& name) const {
  if (name == "AWS::NoValue") return std::optional<Tree>();
  if (name == "AWS::Region") return std::optional<Tree>(context_.region);
  if (name == "AWS::AccountId") return std::optional<Tree>(context_.account);
  if (name == "AWS::Partition") return std::optional<Tree>("aws");
  if (name == "AWS::URLSuffix") return std::optional<Tree>("amazonaws.com");
  if (name == "AWS::StackName" || name == "AWS::StackId") return std::optional<Tree>("mayfly");
  const Tree* parameters = json::member(tree_, "Parameters");
  if (const Tree* parameter = parameters != nullptr ? json::member(*parameters, name) : nullptr) {
    if (const auto given = context_.parameters.find(name); given != context_.parameters.end())
      return std::optional<Tree>(given->second);
    const Tree* value = json::member(*parameter, "Default");
    if (value == nullptr) {
      return Unexpected{"the parameter " + name + " has no Default: --schema-parameter " + name +
                        "=VALUE gives it a value"};
    }
    // A list's parts stand in one text, with commas.
    const auto type = json::string_member(*parameter, "Type").value_or("");
    if (value->is_string() && (type == "CommaDelimitedList" || type.starts_with("List<")))
      return resolve({{"Fn::Split", Tree::array({",", *value})}}, 0);
    return std::optional(*value);
  }
  const Tree* resources = json::member(tree_, "Resources");
  const Tree* resource = resources != nullptr ? json::member(*resources, name) : nullptr;
  if (resource == nullptr) return Unexpected{"it refers to " + name + ", which the template does not have"};
  return std::optional<Tree>(name);
}

// "${Stage}-carts", or that and values for names of its own.
Template::Resolved Template::substituted(const Tree& argument, std::size_t depth) const {
  const bool has_values = argument.is_array();
  if (has_values && (argument.size() != 2 || !argument[1].is_object())) return misused("Fn::Sub");
  const Tree& pattern = has_values ? argument[0] : argument;
  if (!pattern.is_string()) return misused("Fn::Sub");
  const auto& text_of_pattern = pattern.get_ref<const std::string&>();
  std::string result;
  for (std::size_t at = 0; at < text_of_pattern.size();) {
    const auto begin = std::min(text_of_pattern.find("${", at), text_of_pattern.size());
    result += text_of_pattern.substr(at, begin - at);
    if (begin == text_of_pattern.size()) break;
    const auto end = text_of_pattern.find('}', begin);
    if (end == std::string::npos) return misused("Fn::Sub");
    const std::string name = text_of_pattern.substr(begin + 2, end - begin - 2);
    at = end + 1;
    if (name.starts_with('!')) {  // "${!Literal}" is "${Literal}"
      result += "${" + name.substr(1) + "}";
      continue;
    }
    const Tree* own = has_values ? json::member(argument[1], name) : nullptr;
    if (own == nullptr && name.find('.') != std::string::npos)
      return function("Fn::GetAtt", Tree(name), depth + 1);
    TRY(const std::string value, text(own != nullptr ? *own : Tree{{"Ref", name}}, depth + 1));
    result += value;
  }
  return std::optional<Tree>(result);
}

Template::Resolved Template::found_in_map(const Tree& argument, std::size_t depth) const {
  if (!argument.is_array() || argument.size() != 3) return misused("Fn::FindInMap");
  const Tree* at = json::member(tree_, "Mappings");
  for (const Tree& key : argument) {
    TRY(const std::string name, text(key, depth));
    at = at != nullptr ? json::member(*at, name) : nullptr;
    if (at == nullptr) return Unexpected{"Mappings has nothing for " + json::print(argument)};
  }
  return std::optional(*at);
}

Expected<std::string, std::string> Template::text(const Tree& value, std::size_t depth) const {
  TRY(const auto resolved, resolve(value, depth + 1));
  if (!resolved || resolved->is_structured()) return Unexpected{json::print(value) + " is no text"};
  return as_text(*resolved);
}

Expected<bool, std::string> Template::holds(const std::string& name) const {
  return condition({{"Condition", name}}, 0);
}

Expected<bool, std::string> Template::condition(const Tree& value, std::size_t depth) const {
  if (depth > depth_max) return too_deep;
  if (!value.is_object() || value.size() != 1) return misused("a condition");
  const std::string& name = value.begin().key();
  const Tree& argument = value.begin().value();
  if (name == "Condition") {
    const Tree* conditions = json::member(tree_, "Conditions");
    const Tree* found = conditions != nullptr && argument.is_string()
                            ? json::member(*conditions, argument.get_ref<const std::string&>())
                            : nullptr;
    if (found == nullptr) return Unexpected{"the template has no condition " + as_text(argument)};
    return condition(*found, depth + 1);
  }
  if (!argument.is_array()) return misused(name);
  if (name == "Fn::Equals" && argument.size() == 2) {
    TRY(const std::string one, text(argument[0], depth));
    TRY(const std::string other, text(argument[1], depth));
    return one == other;
  }
  if (name == "Fn::Not" && argument.size() == 1) {
    TRY(const bool holds, condition(argument[0], depth + 1));
    return !holds;
  }
  if (name != "Fn::And" && name != "Fn::Or") return misused(name);
  for (const Tree& part : argument) {
    TRY(const bool holds, condition(part, depth + 1));
    if (holds == (name == "Fn::Or")) return holds;
  }
  return name == "Fn::And";
}

}  // namespace mayfly::schemas
