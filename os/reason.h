// The text of an error, in the same words on every platform: "No such file or directory". The codes of
// std::filesystem and of Asio have other texts on Windows; those of os/file.h do not need this function.
#pragma once

#include <string>
#include <system_error>

namespace mayfly::os {

std::string reason(const std::error_code& error);

}  // namespace mayfly::os
