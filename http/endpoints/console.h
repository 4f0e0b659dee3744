// The console: a page for a browser, with its modules and style, embedded in the program as gzip files.
//
//   GET /_mayfly/console             the page
//   GET /_mayfly/console/time.js     one of its files, from console/
//
// The page is static. It calls the control API and DynamoDB's operations like any other client, so it needs
// no special rules, and a user without access to these APIs sees an empty page. The page's
// Content-Security-Policy limits loading and sending to the server that the page came from, and prevents
// other pages from framing it.
#pragma once

#include <string_view>

#include "http/requests/reply.h"

namespace mayfly::http {

struct Request;

// Answers 404 for a file that does not exist, and 405 for methods other than GET and HEAD.
// Requires: the request's route is the console.
Reply console(const Request& request);

// One file of the console. cmake/console.cmake lists console/ and generates the table of files.
struct ConsoleFile {
  std::string_view name;  // "time.js"
  std::string_view content_type;
  std::string_view gzip;
};
const ConsoleFile* find_console_file(std::string_view name);

}  // namespace mayfly::http
