#include "http/request.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace mayfly::http {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Header::count_)> header_names = {
    "accept",
    "accept-encoding",
    "access-control-request-headers",
    "access-control-request-method",
    "authorization",
    "content-encoding",
    "content-type",
    "date",
    "expect",
    "host",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "origin",
    "sec-fetch-site",
    "x-amz-client-context",
    "x-amz-date",
    "x-amz-invocation-type",
    "x-amz-target",
    "x-mayfly-account",
    "x-mayfly-region",
};

// Header names by length: bit i stands for header_names[i]. Most headers of most requests have a length that
// no name has.
constexpr std::size_t header_name_bytes_max = 32;
constexpr auto names_of_length = [] {
  std::array<std::uint32_t, header_name_bytes_max> names{};
  static_assert(header_names.size() <= 32);
  for (std::size_t i = 0; i < header_names.size(); ++i)
    names[header_names[i].size()] |= std::uint32_t{1} << i;
  return names;
}();

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_named(std::string_view sent, std::string_view name) {
  constexpr std::uint64_t small = 0x2020202020202020;
  const auto differs = [&](auto word, std::size_t at) {
    auto expected = word;
    std::memcpy(&word, sent.data() + at, sizeof word);
    std::memcpy(&expected, name.data() + at, sizeof word);
    return (word | static_cast<decltype(word)>(small)) != expected;
  };
  if (sent.size() != name.size()) return false;
  if (sent.size() < sizeof(std::uint64_t)) {
    if (sent.size() < sizeof(std::uint32_t)) return equals_ignoring_case(sent, name);
    return !differs(std::uint32_t{}, 0) && !differs(std::uint32_t{}, sent.size() - sizeof(std::uint32_t));
  }
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= sent.size(); at += sizeof(std::uint64_t))
    if (differs(std::uint64_t{}, at)) return false;
  return !differs(std::uint64_t{}, sent.size() - sizeof(std::uint64_t));
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

void Request::set(Header name, std::string_view value) {
  headers_[index(name)].assign(value);
  present_[index(name)] = true;
}

bool Request::add_header(std::string_view name, std::string_view value) {
  if (name.size() >= header_name_bytes_max) return false;
  for (std::uint32_t left = names_of_length[name.size()]; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (!is_named(name, header_names[i])) continue;
    if (present_[i]) {
      repeated_[i] = true;
    } else {
      set(static_cast<Header>(i), trim(value));
    }
    return true;
  }
  return false;
}

void Request::clear() {
  method.clear();
  target.clear();
  body.clear();
  for (auto& value : headers_) value.clear();
  present_.fill(false);
  repeated_.fill(false);
  is_http_1_0 = false;
  all_headers.clear();
}

void Request::release_body() {
  if (body.capacity() > kept_body_bytes_max) std::string().swap(body);
}

std::string_view Request::path() const {
  const std::string_view whole = target;
  return whole.substr(0, whole.find('?'));
}

std::string_view Request::query() const {
  const std::string_view whole = target;
  const auto mark = whole.find('?');
  return mark == std::string_view::npos ? std::string_view{} : whole.substr(mark + 1);
}

}  // namespace mayfly::http
