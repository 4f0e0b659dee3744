// Reads a request in one go, if it is as SDKs send them: its head whole in what was received, by HTTP/1.1,
// its body's length in Content-Length, and nothing in it that could be understood in two ways. Everything
// else is left to Beast's parser (request_parser.h), which would read these alike at five times the cost.
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly::http {

struct Request;

struct PlainRequest {
  std::size_t taken = 0;      // of the bytes that were given; 0: it is none of these
  std::size_t body_left = 0;  // what is to be appended to its body yet
};

// Where it is none of these, `request` is as clear as it came.
PlainRequest read_plain_request(std::string_view bytes, Request& request);

}  // namespace mayfly::http
