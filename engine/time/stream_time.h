// The time by which streams and their readers age: the time of the account's clock without the clock's jumps.
//
// A jump must not make its own effects disappear: a record that was written before or during an advance of 48
// hours must not be 48 hours older afterwards. So this class remembers the jumps, and the age of a record is
// the time since its creation without the jumps.
//
//   StreamTime time;
//   time.jump(1000, 5000);
//   time.of(900) == 900;  time.of(3000) == 1000;  time.of(5100) == 1100;
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"

namespace mayfly::engine {

class StreamTime {
 public:
  // Adds a jump of the account's clock from one instant to a later one.
  // Requires: jumps are added in order.
  void jump(Instant from, Instant to);
  [[nodiscard]] Instant of(Instant instant) const;
  // The first instant of the account's clock with this stream time.
  [[nodiscard]] Instant instant_of(Instant stream_time) const;
  // Merges all jumps that end before this instant into one.
  void forget_before(Instant instant);

  // (from:i64le to:i64le)*
  void append_to(std::string& out) const;
  static StreamTime from_bytes(std::string_view bytes);
  static bool is_sound(std::string_view bytes);  // whether append_to() can have written these bytes

 private:
  struct Jump {
    Instant from, to;
  };
  std::vector<Jump> jumps_;
};

}  // namespace mayfly::engine
