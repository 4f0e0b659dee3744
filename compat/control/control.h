// The control API, with requests and responses in JSON, for time, TTL, waiting, snapshots and faults.
// docs/control.md documents the API for users.
//
//   answer(emulator, {.method = "POST", .path = "/_mayfly/clock/advance",
//                     .body = R"({"seconds":60})", .scope = scope})
//     -> 200 {"now":"2026-11-20T00:01:00Z","expired":0,"tables":{},"next_expiry":null}
//
// Each call has a description (calls/description.h), from which its route and the checks of its body are
// derived. Descriptions and handlers are in their family's file (families.h), next to the rules that they
// share. Errors look like DynamoDB's; errors that DynamoDB does not have are named "mayfly#…". A body that is
// too large is rejected with 413.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/answer.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::compat::control {

struct FoundCall;

// Limits on a body's bytes and on its JSON values: the tree made from a body is many times as large as the
// body.
inline constexpr std::size_t call_bytes_max = 1024 * 1024;
inline constexpr std::size_t call_values_max = 20'000;

struct Request {
  std::string_view method;  // GET, PUT, POST, DELETE
  std::string_view path;    // "/_mayfly/clock"
  std::string_view query{};
  std::string_view body{};
  const engine::Scope& scope;
  std::stop_token stop{};  // requested when the caller no longer waits for the response
  bool in_pieces = false;  // the caller can receive a long response through `Answer::source`
};

// Answers a request. Blocks for as long as the call waits. Thread-safe.
Answer answer(Emulator& emulator, const Request& request);
// Does the same for a caller that has already found the request's call (index.h).
Answer answer(Emulator& emulator, const Request& request, const FoundCall& found);

}  // namespace mayfly::compat::control
