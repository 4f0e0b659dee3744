// The control API, JSON in and JSON out: time, TTL, waiting, snapshots, faults. docs/control.md is its users'
// page.
//
//   answer(emulator, {.method = "POST", .path = "/_mayfly/clock/advance",
//                     .body = R"({"seconds":60})", .scope = scope})
//     -> 200 {"now":"2026-11-20T00:01:00Z","expired":0,"tables":{},"next_expiry":null}
//
// One table of routes (control.cc): method and path -> handler, as dispatch.h has it of operations. A handler
// is declared in handlers.h and defined in its family's file, beside the rules it shares with its neighbours.
// Errors look as DynamoDB's; those that DynamoDB does not have are "mayfly#…". A body that is too large gets
// 413.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/catalog.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::compat::control {

// Of a body, and of the values in it: a tree is made of it, many times as large.
inline constexpr std::size_t call_bytes_max = 1024 * 1024;
inline constexpr std::size_t call_values_max = 20'000;

struct Request {
  std::string_view method;  // GET, PUT, POST, DELETE
  std::string_view path;    // "/_mayfly/clock"
  std::string_view query{};
  std::string_view body{};
  const engine::Scope& scope;
  std::stop_token stop{};  // nobody waits for the answer any more
  bool in_pieces = false;  // the caller takes a long answer by `Answer::events`
};

// An answer that is made while it is sent: what happens from now on, or a long page.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Waits for the next piece and appends it. False: that was the last. Returns soon after `stop` is
  // requested.
  virtual bool next(std::string& piece, const std::stop_token& stop) = 0;
};

struct Answer {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string body;
  std::string allow;                    // of a 405: the methods that the path has
  std::unique_ptr<EventSource> events;  // instead of a body
};

// Thread-safe. May wait, as long as the call asks for.
Answer answer(Emulator& emulator, const Request& request);

Answer refusal(const Error& error);

}  // namespace mayfly::compat::control
