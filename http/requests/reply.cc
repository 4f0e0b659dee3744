#include "http/requests/reply.h"

#include <array>
#include <charconv>
#include <chrono>
#include <random>
#include <utility>

#include "engine/base/appender.h"
#include "engine/base/thread_local.h"
#include "http/base/crc32.h"

namespace mayfly::http {

namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Request Entity Too Large";
    case 415: return "Unsupported Media Type";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Unknown";
  }
}

using engine::Appender;

constexpr std::string_view last_chunk = "0\r\n\r\n";

void append_number(Appender& out, std::uint64_t value) {
  constexpr std::size_t digits_max = 20;
  char* const to = out.room(digits_max);
  out.written(std::to_chars(to, to + digits_max, value).ptr);
}

// A request ID has the same form as in DynamoDB: 52 characters in base 32 (0-9, A-V). The last 26 characters
// are always the same.
void append_request_id(Appender& out) {
  static constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
  // Ids only distinguish requests; they need not be hard to guess.
  THREAD_LOCAL std::mt19937_64 random = [] {
    std::random_device device;
    return std::mt19937_64((std::uint64_t{device()} << 32) | device());
  }();
  constexpr int words = 2, digits_of_a_word = 13;
  char* to = out.room(words * digits_of_a_word);
  for (int word = 0; word < words; ++word) {
    std::uint64_t bits = random();
    for (int i = 0; i < digits_of_a_word; ++i, bits >>= 5) *to++ = digits[bits & 31];
  }
  out.written(to);
  out.literal("VV4KQNSO5AEMVJF66Q9ASUAAJG");  // the constant half
}

void append_two_digits(std::string& out, unsigned value) {
  out += static_cast<char>('0' + value / 10 % 10);
  out += static_cast<char>('0' + value % 10);
}

// The Date header changes once a second, so each thread keeps its last Date header.
std::string_view date_now() {
  static const auto* const clock = new engine::SystemClock;
  THREAD_LOCAL engine::Instant second = -1;
  THREAD_LOCAL std::string text;
  const engine::Instant now = clock->now();
  if (now / 1000 != second) {
    second = now / 1000;
    text = http_date(now);
  }
  return text;
}

}  // namespace

std::string http_date(engine::Instant instant) {
  static constexpr std::array<std::string_view, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  using namespace std::chrono;
  const sys_seconds time{floor<seconds>(milliseconds{instant})};
  const sys_days day = floor<std::chrono::days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::string out;
  out += days[weekday{day}.c_encoding()];
  out += ", ";
  append_two_digits(out, static_cast<unsigned>(date.day()));
  out += ' ';
  out += months[static_cast<unsigned>(date.month()) - 1];
  out += ' ';
  append_two_digits(out, static_cast<unsigned>(static_cast<int>(date.year()) / 100));
  append_two_digits(out, static_cast<unsigned>(static_cast<int>(date.year()) % 100));
  out += ' ';
  append_two_digits(out, static_cast<unsigned>(clock.hours().count()));
  out += ':';
  append_two_digits(out, static_cast<unsigned>(clock.minutes().count()));
  out += ':';
  append_two_digits(out, static_cast<unsigned>(clock.seconds().count()));
  out += " GMT";
  return out;
}

Reply reply_of(compat::Answer&& answer) {
  Reply reply{.status = answer.status,
              .content_type = answer.content_type,
              .body = std::move(answer.body),
              .dropped = answer.status == compat::Answer::no_status,
              .source = std::move(answer.source)};
  for (const auto& [name, value] : answer.headers) reply.extra_headers += name + ": " + value + "\r\n";
  return reply;
}

bool body_goes_apart(const Reply& reply) { return !reply.head_only && reply.body.size() >= large_body_bytes; }

void append_reply(std::string& text, const Reply& reply, bool keep_alive) {
  constexpr std::size_t head_bytes = 320;  // an estimate
  const bool with_body = !reply.chunked && !reply.head_only && !body_goes_apart(reply);
  Appender out(text, head_bytes + (with_body ? reply.body.size() : 0));
  out.literal("HTTP/1.1 ");
  append_number(out, static_cast<unsigned>(reply.status));
  out.byte(' ');
  out.bytes(reason_of(reply.status));
  out.literal("\r\nServer: Server\r\nDate: ");
  out.bytes(date_now());
  if (!reply.content_type.empty()) {
    out.literal("\r\nContent-Type: ");
    out.bytes(reply.content_type);
  }
  if (!reply.content_encoding.empty()) {
    out.literal("\r\nContent-Encoding: ");
    out.bytes(reply.content_encoding);
  }
  if (reply.chunked || reply.source) {
    out.literal("\r\nTransfer-Encoding: chunked");
  } else {
    out.literal("\r\nContent-Length: ");
    append_number(out, reply.body.size());
  }
  if (keep_alive) {
    out.literal("\r\nConnection: keep-alive");
  } else {
    out.literal("\r\nConnection: close");
  }
  out.literal("\r\nx-amzn-RequestId: ");
  append_request_id(out);
  if (!reply.source) {
    out.literal("\r\nx-amz-crc32: ");
    append_number(out, reply.body_crc ? *reply.body_crc : crc32(reply.body));
  }
  out.literal("\r\n");
  out.bytes(reply.extra_headers);
  out.literal("\r\n");
  if (reply.chunked) out.bytes(last_chunk);
  if (with_body) out.bytes(reply.body);
}

void append_chunk(std::string& out, std::string_view piece) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
  out.append(digits.data(), end);
  out += "\r\n";
  out += piece;
  out += "\r\n";
}

void append_last_chunk(std::string& out) { out += last_chunk; }

void end_line(Reply& reply) {
  if (!reply.body.empty() && reply.content_type == "application/json") reply.body += '\n';
}

}  // namespace mayfly::http
