#include "os/reason.h"

#include <string_view>
#include <winsock2.h>

#include "os/windows/api.h"

namespace mayfly::os {

std::string reason(const std::error_code& error) {
  // The category is that of the standard library or that of Boost.
  if (error.category().name() != std::string_view("system")) return error.message();
  const std::error_code same = windows::error_of(static_cast<DWORD>(error.value()));
  // Any other error becomes an input/output error, whose text says less than that of Windows.
  return same == std::errc::io_error ? error.message() : same.message();
}

}  // namespace mayfly::os
