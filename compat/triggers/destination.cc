#include "compat/triggers/destination.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace mayfly::compat::triggers {
namespace {

// Empty: it is no file.
std::string path_of(std::string_view destination) {
  constexpr std::string_view scheme = "file://";
  if (destination.starts_with(scheme)) destination.remove_prefix(scheme.size());
  return destination.starts_with('/') ? std::string(destination) : std::string();
}

}  // namespace

bool is_file(std::string_view destination) { return !path_of(destination).empty(); }

bool append_line(std::string_view destination, const std::string& body) {
  const std::string path = path_of(destination);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const std::string line = body + "\n";  // one write: lanes may share the file
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  return ::close(file) == 0 && written;
}

Expected<void, std::string> check_destination(std::string_view text) {
  if (text.empty() || text.starts_with("arn:") || is_file(text)) return {};
  TRY([[maybe_unused]] Url url, Url::parse(text));
  return {};
}

std::optional<Invocation> call_of(std::string_view destination, std::string_view account, std::string body,
                                  const Functions& functions) {
  Invocation invocation;
  if (destination.starts_with("arn:")) {
    const auto function = functions.find(account, destination.substr(destination.rfind(':') + 1));
    if (!function) return std::nullopt;
    invocation.url = function->url;
    invocation.time_max = function->time_max;
  } else {
    auto url = Url::parse(destination);
    if (!url) return std::nullopt;
    invocation.url = *std::move(url);
  }
  invocation.body = std::move(body);
  return invocation;
}

}  // namespace mayfly::compat::triggers
