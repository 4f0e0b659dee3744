// Suggestions for words that were mistyped.
//
//   nearest("--prot", {"--port", "--host"})  ==  "--port"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly::http {

// The candidate that was probably meant: at most two letters differ, or three of a word of eight and more,
// and fewer than half of it. Empty: there is no such candidate.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace mayfly::http
