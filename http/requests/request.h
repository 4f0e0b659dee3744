// One HTTP request, as the session has read it and the router answers it.
//
// Only the headers that affect a response are kept. If a header is repeated, the first one is used, as
// DynamoDB does with Accept-Encoding, and a flag records the repetition. If signatures are checked, all
// headers are also kept as they were sent, since any of them may be signed. A Request is reused for the next
// request, so that its strings keep their memory.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "http/requests/header_text.h"
#include "http/requests/route.h"

namespace mayfly::http {

inline constexpr std::size_t header_bytes_max = 16 * 1024;       // including the request line, as in DynamoDB
inline constexpr std::size_t body_bytes_max = 16 * 1024 * 1024;  // before and after decompression
// A body's memory is allocated as the body arrives, one step ahead: a large Content-Length alone costs
// nothing.
inline constexpr std::size_t reserved_body_bytes_max = 1024 * 1024;

// If a body needed more memory than this, its memory is freed after the response, so 10,000 connections keep
// at most 160 MB.
inline constexpr std::size_t kept_body_bytes_max = 16 * 1024;

enum class Header : unsigned char {
  accept,
  accept_encoding,
  access_control_request_headers,
  access_control_request_method,
  authorization,
  content_encoding,
  content_type,
  date,
  expect,
  host,
  mcp_method,
  mcp_name,
  mcp_protocol_version,
  origin,
  sec_fetch_site,
  x_amz_client_context,
  x_amz_date,
  x_amz_invocation_type,
  x_amz_target,
  x_mayfly_account,
  x_mayfly_region,
  count_
};

struct Request {
  std::string method;
  std::string target;  // "/?X-Amz-Algorithm=…"; as sent until the request is admitted
  std::string body;
  Route route;  // set by admit()
  bool is_http_1_0 = false;
  bool keeps_all_headers = false;  // for this request and for later ones
  std::vector<HeaderLine> all_headers;

  [[nodiscard]] std::string_view header(Header name) const { return headers_[index(name)]; }
  [[nodiscard]] bool has(Header name) const { return present_[index(name)]; }
  [[nodiscard]] bool repeated(Header name) const { return repeated_[index(name)]; }
  void set(Header name, std::string_view value);
  // Keeps the header if its name, ignoring case, is that of a Header. Returns false for any other name.
  bool add_header(std::string_view name, std::string_view value);
  void clear();
  void release_body();  // frees the body's memory if it is more than a connection keeps

  [[nodiscard]] std::string_view path() const;
  [[nodiscard]] std::string_view query() const;

 private:
  static constexpr std::size_t index(Header name) { return static_cast<std::size_t>(name); }
  std::array<std::string, static_cast<std::size_t>(Header::count_)> headers_;
  std::array<bool, static_cast<std::size_t>(Header::count_)> present_{}, repeated_{};
};

}  // namespace mayfly::http
