#include "http/access/signature.h"

#include <algorithm>
#include <utility>

#include "compat/calls/times.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/hex.h"
#include "engine/base/text.h"
#include "http/base/sha256.h"

namespace mayfly::http {

namespace {

constexpr std::size_t basic_date_bytes = 16;

// Encodes the path by RFC 3986 after removing empty, "." and ".." segments.
std::string canonical_path(std::string_view path) {
  std::vector<std::string_view> segments;
  const bool slash_at_end = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      segments.push_back(segment);
    } else if (!segments.empty()) {
      segments.pop_back();
    }
  }
  std::string out;
  for (const std::string_view segment : segments) {
    out += '/';
    compat::append_encoded(out, segment, "");
  }
  if (out.empty() || slash_at_end) out += '/';
  return out;
}

// Parses the query exactly like the code that answers the request. Otherwise, unsigned text could change what
// the request means.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view piece = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(piece.size() + 1, query.size()));
    if (piece.empty()) continue;
    const auto equals = std::min(piece.find('='), piece.size());
    const std::string name = compat::decode_query(piece.substr(0, equals));
    if (name == "X-Amz-Signature") continue;
    auto& [encoded_name, encoded_value] = parameters.emplace_back();
    compat::append_encoded(encoded_name, name, "");
    compat::append_encoded(encoded_value,
                           compat::decode_query(piece.substr(std::min(equals + 1, piece.size()))), "");
  }
  std::sort(parameters.begin(), parameters.end());
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out += '&';
    out += name + '=' + value;
  }
  return out;
}

// Trims the value and replaces each inner run of spaces with one space.
std::string folded(std::string_view value) {
  std::string out;
  for (const char c : trim(value)) {
    const bool space = c == ' ' || c == '\t';
    if (!space) {
      out += c;
    } else if (!out.ends_with(' ')) {
      out += ' ';
    }
  }
  return out;
}

// Appends a line for each name. The values of a repeated header are joined in the order sent; a header that
// was not sent has an empty value.
void append_headers(std::string& out, const std::vector<HeaderLine>& headers,
                    const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string_view>> sent;
  for (const HeaderLine& header : headers) sent.emplace_back(lower_case(header.name), header.value);
  std::stable_sort(sent.begin(), sent.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const std::string& name : names) {
    out += name;
    out += ':';
    auto line =
        std::lower_bound(sent.begin(), sent.end(), name,
                         [](const auto& one, const std::string& wanted) { return one.first < wanted; });
    for (bool first = true; line != sent.end() && line->first == name; ++line, first = false) {
      if (!first) out += ',';
      out += folded(line->second);
    }
    out += '\n';
  }
}

}  // namespace

std::vector<std::string> signed_names(std::vector<std::string> names) {
  for (std::string& name : names) name = lower_case(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string canonical_request(const SignedParts& parts) {
  std::string out(parts.method);
  out += '\n';
  out += parts.path_as_sent ? std::string(parts.path) : canonical_path(parts.path);
  out += '\n';
  out += canonical_query(parts.query);
  out += '\n';
  append_headers(out, parts.headers, parts.signed_headers);
  out += '\n';
  out += engine::joined(parts.signed_headers, ";");
  out += '\n';
  out += parts.payload_hash;
  return out;
}

std::string scope_text(const CredentialScope& scope) {
  std::string out(scope.date);
  for (const std::string_view part : {scope.region, scope.service, scope_terminator}) {
    out += '/';
    out += part;
  }
  return out;
}

std::string string_to_sign(std::string_view date, const CredentialScope& scope, std::string_view canonical) {
  std::string out(signature_algorithm);
  out += '\n';
  out += date;
  out += '\n';
  out += scope_text(scope);
  out += '\n';
  out += engine::hex(sha256(canonical));
  return out;
}

std::string signature_of(std::string_view to_sign, std::string_view secret, const CredentialScope& scope) {
  std::string key = "AWS4" + std::string(secret);
  for (const std::string_view part : {scope.date, scope.region, scope.service, scope_terminator})
    key = hmac_sha256(key, part);
  return engine::hex(hmac_sha256(key, to_sign));
}

std::string basic_date(engine::Instant instant) {
  std::string date = engine::iso8601(instant).substr(0, 19);  // without the fraction
  std::erase_if(date, [](char c) { return c == '-' || c == ':'; });
  return date + 'Z';
}

std::optional<engine::Instant> parse_basic_date(std::string_view text) {
  if (text.size() != basic_date_bytes || text[8] != 'T' || !text.ends_with('Z')) return std::nullopt;
  std::string extended(text);
  for (const std::size_t at : {13, 11}) extended.insert(at, 1, ':');
  for (const std::size_t at : {6, 4}) extended.insert(at, 1, '-');
  return compat::control::parse_time(extended);
}

}  // namespace mayfly::http
