// Reads a request in one step if it has the form that SDKs send: the whole head in the received bytes,
// HTTP/1.1, the length of the body in Content-Length, and nothing ambiguous. All other requests are left to
// Beast's parser (request_parser.h), which would read plain requests in the same way, at five times the cost.
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly::http {

struct Request;

struct PlainRequest {
  std::size_t taken = 0;      // bytes taken from the input; 0: the request is not plain
  std::size_t body_left = 0;  // bytes still to be appended to the body
};

// Requires: `request` is empty. It is cleared again if the request is not plain.
PlainRequest read_plain_request(std::string_view bytes, Request& request);

}  // namespace mayfly::http
