#include "compat/data_files/ion_reader.h"

#include <algorithm>
#include <charconv>

#include "compat/data_files/dynamodb_json.h"
#include "compat/json/json.h"
#include "compat/json/utf8.h"
#include "engine/base/text.h"

namespace mayfly::compat::data_files {
namespace {

using engine::is_digit;

constexpr int depth_max = 64;  // DynamoDB's limit is 32, which DYNAMODB_JSON's reader enforces
constexpr std::string_view spaces = " \t\r\n\v\f";

bool is_space(char c) { return spaces.find(c) != spaces.npos; }

bool is_identifier_start(char c) { return engine::is_letter(c) || c == '_' || c == '$'; }
bool is_identifier_part(char c) { return is_identifier_start(c) || is_digit(c); }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// Each function consumes what it reads from the front of the text. It returns false or nullopt if the
// expected text is missing or wrong, which makes the whole record invalid.
class Converter {
 public:
  Converter(std::string_view ion, bool with_condition) : rest_(ion), with_condition_(with_condition) {}

  std::optional<std::string> record() {
    std::string json = "{";
    bool has_item = false;
    if (!take("{")) return std::nullopt;
    while (!take("}")) {
      const auto name = field_name();
      if (!name) return std::nullopt;
      std::string value;
      json::Writer out(value);
      const bool is_item = *name == "Item";
      const bool is_condition = with_condition_ && is_part_of_condition(*name);
      if (is_item ? !item(out) : is_condition ? !condition(out, *name) : !attribute_value(out, 0))
        return std::nullopt;
      if (is_item || is_condition) {
        if (json.size() > 1) json += ',';
        json::append_escaped(json, *name);
        json += ':' + value;
      }
      has_item = has_item || is_item;
      if (!take(",") && !starts_with('}')) return std::nullopt;
    }
    skip();
    return has_item && rest_.empty() ? std::optional(json + "}") : std::nullopt;
  }

 private:
  // Skips spaces and comments.
  void skip() {
    for (;;) {
      while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
      if (rest_.starts_with("//")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const auto end = rest_.find("*/", 2);
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 2);
      } else {
        return;
      }
    }
  }
  bool take(std::string_view token) {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool starts_with(char c) {
    skip();
    return rest_.starts_with(c);
  }

  std::string_view identifier() {
    std::size_t size = 0;
    if (!rest_.empty() && is_identifier_start(rest_.front()))
      while (size < rest_.size() && is_identifier_part(rest_[size])) ++size;
    const auto found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }
  // Whether the string has the form $10, which stands for a string in a symbol table.
  static bool is_symbol_number(std::string_view text) {
    return text.size() > 1 && text[0] == '$' && std::all_of(text.begin() + 1, text.end(), is_digit);
  }

  std::optional<std::string> field_name() {
    skip();
    std::optional<std::string> name;
    if (rest_.starts_with('"') || rest_.starts_with("'''")) {
      name = string();
    } else if (rest_.starts_with('\'')) {
      name = quoted("'");
    } else if (const auto found = identifier(); !found.empty() && !is_symbol_number(found)) {
      name = found;
    }
    if (!name || !take(":") || rest_.starts_with(':')) return std::nullopt;
    return name;
  }

  std::optional<std::uint32_t> hex(std::size_t digits) {
    std::uint32_t code = 0;
    if (rest_.size() < digits) return std::nullopt;
    const char* const end = rest_.data() + digits;
    const auto [last, failure] = std::from_chars(rest_.data(), end, code, 16);
    if (failure != std::errc{} || last != end) return std::nullopt;
    rest_.remove_prefix(digits);
    return code;
  }

  // Reads the rest of an escape, after the backslash.
  bool escape(std::string& out) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr std::string_view letters = "0abtnvfr\"'?\\/";
    constexpr std::string_view meant("\0\a\b\t\n\v\f\r\"'?\\/", 13);
    if (const auto at = letters.find(c); at != letters.npos) {
      out += meant[at];
      return true;
    }
    if (c == '\n') return true;  // the string continues on the next line
    if (c == '\r') {
      if (rest_.starts_with('\n')) rest_.remove_prefix(1);
      return true;
    }
    if (c != 'x' && c != 'u' && c != 'U') return false;
    auto code = hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (!code) return false;
    const auto is_surrogate = [](std::uint32_t unit, std::uint32_t first) {
      return unit >= first && unit < first + 0x400;
    };
    if (is_surrogate(*code, 0xd800)) {
      if (!rest_.starts_with("\\u")) return false;
      rest_.remove_prefix(2);
      const auto low = hex(4);
      if (!low || !is_surrogate(*low, 0xdc00)) return false;
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
    }
    if (is_surrogate(*code, 0xdc00) || *code > 0x10ffff) return false;
    append_utf8(out, *code);
    return true;
  }

