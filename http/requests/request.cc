#include "http/requests/request.h"

#include <bit>
#include <cstdint>

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

// Header names by length: bit i stands for header_names[i]. In most requests, most headers have a length that
// no name in header_names has.
constexpr std::size_t header_name_bytes_max = 32;
constexpr auto names_of_length = [] {
  std::array<std::uint32_t, header_name_bytes_max> names{};
  static_assert(header_names.size() <= 32);
  for (std::size_t i = 0; i < header_names.size(); ++i)
    names[header_names[i].size()] |= std::uint32_t{1} << i;
  return names;
}();

}  // namespace

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
  route = {};
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
