// Tells whether the code of a function has changed.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace mayfly::http {

// A number that differs after the file, or a source or compiled file below the directory, was added, removed
// or written to. Files are recognized by the ends of their names, so that logs and data do not count. Ignores
// names that begin with a dot, node_modules and __pycache__, and everything after the first 20,000 files.
std::uint64_t code_version(const std::string& path, const std::stop_token& stop = {});

}  // namespace mayfly::http
