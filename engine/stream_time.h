// The time by which streams and their readers age: an account's, less what was jumped over.
//
// A jump must not lose what it brought about: a record written before or during an advance of 48 hours is not
// 48 hours older after it. So the jumps are remembered, and a record's age is the time since its creation
// that was not jumped over.
//
//   StreamTime time;
//   time.jump(1000, 5000);
//   time.of(900) == 900;  time.of(3000) == 1000;  time.of(5100) == 1100;
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.h"

namespace mayfly::engine {

class StreamTime {
 public:
  // The account's clock jumped from one instant to a later one. Requires: jumps come in order.
  void jump(Instant from, Instant to);
  [[nodiscard]] Instant of(Instant instant) const;
  // The first instant of the account's clock whose stream time is this.
  [[nodiscard]] Instant instant_of(Instant stream_time) const;
  // Jumps that end before this instant are remembered as one.
  void forget_before(Instant instant);

  // (from:i64le to:i64le)*
  void append_to(std::string& out) const;
  static StreamTime from_bytes(std::string_view bytes);
  static bool is_sound(std::string_view bytes);  // whether these can be append_to's

 private:
  struct Jump {
    Instant from, to;
  };
  std::vector<Jump> jumps_;
};

}  // namespace mayfly::engine
