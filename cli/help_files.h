// What the command line's own options make: completions for shells, and the manual page.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mayfly::http {

// For `source <(mayfly completion bash)`; requires: `shell` is bash, zsh or fish.
std::string completion(const CLI::App& app, const std::string& shell);

// mayfly(1), as roff.
std::string manual_page(const CLI::App& app);

}  // namespace mayfly::http
