// Makes realistic values that belong to no real person: names, addresses, unassigned phone numbers. The keyed
// hash of a value determines the fake value, so that the same value gets the same fake value everywhere.
//
//   fake_text(hash, {FakeKind::email}, "alice@corp.test") == "ada.moreau.5f0c…@example.com"
//
// Different values may get the same name, but not the same email address or UUID (the chance is 2^-64 per
// pair).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/anonymize/keyed_hash.h"
#include "engine/base/clock.h"

namespace mayfly::transfer {

enum class FakeKind : std::uint8_t {
  name,
  first_name,
  last_name,
  email,
  phone,
  address,
  uuid,
  ip,
  text,
  date,
  number
};

struct Fake {
  FakeKind kind = FakeKind::text;
  std::int64_t least = 0, most = 0;  // inclusive limits of a number, or of a date in milliseconds
};

std::optional<FakeKind> fake_kind_named(std::string_view name);
std::string_view name_of(FakeKind kind);
inline bool is_unique(FakeKind kind) { return kind == FakeKind::email || kind == FakeKind::uuid; }

// A date has the same format as `value`: 2024-05-01, optionally followed by a time. Returns nullopt if the
// kind has no text values.
std::optional<std::string> fake_text(const KeyedHash& hash, const Fake& fake, std::string_view value);
// Returns nullopt unless the kind is number or date. A date is in seconds since 1970, or in milliseconds if
// `value` has 12 or more digits.
std::optional<engine::Number> fake_number(const KeyedHash& hash, const Fake& fake,
                                          const engine::Number& value);

}  // namespace mayfly::transfer
