#include "cli/schemas/yaml.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <yaml.h>

namespace mayfly::schemas {

namespace {

using json::Tree;

constexpr std::size_t depth_max = 100;
// A value takes about 100 bytes in a tree, but may take only two in the text.
constexpr std::size_t values_max = 1'000'000;
// The parser compares each %TAG directive with all earlier ones.
constexpr std::size_t directives_max = 10;
constexpr std::string_view core_tags = "tag:yaml.org,2002:";

std::string at_line(const yaml_mark_t& mark) { return "line " + std::to_string(mark.line + 1) + ": "; }

std::string_view text_of(const yaml_char_t* text) {
  return text != nullptr ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

// --- plain scalars, by YAML 1.1 (https://yaml.org/type/)

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

std::string without_underscores(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (c != '_') digits += c;
  return digits;
}

// Requires: every character of `text` is a digit of the base or an underscore.
std::optional<std::int64_t> whole(std::string_view text, int base, bool negative) {
  const std::string digits = (negative ? "-" : "") + without_underscores(text);
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

bool has_only(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// Whether `text` can follow the first colon of a number such as "1:30:05". Each part must be below 60.
bool is_sexagesimal_tail(std::string_view text) {
  while (!text.empty()) {
    const auto colon = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, colon);
    if (!has_only(part, "0123456789") || part.size() > 2 || (part.size() == 2 && part[0] > '5')) return false;
    if (colon + 1 == text.size()) return false;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return true;
}

// Returns nullopt if the string is not an integer or does not fit into 64 bits. A longer integer stays text.
std::optional<std::int64_t> integer(std::string_view text) {
  constexpr std::string_view decimal = "0123456789_";
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.starts_with("0b") && has_only(text.substr(2), "01_")) return whole(text.substr(2), 2, negative);
  if (text.starts_with("0x") && has_only(text.substr(2), "0123456789abcdefABCDEF_"))
    return whole(text.substr(2), 16, negative);
  if (text.starts_with('0') && has_only(text, "01234567_")) return whole(text, 8, negative);
  if (text.empty() || text[0] < '1' || text[0] > '9') return std::nullopt;
  const auto colon = text.find(':');
  if (!has_only(text.substr(0, colon), decimal)) return std::nullopt;
  if (colon == std::string_view::npos) return whole(text, 10, negative);
  if (!is_sexagesimal_tail(text.substr(colon + 1))) return std::nullopt;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(':', at), text.size());
    const auto part = whole(text.substr(at, end - at), 10, negative);
    if (!part || __builtin_mul_overflow(number, std::int64_t{60}, &number) ||
        __builtin_add_overflow(number, *part, &number))
      return std::nullopt;
    at = end + 1;
  }
  return number;
}

// Returns nullopt if the string is not a number with a decimal point. Infinities and NaN, which JSON lacks,
// stay text.
std::optional<double> decimal(std::string_view text) {
  std::string digits = without_underscores(text);
  std::string_view rest = digits;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  const auto point = rest.find('.');
  if (point == std::string_view::npos || text.starts_with('_')) return std::nullopt;
  const std::string_view before = rest.substr(0, point);
  std::string_view after = rest.substr(point + 1);
  if (const auto exponent = after.find_first_of("eE"); exponent != std::string_view::npos) {
    const std::string_view power = after.substr(exponent + 1);
    if (power.size() < 2 || (power[0] != '+' && power[0] != '-') || !has_only(power.substr(1), "0123456789"))
      return std::nullopt;
    after = after.substr(0, exponent);
  }
  if (!before.empty() && !has_only(before, "0123456789")) return std::nullopt;
  if (!after.empty() && !has_only(after, "0123456789")) return std::nullopt;
  if (before.empty() && after.empty()) return std::nullopt;
  if (digits.starts_with('+')) digits.erase(0, 1);
  double number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Tree plain_scalar(std::string_view text) {
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return false;
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return {};
  if (const auto number = integer(text)) return *number;
  if (const auto number = decimal(text)) return *number;
  return std::string(text);
}

// --- documents

// Reads libyaml's events one at a time.
class Events {
 public:
  explicit Events(const std::string& text) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (ready_)
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
  }
  ~Events() {
    yaml_event_delete(&event_);
    if (ready_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  [[nodiscard]] const yaml_event_t& event() const { return event_; }
  Expected<void, std::string> advance() {
    yaml_event_delete(&event_);
    if (ready_ && yaml_parser_parse(&parser_, &event_) != 0) return {};
    event_ = {};
    if (!ready_ || parser_.error == YAML_MEMORY_ERROR) return Unexpected{std::string("out of memory")};
    const std::string problem = parser_.problem != nullptr ? parser_.problem : "malformed YAML";
    if (parser_.error == YAML_READER_ERROR)
      return Unexpected{"byte " + std::to_string(parser_.problem_offset) + ": " + problem};
    return Unexpected{at_line(parser_.problem_mark) + problem};
  }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false;
};

// Directives are at the beginning of the text, with only comments and empty lines between them.
bool has_too_many_directives(std::string_view text) {
  std::size_t directives = 0;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with('%')) {
      if (++directives > directives_max) return true;
    } else if (const auto begin = line.find_first_not_of(" \t\r\xef\xbb\xbf");
               begin != std::string_view::npos && line[begin] != '#') {
      return false;
    }
  }
  return false;
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text), events_(text) {}

