// Reads the options that callers of mayfly_c.h pass as a JSON object. Its members have the names and limits
// of the options of `mayfly serve`.
//
//   open_options(R"({"clock":"frozen","stream-shards":4})")    -> EmulatorOptions
//   open_options(R"({"clokc":"frozen"})")                      -> "unknown option 'clokc'"
//   serve_options(R"({"port":8000,"cors-origin":["*"]})")      -> ServerSettings
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/emulator.h"
#include "engine/base/expected.h"
#include "http/connections/server.h"

namespace mayfly::embed {

inline constexpr std::size_t options_bytes_max = std::size_t{1} << 20;

// An empty string sets no options. The error is a human-readable sentence. If the options contain a log
// level, it takes effect immediately, for the whole process.
Expected<compat::EmulatorOptions, std::string> open_options(std::string_view text);
Expected<http::ServerSettings, std::string> serve_options(std::string_view text);

// The supported option names.
std::vector<std::string_view> names_of_open_options();
std::vector<std::string_view> names_of_serve_options();

}  // namespace mayfly::embed
