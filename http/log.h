// Lines on stderr for people who watch the server: a level, an instant, a sentence.
//
//   2022-07-19T21:27:00.000Z info  mayfly 0.1.0 keeps everything in memory
//
// A line is written in one piece, and is one line, whatever clients sent. spdlog, for the same, adds 1 MB to
// a static executable.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::http::log {

enum class Level : unsigned char { debug, info, warning, error, off };

void set_level(Level least);
bool enabled(Level level);
void write(Level level, std::string_view sentence);  // what `printable` makes of it

// What may be shown on a terminal and is one line of a log: printable ASCII and UTF-8 stay, all else
// (controls of 7 and 8 bits, tabs, ends of lines, broken UTF-8) becomes \x1b and so on.
std::string printable(std::string_view text);

}  // namespace mayfly::http::log
