#include "compat/wire/percent_encoding.h"

#include <algorithm>

#include "engine/base/text.h"

namespace mayfly::compat {
namespace {

std::optional<int> hex_digit(char c) {
  if (engine::is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool is_unreserved(char c) {
  return engine::is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high && low) {
        out += static_cast<char>(*high * 16 + *low);
        i += 2;
        continue;
      }
    }
    out += text[i] == '+' && plus_is_space ? ' ' : text[i];
  }
  return out;
}

}  // namespace

std::string decode_path(std::string_view text) { return decode(text, false); }
std::string decode_query(std::string_view text) { return decode(text, true); }

void append_encoded(std::string& out, std::string_view text, std::string_view kept) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
}

std::vector<std::string> query_values(std::string_view query, std::string_view name) {
  std::vector<std::string> values;
  while (!query.empty()) {
    const std::string_view piece = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(piece.size() + 1, query.size()));
    const auto equals = std::min(piece.find('='), piece.size());
    if (decode_query(piece.substr(0, equals)) != name) continue;
    values.push_back(decode_query(piece.substr(std::min(equals + 1, piece.size()))));
  }
  return values;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  auto values = query_values(query, name);
  return values.empty() ? std::nullopt : std::optional(std::move(values.front()));
}

}  // namespace mayfly::compat
