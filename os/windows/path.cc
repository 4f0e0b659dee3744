#include "os/path.h"

#include <string_view>

#include "os/windows/api.h"

namespace mayfly::os {

std::filesystem::path path_of(const std::string& text) { return windows::wide_path(text); }

std::string text_of(const std::filesystem::path& path) {
  constexpr std::wstring_view long_path = L"\\\\?\\", on_server = L"\\\\?\\UNC\\";
  const std::wstring_view text = path.native();
  if (text.starts_with(on_server)) return "\\\\" + windows::narrow(text.substr(on_server.size()));
  // Other paths with the prefix, such as \\?\Volume{…}\, need it.
  const bool has_drive =
      text.starts_with(long_path) && text.size() > long_path.size() + 1 && text[long_path.size() + 1] == L':';
  return windows::narrow(has_drive ? text.substr(long_path.size()) : text);
}

const char* const empty_file = "NUL";

}  // namespace mayfly::os
