// Suggestions for mistyped words.
//
//   nearest("--prot", {"--port", "--host"})  ==  "--port"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly::cli {

// The candidate that was probably meant. At most two letters differ, or three if the word has eight or more,
// and fewer than half of the candidate's letters. Empty if there is no such candidate.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace mayfly::cli
