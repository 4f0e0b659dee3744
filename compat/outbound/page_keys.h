// Notices that the pages of a listing go in circles.
//
//   PageKeys keys;
//   for (…; !last.empty();) {
//     if (!keys.advance(last)) return Unexpected{std::string(PageKeys::repeated)};
//     … ask for the page behind `last` …
//   }
//
// An endpoint that returns a key for the second time would be asked for the same pages for ever. Of a circle
// of n keys one is noticed within three times as many pages (Brent's algorithm), in the memory of one key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::compat::outbound {

class PageKeys {
 public:
  static constexpr std::string_view repeated =
      "the endpoint returned the same page key twice, so its pages would never end";

  // `key`: where the next page begins. False: it was returned before.
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
