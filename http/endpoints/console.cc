#include "http/endpoints/console.h"

#include <string>

#include "compat/wire/error.h"
#include "http/requests/compression.h"
#include "http/requests/refusals.h"
#include "http/requests/request.h"

namespace mayfly::http {

namespace {

constexpr std::string_view page_name = "index.html";

// Only the server's own scripts, styles and images are allowed; no inline script runs, and text never becomes
// markup (Trusted Types).
constexpr std::string_view console_headers =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "X-Frame-Options: DENY\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    // The next response may come from another version of the server.
    "Cache-Control: no-cache\r\n"
    "Vary: Accept-Encoding\r\n";

}  // namespace

Reply console(const Request& request) {
  std::string_view name = request.path().substr(console_path.size());
  name.remove_prefix(name.empty() ? 0 : 1);
  const ConsoleFile* const file = find_console_file(name.empty() ? page_name : name);
  if (file == nullptr) {
    return refused(request, {.kind = compat::Error::Kind::not_found,
                             .message = "The console has no file '" + std::string(name) + "'."});
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Reply reply = refused(request, {.kind = compat::Error::Kind::method_not_allowed,
                                    .message = "The console's files support only GET and HEAD."});
    reply.extra_headers += "Allow: GET, HEAD\r\n";
    return reply;
  }
  Reply reply;
  reply.content_type = file->content_type;
  reply.extra_headers = console_headers;
  if (choose_encoding(request.header(Header::accept_encoding)) == Encoding::gzip) {
    reply.content_encoding = name_of(Encoding::gzip);
    reply.body = file->gzip;
  } else {
    constexpr std::size_t file_bytes_max = std::size_t{1} << 20;
    decompress(file->gzip, Encoding::gzip, file_bytes_max, reply.body);
  }
  return reply;
}

}  // namespace mayfly::http
