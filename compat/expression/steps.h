// What evaluating a condition of an item, or computing an update's values of it, costs at most, in steps: so
// that no request keeps an io thread for long, whatever its expressions and its items are.
//
// A step is a value, or sixteen bytes of one. An operand may be compared with, searched for or measured in
// all of the item (part_search.h), and each constant may be searched for each item. The count is an upper
// bound, not a measurement: it follows from the request and the stored items, so that the same request always
// has the same count.
//
//   const Work work = work_of(condition);
//   steps += work.steps_on(item);
#pragma once

#include <cstddef>
#include <cstdint>

#include "compat/expression/ast.h"

namespace mayfly::compat::expression {

// Measured, with 300 to 700 operands: 26 to 45 ns a step of strings of four bytes and of 400 KB, less in
// lists of empty strings. So a page, which may end anywhere, has 0.4 s; without a bound it took 3.6 s. Ten
// operands of a megabyte are 650,000. A request that writes, which is refused, has 2 s; without a bound a
// transaction took 22 s. A hundred items of 400 KB with nineteen operands each are fewer; one item cannot
// have as many.
inline constexpr std::uint64_t page_steps_max = 10'000'000;
inline constexpr std::uint64_t request_steps_max = 50'000'000;
inline constexpr std::uint64_t nanoseconds_per_step = 30;

// Those of looking at every value in it once. One of 400 KB has 25,000 if it is a string, 400,000 if it is a
// list of empty strings.
std::uint64_t steps_of(const engine::AttributeValue& value);
std::uint64_t steps_of(const engine::Item& item);

// The work that a condition or an update takes.
struct Work {
  std::uint64_t operands = 0;   // times the item
  std::uint64_t constants = 0;  // steps of the values that are brought along
  [[nodiscard]] std::uint64_t steps_on(const engine::Item& item) const {
    return operands * (1 + steps_of(item)) + constants;
  }
  // The same by an item's size alone, which costs nothing: if the item is one long string, and at most. No
  // value takes less than half a byte.
  [[nodiscard]] std::uint64_t steps_on_text(std::size_t item_bytes) const {
    return operands * (1 + item_bytes / 16) + constants;
  }
  [[nodiscard]] std::uint64_t steps_at_most(std::size_t item_bytes) const {
    return operands * (2 + 2 * item_bytes) + constants;
  }
};
Work work_of(const Condition& condition);
// An update copies the item once. The size of an item bounds the values that it writes (update.h). The sets
// that DELETE names have no such bound, and are counted.
Work work_of(const Update& update);

}  // namespace mayfly::compat::expression
