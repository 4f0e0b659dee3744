#include "compat/wire/error_code.h"

#include <string_view>

namespace mayfly::compat {

std::string error_code(const Error& error) {
  std::string code = error.type.substr(error.type.find('#') + 1);
  constexpr std::string_view suffix = "Exception";
  if (code.ends_with(suffix)) code.resize(code.size() - suffix.size());
  return code == "Validation" ? "ValidationError" : code;
}

}  // namespace mayfly::compat
