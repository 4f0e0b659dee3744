#include "engine/values/checked_item.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"
#include "engine/values/number.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t size_bytes = sizeof(std::uint32_t);
constexpr std::size_t varint_bytes_max = 5;  // for 32 bits
constexpr std::size_t significand_bytes_max = 16;

constexpr Number::Wide ten_to_the(int power) {
  Number::Wide value = 1;
  for (; power > 0; --power) value *= 10;
  return value;
}

// Walks the bytes as StoredReader does, and stops at the first byte that encode_item cannot have written.
class Check {
 public:
  explicit Check(std::string_view stored) : stored_(stored) {}

  // Returns a description of the first error; empty if the bytes are valid.
  std::string run() {
    if (stored_.size() <= size_bytes) return "it has " + std::to_string(stored_.size()) + " bytes";
    at_ = size_bytes;
    end_ = stored_.size();
    map(0);
    if (flaw_.empty() && at_ != end_) fail("bytes follow its end");
    return std::move(flaw_);
  }

 private:
  bool fail(std::string_view what) {
    if (flaw_.empty()) flaw_ = std::string(what) + " at byte " + std::to_string(at_);
    return false;
  }
  [[nodiscard]] std::size_t rest() const { return end_ - at_; }

  bool byte(std::uint8_t& out) {
    if (rest() == 0) return fail("it ends too early");
    out = static_cast<std::uint8_t>(stored_[at_++]);
    return true;
  }

  // Each element has at least `element_bytes`, so the remaining bytes limit the count.
  bool count(std::size_t& out, std::size_t element_bytes) {
    out = 0;
    for (std::size_t i = 0; i < varint_bytes_max; ++i) {
      std::uint8_t seven = 0;
      if (!byte(seven)) return false;
      out |= static_cast<std::size_t>(seven & 0x7f) << (7 * i);
      if (seven >= 0x80) continue;
      if (i > 0 && seven == 0) return fail("a count is not in its shortest form");
      if (out > rest() / element_bytes) return fail("a count exceeds the remaining bytes");
      return true;
    }
    return fail("a count is too long");
  }

  bool text(std::string_view& out) {
    std::size_t size = 0;
    if (!count(size, 1)) return false;
    out = stored_.substr(at_, size);
    at_ += size;
    return true;
  }

  bool number(std::string_view& out) {
    const std::size_t begin = at_;
    std::uint8_t head = 0;
    if (!byte(head)) return false;
    const std::size_t bytes = head & ~negative_bit;
    if (bytes > significand_bytes_max || (bytes == 0 && head != 0))
      return fail("a number has an invalid head");
    if (bytes > 0) {
      if (rest() < 1 + bytes) return fail("a number is cut off");
      ++at_;  // every value of the magnitude byte is valid
      Number::Wide significand = 0;
      for (std::size_t i = bytes; i-- > 0;)
        significand = significand << 8 | static_cast<std::uint8_t>(stored_[at_ + i]);
      const bool shorter = stored_[at_ + bytes - 1] == '\0';
      constexpr Number::Wide end = ten_to_the(Number::digits_max);
      if (shorter || significand >= end || significand % 10 == 0) return fail("a number is not normalized");
      at_ += bytes;
    }
    out = stored_.substr(begin, at_ - begin);
    return true;
  }

  // Reads a length; `body` must then read exactly that many bytes.
  template <class Body>
  bool sized(Body&& body) {
    if (rest() < size_bytes) return fail("it ends too early");
    std::uint32_t bytes = 0;
    for (std::size_t i = size_bytes; i-- > 0;)
      bytes = bytes << 8 | static_cast<std::uint8_t>(stored_[at_ + i]);
    at_ += size_bytes;
    if (bytes > rest()) return fail("a value is cut off");
    const std::size_t end_outside = std::exchange(end_, at_ + bytes);
    if (!body()) return false;
    if (at_ != end_) return fail("a value is shorter than its stored length");
    end_ = end_outside;
    return true;
  }

  template <class ReadOne>
  bool set(ReadOne&& read_one) {
    return sized([&] {
      std::size_t members = 0;
      if (!count(members, 1)) return false;
      std::vector<std::string_view> seen(members);
      for (std::string_view& member : seen)
        if (!read_one(member)) return false;
      std::sort(seen.begin(), seen.end());
      if (std::adjacent_find(seen.begin(), seen.end()) == seen.end()) return true;
      return fail("a set has a duplicate member");
    });
  }

  bool value(int depth) {
    if (depth > stored_depth_max) return fail("values are nested too deeply");
    std::uint8_t tag = 0;
    if (!byte(tag)) return false;
    const auto type = static_cast<Type>(tag & ~true_bit);
    if ((tag & ~true_bit) > static_cast<int>(Type::map) || ((tag & true_bit) != 0 && type != Type::boolean))
      return fail("unknown type tag");
    std::string_view unused;
    switch (type) {
      case Type::string:
      case Type::binary: return text(unused);
      case Type::number: return number(unused);
      case Type::boolean:
      case Type::null: return true;
      case Type::string_set:
      case Type::binary_set: return set([&](std::string_view& member) { return text(member); });
      case Type::number_set: return set([&](std::string_view& member) { return number(member); });
      case Type::list: return sized([&] { return list(depth); });
      case Type::map: return sized([&] { return map(depth); });
    }
    return false;
  }

  bool list(int depth) {
    std::size_t elements = 0;
    if (!count(elements, 1)) return false;
    for (; elements > 0; --elements)
      if (!value(depth + 1)) return false;
    return true;
  }

  bool map(int depth) {
    std::size_t attributes = 0;
    if (!count(attributes, 2)) return false;
    std::optional<std::string_view> before;
    for (; attributes > 0; --attributes) {
      std::string_view name;
      if (!text(name)) return false;
      if (before && name <= *before) return fail("names are out of order");
      before = name;
      if (!value(depth + 1)) return false;
    }
    return true;
  }

  const std::string_view stored_;
  std::size_t at_ = 0, end_ = 0;
  std::string flaw_;
};

}  // namespace

Expected<Item, std::string> checked_item(std::string_view stored) {
  if (std::string flaw = Check(stored).run(); !flaw.empty()) return Unexpected{std::move(flaw)};
  Item item = decode_item(stored);
  if (item_size(item) != stored_item_size(stored)) return Unexpected{std::string("its stored size is wrong")};
  return item;
}

}  // namespace mayfly::engine
