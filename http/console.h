// The console: a page for a browser, its modules and its style, which lie in the program as gzip packed them.
//
//   GET /_mayfly/console             the page
//   GET /_mayfly/console/time.js     a file of it, as http/console/ has it
//
// The page is static. It asks the control API and DynamoDB's operations, as any client does; so it needs no
// rules of its own, and who may not ask them sees an empty page. Its policy lets it load nothing and send
// nothing but from and to the server that it came from, and no other page may frame it.
#pragma once

#include <optional>
#include <string_view>

#include "http/reply.h"

namespace mayfly::http {

struct Request;

inline constexpr std::string_view console_path = "/_mayfly/console";

// Whether the path is the console's, there or not.
bool is_console_path(std::string_view path);

// 404 for what is no file of it, 405 for what neither gets nor looks at its head. Requires: it
// is_console_path.
Reply console(const Request& request);

// One file; http/console/ is listed by cmake/console.cmake, which makes the table.
struct ConsoleFile {
  std::string_view name;  // "time.js"
  std::string_view content_type;
  std::string_view gzip;
};
const ConsoleFile* find_console_file(std::string_view name);

}  // namespace mayfly::http
