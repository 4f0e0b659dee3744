// Reads the values of a statement: literals and parameters.
//
//   value := 'text' | number | TRUE | FALSE | NULL | ? | [ value, … ] | { 'name': value, … } | << value, … >>
//
// A parameter takes the place of a whole value, never of a part of a literal. As on AWS, an error in a
// literal gives the position as a path from the literal's root: "Nesting Levels have exceeded supported
// limits under root.a[0]…".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/partiql/syntax.h"
#include "compat/wire/error.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::partiql {

class ValueReader {
 protected:
  explicit ValueReader(std::vector<engine::AttributeValue> parameters) : parameters_(std::move(parameters)) {}

  Result<engine::AttributeValue> value(const Node& node);
  Result<engine::AttributeValue> parameter(const Node& node);
  // Reads the item that INSERT writes: a map whose members can be parameters.
  Result<engine::Item> item(const Node& node);

  // Error if a parameter was not used: "Number of parameters in request and statement don't match."
  [[nodiscard]] Result<void> check_all_parameters_used() const;

 private:
  struct Place {
    std::string path = "root";
    int depth = 0;
  };
  Result<engine::AttributeValue> literal(const Node& node, const Place& place);
  Result<engine::AttributeValue> list(const Node& node, const Place& place);
  Result<engine::AttributeValue> set(const Node& node, const Place& place);
  // Reads a map. Calls `read` to read the value of each member.
  template <class Read>
  Result<engine::Map> members(const Node& node, const std::string& path, Read read);

  std::vector<engine::AttributeValue> parameters_;  // each is moved from when it is used
  std::size_t parameters_used_ = 0;
};

// The error for inserting several items; suggests "INSERT INTO tableName VALUE item".
Unexpected<Error> several_items();

}  // namespace mayfly::compat::partiql
