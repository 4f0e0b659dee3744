// Parses bytes received on a connection. The parsed requests do not depend on how the bytes are split
// into pieces.
//
//   Input: two bytes that seed the splitting, then the bytes received
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/requests/request_parser.h"
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

// Limits byte-by-byte delivery, because the parser examines received bytes again after each piece.
constexpr std::size_t dripping_bytes_max = 256;

// Parses requests like http/connections/session.cc.
class Connection {
 public:
  Connection() { request_.keeps_all_headers = true; }

  void receive(std::string_view piece) {
    if (over_) return;
    in_ += piece;
    while (!over_ && !in_.empty()) {
      if (!parser_) parser_.emplace(request_);
      // An exactly sized copy, so that a sanitizer reports reads beyond the end.
      const std::vector<char> bytes(in_.begin(), in_.end());
      boost::beast::error_code failure;
      const std::size_t taken = parser_->parse(boost::asio::buffer(bytes), failure);
      must(taken <= bytes.size(), "the parser consumes at most the received bytes");
      in_.erase(0, taken);
      if (failure && failure != boost::beast::http::error::need_more) {
        over_ = true;
      } else if (parser_->is_done()) {
        requests_.push_back(shown(request_, parser_->keep_alive()));
        must(request_.body.size() <= http::body_bytes_max, "a body is within its limit");
        over_ = !parser_->keep_alive();
        parser_.reset();
      } else {
        break;
      }
    }
  }
  // The complete requests, each printed as one text.
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
  // An invalid header can be rejected before or at its end, depending on the pieces. That does not matter:
  // the connection closes either way, and the requests before the invalid one were answered.
  for (const Connection* other : {&cut, &dripping})
    must(other->requests() == whole.requests(), "the requests do not depend on the pieces");
}

}  // namespace mayfly::testing
