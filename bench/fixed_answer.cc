#include "bench/fixed_answer.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdlib>
#include <memory>
#include <optional>

namespace mayfly::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const std::string& reply) : socket_(std::move(socket)), reply_(reply) {
    socket_.set_option(tcp::no_delay(true));
  }

  void read() {
    parser_.emplace();
    beast::http::async_read(socket_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code error, std::size_t) {
                              if (!error) self->write();
                            });
  }

 private:
  void write() {
    asio::async_write(socket_, asio::buffer(reply_),
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  tcp::socket socket_;
  const std::string& reply_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
};

void accept(tcp::acceptor& acceptor, const std::string& reply) {
  acceptor.async_accept([&](beast::error_code error, tcp::socket socket) {
    if (!error) std::make_shared<Session>(std::move(socket), reply)->read();
    accept(acceptor, reply);
  });
}

}  // namespace

void serve_fixed_answer(std::uint16_t port, const std::string& body) {
  // The reply has DynamoDB's headers, so that this server sends as many bytes as Mayfly.
  const std::string reply =
      "HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Tue, 19 Jul 2022 21:27:00 GMT\r\n"
      "Content-Type: application/x-amz-json-1.0\r\nContent-Length: " +
      std::to_string(body.size()) +
      "\r\nConnection: keep-alive\r\n"
      "x-amzn-RequestId: ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ\r\nx-amz-crc32: "
      "1234567890\r\n\r\n" +
      body;
  asio::io_context io(1);
  tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), port});
  accept(acceptor, reply);
  io.run();
  std::abort();  // not reached: accept() never stops accepting
}

}  // namespace mayfly::bench
