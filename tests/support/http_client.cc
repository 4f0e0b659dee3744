#include "tests/support/http_client.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace mayfly::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

HttpClient::HttpClient(std::uint16_t port, int receive_bytes)
    : HttpClient(tcp::endpoint(asio::ip::address_v4::loopback(), port), receive_bytes) {}

std::unique_ptr<HttpClient> HttpClient::to_ipv6(std::uint16_t port) {
  return std::unique_ptr<HttpClient>(new HttpClient({asio::ip::address_v6::loopback(), port}, 0));
}

HttpClient::HttpClient(const tcp::endpoint& server, int receive_bytes) {
  socket_.open(server.protocol());
  if (receive_bytes > 0) socket_.set_option(asio::socket_base::receive_buffer_size(receive_bytes));
  ErrorCode failure;
  socket_.connect(server, failure);
  if (failure) throw std::runtime_error("connect: " + failure.message());
}

void HttpClient::send(std::string_view bytes) {
  ErrorCode closed;
  asio::write(socket_, asio::buffer(bytes), closed);
}

void HttpClient::finish_sending() {
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void HttpClient::reset() {
  ErrorCode ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

bool HttpClient::fill() {
  char piece[16 * 1024];
  std::size_t got = 0;
  bool is_over = false;
  socket_.async_read_some(asio::buffer(piece), [&](ErrorCode, std::size_t bytes) {
    got = bytes;
    is_over = true;
  });
  io_.restart();
  io_.run_for(std::chrono::seconds(30));
  if (!is_over) {
    socket_.cancel();
    io_.run();
    throw std::runtime_error("the server sent nothing for 30 seconds");
  }
  in_.append(piece, got);
  return got != 0;
}

std::size_t HttpClient::drain() {
  std::size_t bytes = in_.size();
  for (in_.clear(); fill(); in_.clear()) bytes += in_.size();
  return bytes;
}

std::string HttpClient::read_all() {
  while (fill()) {}
  return std::exchange(in_, {});
}

std::string HttpClient::read_until(std::string_view end) {
  std::size_t found;
  while ((found = in_.find(end)) == std::string::npos) {
    if (!fill()) throw std::runtime_error("the connection ended before " + std::string(end));
  }
  std::string read = in_.substr(0, found + end.size());
  in_.erase(0, read.size());
  return read;
}

bool HttpClient::closed_by_server() { return in_.empty() && !fill(); }

HttpAnswer HttpClient::receive(bool to_head) {
  HttpAnswer answer;
  std::size_t head_end;
  while ((head_end = in_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return {};
  }
  const std::string head = in_.substr(0, head_end + 2);
  in_.erase(0, head_end + 4);
  answer.status = std::atoi(head.c_str() + std::strlen("HTTP/1.1 "));
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(": ", at);
    if (colon == std::string::npos || colon > end)
      throw std::runtime_error("malformed header: " + head.substr(at, end - at));
    answer.headers[lower(head.substr(at, colon - at))] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  if (to_head || answer.status == 100) return answer;
  const auto need = [&](std::size_t bytes) {
    while (in_.size() < bytes) {
      if (!fill()) throw std::runtime_error("the response's body is truncated");
    }
  };
  const auto take = [&](std::size_t bytes) {
    need(bytes);
    std::string taken = in_.substr(0, bytes);
    in_.erase(0, bytes);
    return taken;
  };
  if (answer.headers.count("transfer-encoding") != 0) {
    for (std::size_t size = 1; size != 0;) {
      std::size_t line_end;
      while ((line_end = in_.find("\r\n")) == std::string::npos) need(in_.size() + 1);
      size = std::strtoul(take(line_end + 2).c_str(), nullptr, 16);
      answer.body += take(size);
      take(2);
    }
  } else {
    answer.body = take(std::strtoul(answer.headers.at("content-length").c_str(), nullptr, 10));
  }
  return answer;
}

std::string http_request(std::string_view method, std::string_view target, const Headers& headers,
                         std::string_view body) {
  std::string request = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  bool framed = body.empty();
  for (const auto& [name, value] : headers) {
    request += name + ": " + value + "\r\n";
    framed = framed || lower(name) == "content-length" || lower(name) == "transfer-encoding";
  }
  if (!framed) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  request += "\r\n";
  request += body;
  return request;
}

std::string operation_request(std::string_view operation, std::string_view body, const Headers& headers) {
  const std::string service = operation.find("Stream") != std::string_view::npos ||
                                      operation == "GetRecords" || operation == "GetShardIterator"
                                  ? "DynamoDBStreams_20120810."
                                  : "DynamoDB_20120810.";
  Headers all = {{"Content-Type", "application/x-amz-json-1.0"},
                 {"X-Amz-Target", service + std::string(operation)},
                 {"X-Amz-Date", "20240101T000000Z"},
                 {"Authorization",
                  "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20240101/us-east-1/dynamodb/aws4_request, "
                  "SignedHeaders=host;x-amz-date, Signature=0"}};
  all.insert(all.end(), headers.begin(), headers.end());
  return http_request("POST", "/", all, body);
}

}  // namespace mayfly::testing
