#include "http/invoker.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "http/name_lookup.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using compat::triggers::Invocation;
using compat::triggers::InvocationAnswer;
using compat::triggers::InvocationFailure;
using ErrorCode = boost::system::error_code;
using Parser = beast::http::response_parser<beast::http::string_body>;

constexpr std::uint64_t answer_bytes_max = 16 * 1024 * 1024;

std::string head_of(const Invocation& invocation) {
  std::string head = "POST " + invocation.url.target + " HTTP/1.1\r\nHost: " + invocation.url.authority +
                     "\r\nUser-Agent: mayfly/" MAYFLY_VERSION "\r\nAccept: */*\r\nConnection: close\r\nContent-Type: " +
                     invocation.content_type + "\r\nContent-Length: " + std::to_string(invocation.body.size()) + "\r\n";
  for (const auto& [name, value] : invocation.headers) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

// One call: connects, writes, reads, each step from the one before.
class Call {
 public:
  explicit Call(const Invocation& invocation) : invocation_(invocation), head_(head_of(invocation)) {
    parser_.body_limit(answer_bytes_max);
  }

  Expected<InvocationAnswer, InvocationFailure> run(std::stop_token stop) {
    const auto fail = [&](InvocationFailure::Kind kind, const std::string& what) {
      return Unexpected{InvocationFailure{kind, invocation_.url.text + " " + what}};
    };
    const auto addresses = look_up(invocation_.url.host);
    if (addresses.empty()) return fail(InvocationFailure::Kind::unreachable, "names a host that cannot be found");
    std::vector<tcp::endpoint> endpoints;
    for (const auto& address : addresses) endpoints.emplace_back(address, invocation_.url.port);
    asio::async_connect(socket_, endpoints, [this](ErrorCode failure, const tcp::endpoint&) {
      if (failure) return end(InvocationFailure::Kind::unreachable, failure);
      write();
    });
    {
      const std::stop_callback ends_it(stop, [this] { io_.stop(); });
      io_.run_for(invocation_.time_max);
    }
    if (stop.stop_requested()) return fail(InvocationFailure::Kind::stopped, "was not waited for");
    if (!ended_) return fail(InvocationFailure::Kind::timed_out, "did not answer in time");
    if (failure_) return fail(*failure_, "failed: " + failure_code_.message());
    return take_answer();
  }

 private:
  void write() {
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head_), asio::buffer(invocation_.body)};
    asio::async_write(socket_, buffers, [this](ErrorCode failure, std::size_t) {
      // Who answers before it has read all may have closed already: the answer counts.
      write_failure_ = failure;
      read();
    });
  }
  void read() {
    beast::http::async_read(socket_, buffer_, parser_, [this](ErrorCode failure, std::size_t) {
      if (failure) return end(InvocationFailure::Kind::no_answer, write_failure_ ? write_failure_ : failure);
      ended_ = true;
    });
  }
  void end(InvocationFailure::Kind kind, ErrorCode code) {
    ended_ = true;
    failure_ = kind;
    failure_code_ = code;
  }

  InvocationAnswer take_answer() {
    auto message = parser_.release();
    const auto header = [&](beast::string_view name) { return std::string(message[name]); };
    return {.status = static_cast<int>(message.result_int()),
            .function_error = header("X-Amz-Function-Error"),
            .executed_version = header("X-Amz-Executed-Version"),
            .log_result = header("X-Amz-Log-Result"),
            .content_type = header("Content-Type"),
            .body = std::move(message.body())};
  }

  const Invocation& invocation_;
  const std::string head_;
  asio::io_context io_{1};
  tcp::socket socket_{io_};
  beast::flat_buffer buffer_;
  Parser parser_;
  bool ended_ = false;
  std::optional<InvocationFailure::Kind> failure_;
  ErrorCode failure_code_, write_failure_;
};

}  // namespace

Expected<InvocationAnswer, InvocationFailure> HttpInvoker::post(const Invocation& invocation, std::stop_token stop) {
  try {
    return Call(invocation).run(std::move(stop));
  } catch (const std::exception& fault) {  // no file descriptor is left, or no memory
    return Unexpected{InvocationFailure{InvocationFailure::Kind::unreachable, fault.what()}};
  }
}

}  // namespace mayfly::http
