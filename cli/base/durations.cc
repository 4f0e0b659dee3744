#include "cli/base/durations.h"

#include <charconv>
#include <cmath>

namespace mayfly::cli {

std::optional<std::string> seconds_of(const std::string& duration) {
  double total = 0;
  const char* at = duration.data();
  const char* const end = at + duration.size();
  if (at == end) return std::nullopt;
  while (at != end) {
    double value = 0;
    const auto [next, failure] = std::from_chars(at, end, value);
    // from_chars also reads "inf" and "nan".
    if (failure != std::errc{} || value < 0 || !std::isfinite(value)) return std::nullopt;
    at = next;
    double unit = 1;
    if (at != end) {
      switch (*at++) {
        case 's': break;
        case 'm': unit = 60; break;
        case 'h': unit = 3600; break;
        case 'd': unit = 86400; break;
        default: return std::nullopt;
      }
    }
    total += value * unit;
  }
  if (!std::isfinite(total)) return std::nullopt;
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, total).ptr);
}

}  // namespace mayfly::cli
