// Checks a stored counter (catalog.h) against the actual counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/verify/findings.h"
#include "engine/verify/key_view.h"

namespace mayfly::engine {

struct Counts {
  std::int64_t items = 0, bytes = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// Adds a finding if the counter is wrong. `key` is the counter's key in storage. `present` is the value to
// check; if it is nullopt, the value in storage is checked. A counter without a value counts as zero. `right`
// has the actual counts. `what` names the counter in messages, for example "carts: the counter of its items".
void check_counter(const KeyView& keys, const std::string& key, const std::optional<Counts>& present,
                   const Counts& right, const std::string& what, Findings& findings);

}  // namespace mayfly::engine
