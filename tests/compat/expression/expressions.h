// Helpers for tests of expressions: items and placeholders from JSON, and errors as text.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "compat/expression/evaluate.h"
#include "compat/syntax/parser.h"
#include "compat/syntax/resolve.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::testing {

// item(R"({"a":{"S":"x"}})")
inline engine::Item item(std::string_view text) {
  const auto document = json::parse(text);
  REQUIRE(document != nullptr);
  auto read = compat::read_item(document->root());
  REQUIRE(read);
  return *std::move(read);
}

inline std::string text_of(const engine::Item& item) {
  std::string out;
  json::Writer writer(out);
  compat::write_item_object(writer, item);
  return out;
}

// Defines the names #a, #b, #c, #d and #three, and values that are named after their types: :s, :n, …
inline compat::expression::Substitutions placeholders() {
  compat::expression::Substitutions out;
  out.define_name("#a", "a");
  out.define_name("#b", "b");
  out.define_name("#c", "c");
  out.define_name("#d", "d");
  out.define_name("#three", "[3]");
  const engine::Item values = item(R"({
    ":s":{"S":"s"}, ":t":{"S":"t"}, ":n":{"N":"1"}, ":m":{"N":"2"}, ":b":{"B":"YQ=="}, ":bool":{"BOOL":true},
    ":null":{"NULL":true}, ":ss":{"SS":["a"]}, ":ns":{"NS":["1"]}, ":bs":{"BS":["YQ=="]}, ":list":{"L":[]},
    ":map":{"M":{}}, ":type_n":{"S":"N"}})");
  for (const auto& [name, value] : values) out.define_value(name, value);
  return out;
}

// Returns the error message, or "" if the result is a value.
template <class T>
std::string message(const compat::Result<T>& result) {
  return result ? std::string() : result.error().message;
}

// A row in a table of invalid expressions and their error messages.
struct Wrong {
  std::string_view expression;
  std::string_view message;
};

}  // namespace mayfly::testing
