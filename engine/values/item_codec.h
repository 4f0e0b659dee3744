// The encoding of an item in storage.
//
//   stored    := size:u32le map
//   map       := count:varint (name value)*       sorted by name; name := text
//   value     := tag:u8 payload                   tag: engine::Type; for true, also bit 0x10
//     S, B    := text                             text := length:varint bytes
//     N       := number
//     BOOL, NULL: nothing
//     SS, BS  := bytes:u32le count:varint text*      bytes: the size of the rest, to skip it
//     NS      := bytes:u32le count:varint number*
//     L       := bytes:u32le count:varint value*
//     M       := bytes:u32le map
//   number    := head:u8 (magnitude+130):u8 significand    head: 0x80 if negative | bytes of significand (le)
//                zero is the head 00 alone; magnitude is the power of ten of the leading digit
//   varint    := seven bits per byte, lowest first; all bytes but the last have 0x80 set
//
//   {"id":{"S":"a"},"n":{"N":"-50"}}   size 7   07 00 00 00 | 02 | 02 i d 00 01 a | 01 n 01 81 83 05
//
// `size` is item_size(item), so counters and capacity need no decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/appender.h"
#include "engine/base/check.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

inline constexpr std::uint8_t true_bit = 0x10, negative_bit = 0x80;  // in a tag; in a number's head

void encode_item(const Item& item, std::string& out);     // appends
Item decode_item(std::string_view stored);                // Requires: valid stored bytes
std::uint32_t stored_item_size(std::string_view stored);  // item_size without decoding

// Returns one top-level attribute; nullopt if the item lacks it. Decodes no other attribute.
std::optional<AttributeValue> stored_attribute(std::string_view stored, std::string_view name);

// Returns the top-level attributes that have one of these names.
Item stored_attributes(std::string_view stored, std::span<const std::string_view> names);

// Writes stored bytes directly, without building an Item. Requires: names are sorted and unique, one value
// follows each name, and there are as many names or values as count() or open() announced.
//
//   StoredWriter out(stored, about_bytes);
//   out.count(1);
//   out.name("id");
//   out.text(Type::string, "a");
//   out.end();
class StoredWriter {
 public:
  StoredWriter(std::string& out, std::size_t expected_bytes);  // appends
  void count(std::size_t attributes);
  void name(std::string_view name) { counted(name); }
  void text(Type type, std::string_view bytes);  // S and B
  void number(const Number& number);
  void boolean(bool boolean);
  void null();
  void value(const AttributeValue& value);  // of any type
  // Begins a list or a map. Pass the result to close().
  std::size_t open(Type type, std::size_t count);
  // Begins a set of strings or binaries. Pass the result to close(). element() adds a member.
  // Requires: the members are sorted and unique.
  std::size_t open_set(Type type, std::size_t count);
  void element(std::string_view text) { counted(text); }
  void close(std::size_t opened);
  void end();

 private:
  void tag(Type type, std::uint8_t bits = 0) {
    out_.byte(static_cast<char>(static_cast<std::uint8_t>(type) | bits));
  }
  void counted(std::string_view text);

  Appender out_;
  const std::size_t begin_;
  std::size_t item_bytes_ = 0;  // item_size() of the bytes written so far
};

// Reads stored bytes directly, without building an Item. Texts are views into the bytes. After tag(), read
// the payload by its type: text() for S and B, number() for N, open() and then as many text()s, number()s or
// values for sets and lists, open() and then names (text()) with values for maps, nothing for BOOL and NULL.
//
//   StoredReader in(stored);
//   for (std::size_t n = in.count(); n > 0; --n) { auto name = in.text(); in.skip(in.tag()); }
class StoredReader {
 public:
  struct Tag {
    Type type;
    bool boolean;  // the value of a BOOL
  };

  explicit StoredReader(std::string_view stored)
      : at_(stored.data() + sizeof(std::uint32_t)), end_(stored.data() + stored.size()) {
    MAYFLY_DEBUG_CHECK(stored.size() > sizeof(std::uint32_t));
  }

  Tag tag() {
    const std::uint8_t byte = next();
    return {static_cast<Type>(byte & 0x0f), (byte & 0x10) != 0};
  }
  std::size_t count() {
    std::size_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint8_t byte = next();
      value |= static_cast<std::size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view text() {
    const std::size_t size = count();
    const std::string_view bytes(at_, size);
    advance(size);
    return bytes;
  }
  Number number();
  // Enters a set, list or map. Returns the number of its elements.
  std::size_t open() {
    advance(sizeof(std::uint32_t));
    return count();
  }
  void skip(Tag tag);                // skips the payload of the value that tag() returned
  std::string_view bytes(Tag tag) {  // does the same and returns the skipped bytes
    const char* const from = at_;
    skip(tag);
    return {from, static_cast<std::size_t>(at_ - from)};
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] const char* end() const { return end_; }

 private:
  std::uint8_t next() {
    MAYFLY_DEBUG_CHECK(at_ < end_);
    return static_cast<std::uint8_t>(*at_++);
  }
  void advance(std::size_t bytes) {
    MAYFLY_DEBUG_CHECK(bytes <= static_cast<std::size_t>(end_ - at_));
    at_ += bytes;
  }

  const char* at_;
  const char* end_;
};

}  // namespace mayfly::engine
