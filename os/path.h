// Paths for std::filesystem and for file streams. On Windows, those would take a text in the system's code
// page, and reject long paths. Everywhere else, Mayfly keeps paths as texts in UTF-8.
//
//   std::ifstream file(os::path_of(path), std::ios::binary);
//   for (const auto& entry : fs::directory_iterator(os::path_of(path), error))
//     names.push_back(os::text_of(entry.path().filename()));
#pragma once

#include <filesystem>
#include <string>

namespace mayfly::os {

std::filesystem::path path_of(const std::string& text);
std::string text_of(const std::filesystem::path& path);

// The file that is always empty.
extern const char* const empty_file;

}  // namespace mayfly::os
