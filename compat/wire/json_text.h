// Appends JSON to a string by a cursor. For what is large or written often; all else goes through
// json::Writer.
//
//   {
//     TextAppender text(answer, item_bytes);   // about how much will come
//     text.literal("{\"S\":");
//     text.quoted(value);                      // escaped, with the quotes
//     text.byte('}');
//   }                                          // the string ends where the cursor was
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/appender.h"

namespace mayfly::json {

class TextAppender : public engine::Appender {
 public:
  using Appender::Appender;

  void quoted(std::string_view text) { quoted_at_length(text); }
  // The same, quicker where the text is short and the bytes behind it, up to `end`, may be read too.
  void quoted(std::string_view text, const char* end);

 private:
  void quoted_at_length(std::string_view text);
  char* escaped(std::string_view text, char* to);
};

}  // namespace mayfly::json