  // Reads "a", 'a' or '''a'''.
  std::optional<std::string> quoted(std::string_view quote) {
    std::string out;
    rest_.remove_prefix(quote.size());
    while (!rest_.starts_with(quote)) {
      if (rest_.empty() || (quote.size() == 1 && rest_.front() == '\n')) return std::nullopt;
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c != '\\') {
        out += c;
      } else if (!escape(out)) {
        return std::nullopt;
      }
    }
    rest_.remove_prefix(quote.size());
    return out;
  }
  // Reads a string. Adjacent long strings form one string.
  std::optional<std::string> string() {
    if (rest_.starts_with('"')) return quoted("\"");
    std::string out;
    while (rest_.starts_with("'''")) {
      const auto part = quoted("'''");
      if (!part) return std::nullopt;
      out += *part;
      skip();
    }
    return out;
  }

  // Converts a decimal or integer token to DynamoDB's number syntax: "6d2" becomes "6e2", and "103." becomes
  // "103".
  std::optional<std::string> number() {
    std::string out;
    std::size_t size = 0;
    while (size < rest_.size() && (is_identifier_part(rest_[size]) || rest_[size] == '.' ||
                                   rest_[size] == '+' || rest_[size] == '-'))
      ++size;
    const std::string_view token = rest_.substr(0, size);
    rest_.remove_prefix(size);
    for (std::size_t i = 0; i < token.size(); ++i) {
      const char c = token[i];
      const auto digit_at = [&](std::size_t place) { return place < token.size() && is_digit(token[place]); };
      if (c == '_' && i > 0 && digit_at(i - 1) && digit_at(i + 1)) continue;  // 1_000
      const bool before_exponent = i + 1 == token.size() || token[i + 1] == 'd' || token[i + 1] == 'D';
      if (c == '.' && before_exponent && i > 0 && digit_at(i - 1)) continue;
      if (c == 'd' || c == 'D') {
        out += 'e';
      } else if (is_digit(c) || c == '.' || c == '+' || c == '-') {
        out += c;
      } else {
        return std::nullopt;  // a float, a timestamp or a hexadecimal number
      }
    }
    return out;
  }

