// One answer, and its bytes on the wire.
//
//   HTTP/1.1 400 Bad Request
//   Server: Server
//   Date: Tue, 19 Jul 2022 21:27:00 GMT
//   Content-Type: application/x-amz-json-1.0
//   Content-Length: 67
//   Connection: keep-alive
//   x-amzn-RequestId: 52 characters, A-Z and 0-9
//   x-amz-crc32: of the body's bytes as they are sent
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/clock.h"

namespace mayfly::http {

struct Reply {
  int status = 200;
  std::string_view content_type{};      // empty: no such header; of static storage
  std::string_view content_encoding{};  // likewise
  std::string body;
  std::string extra_headers;  // whole lines, each with its CRLF
  bool head_only = false;     // HEAD: the headers of the body, without the body
  bool chunked = false;       // an empty body, sent as Transfer-Encoding: chunked
  bool close = false;         // the connection ends with this answer
};

// Appends the status line and the headers, and the body unless it is `large_body_bytes` or more: that one the
// caller sends from where it is.
inline constexpr std::size_t large_body_bytes = 32 * 1024;
bool body_goes_apart(const Reply& reply);
void append_reply(std::string& out, const Reply& reply, bool keep_alive);

// 52 characters as DynamoDB's: base 32 (0-9, A-V), the last 26 always the same.
std::string new_request_id();

// "Tue, 19 Jul 2022 21:27:00 GMT"
std::string http_date(engine::Instant instant);

}  // namespace mayfly::http
