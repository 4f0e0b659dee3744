// Reads a request in one go, if it is as SDKs send them: whole in what was received, by HTTP/1.1, its body's
// length in Content-Length, and nothing in it that could be understood in two ways. Everything else is left
// to Beast's parser (request_parser.h), which would read these alike at five times the cost.
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly::http {

struct Request;

// How many of the bytes were the request; 0: it is none of these, and `request` is as clear as it came.
std::size_t read_plain_request(std::string_view bytes, Request& request);

}  // namespace mayfly::http
