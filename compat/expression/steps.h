// Upper bounds, in steps, on the cost of evaluating a condition on an item or of computing an update's
// values. These bounds keep every request from occupying an io thread for long.
//
// A step is the processing of one value, or of sixteen bytes of a long value. To evaluate an operand, it can
// be necessary to compare, search or measure the whole item (part_search.h), and to search for each constant
// once per item. The count is an upper bound, not a measurement. It depends only on the request and the
// stored items, so the same request always has the same count.
//
//   const Work work = work_of(condition);
//   steps += work.steps_on(item);
#pragma once

#include <cstddef>
#include <cstdint>

#include "compat/syntax/ast.h"

namespace mayfly::compat::expression {

// Measured with 300 to 700 operands: 26 to 45 ns per step for strings of 4 bytes and of 400 KB, less for
// lists of empty strings.
//
// A page can end after any item, so its limit corresponds to 0.4 s; without a limit, a page took 3.6 s. Ten
// operands on a megabyte of strings are 650,000 steps.
//
// A write request that exceeds its limit is rejected, so its limit corresponds to 2 s; without a limit, a
// transaction took 22 s. A transaction on a hundred items of 400 KB, each of them one string, stays below the
// limit with nineteen operands for each item. A write of one such item stays far below the limit with 700
// operands (18,000,000 steps); a write of a list of 400,000 empty strings reaches it with 125 operands.
inline constexpr std::uint64_t page_steps_max = 10'000'000;
inline constexpr std::uint64_t request_steps_max = 50'000'000;
inline constexpr std::uint64_t nanoseconds_per_step = 30;

// Returns the number of steps to read each value once. A value of 400 KB takes 25,000 steps if it is a
// string, and 400,000 if it is a list of empty strings.
std::uint64_t steps_of(const engine::AttributeValue& value);
std::uint64_t steps_of(const engine::Item& item);

// The work of a condition or an update.
struct Work {
  std::uint64_t operands = 0;   // each costs the steps of the item
  std::uint64_t constants = 0;  // steps of all constants
  [[nodiscard]] std::uint64_t steps_on(const engine::Item& item) const {
    return operands * (1 + steps_of(item)) + constants;
  }
  // Estimates from the item's size alone, which cost nothing to compute: steps_on_text is for an item that is
  // one long string, steps_at_most is an upper bound for any item. An item has at most two values per byte.
  [[nodiscard]] std::uint64_t steps_on_text(std::size_t item_bytes) const {
    return operands * (1 + item_bytes / 16) + constants;
  }
  [[nodiscard]] std::uint64_t steps_at_most(std::size_t item_bytes) const {
    return operands * (2 + 2 * item_bytes) + constants;
  }
};
Work work_of(const Condition& condition);
// An update copies the item once. The maximum item size bounds the values that it writes (update.h). That
// maximum does not bound the sets that DELETE names, so their steps are counted.
Work work_of(const Update& update);

}  // namespace mayfly::compat::expression
