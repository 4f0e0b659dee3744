// Appends bytes to a string at a write cursor. The string grows in large steps, so appending usually costs no
// more than copying the bytes. Use an Appender for text that is large or written often.
//
//   {
//     Appender out(text, about_bytes);   // the expected number of bytes
//     out.byte('[');
//     out.bytes(name);
//     out.written(print(number, out.room(number_bytes_max)));
//   }                                    // the string now ends at the cursor
//
// No other code may use the string while the Appender exists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace mayfly::engine {

class Appender {
 public:
  explicit Appender(std::string& out, std::size_t expected_bytes = 0) : out_(out) {
    at_ = end_ = out.data() + out.size();
    room(expected_bytes);
  }
  ~Appender() { out_.resize(size()); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  void byte(char byte) {
    *room(1) = byte;
    ++at_;
  }
  template <std::size_t size>
  void literal(const char (&text)[size]) {
    std::memcpy(room(size - 1), text, size - 1);
    at_ += size - 1;
  }
  void bytes(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(room(text.size()), text.data(), text.size());
    at_ += text.size();
  }

  // Returns room for `bytes` bytes at the cursor. The caller writes there and then passes the end of the
  // written bytes to written().
  char* room(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) grow(bytes);
    return at_;
  }
  void written(char* to) { at_ = to; }

  // size() is the size of the whole string up to the cursor. at() points to bytes that are already written;
  // the caller may overwrite them.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(at_ - out_.data()); }
  [[nodiscard]] char* at(std::size_t offset) { return out_.data() + offset; }

 private:
  // Growing zeroes the new bytes, so the string grows only by what will be needed soon.
  void grow(std::size_t bytes) {
    constexpr std::size_t ahead_bytes = 256;  // taken in addition to the requested bytes
    const std::size_t used = size(), wanted = used + bytes + ahead_bytes;
    if (wanted > out_.capacity()) out_.reserve(std::max(wanted, 2 * out_.capacity()));
    out_.resize(wanted);
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  char* at_;
  char* end_;
};

}  // namespace mayfly::engine
