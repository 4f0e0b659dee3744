#include "compat/tables/projection.h"

#include <algorithm>
#include <string>

#include "compat/wire/shape.h"

namespace mayfly::compat {

using engine::KeyAttribute;
using json::Value;

const KeyAttribute* find_definition(const std::vector<KeyAttribute>& definitions, std::string_view name) {
  const auto found = std::find_if(definitions.begin(), definitions.end(),
                                  [&](const KeyAttribute& attribute) { return attribute.name == name; });
  return found == definitions.end() ? nullptr : &*found;
}

Result<engine::Projection> read_projection(const Value& projection) {
  const auto type = string_member(projection, "ProjectionType");
  if (!type)
    return error::validation("One or more parameter values were invalid: Unknown ProjectionType: null");
  engine::Projection result;
  const Value* attributes = projection.member("NonKeyAttributes");
  if (*type == "INCLUDE") {
    result.kind = engine::Projection::Kind::include;
    if (attributes == nullptr) {
      return error::validation(
          "One or more parameter values were invalid: ProjectionType is INCLUDE, but NonKeyAttributes is not "
          "specified");
    }
    for (const Value& attribute : attributes->items()) {
      if (std::find(result.attributes.begin(), result.attributes.end(), attribute.string()) !=
          result.attributes.end()) {
        return error::validation(
            "One or more parameter values were invalid: Duplicate element in NonKeyAttributes: " +
            std::string(attribute.string()));
      }
      result.attributes.emplace_back(attribute.string());
    }
    return result;
  }
  if (attributes != nullptr) {
    return error::validation("One or more parameter values were invalid: ProjectionType is " +
                             std::string(*type) + ", but NonKeyAttributes is specified");
  }
  result.kind = *type == "ALL" ? engine::Projection::Kind::all : engine::Projection::Kind::keys_only;
  return result;
}

}  // namespace mayfly::compat
