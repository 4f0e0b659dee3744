// The answer to a control call.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/error.h"

namespace mayfly::compat::control {

// A response that is produced while it is sent: a stream of events, or a long page.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Waits for the next piece and appends it. Returns false if that was the last piece. Returns soon after
  // `stop` is requested.
  virtual bool next(std::string& piece, const std::stop_token& stop) = 0;
};

struct Answer {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
  std::string allow;                    // for a 405: the methods that the path supports
  std::unique_ptr<EventSource> events;  // replaces `body`
};

Answer refusal(const Error& error);

}  // namespace mayfly::compat::control
