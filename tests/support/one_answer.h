// A server that sends one response, which can be any bytes.
//
//   OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
//   … the tested code requests server.url() …
//   server.take_request() == "GET / HTTP/1.1\r\n…"
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <string>
#include <thread>

namespace mayfly::testing {

// Accepts one connection, reads a complete request, sends the response and closes the connection. With an
// empty response or with `stays`, waits until the client closes the connection first.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer, bool stays = false)
      : answer_(std::move(answer)),
        stays_(stays || answer_.empty()),
        acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}) {
    acceptor_.async_accept(connection_, [this](boost::system::error_code failure) {
      if (failure) return;
      boost::system::error_code ignored;
      acceptor_.close(ignored);  // rejects a second connection
      read();
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  ~OneAnswer() { take_request(); }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;
  std::string url(const std::string& target = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + target;
  }

  // Waits until the request is answered and returns it.
  std::string take_request() {
    boost::asio::post(io_, [this] {
      boost::system::error_code ignored;
      acceptor_.cancel(ignored);  // no client has connected
    });
    if (thread_.joinable()) thread_.join();
    return request_;
  }

 private:
  void read() {
    connection_.async_read_some(boost::asio::buffer(piece_),
                                [this](boost::system::error_code failure, std::size_t bytes) {
                                  request_.append(piece_.data(), bytes);
                                  has_client_ended_ = failure.failed();
                                  if (failure || is_whole())
                                    answer();
                                  else
                                    read();
                                });
  }
  bool is_whole() const {
    const auto end = request_.find("\r\n\r\n");
    const auto length = request_.find("Content-Length: ");
    return end != request_.npos && request_.size() >= end + 4 + std::stoul(request_.substr(length + 16));
  }
  void answer() {
    boost::asio::async_write(connection_, boost::asio::buffer(answer_),
                             [this](boost::system::error_code, std::size_t) { wait(); });
  }
  void wait() {
    if (!stays_ || has_client_ended_) return close();  // Asio reports the end only once
    connection_.async_read_some(boost::asio::buffer(piece_),
                                [this](boost::system::error_code failure, std::size_t) {
                                  if (failure)
                                    close();
                                  else
                                    wait();
                                });
  }
  void close() {
    boost::system::error_code ignored;
    connection_.close(ignored);
  }

  const std::string answer_;
  const bool stays_;
  std::string request_;
  bool has_client_ended_ = false;
  std::array<char, 4096> piece_{};
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  const std::uint16_t port_ = acceptor_.local_endpoint().port();
  boost::asio::ip::tcp::socket connection_{io_};
  std::thread thread_;
};

}  // namespace mayfly::testing
