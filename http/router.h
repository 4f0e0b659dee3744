// Request in, reply out: which answer a method, a path and headers get, in DynamoDB's order.
//
// A POST is checked in this order: content type (404), encoding of the body, JSON, target, authentication; then
// compat answers. Pure but for what the emulator does: no sockets here.
#pragma once

#include <stop_token>

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct ControlAccess;

// Thread-safe. May decompress `request.body` in place. `stop`: nobody waits for the answer any more.
Reply route(Request& request, compat::Emulator& emulator, const ControlAccess& access, const std::stop_token& stop);
// Whether its answer may take time that is not its own, as an await's: io threads have others to serve.
bool may_wait(const Request& request, const compat::Emulator& emulator);

// Answers to what is no request.
Reply bad_request(std::string_view reason);  // a sentence for people
Reply too_large();                           // 413: the body is longer than body_bytes_max

// 503: as many requests as may are waiting already.
Reply too_many_wait();

}  // namespace mayfly::http
