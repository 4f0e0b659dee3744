#include "compat/items/index_rules.h"

#include <array>
#include <string>

#include "compat/items/keys.h"
#include "compat/items/vector_entries.h"
#include "compat/settings/settings.h"
#include "compat/tables/projection.h"
#include "engine/values/item_size.h"

namespace mayfly::compat {
namespace {

using engine::AttributeValue;
using engine::Item;
using engine::Number;
using engine::Table;

constexpr std::size_t hash_bytes_max = 2048;
constexpr std::size_t inline_filter_bytes_max = 10'240;

// In AWS's message, two sentences say that the values are invalid, and the second one has a space before its
// period.
constexpr std::string_view invalid_twice =
    "One or more parameter values are not valid. One or more parameter values were invalid . ";
constexpr std::string_view invalid_once = "One or more parameter values were invalid. ";

Unexpected<Error> invalid(std::string_view prefix, const std::string& what, const VectorIndex& index) {
  return error::validation(std::string(prefix) + what + ". IndexName: " + index.name);
}

std::string type_text(const AttributeValue& value) { return std::string(engine::type_name(value.type())); }

// Prints a number in scientific notation: "1.3E+40".
std::string scientific(const Number& number) {
  std::array<char, Number::digits_max> digits{};
  const int count = number.write_digits(digits.data());
  std::string text = number.negative() ? "-" : "";
  text += digits[0];
  if (count > 1) text.append(".").append(&digits[1], static_cast<std::size_t>(count - 1));
  const int magnitude = number.magnitude();
  return text + (magnitude < 0 ? "E" : "E+") + std::to_string(magnitude);
}

Result<void> check_vector(const AttributeValue& value, const VectorIndex& index) {
  const auto* list = value.get_if<engine::List>();
  if (list == nullptr) {
    return invalid(
        invalid_twice,
        "Invalid type for parameter " + index.attribute + ", Expected: L, Actual: " + type_text(value),
        index);
  }
  if (list->size() != static_cast<std::size_t>(index.dimensions)) {
    return invalid(invalid_twice,
                   "Invalid size for parameter " + index.attribute + ", Expected: " +
                       std::to_string(index.dimensions) + ", Actual: " + std::to_string(list->size()),
                   index);
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = index.attribute + "[" + std::to_string(i) + "]";
    const auto* number = (*list)[i].get_if<Number>();
    if (number == nullptr) {
      return invalid(invalid_once,
                     "Invalid type for parameter " + place +
                         ", Expected: 32-bit floating point number, Actual: " + type_text((*list)[i]),
                     index);
    }
    if (!to_float(*number)) {
      return invalid(invalid_twice,
                     "Invalid value for parameter " + place + ", Value: " + scientific(*number) +
                         " is outside valid range [-3.4028235E38, 3.4028235E38]",
                     index);
    }
  }
  return {};
}

Result<void> check_searched(const AttributeValue& value, const SearchElement& element,
                            const engine::KeyAttribute& definition, const VectorIndex& index, bool updated) {
  if (!engine::has_type(value, definition.type)) {
    return invalid(invalid_once,
                   "Attribute '" + element.name + "' type mismatch. Expected: " +
                       std::string(engine::type_name(definition.type)) + ", Actual: " + type_text(value),
                   index);
  }
  const std::size_t bytes = engine::value_size(value);
  if (element.hash && bytes == 0)
    return updated ? empty_updated_key(definition) : empty_index_key(index.name, definition);
  if (element.hash && bytes > hash_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Aggregate size for HASH key attributes exceeds the "
        "maximum "
        "of " +
        std::to_string(hash_bytes_max) + " bytes");
  }
  if (!element.hash && bytes > inline_filter_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Size limit exceeded for SearchSchema attribute '" +
        element.name + "': maximum " + std::to_string(inline_filter_bytes_max) + " bytes");
  }
  return {};
}

Result<void> check_vectors(const Table& table, const Item& item, bool updated) {
  if (!has_vector_indexes(table)) return {};
  for (const VectorIndex& index : vector_indexes_of(table)) {
    if (const AttributeValue* value = item.find(index.attribute)) CHECK_OK(check_vector(*value, index));
    for (const SearchElement& element : index.search_schema) {
      const AttributeValue* value = item.find(element.name);
      const auto* definition = find_definition(table.attribute_definitions, element.name);
      if (value == nullptr || definition == nullptr) continue;
      CHECK_OK(check_searched(*value, element, *definition, index, updated));
    }
  }
  return {};
}

}  // namespace

Result<void> check_indexed(const Table& table, const Item& item, bool updated) {
  CHECK_OK(check_index_keys(table, item, updated));
  return check_vectors(table, item, updated);
}

}  // namespace mayfly::compat
