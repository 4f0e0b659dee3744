// FilterSpecification: which items are exported, and which of their attributes.
//
//   TRY(const Filter filter, Filter::read(*request.member("FilterSpecification"), table, context.frame));
//   if (filter.reads(key) && filter.takes(item)) write(filter.shown(item));
//
// Rules: "Filtering a table export" in AWS's developer guide. A key condition and a filter are Query's, a
// filter alone is Scan's and may name keys. Of a change its latest image decides, of a deletion the old one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "compat/expression/ast.h"
#include "compat/expression/steps.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "compat/wire/json.h"
#include "engine/attribute_value.h"
#include "engine/cursor.h"
#include "engine/table.h"

namespace mayfly::compat::exports {

class Filter {
 public:
  Filter() = default;  // takes everything

  // "Invalid Request: Invalid FilterSpecification: The specification can not be empty"; expressions are
  // refused in Query's words, after "Invalid Request: ".
  static Result<Filter> read(const json::Value& specification, std::shared_ptr<const engine::Table> table,
                             Frame frame);

  // Whether its key condition lets an encoded key in: only what it does counts as read.
  [[nodiscard]] bool reads(std::string_view key) const;
  [[nodiscard]] bool takes(const engine::Item& item) const;
  // What `takes` may cost, in steps of expression/steps.h.
  [[nodiscard]] std::uint64_t steps(const engine::Item& item) const;
  [[nodiscard]] bool projects() const { return projection_.has_value(); }
  [[nodiscard]] engine::Item shown(const engine::Item& item) const;

 private:
  std::optional<engine::KeyRange> keys_;
  std::optional<expression::Condition> condition_;
  expression::Work work_;  // the condition's
  std::optional<expression::Projection> projection_;
};

}  // namespace mayfly::compat::exports