  Expected<Tree, std::string> read() {
    if (has_too_many_directives(text_)) return Unexpected{std::string("more than 10 directives")};
    for (;;) {
      CHECK_OK(events_.advance());
      if (events_.event().type == YAML_STREAM_END_EVENT) return Tree();
      if (events_.event().type == YAML_DOCUMENT_START_EVENT) break;
    }
    CHECK_OK(events_.advance());
    return value(0);
  }

 private:
  using Value = Expected<Tree, std::string>;

  // Reads the value that begins with the current event, up to and including the value's last event.
  Value value(std::size_t depth) {
    const yaml_event_t& event = events_.event();
    const yaml_mark_t mark = event.start_mark;
    if (depth > depth_max) return Unexpected{at_line(mark) + "nested deeper than 100 levels"};
    if (++values_ > values_max) return Unexpected{at_line(mark) + "more than 1,000,000 values"};
    if (event.type == YAML_ALIAS_EVENT) {
      return Unexpected{at_line(mark) + "the alias *" + std::string(text_of(event.data.alias.anchor)) +
                        " is not supported by CloudFormation. Write the value out"};
    }
    if (event.type == YAML_SCALAR_EVENT) {
      std::string tag(text_of(event.data.scalar.tag));
      TRY(Tree scalar, scalar_of(event.data.scalar, tag, mark));
      return tagged(std::move(scalar), tag);
    }
    const bool is_list = event.type == YAML_SEQUENCE_START_EVENT;
    std::string tag(text_of(is_list ? event.data.sequence_start.tag : event.data.mapping_start.tag));
    if (tag.starts_with(core_tags) && tag.substr(core_tags.size()) != (is_list ? "seq" : "map"))
      return unsupported(tag, mark);
    TRY(Tree content, is_list ? list(depth) : mapping(depth));
    return tagged(std::move(content), tag);
  }

  Value list(std::size_t depth) {
    Tree elements = Tree::array();
    for (;;) {
      CHECK_OK(events_.advance());
      if (events_.event().type == YAML_SEQUENCE_END_EVENT) return elements;
      TRY(Tree element, value(depth + 1));
      elements.push_back(std::move(element));
    }
  }

  Value mapping(std::size_t depth) {
    Tree::object_t members;
    std::unordered_map<std::string, std::size_t> places;  // if a name is repeated, the last value is used
    for (;;) {
      CHECK_OK(events_.advance());
      const yaml_event_t& event = events_.event();
      if (event.type == YAML_MAPPING_END_EVENT) return Tree(std::move(members));
      const std::string line = at_line(event.start_mark);
      if (event.type != YAML_SCALAR_EVENT) return Unexpected{line + "a mapping key must be a scalar"};
      const auto& scalar = event.data.scalar;
      std::string name(reinterpret_cast<const char*>(scalar.value), scalar.length);
      if (name == "<<" && scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return Unexpected{line + "the merge key << is not supported by CloudFormation. Write its " +
                          "members out"};
      CHECK_OK(events_.advance());
      TRY(Tree member, value(depth + 1));
      const auto [place, is_new] = places.emplace(name, members.size());
      if (is_new)
        members.emplace_back(std::move(name), std::move(member));
      else
        members.begin()[static_cast<std::ptrdiff_t>(place->second)].second = std::move(member);
    }
  }

  template <class Scalar>
  static Value scalar_of(const Scalar& scalar, const std::string& tag, const yaml_mark_t& mark) {
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (tag.empty() && scalar.style == YAML_PLAIN_SCALAR_STYLE) return plain_scalar(text);
    if (!tag.starts_with(core_tags) || tag == std::string(core_tags) + "str") return Tree(std::move(text));
    const std::string type = tag.substr(core_tags.size());
    Tree read = plain_scalar(text);
    if (type == "float" && read.is_number()) return Tree(read.get<double>());
    const bool fits = (type == "int" && read.is_number_integer()) || (type == "bool" && read.is_boolean()) ||
                      (type == "null" && read.is_null());
    if (fits) return read;
    if (!is_one_of(type, {"int", "float", "bool", "null"})) return unsupported(tag, mark);
    return Unexpected{at_line(mark) + "'" + text + "' is not a valid !!" + type};
  }

  static Unexpected<std::string> unsupported(const std::string& tag, const yaml_mark_t& mark) {
    const std::string shown = tag.starts_with(core_tags) ? "!!" + tag.substr(core_tags.size()) : tag;
    return {at_line(mark) + "the tag " + shown + " is not supported by CloudFormation"};
  }

  // Wraps the value in the function that the short form `tag` names.
  static Tree tagged(Tree value, const std::string& tag) {
    if (tag.size() < 2 || tag[0] != '!') return value;
    const std::string function = tag.substr(1);
    if (function == "Ref" || function == "Condition") return Tree{{function, std::move(value)}};
    if (function == "GetAtt" && value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const auto dot = text.find('.');
      if (dot != std::string::npos) value = Tree::array({text.substr(0, dot), text.substr(dot + 1)});
    }
    return Tree{{"Fn::" + function, std::move(value)}};
  }

  const std::string& text_;
  Events events_;
  std::size_t values_ = 0;
};

}  // namespace

Expected<Tree, std::string> parse_yaml(const std::string& text) { return Reader(text).read(); }

}  // namespace mayfly::schemas
