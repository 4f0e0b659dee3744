// Beast's HTTP parser, writing straight into a Request: no container of fields, no copy of the body.
//
// One parser for one request (Beast's rule); the Request is reused.
#pragma once

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>

#include "http/request.h"

namespace mayfly::http {

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(Request& request) : request_(request) {
    request_.clear();
    eager(true);
    header_limit(header_bytes_max);
    body_limit(body_bytes_max);
  }

 private:
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;
  // A body's memory is asked for as it comes, a part ahead: Content-Length alone costs the server nothing.
  static constexpr std::uint64_t reserved_bytes_max = 1024 * 1024;

  void on_request_impl(boost::beast::http::verb, Text method, Text target, int version,
                       Error& failure) override {
    request_.is_http_1_0 = version == 10;
    request_.method.assign(method.data(), method.size());
    request_.target.assign(target.data(), target.size());
    count(method.size() + target.size(), failure);
  }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(boost::beast::http::field, Text name, Text value, Error& failure) override {
    count(name.size() + value.size(), failure);
    // Trailers come this way too; what they say comes too late.
    if (!in_body_) request_.add_header({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_header_impl(Error&) override { in_body_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error&) override {
    if (length) request_.body.reserve(static_cast<std::size_t>(std::min(*length, reserved_bytes_max)));
  }
  std::size_t on_body_impl(Text piece, Error&) override {
    request_.body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text piece, Error&) override {
    request_.body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(Error&) override {}

  // Beast's own limit is for what one call sees: a header that trickles in would pass it.
  void count(std::size_t bytes, Error& failure) {
    header_bytes_ += bytes;
    if (header_bytes_ > header_bytes_max) failure = boost::beast::http::error::header_limit;
  }

  Request& request_;
  std::size_t header_bytes_ = 0;
  bool in_body_ = false;
};

}  // namespace mayfly::http
