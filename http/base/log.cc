#include "http/base/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "engine/base/clock.h"
#include "os/terminal.h"

namespace mayfly::http::log {

namespace {

constexpr std::array<std::string_view, 5> names = {"debug", "info", "warning", "error", "off"};
// Returns the length in bytes of the printable character at the start of `text`, or 0 if `text` does not
// start with one.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  // The valid range of the second byte excludes overlong forms, surrogates, values above U+10FFFF and C1
  // controls.
  const unsigned least = first == 0xe0 || first == 0xc2 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (first < 0xc2 || first > 0xf4 || byte(1) < least || byte(1) > most) return 0;
  for (std::size_t at = 2; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

std::atomic<Level> least_written{
    Level::warning};  // the default of an embedded server; `mayfly serve` sets its own

}  // namespace

void set_level(Level least) { least_written = least; }
bool enabled(Level level) { return level >= least_written.load(std::memory_order_relaxed); }

std::string printable(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    if (bytes > 0) {
      out += text.substr(0, bytes);
    } else {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    text.remove_prefix(std::max(bytes, std::size_t{1}));
  }
  return out;
}

void write(Level level, std::string_view sentence) {
  if (!enabled(level)) return;
  static const auto* const clock = new engine::SystemClock;
  std::string line = engine::iso8601(clock->now());
  line += ' ';
  line += names[static_cast<std::size_t>(level)];
  line += ' ';
  line += printable(sentence);
  line += '\n';
  os::write_error(line);
}

}  // namespace mayfly::http::log
