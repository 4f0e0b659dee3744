// What evaluating a condition of an item, or computing an update's values of it, costs at most, in steps: so
// that no request keeps an io thread for long, whatever its expressions and its items are.
//
// A step is an operand, or sixteen bytes of the item for an operand: each may be compared with, searched for
// or measured in all of it (part_search.h), or be copied out of it. What is counted is what it could cost,
// not what it does: the figure follows from the request and the stored items, and the same request always has
// the same.
//
//   const std::uint64_t operands = operands_of(condition);
//   steps += steps_of(operands, item.size());
#pragma once

#include <cstddef>
#include <cstdint>

#include "compat/expression/ast.h"

namespace mayfly::compat::expression {

// Measured, with 300 to 700 operands: 26 to 45 ns a step, of items of four bytes and of 400 KB alike. So a
// page, which may end anywhere, has 0.4 s; without a bound it took 3.6 s. Ten operands of a megabyte are
// 650,000. A request that writes, which is refused, has 2 s; without a bound a transaction took 22 s. A
// hundred items of 400 KB with nineteen operands each are fewer; one item cannot have as many.
inline constexpr std::uint64_t page_steps_max = 10'000'000;
inline constexpr std::uint64_t request_steps_max = 50'000'000;

std::uint64_t operands_of(const Condition& condition);
// Those that are the item's: each SET may copy the same large attribute. The other actions cost together what
// the item and the request have.
std::uint64_t operands_of(const Update& update);
constexpr std::uint64_t steps_of(std::uint64_t operands, std::size_t item_bytes) {
  return operands * (1 + item_bytes / 16);
}

}  // namespace mayfly::compat::expression
