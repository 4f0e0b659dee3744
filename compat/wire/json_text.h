// Appends JSON to a string by a cursor of its own: room is asked for once for many bytes, and what is written
// into it costs no more than the bytes. For what is large or written often; all else goes through
// json::Writer.
//
//   {
//     TextAppender text(answer, item_bytes);   // about how much will come
//     text.literal("{\"S\":");
//     text.quoted(value);                      // escaped, with the quotes
//     text.byte('}');
//   }                                          // the string ends where the cursor was
//
// While it lives nobody else touches the string.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace mayfly::json {

class TextAppender {
 public:
  explicit TextAppender(std::string& out, std::size_t expected_bytes = 0) : out_(out) {
    at_ = end_ = out.data() + out.size();
    room(expected_bytes);
  }
  ~TextAppender() { out_.resize(static_cast<std::size_t>(at_ - out_.data())); }
  TextAppender(const TextAppender&) = delete;
  TextAppender& operator=(const TextAppender&) = delete;

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
  void quoted(std::string_view text);

  // Where so many bytes may be written; written() says up to where they were.
  char* room(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) grow(bytes);
    return at_;
  }
  void written(char* to) { at_ = to; }

 private:
  char* escaped(std::string_view text, char* to);
  void grow(std::size_t bytes);

  std::string& out_;
  char* at_;
  char* end_;
};

}  // namespace mayfly::json
