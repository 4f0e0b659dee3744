// Folds text for equals-ignore-case: Latin, Greek and Cyrillic letters become lower case.
//
//   folded("ÜBER Straße") == "über straße"      // each letter folds to one letter: "ß" is not "ss"
//   folded("REMOVE") == "remove"
#pragma once

#include <string>
#include <string_view>

namespace mayfly::compat::triggers {

// `text` is UTF-8; invalid bytes are kept as they are.
std::string folded(std::string_view text);

}  // namespace mayfly::compat::triggers
