// Suggestions for mistyped words.
//
//   nearest("--prot", {"--port", "--host"})  ==  "--port"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly::cli {

// Returns the candidate that the user probably meant, or an empty string. It differs from `word` in at most
// two letters (three if `word` has eight or more), and in fewer than half of its own letters.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace mayfly::cli
