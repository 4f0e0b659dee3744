// Writes log lines on stderr: a timestamp, a level and a sentence.
//
//   2022-07-19T21:27:00.000Z info  mayfly 0.1.0 keeps everything in memory
//
// Each line is written in one piece and stays one line, regardless of what clients sent.
// Rejected: spdlog, which adds 1 MB to a static executable.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::http::log {

enum class Level : unsigned char { debug, info, warning, error, off };

void set_level(Level least);
bool enabled(Level level);
void write(Level level, std::string_view sentence);  // writes printable(sentence)

// Makes text safe for a terminal and for one log line: printable ASCII and UTF-8 stay; all other bytes (7-bit
// and 8-bit control characters, tabs, line ends, malformed UTF-8) become \x1b and so on.
std::string printable(std::string_view text);

}  // namespace mayfly::http::log
