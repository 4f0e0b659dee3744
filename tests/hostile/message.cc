#include "tests/hostile/message.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "http/requests/compression.h"
#include "http/requests/request.h"

namespace mayfly::testing {
namespace {

constexpr std::size_t unpacked_bytes = 4 * 1024 * 1024;  // padding that compresses well

constexpr std::string_view methods[] = {"GET",   "POST",  "PUT",  "DELETE",  "HEAD", "OPTIONS",
                                        "PATCH", "TRACE", "BREW", "CONNECT", "PRI",  "post"};
constexpr std::string_view targets[] = {"/",
                                        "*",
                                        "http://127.0.0.1/",
                                        "/_mayfly/health",
                                        "/_mayfly/clock",
                                        "/_mayfly/ttl",
                                        "/_mayfly/metrics",
                                        "/_mayfly/snapshots",
                                        "/_mayfly/failpoints",
                                        "/_mayfly/events",
                                        "/_mayfly/../",
                                        "/%00%2e%2e/%",
                                        "/2015-03-31/event-source-mappings/",
                                        "/2015-03-31/functions/f/invocations",
                                        "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a",
                                        "//"};
constexpr std::pair<std::string_view, std::string_view> more_headers[] = {
    {"Content-Encoding", "gzip"},
    {"Content-Encoding", "deflate"},
    {"Content-Encoding", "br"},
    {"Accept-Encoding", "gzip"},
    {"Accept-Encoding", "deflate;q=0.5, gzip;q=0"},
    {"Expect", "100-continue"},
    {"Connection", "close"},
    {"Connection", "keep-alive, Upgrade"},
    {"Upgrade", "websocket"},
    {"Host", "example.com"},
    {"Origin", "http://example.com"},
    {"Sec-Fetch-Site", "cross-site"},
    {"Access-Control-Request-Method", "POST"},
    {"Content-Type", "text/plain"},
    {"Content-Type", "application/cbor"},
    {"X-Amz-Date", "20240101T000000Z"},
    {"X-Amz-Target", "DynamoDB_20120810."},
    {"X-Amz-Target", "DynamoDB_20120810.ListTables"},
    {"X-Amz-Target", "Kinesis_20131202.PutRecords"},
    {"X-Mayfly-Account", "000000000043"},
    {"X-Mayfly-Account", "x"},
    {"X-Mayfly-Region", "eu-west-1"},
    {"X-Amz-Invocation-Type", "Event"},
    {"Authorization", "AWS4-HMAC-SHA256 Credential=/////"},
    {"TE", "trailers"},
    {"", "no name"},
    {" x", "a space"}};

std::size_t below(Chance& chance, std::size_t end) { return end == 0 ? 0 : chance() % end; }
bool one_in(Chance& chance, std::size_t many) { return chance() % many == 0; }

template <class Range>
const auto& any(const Range& range, Chance& chance) {
  return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(below(chance, std::size(range))));
}

// Returns a random part of `text`, as its start and length.
std::pair<std::size_t, std::size_t> part(std::string_view text, Chance& chance) {
  const std::size_t at = below(chance, text.size() + 1);
  return {at, below(chance, std::min<std::size_t>(text.size() - at, 64) + 1)};
}

void change_body(std::string& body, Chance& chance, std::span<const Message> others) {
  constexpr std::string_view pieces[] = {"{",       "}",         "[",    "]",    ",",
                                         ":",       "\"",        "null", "true", "-1e400",
                                         "\\u0000", "{\"S\":\"", "\xff", "1",    "{\"N\":\"9e125\"}",
                                         "\"\":",   "\\ud800",   " ",    "\\",   "$"};
  switch (below(chance, 7)) {
    case 0: {
      const auto [at, bytes] = part(body, chance);
      body.erase(at, bytes);
      break;
    }
    case 1: {
      const auto [at, bytes] = part(body, chance);
      body.insert(below(chance, body.size() + 1), body.substr(at, bytes));
      break;
    }
    case 2: body.insert(below(chance, body.size() + 1), any(pieces, chance)); break;
    case 3: body = any(others, chance).body; break;
    case 4: {
      const std::string& other = any(others, chance).body;
      const auto [at, bytes] = part(other, chance);
      body.insert(below(chance, body.size() + 1), other, at, bytes);
      break;
    }
    case 5: {  // deeply nested or long
      const std::string_view piece = any(pieces, chance);
      std::string many;
      for (auto count = below(chance, 2000); count > 0; --count) many += piece;
      body.insert(below(chance, body.size() + 1), many);
      break;
    }
    default: change_bytes(body, chance); break;
  }
}

void change_headers(Message& message, Chance& chance) {
  auto& headers = message.headers;
  const auto one = [&]() -> auto& { return headers[below(chance, headers.size())]; };
  switch (headers.empty() ? 0 : below(chance, 7)) {
    case 0: {
      const auto& [name, value] = any(more_headers, chance);
      headers.emplace_back(name, value);
      break;
    }
    case 1:
      headers.erase(headers.begin() + static_cast<std::ptrdiff_t>(below(chance, headers.size())));
      break;
    case 2: headers.push_back(one()); break;
    case 3: change_bytes(one().second, chance); break;
    case 4: change_bytes(one().first, chance); break;
    case 5: one().second += std::string(below(chance, 20'000), 'x'); break;
    default: {
      const auto& [name, value] = any(more_headers, chance);
      one() = {std::string(name), std::string(value)};
      break;
    }
  }
}

// Compresses the body and declares its encoding. Sometimes damages the compressed bytes.
void pack(Message& message, Chance& chance) {
  const auto encoding = one_in(chance, 2) ? http::Encoding::gzip : http::Encoding::deflate;
  if (one_in(chance, 50)) message.body.append(unpacked_bytes, ' ');
  message.body = http::compress(message.body, encoding);
  if (one_in(chance, 3)) change_bytes(message.body, chance);
  message.headers.emplace_back("Content-Encoding", http::name_of(encoding));
}

std::string in_chunks(std::string_view body, bool bad, Chance& chance) {
  std::string out;
  while (!body.empty()) {
    const std::string_view piece = body.substr(0, 1 + below(chance, 200));
    body.remove_prefix(piece.size());
    char size[20];
    std::snprintf(size, sizeof size, "%zx", piece.size() + (bad && one_in(chance, 3) ? below(chance, 9) : 0));
    out.append(size).append(one_in(chance, 8) ? ";name=\"value\"" : "").append("\r\n").append(piece);
    out += bad && one_in(chance, 5) ? "\n" : "\r\n";
  }
  if (!bad || one_in(chance, 2)) out += one_in(chance, 8) ? "0\r\nX-Amz-Date: late\r\n\r\n" : "0\r\n\r\n";
  return out;
}

}  // namespace

std::optional<Message> Message::of(std::string_view bytes) {
  const auto head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return std::nullopt;
  Message message;
  message.body = bytes.substr(head_end + 4);
  std::string_view head = bytes.substr(0, head_end + 2);
  const auto take = [&](std::string_view end) {
    const std::string_view taken = head.substr(0, head.find(end));
    head.remove_prefix(std::min(taken.size() + end.size(), head.size()));
    return std::string(taken);
  };
  message.method = take(" ");
  message.target = take(" ");
  message.version = take("\r\n");
  while (!head.empty()) {
    std::string name = take(": "), value = take("\r\n");
    if (!http::equals_ignoring_case(name, "content-length"))
      message.headers.emplace_back(std::move(name), std::move(value));
  }
  return message;
}

void change(Message& message, Chance& chance, std::span<const Message> others) {
  switch (below(chance, 12)) {
    case 0: message.method = any(methods, chance); break;
    case 1: message.target = any(targets, chance); break;
    case 2: change_bytes(message.target, chance); break;
    case 3: message.version = one_in(chance, 2) ? "HTTP/1.0" : "HTTP/2.0"; break;
    case 4: message.framing = static_cast<Framing>(below(chance, 6)); break;
    case 5: pack(message, chance); break;
    case 6:
    case 7:
    case 8: change_headers(message, chance); break;
    default: change_body(message.body, chance, others); break;
  }
}

std::string bytes_of(const Message& message, Chance& chance) {
  std::string out = message.method + " " + message.target + " " + message.version + "\r\n";
  for (const auto& [name, value] : message.headers) out += name + ": " + value + "\r\n";
  const auto length = [&](std::size_t bytes) { out += "Content-Length: " + std::to_string(bytes) + "\r\n"; };
  constexpr std::string_view chunked = "Transfer-Encoding: chunked\r\n";
  switch (message.framing) {
    case Framing::length: length(message.body.size()); break;
    case Framing::wrong_length:
      length(one_in(chance, 4) ? chance() : below(chance, 2 * message.body.size() + 2));
      break;
    case Framing::no_length: break;
    case Framing::chunks:
    case Framing::bad_chunks: out += chunked; break;
    case Framing::both:
      length(message.body.size());
      out += chunked;
      break;
  }
  out += "\r\n";
  const bool chunks = message.framing == Framing::chunks || message.framing == Framing::bad_chunks;
  return out +=
         chunks ? in_chunks(message.body, message.framing == Framing::bad_chunks, chance) : message.body;
}

void change_bytes(std::string& bytes, Chance& chance) {
  for (auto changes = 1 + below(chance, 4); changes > 0 && !bytes.empty(); --changes) {
    const auto [at, count] = part(bytes, chance);
    switch (below(chance, 5)) {
      case 0: bytes.erase(at, count); break;
      case 1: bytes.insert(at, bytes.substr(at, count)); break;
      case 2: bytes.insert(at, 1, static_cast<char>(chance())); break;
      case 3:
        if (one_in(chance, 4)) bytes.resize(at);
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(chance());
        break;
    }
  }
}

}  // namespace mayfly::testing
