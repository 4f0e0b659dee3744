// The standard streams of this process.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "os/event.h"
#include "os/file.h"

namespace mayfly::os {

// Lines of standard output and standard error end with \n, also on Windows. Call it before anything is
// written.
void use_plain_line_ends();

// Whether the stream is a terminal. On Windows, also makes the console interpret escape sequences.
bool is_terminal_output();
bool is_terminal_error();

// Writes to standard error at once. A failure is ignored, because it cannot be reported.
void write_error(std::string_view text);

// A second handle of the stream. Not open: the stream is closed.
File standard_input();
File standard_output();

// Returns standard output for the caller's use. From then on, other output goes to standard error instead.
// Not open: standard output is closed.
File take_standard_output();

// Waits for standard input and reads up to `to.size()` bytes. 0: the input has ended, or `end` is set.
std::size_t read_standard_input(std::span<char> to, const Event& end);

}  // namespace mayfly::os
