// Writes the standard output of the commands that print answers.
//
//   print(table.text());
//   if (reader_left()) return printed(0);   // `mayfly item scan carts | head`: stop asking for more pages
//   return printed(0);
//
// A reader that closes the pipe is not an error: the command keeps its exit code and prints no message. Any
// other failed write is an error. Requires: SIGPIPE is ignored.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::cli {

void print(std::string_view text);

// Escapes control characters in text that is not JSON and may quote an endpoint. Keeps line breaks.
std::string printable_lines(std::string_view text);

// Flushes the output. Returns whether the reader has closed the pipe or another write failed.
bool reader_left();

// Flushes the output. Returns `exit_code`, or 1 with a sentence on stderr if a write failed, for example
// because the disk is full.
int printed(int exit_code);

}  // namespace mayfly::cli
