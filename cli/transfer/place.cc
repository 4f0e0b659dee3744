#include "cli/transfer/place.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "os/path.h"

namespace mayfly::transfer {

Place Place::parse(const std::string& text) {
  if (text == "aws" || text.starts_with("http://") || text.starts_with("https://"))
    return {Kind::server, text};
  if (text == "-") return {Kind::standard, text};
  std::error_code failure;
  const auto found = std::filesystem::status(os::path_of(text), failure);
  if (std::filesystem::is_directory(found)) return {Kind::directory, text};
  if (std::filesystem::exists(found)) return {Kind::file, text};
  for (const std::string_view ending : {".json", ".jsonl", ".ndjson", ".gz", ".zst"})
    if (text.ends_with(ending)) return {Kind::file, text};
  return {Kind::directory, text};
}

}  // namespace mayfly::transfer
