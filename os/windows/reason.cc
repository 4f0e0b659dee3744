#include "os/reason.h"

#include <string_view>
#include <winsock2.h>

#include "os/windows/api.h"

namespace mayfly::os {
namespace {

// The texts of errors of sockets, which the C library of Windows does not know. Null: it knows the text.
const char* text_of(std::errc code) {
  switch (code) {
    case std::errc::address_in_use: return "Address already in use";
    case std::errc::address_not_available: return "Cannot assign requested address";
    case std::errc::connection_aborted: return "Software caused connection abort";
    case std::errc::connection_refused: return "Connection refused";
    case std::errc::connection_reset: return "Connection reset by peer";
    case std::errc::host_unreachable: return "No route to host";
    case std::errc::network_unreachable: return "Network is unreachable";
    case std::errc::timed_out: return "Connection timed out";
    default: return nullptr;
  }
}

}  // namespace

std::string reason(const std::error_code& error) {
  // The category is that of the standard library or that of Boost.
  if (error.category().name() != std::string_view("system")) return error.message();
  const std::error_code same = windows::error_of(static_cast<DWORD>(error.value()));
  // Any other error becomes an input/output error, whose text says less than that of Windows.
  if (same == std::errc::io_error) return error.message();
  const char* const text = text_of(static_cast<std::errc>(same.value()));
  return text != nullptr ? text : same.message();
}

}  // namespace mayfly::os
