// Whether a counter (catalog.h) says how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/findings.h"
#include "engine/key_view.h"

namespace mayfly::engine {

struct Counts {
  std::int64_t items = 0, bytes = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// `key`: under which the counter is stored. `present`: what it says, if that is not in storage; a counter
// that is in neither says that there are none. `what`: that it counts, for people: "carts: the counter of its
// items".
void check_counter(const KeyView& keys, const std::string& key, const std::optional<Counts>& present,
                   const Counts& right, const std::string& what, Findings& findings);

}  // namespace mayfly::engine
