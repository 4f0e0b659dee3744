// Bytes as they come over a connection: which requests they are does not depend on where they were cut.
//
//   SEED of the cuts, then the bytes
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/request_parser.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

std::string shown(const http::Request& request, bool keep_alive) {
  std::string text = request.method + "\n" + request.target + "\n" + (request.is_http_1_0 ? "1.0" : "1.1") +
                     (keep_alive ? " stays\n" : " closes\n");
  for (const http::HeaderLine& header : request.all_headers) text += header.name + "=" + header.value + "\n";
  for (int i = 0; i < static_cast<int>(http::Header::count_); ++i) {
    const auto name = static_cast<http::Header>(i);
    if (request.has(name)) text += std::to_string(i) + "=" + std::string(request.header(name)) + "\n";
    if (request.repeated(name)) text += "more than once\n";
  }
  return text + request.body;
}

// Byte by byte what came is looked at again and again.
constexpr std::size_t dripping_bytes_max = 256;

// As a session does it (http/session.cc).
class Connection {
 public:
  Connection() { request_.keeps_all_headers = true; }

  void receive(std::string_view piece) {
    if (over_) return;
    in_ += piece;
    while (!over_ && !in_.empty()) {
      if (!parser_) parser_.emplace(request_);
      // In bytes of their own, so that a sanitizer sees each that is read beyond them.
      const std::vector<char> bytes(in_.begin(), in_.end());
      boost::beast::error_code failure;
      const std::size_t taken = parser_->parse(boost::asio::buffer(bytes), failure);
      must(taken <= bytes.size(), "no more is taken than there is");
      in_.erase(0, taken);
      if (failure && failure != boost::beast::http::error::need_more) {
        over_ = true;
      } else if (parser_->is_done()) {
        requests_.push_back(shown(request_, parser_->keep_alive()));
        must(request_.body.size() <= http::body_bytes_max, "a body is as long as it may be");
        over_ = !parser_->keep_alive();
        parser_.reset();
      } else {
        break;
      }
    }
  }
  // Each as one text.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

 private:
  http::Request request_;
  std::optional<http::RequestParser> parser_;
  std::string in_;
  std::vector<std::string> requests_;
  bool over_ = false;
};

}  // namespace

void fuzz_http_pieces(std::string_view input) {
  std::uint32_t seed = take_byte(input);
  seed = seed << 8 | take_byte(input);
  Connection whole, cut, dripping;
  whole.receive(input);
  for (std::string_view rest = input; !rest.empty();) {
    seed = seed * 1664525 + 1013904223;
    const std::string_view piece = rest.substr(0, 1 + (seed >> 16) % 64);
    cut.receive(piece);
    rest.remove_prefix(piece.size());
  }
  if (input.size() > dripping_bytes_max) {
    dripping.receive(input);
  } else {
    for (std::size_t i = 0; i < input.size(); ++i) dripping.receive(input.substr(i, 1));
  }
  // A header that is not whole yet may be refused before its end or at it, as pieces have it. No matter: the
  // connection ends, and what came before was answered.
  for (const Connection* other : {&cut, &dripping})
    must(other->requests() == whole.requests(), "the same requests, however they were cut");
}

}  // namespace mayfly::testing
