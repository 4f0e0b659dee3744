#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

#include "tests/support/sockets.h"

namespace mayfly::testing {

namespace {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

HttpClient::HttpClient(std::uint16_t port, int receive_bytes) : HttpClient(AF_INET, port, receive_bytes) {}

std::unique_ptr<HttpClient> HttpClient::to_ipv6(std::uint16_t port) {
  return std::unique_ptr<HttpClient>(new HttpClient(AF_INET6, port, 0));
}

HttpClient::HttpClient(int family, std::uint16_t port, int receive_bytes)
    : socket_(::socket(family, SOCK_STREAM | socket_flags, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 address6{};
  address6.sin6_family = AF_INET6;
  address6.sin6_port = htons(port);
  address6.sin6_addr = in6addr_loopback;
  const timeval timeout{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  if (receive_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  const bool six = family == AF_INET6;
  const auto* const to =
      six ? reinterpret_cast<const sockaddr*>(&address6) : reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket_, to, six ? sizeof address6 : sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  }
}

HttpClient::~HttpClient() { ::close(socket_); }

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), send_flags);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpClient::finish_sending() { ::shutdown(socket_, SHUT_WR); }

void HttpClient::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::shutdown(socket_, SHUT_RDWR);
}

bool HttpClient::fill() {
  char piece[16 * 1024];
  const auto got = ::recv(socket_, piece, sizeof piece, 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    throw std::runtime_error("the server sent nothing for 30 seconds");
  if (got <= 0) return false;
  in_.append(piece, static_cast<std::size_t>(got));
  return true;
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
