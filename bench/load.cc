#include "bench/load.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace mayfly::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;

tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::make_address("127.0.0.1"), port}; }

[[noreturn]] void give_up(std::string_view why, std::string_view answer) {
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(why.size()), why.data(),
               static_cast<int>(answer.size()), answer.data());
  std::exit(1);
}

// How long the answer in `received` is, or 0 if its head is not there yet. Only what servers here send.
std::size_t answer_bytes(std::string_view received) {
  const auto head_end = received.find("\r\n\r\n");
  if (head_end == received.npos) return 0;
  constexpr std::string_view name = "Content-Length: ";
  const auto header = received.find(name);
  if (header == received.npos || header > head_end) give_up("an answer without Content-Length", received);
  std::size_t body_bytes = 0;
  std::from_chars(received.data() + header + name.size(), received.data() + head_end, body_bytes);
  return head_end + 4 + body_bytes;
}

class Connection {
 public:
  Connection(asio::io_context& io, std::uint16_t port, SteadyClock::time_point end, const Requests& requests,
             std::vector<double>& latencies_us)
      : socket_(io), end_(end), requests_(requests), latencies_us_(latencies_us) {
    socket_.connect(loopback(port));
    socket_.set_option(tcp::no_delay(true));
  }

  void send() {
    sent_ = SteadyClock::now();
    if (sent_ >= end_) return;
    received_ = 0;
    asio::async_write(socket_, asio::buffer(requests_()),
                      [this](boost::system::error_code error, std::size_t) {
                        if (error) give_up("could not send", error.message());
                        receive();
                      });
  }

 private:
  void receive() {
    if (buffer_.size() < received_ + 4096) buffer_.resize(2 * buffer_.size());
    socket_.async_read_some(asio::buffer(buffer_.data() + received_, buffer_.size() - received_),
                            [this](boost::system::error_code error, std::size_t bytes) {
                              if (error) give_up("could not receive", error.message());
                              received_ += bytes;
                              consume();
                            });
  }

  void consume() {
    const std::string_view received(buffer_.data(), received_);
    const std::size_t bytes = answer_bytes(received);
    if (bytes == 0 || received_ < bytes) return receive();
    if (!received.starts_with("HTTP/1.1 200 ")) give_up("not 200", received);
    latencies_us_.push_back(std::chrono::duration<double, std::micro>(SteadyClock::now() - sent_).count());
    send();
  }

  tcp::socket socket_;
  SteadyClock::time_point end_, sent_;
  const Requests& requests_;
  std::vector<double>& latencies_us_;
  std::string buffer_ = std::string(64 * 1024, '\0');
  std::size_t received_ = 0;
};

}  // namespace

std::string dynamodb_request(std::string_view operation, std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
         "X-Amz-Date: 20220719T212700Z\r\nX-Amz-Target: DynamoDB_20120810." +
         std::string(operation) +
         "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=test/20220719/us-east-1/dynamodb/aws4_request, "
         "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
         "Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

Load generate_load(std::uint16_t port, std::size_t connections, std::chrono::milliseconds duration,
                   const Requests& requests) {
  asio::io_context io(1);
  std::vector<double> latencies_us;
  latencies_us.reserve(1'000'000);
  const auto begin = SteadyClock::now();
  std::vector<std::unique_ptr<Connection>> open;
  for (std::size_t i = 0; i < connections; ++i) {
    open.push_back(std::make_unique<Connection>(io, port, begin + duration, requests, latencies_us));
    open.back()->send();
  }
  io.run();
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  if (latencies_us.empty()) give_up("no request was answered", "");
  std::sort(latencies_us.begin(), latencies_us.end());
  const auto quantile = [&](double q) {
    return latencies_us[static_cast<std::size_t>(q * static_cast<double>(latencies_us.size() - 1))];
  };
  return {static_cast<double>(latencies_us.size()) / seconds, quantile(0.50), quantile(0.99)};
}

std::string exchange(std::uint16_t port, const std::string& request) {
  asio::io_context io(1);
  tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect(loopback(port), error);
  if (error) return {};
  asio::write(socket, asio::buffer(request), error);
  std::string received;
  std::size_t bytes = 0;
  while (!error && (bytes == 0 || received.size() < bytes)) {
    char chunk[16 * 1024];
    const std::size_t count = socket.read_some(asio::buffer(chunk), error);
    received.append(chunk, count);
    bytes = answer_bytes(received);
  }
  if (bytes == 0 || received.size() < bytes) return {};
  if (!received.starts_with("HTTP/1.1 200 ")) give_up("not 200", received);
  return received.substr(received.find("\r\n\r\n") + 4);
}

bool answers(std::uint16_t port) {
  return !exchange(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").empty();
}

}  // namespace mayfly::bench
