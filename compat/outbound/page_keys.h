// Detects listings whose pages repeat endlessly.
//
//   PageKeys keys;
//   for (…; !last.empty();) {
//     if (!keys.advance(last)) return Unexpected{std::string(PageKeys::repeated)};
//     … ask for the page after `last` …
//   }
//
// An endpoint that returns the same key twice would be asked for the same pages forever. A cycle of n keys is
// detected within 3n pages (Brent's algorithm), using the memory of one key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::compat::outbound {

class PageKeys {
 public:
  static constexpr std::string_view repeated =
      "the endpoint returned the same page key twice, so its pages would never end";

  // `key` is the key at which the next page begins. Returns false if a repetition is detected.
  [[nodiscard]] bool advance(std::string_view key) {
    if (pages_ > 0 && key == kept_) return false;
    if (++pages_ == keeps_at_) {
      kept_ = key;
      keeps_at_ *= 2;
    }
    return true;
  }

 private:
  std::string kept_;
  std::uint64_t pages_ = 0, keeps_at_ = 1;
};

}  // namespace mayfly::compat::outbound
