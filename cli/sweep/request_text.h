// Builds parts of DynamoDB requests as JSON text.
//
//   string_value("a\"b") == R"({"S":"a\"b"})", number_value(7) == R"({"N":"7"})"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compat/json/json.h"

namespace mayfly::sweep {

inline std::string json_text(std::string_view text) {
  std::string out;
  json::append_escaped(out, text);
  return out;
}
inline std::string string_value(std::string_view text) { return "{\"S\":" + json_text(text) + "}"; }
inline std::string number_value(std::string_view digits) { return "{\"N\":" + json_text(digits) + "}"; }
inline std::string number_value(std::int64_t number) { return number_value(std::to_string(number)); }

}  // namespace mayfly::sweep
