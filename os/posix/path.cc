#include "os/path.h"

namespace mayfly::os {

std::filesystem::path path_of(const std::string& text) { return text; }
std::string text_of(const std::filesystem::path& path) { return path.string(); }

const char* const empty_file = "/dev/null";

}  // namespace mayfly::os
