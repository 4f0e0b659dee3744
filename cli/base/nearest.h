// Suggests corrections for mistyped words.
//
//   nearest("--prot", {"--port", "--host"})  ==  "--port"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly::cli {

// Returns the candidate that the user probably meant, or an empty string. The candidate differs from `word`
// in at most two letters (three if `word` has eight or more letters), and in fewer than half of the
// candidate's letters.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace mayfly::cli
