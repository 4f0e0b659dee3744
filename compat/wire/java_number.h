// Determines why AWS's old front end and PartiQL reject a number. Both read numbers with Java's BigDecimal,
// whose exponents are 32-bit integers that wrap around:
//
//   1e2147483648   cannot be converted
//   1e2147483647   underflows: it has 1 + 2147483647 digits before the point, and this sum wraps around
//   1e2147483646   overflows
//
// Recorded on AWS in September and October 2026.
#pragma once

#include <string_view>

#include "engine/values/number.h"

namespace mayfly::compat {

// Whether a number's exponent and scale both fit in 32-bit integers. True for a string that is not a number.
bool is_java_decimal(std::string_view text);

// Returns the reason why Java rejects a string that engine::Number::parse rejects with `why`.
engine::NumberError java_number_error(std::string_view text, engine::NumberError why);

}  // namespace mayfly::compat
