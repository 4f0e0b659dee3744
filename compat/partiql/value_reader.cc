#include "compat/partiql/value_reader.h"

#include <algorithm>

#include "compat/partiql/token_reader.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::partiql {
namespace {

using engine::AttributeValue;
using engine::Type;
using Kind = Node::Kind;

Unexpected<Error> parameters_do_not_match() {
  return error::validation("Number of parameters in request and statement don't match.");
}

// Returns the name that AWS uses for syntax that is not a literal. For a function call, this is the
// function's name.
std::string data_type(const Node& node) {
  if (node.kind == Kind::call) return node.text;
  if (node.kind == Kind::parameter) return "Parameter";
  if (node.kind == Kind::name) return "Id";
  if (node.kind == Kind::path) return "Path";
  return "Expression";
}

Result<AttributeValue> number(const Node& node, const std::string& path) {
  auto number = read_number(node.text);
  if (number) return AttributeValue(*number);
  Error refused = std::move(number).error();
  refused.message += " under " + path;
  return Unexpected{std::move(refused)};
}

// Builds a set of strings or of numbers. `written` is the text of the members, which the message for
// duplicates quotes.
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

Unexpected<Error> several_items() {
  return error::validation(
      "Unsupported operation: Inserting multiple items in a single statement is not supported, use "
      "\"INSERT INTO tableName VALUE item\" instead");
}

Result<AttributeValue> ValueReader::value(const Node& node) {
  if (node.kind == Kind::parameter) return parameter(node);
  return literal(node, {});
}

Result<AttributeValue> ValueReader::parameter(const Node& node) {
  if (node.number_of_parameter >= parameters_.size()) return parameters_do_not_match();
  ++parameters_used_;
  return std::move(parameters_[node.number_of_parameter]);
}

Result<void> ValueReader::check_all_parameters_used() const {
  if (parameters_used_ != parameters_.size()) return parameters_do_not_match();
  return {};
}

Result<engine::Item> ValueReader::item(const Node& node) {
  if (node.kind == Kind::bag || node.kind == Kind::list) return several_items();
  if (node.kind != Kind::tuple) {
    return error::validation(
        "Unsupported format in item expression. Please use struct format {...} to express item values for "
        "insert statement.");
  }
  return members(node, "root", [&](const Node& member, const std::string&) { return value(member); });
}

Result<AttributeValue> ValueReader::literal(const Node& node, const Place& place) {
  if (place.depth == nesting_max) {
    return error::validation("Nesting Levels have exceeded supported limits under " + place.path);
  }
  switch (node.kind) {
    case Kind::string: return AttributeValue(node.text);
    case Kind::number: return number(node, place.path);
    case Kind::boolean: return AttributeValue(node.text == "TRUE");
    case Kind::null: return AttributeValue(engine::Null());
    case Kind::missing: return error::validation("MISSING must be compared using IS operator");
    case Kind::list: return list(node, place);
    case Kind::bag: return set(node, place);
    case Kind::tuple: {
      TRY(engine::Map map, members(node, place.path, [&](const Node& member, const std::string& name) {
            return literal(member, {place.path + "." + name, place.depth + 1});
          }));
      return AttributeValue(std::move(map));
    }
    case Kind::parameter:
    case Kind::name:
    case Kind::path:
    case Kind::wildcard:
    case Kind::unpivot:
    case Kind::call:
    case Kind::operation:
    case Kind::is_type:
    case Kind::select:
    case Kind::from: break;
  }
  return error::validation("Unsupported data type: " + data_type(node) + " under key " + place.path +
                           node.token.place());
}

Result<AttributeValue> ValueReader::list(const Node& node, const Place& place) {
  engine::List list;
  for (const Node& element : node.children) {
    TRY(AttributeValue value,
        literal(element, {place.path + "[" + std::to_string(list.size()) + "]", place.depth + 1}));
    list.push_back(std::move(value));
  }
  return AttributeValue(std::move(list));
}

template <class Read>
Result<engine::Map> ValueReader::members(const Node& node, const std::string& path, Read read) {
  std::vector<engine::Attribute> members;
  for (std::size_t i = 0; i < node.children.size(); i += 2) {
    const Node& key = node.children[i];
    const Node& written = node.children[i + 1];
    if (key.kind != Kind::string && key.kind != Kind::name) return malformed("Unexpected term");
    if (written.kind == Kind::missing) continue;  // as if the member were absent
    TRY(AttributeValue member, read(written, key.text));
    const bool known = std::any_of(members.begin(), members.end(),
                                   [&](const engine::Attribute& other) { return other.name == key.text; });
    if (known) return error::validation("Duplicate keys in tuple. Key: " + key.text + " under " + path);
    members.push_back({key.text, std::move(member)});
  }
  return engine::Map::from_unsorted(std::move(members));
}

Result<AttributeValue> ValueReader::set(const Node& node, const Place& place) {
  if (node.children.empty()) return error::validation("Empty bags are not supported");
  std::vector<AttributeValue> members;
  std::string written;
  for (const Node& element : node.children) {
    if (!members.empty()) written += ", ";
    TRY(AttributeValue member,
        literal(element, {place.path + "[" + std::to_string(members.size()) + "]", place.depth + 1}));
    written += element.text;
    members.push_back(std::move(member));
  }
  if (members.front().type() == Type::number) {
    return make_set<engine::Number, engine::NumberSet>(members, written, "! under " + place.path);
  }
  return make_set<std::string, engine::StringSet>(members, written, ".");
}

}  // namespace mayfly::compat::partiql
