// Writes an object's members with json::Writer, name and value in one call.
//
//   member(out, "TableName", table.name);
//   member(out, "ItemCount", items);
//   seconds(out, "CreationDateTime", created);   // 1700000000.123
#pragma once

#include <cstdint>
#include <string_view>

#include "compat/json/json.h"

namespace mayfly::json {

inline void member(Writer& out, std::string_view name, std::string_view value) {
  out.key(name);
  out.string(value);
}

// Writes nothing if `value` is empty.
inline void member_if_any(Writer& out, std::string_view name, std::string_view value) {
  if (!value.empty()) member(out, name, value);
}

inline void member(Writer& out, std::string_view name, std::int64_t value) {
  out.key(name);
  out.integer(value);
}

inline void seconds(Writer& out, std::string_view name, std::int64_t milliseconds) {
  out.key(name);
  out.seconds(milliseconds);
}

}  // namespace mayfly::json
