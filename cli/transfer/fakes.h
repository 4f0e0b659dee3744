// Values that look like those of a kind and are nobody's: names, addresses, numbers of phones that no
// telephone has. Which one stands for a value is drawn from its keyed hash, so it is the same everywhere.
//
//   fake_text(hash, {FakeKind::email}, "alice@corp.test") == "ada.moreau.5f0c…@example.com"
//
// Many values share a name; no two (but by a chance of 2^-64 a pair) share an email address or a UUID.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/transfer/keyed_hash.h"
#include "engine/clock.h"

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
  std::int64_t least = 0, most = 0;  // of number: both inclusive; of date: milliseconds, both inclusive
};

std::optional<FakeKind> fake_kind_named(std::string_view name);
std::string_view name_of(FakeKind kind);
inline bool is_unique(FakeKind kind) { return kind == FakeKind::email || kind == FakeKind::uuid; }

// A date has the form that the value has: 2024-05-01 or with a time behind it. Nothing: the kind has no such
// text.
std::optional<std::string> fake_text(const KeyedHash& hash, const Fake& fake, std::string_view value);
// Of the kinds number and date: a date in seconds since 1970, or in milliseconds where the value has so many
// digits.
std::optional<engine::Number> fake_number(const KeyedHash& hash, const Fake& fake,
                                          const engine::Number& value);

}  // namespace mayfly::transfer