  std::optional<std::string> blob() {
    std::string base64;
    while (!rest_.empty() && rest_.front() != '}') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (is_space(c)) continue;
      if (c == '"' || c == '\'' || c == '\\') return std::nullopt;  // a clob
      base64 += c;
    }
    if (!rest_.starts_with("}}")) return std::nullopt;
    rest_.remove_prefix(2);
    return base64;
  }

  // Writes [value, …]; `write` writes each value.
  template <class Write>
  bool list(json::Writer& out, Write write) {
    if (!take("[")) return false;
    out.begin_array();
    while (!take("]")) {
      skip();
      if (!write()) return false;
      if (!take(",") && !starts_with(']')) return false;
    }
    out.end_array();
    return true;
  }

  bool set(json::Writer& out, std::string_view annotation, int depth) {
    constexpr std::string_view prefix = "$dynamodb_";
    if (!annotation.starts_with(prefix)) return false;
    const std::string_view type = annotation.substr(prefix.size());
    if (type != "SS" && type != "NS" && type != "BS") return false;
    out.key(type);
    return list(out, [&] {
      // Write the value without its type: {"S":"a"} becomes "a".
      std::string member;
      json::Writer one(member);
      if (!attribute_value(one, depth + 1)) return false;
      const std::string begins = std::string("{\"") + type.front() + "\":";
      if (!member.starts_with(begins)) return false;
      out.raw(std::string_view(member).substr(begins.size(), member.size() - begins.size() - 1));
      return true;
    });
  }

  bool structure(json::Writer& out, int depth) {
    if (!take("{")) return false;
    out.begin_object();
    while (!take("}")) {
      const auto name = field_name();
      if (!name) return false;
      out.key(*name);
      if (!attribute_value(out, depth + 1)) return false;
      if (!take(",") && !starts_with('}')) return false;
    }
    out.end_object();
    return true;
  }
  bool item(json::Writer& out) {
    skip();
    return !rest_.starts_with("{{") && structure(out, 0);
  }

  static bool is_part_of_condition(std::string_view name) {
    return name == "ConditionExpression" || name == "ExpressionAttributeNames" ||
           name == "ExpressionAttributeValues";
  }
  bool condition(json::Writer& out, std::string_view name) {
    skip();
    if (name == "ExpressionAttributeValues") return !rest_.starts_with("{{") && structure(out, 0);
    if (name == "ConditionExpression") return text(out);
    if (!take("{")) return false;
    out.begin_object();
    while (!take("}")) {
      const auto placeholder = field_name();
      if (!placeholder) return false;
      out.key(*placeholder);
      skip();
      if (!text(out) || (!take(",") && !starts_with('}'))) return false;
    }
    out.end_object();
    return true;
  }
  bool text(json::Writer& out) {
    if (!starts_with('"') && !rest_.starts_with("'''")) return false;
    const auto read = string();
    if (read) out.string(*read);
    return read.has_value();
  }

  bool text_value(json::Writer& out, std::string_view type, const std::optional<std::string>& text) {
    if (!text) return false;
    out.key(type);
    out.string(*text);
    return true;
  }
  bool boolean_value(json::Writer& out, std::string_view type, bool value) {
    out.key(type);
    out.boolean(value);
    return true;
  }
  bool named_value(json::Writer& out, int depth) {
    const std::string_view name = identifier();
    if (name == "true" || name == "false") return boolean_value(out, "BOOL", name == "true");
    if (name == "null") {
      if (!rest_.starts_with('.')) return boolean_value(out, "NULL", true);
      rest_.remove_prefix(1);
      return identifier() == "null" && boolean_value(out, "NULL", true);
    }
    return take("::") && set(out, name, depth);
  }

  bool attribute_value(json::Writer& out, int depth) {
    if (depth > depth_max) return false;
    skip();
    if (rest_.empty()) return false;
    out.begin_object();
    const char c = rest_.front();
    bool read = false;
    if (c == '"' || rest_.starts_with("'''")) {
      read = text_value(out, "S", string());
    } else if (c == '\'') {
      const auto annotation = quoted("'");
      read = annotation && take("::") && set(out, *annotation, depth);
    } else if (rest_.starts_with("{{")) {
      rest_.remove_prefix(2);
      read = text_value(out, "B", blob());
    } else if (c == '{') {
      out.key("M");
      read = structure(out, depth);
    } else if (c == '[') {
      out.key("L");
      read = list(out, [&] { return attribute_value(out, depth + 1); });
    } else if (is_digit(c) || c == '-') {
      read = text_value(out, "N", number());
    } else {
      read = named_value(out, depth);
    }
    out.end_object();
    return read;
  }

  std::string_view rest_;
  const bool with_condition_;
};

}  // namespace

std::optional<std::string> dynamodb_json_of_ion(std::string_view ion, bool with_condition) {
  return Converter(ion, with_condition).record();
}

Record IonReader::read(std::string_view ion) {
  auto json = is_utf8(ion) ? dynamodb_json_of_ion(ion, with_conditions_) : std::nullopt;
  if (!json) return unreadable("The text is not Ion with an Item");
  auto record = read_dynamodb_json(*json);
  if (with_conditions_ && record) json_ = *std::move(json);
  return record;
}

IonReader::Step IonReader::look_outside(std::string_view rest, std::size_t& place, bool last) {
  const char c = rest[place];
  if (is_space(c) || (c == ',' && in_list_)) {
    ++place;
    return Step::goes_on;
  }
  if ((c == '[' && !in_list_) || (c == ']' && in_list_)) {
    in_list_ = c == '[';
    ++place;
    return Step::goes_on;
  }
  if (c == '{') {
    if (rest.substr(place).starts_with("{{")) return Step::wrong;
    return Step::struct_begins;
  }
  // The version marker precedes each record, or the whole file.
  constexpr std::string_view marker = "$ion_1_0";
  const std::string_view found = rest.substr(place, marker.size());
  if (in_list_ || !marker.starts_with(found)) return Step::wrong;
  if (found.size() < marker.size()) return last ? Step::wrong : Step::needs_more;
  const std::string_view behind = rest.substr(place + marker.size());
  if (behind.empty() && !last) return Step::needs_more;
  place += marker.size();
  return !behind.empty() && is_identifier_part(behind.front()) ? Step::wrong : Step::goes_on;
}

