#include "compat/triggers/destination.h"

#include <fcntl.h>
#include <unistd.h>

namespace mayfly::compat::triggers {
namespace {

// Empty: it is no file.
std::string path_of(std::string_view destination) {
  constexpr std::string_view scheme = "file://";
  if (destination.starts_with(scheme)) destination.remove_prefix(scheme.size());
  return destination.starts_with('/') ? std::string(destination) : std::string();
}

bool append_line(const std::string& path, const std::string& body) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const std::string line = body + "\n";  // one write: lanes may share the file
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  return ::close(file) == 0 && written;
}

}  // namespace

Expected<void, std::string> check_destination(std::string_view text) {
  if (text.empty() || text.starts_with("arn:") || !path_of(text).empty()) return {};
  TRY([[maybe_unused]] Url url, Url::parse(text));
  return {};
}

bool send_to(std::string_view destination, std::string_view account, const std::string& body, const Functions& functions,
             Invoker& invoker, std::stop_token stop) {
  if (const std::string path = path_of(destination); !path.empty()) return append_line(path, body);
  Invocation invocation;
  if (destination.starts_with("arn:")) {
    const auto function = functions.find(account, destination.substr(destination.rfind(':') + 1));
    if (!function) return false;
    invocation.url = function->url;
    invocation.time_max = function->time_max;
  } else {
    auto url = Url::parse(destination);
    if (!url) return false;
    invocation.url = *std::move(url);
  }
  invocation.body = body;
  const auto answer = invoker.post(invocation, std::move(stop));
  return answer && answer->status < 300;
}

}  // namespace mayfly::compat::triggers
