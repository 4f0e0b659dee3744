// One HTTP response, and its bytes on the wire.
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
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/wire/answer.h"
#include "engine/base/clock.h"

namespace mayfly::http {

inline constexpr std::string_view plain_json = "application/json";

struct Reply {
  int status = 200;
  std::string_view content_type{};      // static storage; empty: no such header
  std::string_view content_encoding{};  // static storage; empty: no such header
  std::string body;
  std::string extra_headers;                // whole lines, each with its CRLF
  bool head_only = false;                   // HEAD: the headers of the body, without the body
  bool chunked = false;                     // an empty body, sent as Transfer-Encoding: chunked
  bool close = false;                       // closes the connection after this response
  bool dropped = false;                     // sends nothing and closes the connection
  std::optional<std::uint32_t> body_crc{};  // CRC of a long body; nullopt: not computed yet
  // The body, sent in chunks after the head; `body` is then empty.
  std::shared_ptr<compat::BodySource> source{};
};

// Converts an answer to a reply. An answer without a status becomes a dropped reply.
Reply reply_of(compat::Answer&& answer);

// Appends the status line, the headers and the body. A body of `large_body_bytes` or more is left out: the
// caller sends it without copying it.
inline constexpr std::size_t large_body_bytes = 32 * 1024;
bool body_goes_apart(const Reply& reply);
void append_reply(std::string& text, const Reply& reply, bool keep_alive);

// Encodes the body of a response that has a source.
void append_chunk(std::string& out, std::string_view piece);
void append_last_chunk(std::string& out);

// Formats a time as "Tue, 19 Jul 2022 21:27:00 GMT".
std::string http_date(engine::Instant instant);

// Ends a JSON body with a newline, so that a shell prompt starts on its own line.
void end_line(Reply& reply);

}  // namespace mayfly::http
