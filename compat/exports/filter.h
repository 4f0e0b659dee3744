// FilterSpecification: selects the items that an export contains, and their attributes.
//
//   TRY(const Filter filter, Filter::read(*request.member("FilterSpecification"), table, context.frame));
//   if (filter.reads(key) && filter.takes(item)) write(filter.shown(item));
//
// The rules are those of "Filtering a table export" in AWS's developer guide. With a key condition, the
// filter follows Query's rules. Without one, it follows Scan's rules and can name key attributes. A change is
// filtered by its new image, a deletion by its old image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "compat/expression/steps.h"
#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "engine/items/cursor.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat::exports {

class Filter {
 public:
  Filter() = default;  // accepts everything

  // Errors: "Invalid Request: Invalid FilterSpecification: The specification can not be empty"; invalid
  // expressions get Query's messages after "Invalid Request: ".
  static Result<Filter> read(const json::Value& specification, std::shared_ptr<const engine::Table> table,
                             Frame frame);

  // Whether the key condition admits an encoded key. Only admitted items count as read.
  [[nodiscard]] bool reads(std::string_view key) const;
  [[nodiscard]] bool takes(const engine::Item& item) const;
  // Returns the maximum cost of `takes`, in steps of expression/steps.h.
  [[nodiscard]] std::uint64_t steps(const engine::Item& item) const;
  [[nodiscard]] bool projects() const { return projection_.has_value(); }
  [[nodiscard]] engine::Item shown(const engine::Item& item) const;

 private:
  std::optional<engine::KeyRange> keys_;
  std::optional<expression::Condition> condition_;
  expression::Work work_;  // the work of evaluating the condition
  std::optional<expression::Projection> projection_;
};

}  // namespace mayfly::compat::exports
