// Makes Beast's HTTP parser write directly into a Request, without a container of fields or a copy of the
// body. Plain requests bypass Beast (plain_request.h).
//
// One parser parses one request (Beast's rule); the Request is reused.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <utility>

#include "http/requests/plain_request.h"
#include "http/requests/request.h"

namespace mayfly::http {

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(Request& request) : request_(request) {
    request_.clear();
    eager(true);
    header_limit(header_bytes_max);
    body_limit(body_bytes_max);
  }

  // Like basic_parser::put: returns the number of bytes taken. Works around an assertion in Beast: after it
  // has seen the "0\r\n" of a last chunk, it asserts that more than one further byte has arrived. A chunked
  // body never ends in fewer bytes than the last chunk has, so waiting for that many bytes always ends.
  std::size_t parse(const boost::asio::const_buffer& bytes, boost::beast::error_code& failure) {
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    if (!std::exchange(begun_, true)) {
      const PlainRequest plain = read_plain_request(text, request_);
      plain_ = plain.taken > 0;
      body_left_ = plain.body_left;
      if (plain_) return plain.taken;
    }
    if (plain_) {
      const std::string_view piece = text.substr(0, body_left_);
      request_.body.append(piece);
      body_left_ -= piece.size();
      return piece.size();
    }
    constexpr std::string_view last_chunk = "0\r\n\r\n";
    if (is_header_done() && chunked() && bytes.size() < last_chunk.size()) {
      failure = boost::beast::http::error::need_more;
      return 0;
    }
    parsed_ = text;
    return put(bytes, failure);
  }

  [[nodiscard]] bool is_done() const { return plain_ ? body_left_ == 0 : Beast::is_done(); }
  [[nodiscard]] bool is_header_done() const { return plain_ || Beast::is_header_done(); }
  [[nodiscard]] bool keep_alive() const { return plain_ || Beast::keep_alive(); }

 private:
  using Beast = boost::beast::http::basic_parser<true>;
  using Beast::put;
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;
  void on_request_impl(boost::beast::http::verb, Text method, Text target, int version,
                       Error& failure) override {
    request_.is_http_1_0 = version == 10;
    request_.method.assign(method.data(), method.size());
    request_.target.assign(target.data(), target.size());
    count(method.size() + target.size(), failure);
  }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(boost::beast::http::field known, Text name, Text value, Error& failure) override {
    using boost::beast::http::field;
    count(name.size() + value.size(), failure);
    // Trailers are also reported here; they arrive too late to matter.
    if (in_body_) return;
    if (request_.keeps_all_headers)
      request_.all_headers.push_back({{name.data(), name.size()}, {value.data(), value.size()}});
    if (known == field::transfer_encoding || known == field::content_length) {
      check_framing(known == field::transfer_encoding, {value.data(), value.size()}, is_folded(name, value),
                    failure);
    } else {
      request_.add_header({name.data(), name.size()}, {value.data(), value.size()});
    }
  }
  void on_header_impl(Error&) override { in_body_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error&) override {
    if (length)
      request_.body.reserve(
          static_cast<std::size_t>(std::min<std::uint64_t>(*length, reserved_body_bytes_max)));
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

  // Beast applies its own limit to each call separately, so a header that trickles in would exceed it.
  void count(std::size_t bytes, Error& failure) {
    header_bytes_ += bytes;
    if (header_bytes_ > header_bytes_max) failure = boost::beast::http::error::header_limit;
  }

  // Whether the header spans several lines. Beast joins the lines in another buffer, or skips empty lines
  // before the value.
  bool is_folded(Text name, Text value) const {
    const char* const begin = name.data() + name.size();
    if (value.data() < begin || value.data() > parsed_.data() + parsed_.size()) return true;
    const std::string_view between(begin, static_cast<std::size_t>(value.data() - begin));
    return between.find('\n') != std::string_view::npos;
  }

  // Rejects framing that a proxy in front of the server could read differently: a parser and a proxy that
  // disagree about the end of the body also disagree about the next request (request smuggling). Exactly one
  // header may determine the end. Beast itself treats an unknown encoding as no body, and accepts lists of
  // equal lengths.
  void check_framing(bool by_encoding, std::string_view value, bool is_folded, Error& failure) {
    if (by_encoding && (is_folded || request_.is_http_1_0 || !equals_ignoring_case(value, "chunked"))) {
      failure = boost::beast::http::error::bad_transfer_encoding;
    } else if (framed_ || is_folded ||
               (!by_encoding && value.find_first_not_of("0123456789") != std::string_view::npos)) {
      failure = boost::beast::http::error::bad_content_length;
    }
    framed_ = true;
  }

  Request& request_;
  std::string_view parsed_;  // the input of the current call to put()
  std::size_t header_bytes_ = 0;
  std::size_t body_left_ = 0;  // body bytes of a plain request that have not arrived
  bool begun_ = false, plain_ = false;
  bool in_body_ = false, framed_ = false;
};

}  // namespace mayfly::http
