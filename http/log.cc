#include "http/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "engine/clock.h"

namespace mayfly::http::log {

namespace {

constexpr std::array<std::string_view, 5> names = {"debug", "info", "warning", "error", "off"};
std::atomic<Level> least_written{Level::warning};  // of an embedded server; `mayfly serve` sets its own

}  // namespace

std::optional<Level> level_of(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<Level>(i);
  }
  return std::nullopt;
}

void set_level(Level least) { least_written = least; }
bool enabled(Level level) { return level >= least_written.load(std::memory_order_relaxed); }

void write(Level level, std::string_view sentence) {
  if (!enabled(level)) return;
  static const engine::SystemClock clock;
  std::string line = engine::iso8601(clock.now());
  line += ' ';
  line += names[static_cast<std::size_t>(level)];
  line += ' ';
  line += sentence;
  line += '\n';
  // Nothing can be done about a stderr that takes no more.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace mayfly::http::log
