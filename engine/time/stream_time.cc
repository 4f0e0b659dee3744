#include "engine/time/stream_time.h"

#include <algorithm>

#include "engine/storage/key_space.h"

namespace mayfly::engine {

void StreamTime::jump(Instant from, Instant to) {
  if (!jumps_.empty()) from = std::max(from, jumps_.back().to);
  if (to <= from) return;
  // On a frozen clock, each jump begins where the previous one ended.
  if (!jumps_.empty() && jumps_.back().to == from) {
    jumps_.back().to = to;
  } else {
    jumps_.push_back({from, to});
  }
}

Instant StreamTime::of(Instant instant) const {
  Instant jumped = 0;
  for (const Jump& jump : jumps_) {
    if (instant <= jump.from) break;
    jumped += std::min(instant, jump.to) - jump.from;
  }
  return instant - jumped;
}

Instant StreamTime::instant_of(Instant stream_time) const {
  Instant jumped = 0;
  for (const Jump& jump : jumps_) {
    if (stream_time <= jump.from - jumped) break;
    jumped += jump.to - jump.from;
  }
  return stream_time + jumped;
}

void StreamTime::forget_before(Instant instant) {
  std::size_t old = 0;
  Instant jumped = 0;
  for (; old < jumps_.size() && jumps_[old].to < instant; ++old) jumped += jumps_[old].to - jumps_[old].from;
  if (old < 2) return;
  const Instant end = jumps_[old - 1].to;
  jumps_.erase(jumps_.begin(), jumps_.begin() + static_cast<std::ptrdiff_t>(old - 1));
  jumps_.front() = {end - jumped, end};
}

void StreamTime::append_to(std::string& out) const {
  for (const Jump& jump : jumps_) {
    append_little_endian(out, jump.from);
    append_little_endian(out, jump.to);
  }
}

bool StreamTime::is_sound(std::string_view bytes) {
  if (bytes.size() % (2 * sizeof(Instant)) != 0) return false;
  const std::vector<Jump> jumps = from_bytes(bytes).jumps_;
  const bool forward = std::all_of(jumps.begin(), jumps.end(), [](const Jump& j) { return j.from < j.to; });
  return forward && std::is_sorted(jumps.begin(), jumps.end(),
                                   [](const Jump& a, const Jump& b) { return a.from < b.to; });
}

StreamTime StreamTime::from_bytes(std::string_view bytes) {
  StreamTime time;
  for (; bytes.size() >= 2 * sizeof(Instant); bytes.remove_prefix(2 * sizeof(Instant)))
    time.jumps_.push_back(
        {read_little_endian<Instant>(bytes), read_little_endian<Instant>(bytes.substr(sizeof(Instant)))});
  return time;
}

}  // namespace mayfly::engine
