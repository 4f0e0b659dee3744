#include "compat/items/request_expressions.h"

#include <algorithm>
#include <set>

#include "compat/expression/path_visitor.h"
#include "compat/syntax/parser.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shape.h"
#include "engine/base/text.h"

namespace mayfly::compat {

namespace {

std::vector<std::string_view> present(const json::Value& request, ParameterNames names) {
  std::vector<std::string_view> found;
  for (const auto name : names) {
    if (request.member(name) != nullptr) found.push_back(name);
  }
  return found;
}

Unexpected<Error> mixed_parameters(const std::string& legacy, const std::string& expressions) {
  return error::validation(
      "Can not use both expression and non-expression parameters in the same request: Non-expression "
      "parameters: "
      "{" +
      legacy + "} Expression parameters: {" + expressions + "}");
}

Result<void> check_parameters(const json::Value& request, ParameterNames expressions, ParameterNames legacy,
                              Frame frame) {
  const auto given = present(request, expressions);
  if (!given.empty()) {
    auto mixed = present(request, legacy);
    // KeyConditions can be combined with FilterExpression or ProjectionExpression, but not with its successor
    // KeyConditionExpression.
    if (request.member("KeyConditionExpression") == nullptr) std::erase(mixed, "KeyConditions");
    if (!mixed.empty()) {
      return mixed_parameters(engine::joined(mixed, ", "), engine::joined(given, ", "));
    }
  }
  if (request.member("ExpressionAttributeNames") != nullptr && given.empty()) {
    return error::validation("ExpressionAttributeNames can only be specified when using expressions");
  }
  if (request.member("ExpressionAttributeValues") != nullptr) {
    std::vector<std::string_view> with_values;
    for (const auto name : expressions) {
      if (name != "ProjectionExpression") with_values.push_back(name);
    }
    const bool any = std::any_of(with_values.begin(), with_values.end(),
                                 [&](std::string_view name) { return request.member(name) != nullptr; });
    if (!with_values.empty() && !any) {
      std::string message = "ExpressionAttributeValues can only be specified when using expressions";
      if (!has_newer_words(frame))
        message +=
            ": " + engine::joined(with_values, " and ") + (with_values.size() > 1 ? " are" : " is") + " null";
      return error::validation(std::move(message));
    }
  }
  return {};
}

}  // namespace

Result<void> check_expression_parameters(const json::Value& request, ParameterNames expressions,
                                         ParameterNames legacy, Frame frame) {
  return in_frame(frame, check_parameters(request, expressions, legacy, frame));
}

Result<void> check_one_projection(std::span<const json::Member> tables, Frame frame) {
  const auto any = [&](std::string_view name) {
    return std::any_of(tables.begin(), tables.end(),
                       [&](const json::Member& table) { return table.value.member(name) != nullptr; });
  };
  if (!any("ProjectionExpression") || !any("AttributesToGet")) return {};
  return in_frame(frame, Result<void>(mixed_parameters("AttributesToGet", "ProjectionExpression")));
}

Result<expression::Substitutions> read_substitutions(const json::Value& request, ParameterNames expressions,
                                                     Frame frame) {
  if (present(request, expressions).empty()) return expression::Substitutions();
  if (const json::Value* names = request.member("ExpressionAttributeNames")) {
    for (const json::Member& name : names->members()) {
      if (name.value.string().empty())
        return in_frame(frame, Result<expression::Substitutions>(empty_attribute_name()));
    }
  }
  return expression::Substitutions::read(request, frame);
}

Result<std::optional<expression::Condition>> read_condition(const json::Value& request, std::string_view name,
                                                            expression::Substitutions& substitutions) {
  const auto text = string_member(request, name);
  if (!text) return std::optional<expression::Condition>();
  TRY(auto condition, expression::parse_condition(name, *text, substitutions));
  return std::optional<expression::Condition>(std::move(condition));
}

Result<std::optional<expression::Projection>> read_projection(const json::Value& request,
                                                              expression::Substitutions& substitutions) {
  if (const auto text = string_member(request, "ProjectionExpression")) {
    TRY(auto projection, expression::parse_projection(*text, substitutions));
    return std::optional<expression::Projection>(std::move(projection));
  }
  const json::Value* names = request.member("AttributesToGet");
  if (names == nullptr) return std::optional<expression::Projection>();
  expression::Projection projection;
  for (const json::Value& name : names->items()) {
    projection.push_back({{expression::Path::Element(std::string(name.string()))}});
  }
  return std::optional<expression::Projection>(std::move(projection));
}

Result<void> check_attributes_to_get(const json::Value& request, Frame frame) {
  const json::Value* names = request.member("AttributesToGet");
  if (names == nullptr) return {};
  std::set<std::string_view> seen;
  for (const json::Value& name : names->items()) {
    if (name.string().empty()) return in_frame(frame, Result<void>(empty_attribute_name()));
    if (!seen.insert(name.string()).second) {
      return in_frame(frame,
                      Result<void>(error::validation(
                          "One or more parameter values were invalid: Duplicate value in attribute name: " +
                          std::string(name.string()))));
    }
  }
  return {};
}

std::vector<std::string> nested_names(const expression::Condition& condition) {
  std::vector<std::string> names;
  expression::for_each_path(condition, [&](const expression::Path& path) {
    if (expression::is_nested(path)) names.push_back(expression::top_level_name(path));
  });
  return names;
}

std::vector<std::string> nested_names(const expression::Projection& projection) {
  std::vector<std::string> names;
  for (const auto& path : projection) {
    if (expression::is_nested(path)) names.push_back(expression::top_level_name(path));
  }
  return names;
}

std::vector<std::string> nested_names(const expression::Update& update) {
  std::vector<std::string> names;
  expression::for_each_path(update, [&](const expression::Path& path) {
    if (expression::is_nested(path)) names.push_back(expression::top_level_name(path));
  });
  return names;
}

Result<void> check_keys_are_scalars(const engine::Table& table,
                                    const std::vector<std::string>& nested_names) {
  if (nested_names.empty()) return {};
  const auto check = [&](const engine::KeySchema& keys, const char* kind) -> Result<void> {
    for (const auto& attribute : keys.all()) {
      if (std::find(nested_names.begin(), nested_names.end(), attribute.name) == nested_names.end()) continue;
      return error::validation(
          "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: " +
          std::string(kind) + ": " + attribute.name);
    }
    return {};
  };
  CHECK_OK(check(table.keys, "Key"));
  for (const engine::Index& index : table.indexes) CHECK_OK(check(index.keys, "IndexKey"));
  return {};
}

}  // namespace mayfly::compat
