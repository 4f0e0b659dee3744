#include "compat/wire/strict_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compat/json/json.h"

namespace mayfly::compat {
namespace {

// Scans text that is known to be valid JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  char next() {
    while (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    return text_[at_];
  }
  void take() { ++at_; }
  // Reads a string and returns the text between its quotes, with escapes not decoded.
  std::string_view string() {
    const std::size_t begin = ++at_;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return text_.substr(begin, at_++ - begin);
  }
  void skip_value() {
    int depth = 0;
    do {
      switch (next()) {
        case '"': string(); break;
        case '{':
        case '[': ++depth, take(); break;
        case '}':
        case ']': --depth, take(); break;
        case ',':
        case ':': take(); break;
        default: skip_literal();
      }
    } while (depth > 0);
  }
  // Returns the position of the last byte read: " at line 1 column 17".
  [[nodiscard]] std::string place() const {
    const std::string_view taken = text_.substr(0, at_);
    const auto line_end = taken.rfind('\n');
    const std::size_t column = line_end == taken.npos ? taken.size() : taken.size() - line_end - 1;
    return " at line " + std::to_string(1 + std::count(taken.begin(), taken.end(), '\n')) + " column " +
           std::to_string(column);
  }

 private:
  void skip_literal() { at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size()); }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Returns a name with its escapes decoded, so that an escaped name is recognized.
std::string decoded(std::string_view name) {
  if (name.find('\\') == name.npos) return std::string(name);
  const std::string text = '"' + std::string(name) + '"';
  const auto document = json::parse(text);
  return document == nullptr ? std::string(name) : std::string(document->root().string());
}

std::string_view expected(const Shape& shape) {
  switch (shape.type) {
    case Shape::Type::integer: return "i32";
    case Shape::Type::list: return "a sequence";
    case Shape::Type::map: return "a map";
    default: return "a string";
  }
}

}  // namespace

Result<void> read_strictly(const Shape& structure, std::string_view body) {
  std::vector<std::string_view> missing;
  for (const Member& member : structure.members)
    if (member.presence == required) missing.push_back(member.name);
  Scanner in(body);
  in.next();
  in.take();
  while (in.next() != '}') {
    if (in.next() == ',') {
      in.take();
      continue;
    }
    const std::string name = decoded(in.string());
    in.next();
    in.take();  // the colon
    const auto found = std::find(missing.begin(), missing.end(), name);
    const bool is_null = in.next() == 'n';
    in.skip_value();
    if (found == missing.end()) continue;
    if (is_null) {
      const auto member = std::find_if(structure.members.begin(), structure.members.end(),
                                       [&](const Member& each) { return each.name == name; });
      return error::serialization("invalid type: null, expected " + std::string(expected(*member->shape)) +
                                  in.place());
    }
    missing.erase(found);
  }
  in.take();
  if (missing.empty()) return {};
  return error::serialization("missing field `" + std::string(missing.front()) + "`" + in.place());
}

}  // namespace mayfly::compat
