#include "engine/schema/expiry_mode.h"

#include <string_view>

#include "engine/base/splitmix.h"

namespace mayfly::engine {
namespace {

std::uint64_t mixed(std::uint64_t value) { return mix(value + splitmix_step); }

// Does not use std::hash, so that a seed gives the same results in every build.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Returns the instant at which pass `number` begins. Each period has one pass.
Instant pass_at(const Table& table, std::int64_t number, std::int64_t period_ms) {
  const std::uint64_t drawn =
      mixed(table.expiry.seed ^ mixed(hash_of(table.name) ^ mixed(static_cast<std::uint64_t>(number))));
  return number * period_ms + static_cast<Instant>(drawn % static_cast<std::uint64_t>(period_ms));
}

}  // namespace

Instant fires_at(const Table& table, Instant due) {
  if (due > last_instant) return never;
  const ExpiryMode& mode = table.expiry;
  switch (mode.kind) {
    case ExpiryMode::Kind::exact: return due;
    case ExpiryMode::Kind::manual: return never;
    case ExpiryMode::Kind::aws: break;
  }
  if (due > never - 2 * mode.delay_ms_max) return never;
  const Instant found = due + mode.delay_ms_min;
  const std::int64_t period_ms = (mode.delay_ms_max - mode.delay_ms_min) / 2;
  if (period_ms == 0) return found;
  const Instant pass = pass_at(table, found / period_ms, period_ms);
  return pass >= found ? pass : pass_at(table, found / period_ms + 1, period_ms);
}

}  // namespace mayfly::engine
