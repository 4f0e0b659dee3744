// What PartiQL takes for a number, beside DynamoDB's own limits (engine/number.h): it goes through Java's
// BigDecimal, whose exponents are 32-bit integers and overflow as those do.
//
//   read_java_number("1e2147483648")   cannot be converted
//   read_java_number("1e2147483647")   underflows: the digits before the point are 1 + 2147483647, which
//   wraps read_java_number("0e126")          overflows: a zero has a magnitude, too
//
// Captured on AWS in October 2026.
#pragma once

#include <string_view>

#include "compat/wire/error.h"
#include "engine/number.h"

namespace mayfly::compat::partiql {

// Whether the exponent and the scale of a number are 32-bit integers. True for what is no number.
bool is_java_decimal(std::string_view text);

// In read_number's words (wire/attribute_value_json.h).
Result<engine::Number> read_java_number(std::string_view text);

}  // namespace mayfly::compat::partiql
