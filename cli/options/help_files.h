// The manual page, made from the options of all commands.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mayfly::cli {

// Returns mayfly(1) in roff format.
std::string manual_page(const CLI::App& app);

}  // namespace mayfly::cli
