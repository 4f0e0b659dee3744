// Request in, reply out: which answer a method, a path and headers get, in DynamoDB's order.
//
// A POST is checked in this order: content type (404), encoding of the body, JSON, target, authentication; then
// compat answers. Pure but for what the emulator does: no sockets here.
#pragma once

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

// Thread-safe. May decompress `request.body` in place.
Reply route(Request& request, compat::Emulator& emulator);

// Answers to what is no request.
Reply bad_request(std::string_view reason);  // a sentence for people
Reply too_large();                           // 413: the body is longer than body_bytes_max

}  // namespace mayfly::http
