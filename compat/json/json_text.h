// Appends JSON to a string through a cursor. For large or frequently written values; everything else uses
// json::Writer.
//
//   {
//     TextAppender text(answer, item_bytes);   // item_bytes: the expected size
//     text.literal("{\"S\":");
//     text.quoted(value);                      // escaped, with the quotes
//     text.byte('}');
//   }                                          // the destructor cuts the string at the cursor
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/appender.h"

namespace mayfly::json {

class TextAppender : public engine::Appender {
 public:
  using Appender::Appender;

  void quoted(std::string_view text) { quoted_at_length(text); }
  // The same; faster for short texts. Requires: the bytes after the text, up to `end`, are readable.
  void quoted(std::string_view text, const char* end);

 private:
  void quoted_at_length(std::string_view text);
  char* escaped(std::string_view text, char* to);
};

}  // namespace mayfly::json
