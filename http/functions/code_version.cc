#include "http/functions/code_version.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>

#include "os/path.h"

namespace mayfly::http {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entries_max = 20'000;

bool is_ignored(const std::string& name) {
  return name.starts_with('.') || name == "node_modules" || name == "__pycache__";
}

bool is_code(const std::string& name) {
  constexpr std::string_view ends[] = {".py",   ".js", ".mjs",  ".cjs",  ".json", ".class", ".jar",
                                       ".wasm", ".so", ".node", ".yaml", ".yml",  ".toml",  ".properties"};
  return std::any_of(std::begin(ends), std::end(ends),
                     [&](std::string_view end) { return name.ends_with(end); });
}

std::uint64_t file_version(const fs::path& path) {
  std::error_code vanished;
  const auto written = fs::last_write_time(path, vanished).time_since_epoch().count();
  return std::hash<std::string>()(os::text_of(path)) ^
         std::hash<std::int64_t>()(static_cast<std::int64_t>(written)) * 31 ^
         std::hash<std::uint64_t>()(fs::file_size(path, vanished)) * 1009;
}

}  // namespace

std::uint64_t code_version(const std::string& path, const std::stop_token& stop) {
  const fs::path root = os::path_of(path);
  std::error_code error, vanished;
  if (fs::is_regular_file(root, vanished)) return file_version(root);
  std::uint64_t version = 0;
  std::size_t entries = 0;
  for (fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error),
       end;
       !error && entry != end && entries < entries_max && !stop.stop_requested();
       entry.increment(error), ++entries) {
    const std::string name = os::text_of(entry->path().filename());
    if (is_ignored(name))
      entry.disable_recursion_pending();
    else if (is_code(name) && entry->is_regular_file(vanished))
      version += file_version(entry->path());  // in any order
  }
  return version;
}

}  // namespace mayfly::http
