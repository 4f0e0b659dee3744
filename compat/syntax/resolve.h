// The #names and :values of one request, and which of them its expressions have used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::expression {

class Substitutions {
 public:
  Substitutions() = default;
  // Reads and checks ExpressionAttributeNames and ExpressionAttributeValues: placeholder syntax, empty maps,
  // values. The frame applies to every expression that is parsed with the result.
  static Result<Substitutions> read(const json::Value& request, Frame frame);

  void define_name(std::string placeholder, std::string name);
  void define_value(std::string placeholder, engine::AttributeValue value);

  // Returns nullptr if the placeholder is undefined; otherwise marks it as used. `placeholder` includes its
  // '#' or ':'.
  const std::string* name(std::string_view placeholder);
  const SharedValue* value(std::string_view placeholder);

  // Requires: all expressions of the request have been parsed. Error: "Value provided in
  // ExpressionAttributeNames unused in expressions: keys: {#a, #b}"
  [[nodiscard]] Result<void> check_all_used() const;

  [[nodiscard]] Frame frame() const { return frame_; }

 private:
  Result<void> read_names(const json::Value& names);
  Result<void> read_values(const json::Value& values);

  template <class T>
  struct Definition {
    std::string placeholder;
    T replacement;
    bool used = false;
  };
  // `all` is in the order of the request, for messages. `sorted` has positions in `all`, ordered by
  // placeholder, for look-ups; the first look-up builds it.
  template <class T>
  struct Definitions {
    std::vector<Definition<T>> all;
    std::vector<std::uint32_t> sorted;
    void define(std::string placeholder, T replacement);
    void sort();
    const T* use(std::string_view placeholder);
    [[nodiscard]] std::string unused() const;  // "#a, #b"
  };
  Definitions<std::string> names_;
  Definitions<SharedValue> values_;
  Frame frame_ = Frame::older;
};

}  // namespace mayfly::compat::expression
