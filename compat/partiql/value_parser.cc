#include "compat/partiql/value_parser.h"

#include <algorithm>

#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::partiql {
namespace {

using engine::AttributeValue;
using engine::Type;

Unexpected<Error> parameters_do_not_match() {
  return error::validation("Number of parameters in request and statement don't match.");
}

// A set of strings or of numbers. `written`: the members' own words, as the message repeats them.
template <class T, class Set>
Result<AttributeValue> make_set(const std::vector<AttributeValue>& values, const std::string& written,
                                const std::string& duplicates) {
  std::vector<T> members;
  for (const AttributeValue& value : values) {
    const T* member = value.get_if<T>();
    if (member == nullptr) {
      return error::validation(
          "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags");
    }
    members.push_back(*member);
  }
  Set set;
  if (!Set::make(std::move(members), set)) {
    return error::validation("One or more parameter values were invalid: Input collection [" + written +
                             "] contains duplicates" + duplicates);
  }
  return AttributeValue(std::move(set));
}

}  // namespace

Result<AttributeValue> ValueParser::value() {
  if (peek().kind == Token::Kind::parameter) return parameter();
  return literal({});
}

Result<AttributeValue> ValueParser::parameter() {
  next();
  if (parameters_used_ == parameters_.size()) return parameters_do_not_match();
  return std::move(parameters_[parameters_used_++]);
}

Result<void> ValueParser::check_all_parameters_used() const {
  if (parameters_used_ != parameters_.size()) return parameters_do_not_match();
  return {};
}

Result<engine::Item> ValueParser::item() {
  if (!accept("{")) {
    if (accept("<<") || accept("[")) {
      return error::validation(
          "Unsupported operation: Inserting multiple items in a single statement is not supported, use "
          "\"INSERT INTO "
          "tableName VALUE item\" instead");
    }
    if (peek().kind == Token::Kind::end || at_keyword()) return unexpected("Unexpected term");
    return error::validation(
        "Unsupported format in item expression. Please use struct format {...} to express item values for "
        "insert "
        "statement.");
  }
  return members("root", [&](const std::string&) { return value(); });
}

Result<AttributeValue> ValueParser::literal(const Place& place) {
  if (place.depth == nesting_max) {
    return error::validation("Nesting Levels have exceeded supported limits under " + place.path);
  }
  const Token& token = peek();
  if (token.kind == Token::Kind::number || token.is("-") || token.is("+")) return number();
  if (token.kind == Token::Kind::string) return AttributeValue(next().text);
  if (token.kind == Token::Kind::parameter) {
    return error::validation("Unsupported data type: Parameter under key " + place.path + token.place());
  }
  if (token.is_keyword("MISSING")) return error::validation("MISSING must be compared using IS operator");
  if (accept_keyword("TRUE")) return AttributeValue(true);
  if (accept_keyword("FALSE")) return AttributeValue(false);
  if (accept_keyword("NULL")) return AttributeValue(engine::Null());
  if (accept("<<")) return set(place);
  if (accept("[")) return list(place);
  if (accept("{")) return map(place);
  return unexpected("Unexpected term");
}

// Signs may be many, with blanks between them: "- -" would be a comment without.
Result<AttributeValue> ValueParser::number() {
  bool negative = false;
  while (peek().is("-") || peek().is("+")) negative ^= next().is("-");
  if (peek().kind != Token::Kind::number) return unexpected("Unexpected term");
  TRY(const engine::Number number, read_number((negative ? "-" : "") + next().text));
  return AttributeValue(number);
}

Result<AttributeValue> ValueParser::list(const Place& place) {
  engine::List list;
  if (accept("]")) return AttributeValue(std::move(list));
  do {
    TRY(AttributeValue element,
        literal({place.path + "[" + std::to_string(list.size()) + "]", place.depth + 1}));
    list.push_back(std::move(element));
  } while (accept(","));
  CHECK_OK(expect("]"));
  return AttributeValue(std::move(list));
}

Result<AttributeValue> ValueParser::map(const Place& place) {
  TRY(engine::Map map, members(place.path, [&](const std::string& name) {
        return literal({place.path + "." + name, place.depth + 1});
      }));
  return AttributeValue(std::move(map));
}

template <class Read>
Result<engine::Map> ValueParser::members(const std::string& path, Read read) {
  std::vector<engine::Attribute> members;
  if (accept("}")) return engine::Map();
  do {
    const Token key = next();
    if (key.kind != Token::Kind::string && key.kind != Token::Kind::quoted)
      return malformed("Unexpected term");
    CHECK_OK(expect(":"));
    if (accept_keyword("MISSING")) continue;  // as if it were not written
    TRY(AttributeValue member, read(key.text));
    const bool known = std::any_of(members.begin(), members.end(),
                                   [&](const engine::Attribute& other) { return other.name == key.text; });
    if (known) return error::validation("Duplicate keys in tuple. Key: " + key.text + " under " + path);
    members.push_back({key.text, std::move(member)});
  } while (accept(","));
  CHECK_OK(expect("}"));
  return engine::Map::from_unsorted(std::move(members));
}

Result<AttributeValue> ValueParser::set(const Place& place) {
  if (accept(">>")) return error::validation("Empty bags are not supported");
  std::vector<AttributeValue> members;
  std::string written;
  do {
    if (!members.empty()) written += ", ";
    if (peek().is("-")) written += '-';
    TRY(AttributeValue member,
        literal({place.path + "[" + std::to_string(members.size()) + "]", place.depth + 1}));
    written += previous().text;
    members.push_back(std::move(member));
  } while (accept(","));
  CHECK_OK(expect(">>"));
  if (members.front().type() == Type::number) {
    return make_set<engine::Number, engine::NumberSet>(members, written, "! under " + place.path);
  }
  return make_set<std::string, engine::StringSet>(members, written, ".");
}

}  // namespace mayfly::compat::partiql
