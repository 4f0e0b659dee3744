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
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "engine/clock.h"

namespace mayfly::http {

// A body that is made while it is sent: server-sent events, or a long page.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Waits for the next piece and appends it. False: that was the last. Returns soon after `stop` is
  // requested.
  virtual bool next(std::string& piece, const std::stop_token& stop) = 0;
  // False: `next` never waits. Then the connection holds no place on the slow lane, and is closed if a piece
  // cannot be made, so that the client does not take a part for the whole.
  [[nodiscard]] virtual bool waits() const = 0;
};

struct Reply {
  int status = 200;
  std::string_view content_type{};      // empty: no such header; of static storage
  std::string_view content_encoding{};  // empty: no such header; of static storage
  std::string body;
  std::string extra_headers;                // whole lines, each with its CRLF
  bool head_only = false;                   // HEAD: the headers of the body, without the body
  bool chunked = false;                     // an empty body, sent as Transfer-Encoding: chunked
  bool close = false;                       // the connection ends with this answer
  bool dropped = false;                     // nothing is sent, and the connection ends
  std::optional<std::uint32_t> body_crc{};  // of a body that is long; nothing: it is still to be computed
  std::shared_ptr<BodySource> source{};     // comes after the head, in chunks; `body` is empty
};

// Appends the status line and the headers, and the body unless it is `large_body_bytes` or more: that one the
// caller sends from where it is.
inline constexpr std::size_t large_body_bytes = 32 * 1024;
bool body_goes_apart(const Reply& reply);
void append_reply(std::string& text, const Reply& reply, bool keep_alive);

// The body of an answer that has a source.
void append_chunk(std::string& out, std::string_view piece);
void append_last_chunk(std::string& out);

// "Tue, 19 Jul 2022 21:27:00 GMT"
std::string http_date(engine::Instant instant);

}  // namespace mayfly::http
