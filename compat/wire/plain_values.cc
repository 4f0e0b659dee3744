#include "compat/wire/plain_values.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace mayfly::compat {
namespace {

using json::Tree;

Tree with_type(std::string_view type, Tree value) {
  Tree typed = Tree::object();
  json::add_member(typed, type, std::move(value));
  return typed;
}

// The text comes from a server, and raw() prints it unchanged, so it is checked.
Tree plain_number(Tree text) {
  if (!text.is_string()) return text;
  const auto& digits = text.get_ref<const std::string&>();
  const bool is_number = !digits.empty() &&
                         digits.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                         json::parse_tree(digits, json::Decimals::as_written).has_value();
  return is_number ? json::raw(digits) : std::move(text);
}

}  // namespace

bool is_typed_value(const Tree& value) {
  if (!value.is_object() || value.size() != 1) return false;
  const std::string& type = value.begin().key();
  const Tree& inner = value.begin().value();
  if (type == "S" || type == "N" || type == "B") return inner.is_string();
  if (type == "BOOL" || type == "NULL") return inner.is_boolean();
  if (type == "SS" || type == "NS" || type == "BS" || type == "L") return inner.is_array();
  return type == "M" && inner.is_object();
}

Tree typed_value(Tree plain) {
  switch (plain.type()) {
    case Tree::value_t::null:
    case Tree::value_t::discarded: return with_type("NULL", true);
    case Tree::value_t::boolean: return with_type("BOOL", std::move(plain));
    case Tree::value_t::string: return with_type("S", std::move(plain));
    case Tree::value_t::number_integer:
    case Tree::value_t::number_unsigned:
    case Tree::value_t::number_float:
    case Tree::value_t::binary: return with_type("N", json::print(plain));  // from json::raw()
    case Tree::value_t::array:
    case Tree::value_t::object: break;
  }
  for (Tree& part : plain) part = typed_value(std::move(part));
  const std::string_view type = plain.is_array() ? "L" : "M";
  return with_type(type, std::move(plain));
}

Tree plain_value(Tree typed) {
  if (!is_typed_value(typed)) return typed;
  const std::string type = typed.begin().key();
  Tree plain = std::move(typed.begin().value());
  if (type == "NULL") return nullptr;
  if (type == "N") return plain_number(std::move(plain));
  if (type == "NS")
    for (Tree& number : plain) number = plain_number(std::move(number));
  if (type == "L" || type == "M")
    for (Tree& part : plain) part = plain_value(std::move(part));
  return plain;
}

}  // namespace mayfly::compat
