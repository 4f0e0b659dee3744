// Text as equals-ignore-case compares it: letters of the Latin, Greek and Cyrillic alphabets in lower case.
//
//   folded("ÜBER Straße") == "über straße"      // each letter folds to one letter: "ß" is not "ss"
//   folded("REMOVE") == "remove"
#pragma once

#include <string>
#include <string_view>

namespace mayfly::compat::triggers {

// `text` is UTF-8; what is not is kept as it is.
std::string folded(std::string_view text);

}  // namespace mayfly::compat::triggers
