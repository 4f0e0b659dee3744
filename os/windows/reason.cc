#include "os/reason.h"

#include <winsock2.h>

#include "os/windows/api.h"

namespace mayfly::os {

std::string reason(const std::error_code& error) {
  if (error.category() != std::system_category()) return error.message();
  const std::error_code same = windows::error_of(static_cast<DWORD>(error.value()));
  // Any other error becomes an input/output error, whose text says less than that of Windows.
  return same == std::errc::io_error ? error.message() : same.message();
}

}  // namespace mayfly::os