IonReader::Step IonReader::look(std::string_view rest, std::size_t& place, bool last) {
  // A token is at most three bytes long.
  const std::string_view ahead = rest.substr(place, 3);
  if (ahead.size() < 3 && !last) return Step::needs_more;
  const auto leave = [&](std::string_view token) {
    if (!ahead.starts_with(token)) return false;
    place += token.size();
    in_ = In::plain;
    return true;
  };
  const auto skip = [&] {
    place += ahead[0] == '\\' && in_ != In::block_comment && in_ != In::line_comment ? 2 : 1;
    place = std::min(place, rest.size());
    return Step::goes_on;
  };
  switch (in_) {
    case In::string: return leave("\"") ? Step::goes_on : skip();
    case In::symbol: return leave("'") ? Step::goes_on : skip();
    case In::long_string: return leave("'''") ? Step::goes_on : skip();
    case In::line_comment: return leave("\n") ? Step::goes_on : skip();
    case In::block_comment: return leave("*/") ? Step::goes_on : skip();
    case In::blob:
      if (leave("}}")) return Step::goes_on;
      if (ahead[0] == '"' || ahead[0] == '\'') return Step::wrong;  // a clob
      return skip();
    case In::plain: break;
  }
  const auto enter = [&](std::string_view token, In in) {
    if (!ahead.starts_with(token)) return false;
    place += token.size();
    in_ = in;
    return true;
  };
  if (enter("//", In::line_comment) || enter("/*", In::block_comment)) return Step::goes_on;
  if (depth_ == 0) return look_outside(rest, place, last);
  if (enter("\"", In::string) || enter("'''", In::long_string) || enter("'", In::symbol) ||
      enter("{{", In::blob))
    return Step::goes_on;
  const char c = rest[place++];
  if (c == '{' || c == '[') ++depth_;
  if (c != '}' && c != ']') return Step::goes_on;
  return --depth_ == 0 ? Step::struct_ends : Step::goes_on;
}

std::optional<Record> IonReader::next(Text& text, bool last) {
  for (;;) {
    const std::string_view rest = text.rest();
    Step step = Step::goes_on;
    while (looked_at_ < rest.size() && looked_at_ <= record_bytes_max && step == Step::goes_on)
      step = look(rest, looked_at_, last);
    std::optional<Record> record;
    const bool within = depth_ > 0 || step == Step::struct_ends;
    if (looked_at_ > record_bytes_max && within) {
      record = unreadable("The text is too long for an item");
    } else if (step == Step::wrong) {
      // Outside a struct, the error is at this position, not in the text before this position.
      if (!within) text.pass(std::exchange(looked_at_, 0));
      record = unreadable("The text is not Ion with an Item");
    } else if (step == Step::struct_ends) {
      record = read(rest.substr(0, looked_at_));
    } else if (step == Step::struct_begins) {
      // Skips the text before the struct, so that the rest begins with the struct.
      text.pass(looked_at_);
      looked_at_ = 1;
      depth_ = 1;
      continue;
    } else if (!within) {
      text.pass(std::exchange(looked_at_, 0));
      if (step != Step::needs_more && !text.rest().empty()) continue;
      if (!last || (!in_list_ && in_ != In::block_comment)) return std::nullopt;
      in_list_ = false;
      in_ = In::plain;
      record = unreadable("The Ion data in the file is incomplete");
    } else {
      if (!last) return std::nullopt;
      depth_ = 0;
      record = unreadable("The Ion data in the file is incomplete");
    }
    if (!*record) {
      record->error().line = text.line();
      record->error().offset = text.offset();
    }
    text.pass(std::min(std::exchange(looked_at_, 0), text.rest().size()));
    return record;
  }
}

}  // namespace mayfly::compat::data_files
