// Values in a statement: literals and parameters.
//
//   value := 'text' | number | TRUE | FALSE | NULL | ? | [ value, … ] | { 'name': value, … } | << value, … >>
//
// A parameter stands for a whole value, never within a literal. Errors name the place within a literal as AWS
// does, from its root: "Nesting Levels have exceeded supported limits under root.a[0]…".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/partiql/token_reader.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::partiql {

class ValueParser : protected TokenReader {
 protected:
  ValueParser(std::string_view text, std::vector<engine::AttributeValue> parameters)
      : TokenReader(text), parameters_(std::move(parameters)) {}

  Result<engine::AttributeValue> value();
  Result<engine::AttributeValue> parameter();
  // What INSERT writes: a map whose members may be parameters.
  Result<engine::Item> item();

  // "Number of parameters in request and statement don't match."
  [[nodiscard]] Result<void> check_all_parameters_used() const;

 private:
  struct Place {
    std::string path = "root";
    int depth = 0;
  };
  Result<engine::AttributeValue> literal(const Place& place);
  Result<engine::AttributeValue> number();
  Result<engine::AttributeValue> list(const Place& place);
  Result<engine::AttributeValue> map(const Place& place);
  Result<engine::AttributeValue> set(const Place& place);
  // 'name': value, … } with `read` for each value.
  template <class Read>
  Result<engine::Map> members(const std::string& path, Read read);

  std::vector<engine::AttributeValue> parameters_;
  std::size_t parameters_used_ = 0;
};

}  // namespace mayfly::compat::partiql
