// The answer to a request of any kind: an operation, a control call, or a request to Lambda's API.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/wire/error.h"
#include "compat/wire/frame.h"

namespace mayfly::compat {

// A body that is produced while it is sent: server-sent events, or a long page.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Waits for the next piece and appends it. Returns false after the last piece, or soon after `stop` is
  // requested.
  virtual bool next(std::string& piece, const std::stop_token& stop) = 0;
  // If false, `next` never waits, and the connection holds no slot on the slow lane. If a piece cannot be
  // produced, the connection is closed, so that the client does not mistake the truncated body for a complete
  // one.
  [[nodiscard]] virtual bool waits() const = 0;
};

struct Answer {
  static constexpr int no_status = 0;  // the client gets no response; its connection is closed
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";        // must have static storage duration
  std::vector<std::pair<std::string, std::string>> headers;  // in addition to Content-Type
  std::shared_ptr<BodySource> source;                        // replaces `body`
};

// The message that in-process callers get when a fault closes the connection instead of answering.
inline constexpr std::string_view closed_by_fault = "a fault closed the connection";

// Returns the response for an error in a request's frame.
Answer error_answer(const Error& error, Frame frame = Frame::older);

}  // namespace mayfly::compat
