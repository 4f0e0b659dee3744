// Appends bytes to a string by a cursor of its own: room is asked for once for many bytes, and what is
// written into it costs no more than the bytes. For what is large or written often.
//
//   {
//     Appender out(text, about_bytes);   // about how much will come
//     out.byte('[');
//     out.bytes(name);
//     out.written(print(number, out.room(number_bytes_max)));
//   }                                    // the string ends where the cursor was
//
// While it lives nobody else touches the string.
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

  // Where so many bytes may be written; written() says up to where they were.
  char* room(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) grow(bytes);
    return at_;
  }
  void written(char* to) { at_ = to; }

  // Of the whole string, up to the cursor; what was written may be written over.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(at_ - out_.data()); }
  [[nodiscard]] char* at(std::size_t offset) { return out_.data() + offset; }

 private:
  // What is written over is zeroed first, so no more is taken than will be needed soon.
  void grow(std::size_t bytes) {
    constexpr std::size_t ahead_bytes = 256;  // that are taken with what is asked for
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
