// Makes text from an endpoint safe for responses, logs and terminals.
//
//   shown_text("a\x1b[31m", 100) == "a?[31m"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compat/json/utf8.h"

namespace mayfly::compat {

// Returns up to `bytes_max` bytes of `text`, ending before the first byte that is not UTF-8. Each control
// character that is not in `allowed_controls` is replaced with a question mark.
inline std::string shown_text(std::string_view text, std::size_t bytes_max,
                              std::string_view allowed_controls = {}) {
  std::string shown;
  for (text = whole_characters(text, bytes_max); !text.empty();) {
    const std::size_t bytes = utf8_character_bytes(text);
    if (bytes == 0) break;
    const auto first = static_cast<unsigned char>(text[0]);
    const bool c1 = first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    const bool control = first < 0x20 || first == 0x7f || c1;
    if (control && allowed_controls.find(text[0]) == std::string_view::npos) {
      shown += '?';
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace mayfly::compat
