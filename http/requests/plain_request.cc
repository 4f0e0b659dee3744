#include "http/requests/plain_request.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/base/whole_number.h"
#include "http/requests/request.h"

namespace mayfly::http {
namespace {

constexpr std::size_t length_digits_max = 8;  // enough for a body of 16 MB

constexpr std::array<bool, 256> make_token_bytes() {
  std::array<bool, 256> is{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) is[static_cast<unsigned char>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) is[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) is[c] = is[c - 'A' + 'a'] = true;
  return is;
}
constexpr std::array<bool, 256> is_token_byte = make_token_bytes();  // RFC 9110, tchar

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return is_token_byte[static_cast<unsigned char>(c)]; });
}

// Returns the number of bytes from ' ' to '~' at the beginning of `text`.
std::size_t printable_bytes(std::string_view text) {
  std::size_t at = 0;
#ifdef __SSE2__
  for (; at + sizeof(__m128i) <= text.size(); at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i below = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));  // signed, so bytes from 0x80 are below
    const auto others = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_or_si128(below, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)))));
    if (others != 0) return at + static_cast<std::size_t>(std::countr_zero(others));
  }
#else
  constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
  for (std::uint64_t word; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t deleted = word ^ (ones * 0x7f);
    if (((word | ((word - ones * 0x20) & ~word) | ((deleted - ones) & ~deleted)) & highs) != 0) break;
  }
#endif
  while (at < text.size() && text[at] >= ' ' && text[at] <= '~') ++at;
  return at;
}

// Removes a line from the text and returns the line without its end. Returns nullopt if the line is
// incomplete, does not end with "\r\n", or has unprintable bytes.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = printable_bytes(text);
  if (!text.substr(end).starts_with("\r\n")) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line;
}

bool read_request_line(std::string_view line, Request& request) {
  constexpr std::string_view version = " HTTP/1.1";
  if (!line.ends_with(version)) return false;
  line.remove_suffix(version.size());
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view method = line.substr(0, space), target = line.substr(space + 1);
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (method.empty() || !std::all_of(method.begin(), method.end(), is_upper)) return false;
  if (target.empty() || target.find(' ') != std::string_view::npos) return false;
  request.method.assign(method);
  request.target.assign(target);
  return true;
}

// Whether the header changes how the rest of the request is read or changes the state of the connection.
bool changes_the_reading(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 6: return equals_ignoring_case(name, "expect");
    case 7: return equals_ignoring_case(name, "upgrade");
    case 10: return equals_ignoring_case(name, "connection") && !equals_ignoring_case(value, "keep-alive");
    case 16: return equals_ignoring_case(name, "proxy-connection");
    case 17: return equals_ignoring_case(name, "transfer-encoding");
    default: return false;
  }
}

struct Reading {
  std::string_view rest;
  Request& request;
  std::optional<std::size_t> body_bytes = std::nullopt;

  bool header(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, colon), value = trim(line.substr(colon + 1));
    if (changes_the_reading(name, value)) return false;
    if (request.keeps_all_headers) request.all_headers.push_back({std::string(name), std::string(value)});
    if (request.add_header(name, value)) return true;
    if (is_named(name, "content-length")) {
      if (body_bytes || value.size() > length_digits_max) return false;
      body_bytes = engine::whole_number<std::uint32_t>(value);
      return body_bytes.has_value();
    }
    return is_token(name);
  }

  bool all() {
    const auto first = take_line(rest);
    if (!first || !read_request_line(*first, request)) return false;
    while (true) {
      const auto line = take_line(rest);
      if (!line) return false;
      if (line->empty()) break;
      if (!header(*line)) return false;
    }
    const std::size_t bytes = body_bytes.value_or(0);
    if (bytes > body_bytes_max) return false;
    if (bytes > rest.size()) request.body.reserve(std::min(bytes, reserved_body_bytes_max));
    request.body.assign(rest.substr(0, bytes));
    rest.remove_prefix(request.body.size());
    return true;
  }
};

}  // namespace

PlainRequest read_plain_request(std::string_view bytes, Request& request) {
  Reading reading{bytes, request};
  const bool read =
      reading.all() && bytes.size() - reading.rest.size() - request.body.size() <= header_bytes_max;
  if (read) return {bytes.size() - reading.rest.size(), reading.body_bytes.value_or(0) - request.body.size()};
  request.clear();
  return {};
}

}  // namespace mayfly::http
