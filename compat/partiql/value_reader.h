// Values of a statement: literals and parameters.
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

#include "compat/partiql/syntax.h"
#include "compat/wire/error.h"
#include "engine/attribute_value.h"

namespace mayfly::compat::partiql {

class ValueReader {
 protected:
  explicit ValueReader(std::vector<engine::AttributeValue> parameters) : parameters_(std::move(parameters)) {}

  Result<engine::AttributeValue> value(const Node& node);
  Result<engine::AttributeValue> parameter(const Node& node);
  // What INSERT writes: a map whose members may be parameters.
  Result<engine::Item> item(const Node& node);

  // "Number of parameters in request and statement don't match."
  [[nodiscard]] Result<void> check_all_parameters_used() const;

 private:
  struct Place {
    std::string path = "root";
    int depth = 0;
  };
  Result<engine::AttributeValue> literal(const Node& node, const Place& place);
  Result<engine::AttributeValue> list(const Node& node, const Place& place);
  Result<engine::AttributeValue> set(const Node& node, const Place& place);
  // With `read` for each member's value.
  template <class Read>
  Result<engine::Map> members(const Node& node, const std::string& path, Read read);

  std::vector<engine::AttributeValue> parameters_;  // moved from, as they are used
  std::size_t parameters_used_ = 0;
};

// "INSERT INTO … VALUE <<…>>"
Unexpected<Error> several_items();

}  // namespace mayfly::compat::partiql
