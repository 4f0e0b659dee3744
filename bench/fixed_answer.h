// The upper bound for any server over HTTP: a Beast server that returns the same response to every request.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::bench {

// Serves on 127.0.0.1 with one thread until the process is killed.
[[noreturn]] void serve_fixed_answer(std::uint16_t port, const std::string& body);

}  // namespace mayfly::bench
