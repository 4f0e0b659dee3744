// The ceiling of anything over HTTP: a Beast server that reads each request and answers always the same.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::bench {

// Serves on 127.0.0.1 until the process is ended. One thread.
[[noreturn]] void serve_fixed_answer(std::uint16_t port, const std::string& body);

}  // namespace mayfly::bench
