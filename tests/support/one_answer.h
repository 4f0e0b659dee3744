// A server that sends one response, which can be any bytes.
//
//   OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
//   … the tested code requests server.url() …
//   server.take_request() == "GET / HTTP/1.1\r\n…"
#pragma once

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "tests/support/sockets.h"

namespace mayfly::testing {

// Accepts one connection, reads a complete request, sends the response and closes the connection. With an
// empty response or with `stays`, waits until the client closes the connection first.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer, bool stays = false)
      : socket_(::socket(AF_INET, SOCK_STREAM | socket_flags, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, stays, answer = std::move(answer)] {
      const int connection = ::accept(socket_, nullptr, nullptr);
      char buffer[4096];
      const auto is_whole = [&] {
        const auto end = request_.find("\r\n\r\n");
        const auto length = request_.find("Content-Length: ");
        return end != request_.npos && request_.size() >= end + 4 + std::stoul(request_.substr(length + 16));
      };
      while (!is_whole()) {
        const auto bytes = ::recv(connection, buffer, sizeof buffer, 0);
        if (bytes <= 0) break;
        request_.append(buffer, static_cast<std::size_t>(bytes));
      }
      if (!answer.empty()) ::send(connection, answer.data(), answer.size(), send_flags);
      if (answer.empty() || stays) {
        while (::recv(connection, buffer, sizeof buffer, 0) > 0) {}
      }
      ::close(connection);
    });
  }
  ~OneAnswer() {
    take_request();
    ::close(socket_);
  }
  std::string url(const std::string& target = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + target;
  }

  // Waits until the request is answered and returns it.
  std::string take_request() {
    ::shutdown(socket_, SHUT_RDWR);  // ends accept() if no client has connected
    if (thread_.joinable()) thread_.join();
    return request_;
  }

 private:
  std::string request_;
  int socket_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace mayfly::testing
