#include "compat/wire/shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "compat/wire/base64.h"
#include "compat/wire/hash.h"
#include "compat/wire/java_string.h"
#include "engine/base/check.h"
#include "engine/base/hex.h"
#include "engine/base/text.h"
#include "engine/base/whole_number.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {
namespace {

using json::Value;
using ShapeType = Shape::Type;
using engine::Type;

constexpr std::string_view java_package = "com.amazonaws.dynamodb.v20120810.";
constexpr std::size_t errors_max = 10;

// ---------------------------------------------------------------- types

// Where a value is: the service's reader words the same error differently in each place.
enum class Place { member, element, root };

std::string java_type(const Shape& shape) {
  switch (shape.type) {
    case ShapeType::string: return "java.lang.String";
    case ShapeType::integer: return "java.lang.Integer";
    case ShapeType::long_integer: return "java.lang.Long";
    case ShapeType::decimal: return "java.lang.Double";
    case ShapeType::boolean: return "java.lang.Boolean";
    case ShapeType::blob: return "java.nio.ByteBuffer";
    case ShapeType::timestamp: return "java.util.Date";
    case ShapeType::list: return "java.util.List<" + java_type(*shape.element) + ">";
    case ShapeType::map: return "java.util.Map<java.lang.String, " + java_type(*shape.element) + ">";
    case ShapeType::structure:
    case ShapeType::attribute_value: break;
  }
  return std::string(java_package) + std::string(shape.java_name);
}

bool is_integral(std::string_view number_text) {
  return number_text.find_first_of(".eE") == std::string_view::npos;
}

// Returns the name of the token that the reader found: "NUMBER_VALUE".
std::string_view token_name(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean: return value.boolean() ? "TRUE_VALUE" : "FALSE_VALUE";
    case Value::Kind::number: return is_integral(value.number_text()) ? "NUMBER_VALUE" : "DECIMAL_VALUE";
    case Value::Kind::string: return "STRING_VALUE";
    case Value::Kind::null: return "NULL_VALUE";
    case Value::Kind::array: return "START_ARRAY";
    case Value::Kind::object: break;
  }
  return "START_OBJECT";
}

Unexpected<Error> cannot_convert(const Value& value, std::string_view to) {
  return error::serialization(std::string(token_name(value)) + " cannot be converted to " + std::string(to));
}

// Rejects an array or an object where the shape requires a scalar.
Result<void> check_not_nested(const Shape& shape, const Value& value) {
  if (value.is(Value::Kind::array))
    return error::serialization("Unrecognized collection type class " + java_type(shape));
  if (value.is(Value::Kind::object))
    return error::serialization("Start of structure or map found where not expected");
  return {};
}

Result<void> check_number(const Shape& shape, const Value& value, std::string_view java_name) {
  CHECK_OK(check_not_nested(shape, value));
  if (!value.is(Value::Kind::number)) return cannot_convert(value, java_name);
  if (shape.type == ShapeType::decimal) return {};
  if (!is_integral(value.number_text())) return {};  // the fraction is dropped
  const auto text = value.number_text();
  // A timestamp can be beyond 2038, so its seconds have 64 bits.
  const bool fits = shape.type == ShapeType::integer ? engine::whole_number<std::int32_t>(text).has_value()
                                                     : engine::whole_number<std::int64_t>(text).has_value();
  if (!fits)
    return error::serialization(std::string(text) + " cannot be converted to " + std::string(java_name));
  return {};
}

std::optional<bool> boolean_from_text(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  if (upper == "TRUE" || upper == "1" || upper == "YES") return true;
  if (upper == "FALSE" || upper == "0" || upper == "NO") return false;
  return std::nullopt;
}

Result<void> check_blob(const Shape& shape, const Value& value) {
  CHECK_OK(check_not_nested(shape, value));
  if (!value.is(Value::Kind::string)) {
    return error::serialization("only base-64-encoded strings are convertible to bytes");
  }
  const auto text = value.string();
  if (text.size() % 4 != 0) {
    return error::serialization("Base64 encoded length is expected a multiple of 4 bytes but found: " +
                                std::to_string(text.size()));
  }
  if (!decode_base64(text)) return error::serialization("Invalid last non-pad Base64 character dectected");
  return {};
}

// Finds the members of a structure in an object, with the same results as Value::member. Walks the object's
// members once, because most declared members are absent.
class Present {
 public:
  Present(std::span<const Member> declared, const Value& object) {
    MAYFLY_CHECK(declared.size() <= values_.size());
    std::fill_n(values_.begin(), declared.size(), nullptr);
    for (const json::Member& member : object.members()) {
      const auto found = std::find_if(declared.begin(), declared.end(),
                                      [&](const Member& one) { return one.name == member.name; });
      if (found != declared.end())
        values_[static_cast<std::size_t>(found - declared.begin())] =
            member.value.is(Value::Kind::null) ? nullptr : &member.value;
    }
    json::members_compared += object.members().size() * declared.size();
  }
  [[nodiscard]] const Value* operator[](std::size_t place) const { return values_[place]; }

 private:
  static constexpr std::size_t declared_max = 64;
  std::array<const Value*, declared_max> values_;
};

constexpr std::size_t nested_name_length_max = 65535;

// How many levels is_plain_value examines. A deeper value would be examined again for each enclosing value.
constexpr int plain_levels_max = 3;

// Whether a value obviously passes the type and constraint checks, as nearly all do: it has exactly one
// member, and that member's content has the type that its name says. False for values that take longer to
// check: binaries and deep nesting.
bool is_plain_value(const Value& value, int levels = plain_levels_max) {
  const auto members = value.members();
  if (members.size() != 1) return false;
  const auto& [name, inner] = members[0];
  const auto is_text = [](const Value& element) { return element.is(Value::Kind::string); };
  const auto is_plain = [&](const Value& element) { return is_plain_value(element, levels - 1); };
  const auto type = engine::type_named(name);
  if (!type) return false;
  switch (*type) {
    case Type::string:
    case Type::number: return is_text(inner);
    case Type::boolean:
    case Type::null: return inner.is(Value::Kind::boolean);
    case Type::string_set:
    case Type::number_set: return inner.is(Value::Kind::array) && std::ranges::all_of(inner.items(), is_text);
    case Type::list:
      return levels > 0 && inner.is(Value::Kind::array) && std::ranges::all_of(inner.items(), is_plain);
    case Type::map:
      return levels > 0 && inner.is(Value::Kind::object) &&
             std::ranges::all_of(inner.members(), [&](const json::Member& entry) {
               return entry.name.size() <= nested_name_length_max && is_plain(entry.value);
             });
    case Type::binary:
    case Type::binary_set: return false;
  }
  return false;
}

Result<void> check_type(const Shape& shape, const Value& value, Place place);

Result<void> check_members(std::span<const Member> members, const Value& object) {
  const Present present(members, object);
  for (std::size_t place = 0; place < members.size(); ++place) {
    if (const Value* value = present[place])
      CHECK_OK(check_type(*members[place].shape, *value, Place::member));
  }
  return {};
}

// The error for a scalar where the shape requires a list, map or structure. AWS fails differently for a
// collection within a collection: its reader cannot handle the class of the inner collection.
Unexpected<Error> unexpected_scalar(const Shape& shape, Place place) {
  if (place != Place::element) return error::serialization("Unexpected field type");
  if (shape.type == ShapeType::list || shape.type == ShapeType::map) {
    return error::serialization(
        "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
        "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class "
        "are in "
        "module java.base of loader 'bootstrap')");
  }
  return error::serialization("Unexpected value type in payload");
}

Result<void> check_list(const Shape& shape, const Value& value, Place place) {
  if (value.is(Value::Kind::object))
    return error::serialization("Start of structure or map found where not expected");
  if (!value.is(Value::Kind::array)) return unexpected_scalar(shape, place);
  for (const Value& element : value.items()) {
    if (!element.is(Value::Kind::null)) CHECK_OK(check_type(*shape.element, element, Place::element));
  }
  return {};
}

Result<void> check_map(const Shape& shape, const Value& value, Place place) {
  if (value.is(Value::Kind::array))
    return error::serialization("Unrecognized collection type " + java_type(shape));
  if (!value.is(Value::Kind::object)) return unexpected_scalar(shape, place);
  const bool attribute_values = shape.element->type == ShapeType::attribute_value;
  for (const json::Member& member : value.members()) {
    if (attribute_values && is_plain_value(member.value)) continue;
    if (!member.value.is(Value::Kind::null))
      CHECK_OK(check_type(*shape.element, member.value, Place::element));
  }
  return {};
}

Result<void> check_structure(const Shape& shape, const Value& value, Place place) {
  if (value.is(Value::Kind::array))
    return error::serialization("Unrecognized collection type class " + java_type(shape));
  if (!value.is(Value::Kind::object)) return unexpected_scalar(shape, place);
  return check_members(shape.members, value);
}

// An attribute value, {"S":"x"}: a structure whose lists and maps hold attribute values.
constexpr Shape value_text{.type = ShapeType::string};
constexpr Shape value_boolean{.type = ShapeType::boolean};
constexpr Shape value_blob{.type = ShapeType::blob};
constexpr Shape value_nested{.type = ShapeType::attribute_value, .java_name = "AttributeValue"};
constexpr Shape value_texts{.type = ShapeType::list, .element = &value_text};
constexpr Shape value_blobs{.type = ShapeType::list, .element = &value_blob};
constexpr Shape value_list{.type = ShapeType::list, .element = &value_nested};
constexpr Shape value_map{.type = ShapeType::map, .element = &value_nested};
constexpr Member attribute_value_members[] = {
    // in the order of engine::Type
    {"S", &value_text},       {"N", &value_text},   {"B", &value_blob},   {"BOOL", &value_boolean},
    {"NULL", &value_boolean}, {"SS", &value_texts}, {"NS", &value_texts}, {"BS", &value_blobs},
    {"L", &value_list},       {"M", &value_map},
};

// Walks the members that are present instead of looking for all ten types: most values have one member,
// usually a string.
Result<void> check_attribute_value(const Shape& shape, const Value& value, Place place) {
  if (value.is(Value::Kind::array))
    return error::serialization("Unrecognized collection type class " + java_type(shape));
  if (!value.is(Value::Kind::object)) return unexpected_scalar(shape, place);
  for (const json::Member& present : value.members()) {
    if (present.value.is(Value::Kind::null)) continue;
    if (present.value.is(Value::Kind::string) && (present.name == "S" || present.name == "N")) continue;
    if (const auto type = engine::type_named(present.name)) {
      const Member& member = attribute_value_members[static_cast<std::size_t>(*type)];
      CHECK_OK(check_type(*member.shape, present.value, Place::member));
    }
  }
  return {};
}

Result<void> check_type(const Shape& shape, const Value& value, Place place) {
  switch (shape.type) {
    case ShapeType::string:
      CHECK_OK(check_not_nested(shape, value));
      if (!value.is(Value::Kind::string)) return cannot_convert(value, "String");
      return {};
    case ShapeType::boolean:
      CHECK_OK(check_not_nested(shape, value));
      if (value.is(Value::Kind::number)) return cannot_convert(value, "Boolean");
      if (value.is(Value::Kind::string) && !boolean_from_text(value.string())) {
        return error::serialization("Unexpected token received from parser");
      }
      return {};
    case ShapeType::integer: return check_number(shape, value, "Integer");
    case ShapeType::long_integer: return check_number(shape, value, "Long");
    case ShapeType::decimal: return check_number(shape, value, "Double");
    case ShapeType::timestamp: return check_number(shape, value, "Date");
    case ShapeType::blob: return check_blob(shape, value);
    case ShapeType::list: return check_list(shape, value, place);
    case ShapeType::map: return check_map(shape, value, place);
    case ShapeType::structure: return check_structure(shape, value, place);
    case ShapeType::attribute_value: break;
  }
  return check_attribute_value(shape, value, place);
}

// ---------------------------------------------------------------- constraints

using engine::is_alphanumeric;
using engine::is_digit;

// An ARN: "arn:", a partition that is empty or begins with "aws", a service, and any text without line
// breaks.
bool is_arn(std::string_view text) {
  if (!text.starts_with("arn:") || text.find_first_of("\n\r") != text.npos) return false;
  text.remove_prefix(4);
  const auto partition_end = text.find(':');
  if (partition_end == text.npos) return false;
  const std::string_view partition = text.substr(0, partition_end);
  text.remove_prefix(partition_end + 1);
  const auto is_partition = [](char c) { return engine::is_letter(c) || c == '-'; };
  if (!partition.empty() &&
      !(partition.starts_with("aws") && std::all_of(partition.begin(), partition.end(), is_partition)))
    return false;
  const auto service_end = text.find(':');
  const std::string_view service = text.substr(0, service_end);
  return service_end != text.npos && !service.empty() &&
         std::all_of(service.begin(), service.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.'; });
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  if (pattern == print_pattern) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  }
  if (pattern == text_pattern) {
    return std::all_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) >= ' ' || c == '\r' || c == '\n' || c == '\t';
    });
  }
  if (pattern == csv_delimiter_pattern)
    return text.size() == 1 && std::string_view(",;:|\t ").find(text.front()) != text.npos;
  if (pattern == csv_header_pattern) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != ','; });
  }
  if (pattern == key_arn_pattern) return text.empty() || is_arn(text);
  if (pattern == page_token_pattern) {
    return !text.empty() && text.size() % 16 == 0 && text.find_first_not_of(engine::hex_digits) == text.npos;
  }
  if (pattern == client_token_pattern) return !text.empty() && text.find('$') == text.npos;
  if (pattern == account_pattern) return text.size() == 12 && std::all_of(text.begin(), text.end(), is_digit);
  const bool has_name_characters = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '-';
  });
  if (pattern == bucket_name_pattern)
    return has_name_characters && text.size() > 1 && is_alphanumeric(text.front()) &&
           is_alphanumeric(text.back());
  MAYFLY_CHECK(pattern == name_pattern);
  return has_name_characters;
}

std::string lower_first(std::string_view name) {
  std::string result(name);
  if (!result.empty() && result[0] >= 'A' && result[0] <= 'Z') result[0] = static_cast<char>(result[0] + 32);
  return result;
}

// Appends names and scalars of a value until `out` is about `bytes_max` bytes long.
void append_beginning(std::string& out, const Value& value, std::size_t bytes_max) {
  if (out.size() >= bytes_max) return;
  out += value.string().substr(0, bytes_max);
  out += value.number_text().substr(0, bytes_max);
  if (value.is(Value::Kind::boolean)) out += value.boolean() ? '1' : '0';
  for (const Value& element : value.items()) {
    if (out.size() >= bytes_max) return;
    out += ',';
    append_beginning(out, element, bytes_max);
  }
  for (const json::Member& member : value.members()) {
    if (out.size() >= bytes_max) return;
    out += member.name.substr(0, bytes_max);
    out += ':';
    append_beginning(out, member.value, bytes_max);
  }
}

void append_java(std::string& out, const Shape& shape, const Value& value);

// Appends a structure as Java prints it: "WriteRequest(putRequest=PutRequest(item={…},
// workloadProfileName=null), deleteRequest=null)".
void append_java_structure(std::string& out, const Shape& shape, const Value& value) {
  out += shape.java_name;
  out += '(';
  bool first = true;
  const auto append_member = [&](std::string_view name) {
    if (!first) out += ", ";
    first = false;
    out += lower_first(name) + '=';
    const auto declared = std::find_if(shape.members.begin(), shape.members.end(),
                                       [&](const Member& member) { return member.name == name; });
    const Value* present = declared != shape.members.end() ? value.member(name) : nullptr;
    if (present == nullptr) {
      out += "null";
    } else {
      append_java(out, *declared->shape, *present);
    }
  };
  if (shape.printed.empty()) {
    for (const Member& member : shape.members) append_member(member.name);
  } else {
    for (const std::string_view name : shape.printed) append_member(name);
  }
  out += ')';
}

// Appends "com.amazonaws.dynamodb.v20120810.AttributeValue@79175931". Java prints the class and the hash of
// an object whose class, like AttributeValue, has no toString. Equal values get equal hashes, but not the
// hashes that AWS computes.
void append_java_value(std::string& out, const Value& value) {
  constexpr std::size_t hashed_bytes_max = 1024;
  std::string text;
  append_beginning(text, value, hashed_bytes_max);
  std::array<char, 8> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<std::uint32_t>(hash(text, 0)), 16);
  out += java_package;
  out += "AttributeValue@";
  out.append(digits.data(), end.ptr);
}

// Appends a value as Java's toString prints it, and stops soon after the longest possible message.
void append_java(std::string& out, const Shape& shape, const Value& value) {
  if (out.size() > message_bytes_max) return;
  switch (value.kind()) {
    case Value::Kind::null: out += "null"; return;
    case Value::Kind::boolean: out += value.boolean() ? "true" : "false"; return;
    case Value::Kind::number: out += std::to_string(integer_of(value)); return;
    case Value::Kind::string: out += value.string().substr(0, message_bytes_max + 1); return;
    case Value::Kind::array: {
      out += '[';
      bool first = true;
      for (const Value& element : value.items()) {
        if (out.size() > message_bytes_max) return;
        if (!first) out += ", ";
        first = false;
        append_java(out, *shape.element, element);
      }
      out += ']';
      return;
    }
    case Value::Kind::object: break;
  }
  if (shape.type == ShapeType::attribute_value) return append_java_value(out, value);
  if (shape.type != ShapeType::map) return append_java_structure(out, shape, value);
  out += '{';
  bool first = true;
  for (const auto& member : value.members()) {
    if (out.size() > message_bytes_max) return;
    if (!first) out += ", ";
    first = false;
    out += member.name.substr(0, message_bytes_max + 1);
    out += '=';
    append_java(out, *shape.element, member.value);
  }
  out += '}';
}

// Appends a value that a message quotes. In frames with the newer wording, arrays and objects are printed as
// JSON.
void append_value(std::string& out, const Shape& shape, const Value& value, Frame frame) {
  if (!has_newer_words(frame) || !(value.is(Value::Kind::array) || value.is(Value::Kind::object)))
    return append_java(out, shape, value);
  std::string text;
  json::Writer(text).value(value);
  out += error::cut(std::move(text));
}

// The position of a value, from the root on. Formatted only if there is an error to report.
struct Path {
  const Path* parent = nullptr;
  std::string_view name{};   // of a member, or the key of a map entry
  std::size_t position = 0;  // in a list, from 1
  bool element = false;

  // With `by_model`, members have the names that the model gives them; otherwise, they have their Java names.
  void append_to(std::string& out, bool by_model) const {
    if (parent != nullptr) parent->append_to(out, by_model);
    if (name.empty() && position == 0 && !element) return;  // the root
    if (!out.empty()) out += '.';
    out += position != 0         ? std::to_string(position)
           : element || by_model ? std::string(name)
                                 : lower_first(name);
    if (element) out += ".member";
  }
};

class Constraints {
 public:
  explicit Constraints(Frame frame) : frame_(frame) {}

  void check_request(const Shape& shape, const Value& request) { check_members(shape.members, request, {}); }

  // Whether a required member is missing.
  [[nodiscard]] bool lacks_member() const { return lacks_member_; }

  [[nodiscard]] Result<void> result() const {
    if (errors_.empty() && !unsupported_.empty()) {
      return error::validation("Mayfly does not support this member of the request yet: '" + unsupported_ +
                               "'");
    }
    if (errors_.empty()) return {};
    const auto first = [&](Fault fault) {
      return std::find_if(errors_.begin(), errors_.end(),
                          [&](const Found& each) { return each.fault == fault; });
    };
    const auto stop =
        std::find_if(errors_.begin(), errors_.end(), [](const Found& each) { return each.stops; });
    if (stop != errors_.end()) {
      // The new front end checks enums while it reads values. With Frame::bare, it reports an invalid value
      // without "1 validation error detected".
      const bool is_bare = frame_ == Frame::bare && stop->fault == Fault::unnamed;
      return error::validation((is_bare ? "" : "1 validation error detected: ") + stop->text);
    }
    // The old front end reports an invalid map key even if there is also an invalid enum value.
    const bool keys_yield = frame_ != Frame::handed_over && first(Fault::value_of_enum) != errors_.end();
    std::string list;
    std::size_t count = 0;
    for (const Found& each : errors_) {
      if (keys_yield && each.fault == Fault::yielding_key) continue;
      list += (count++ > 0 ? "; " : "") + each.text;
    }
    return error::validation(std::to_string(count) + " validation error" + (count > 1 ? "s" : "") +
                             " detected: " + list);
  }

 private:
  enum class Fault : std::uint8_t {
    any,
    value_of_enum,
    unnamed,       // an enum value, reported without the name of its member
    yielding_key,  // an invalid map key, not reported together with value_of_enum
  };
  struct Found {
    std::string text;
    Fault fault;
    bool stops = false;
  };

  void check_members(std::span<const Member> members, const Value& object, const Path& parent) {
    const Present present(members, object);
    const bool of_request = parent.parent == nullptr && parent.name.empty();
    for (std::size_t place = 0; place < members.size(); ++place) {
      const Member& member = members[place];
      const Value* value = present[place];
      if (value == nullptr && !is_required(members, object, member.presence)) continue;
      if (member.presence == Presence::unsupported) {
        refuse(Path{.parent = &parent, .name = member.name});
      }
      if (of_request) stops_ = member.stops;
      check(*member.shape, value, Path{.parent = &parent, .name = member.name});
    }
  }

  static bool is_required(std::span<const Member> members, const Value& object, Presence presence) {
    if (presence != Presence::required_alone)
      return presence != Presence::optional && presence != Presence::unsupported;
    return std::none_of(members.begin(), members.end(), [&](const Member& member) {
      return member.presence == Presence::optional && object.member(member.name) != nullptr;
    });
  }

  void refuse(const Path& path) {
    if (unsupported_.empty()) path.append_to(unsupported_, false);
  }

  void report(const Shape& shape, const Value* value, const Path& path, const std::string& constraint,
              Fault fault = Fault::any) {
    if (errors_.size() >= errors_max) return;
    std::string text = "Value ";
    if (value != nullptr && !value->is(Value::Kind::null)) {
      text += '\'';
      append_value(text, shape, *value, frame_);
      text += '\'';
    } else {
      text += "null";
    }
    add({text + at(path, false) + constraint, fault});
  }

  // Reports a length or a range. The model has all of these constraints except the length of a table name,
  // because an ARN can replace the name.
  void report_size(const Shape& shape, const Value& value, const Path& path, const std::string& constraint) {
    if (!names_by_model(frame_) || shape.table_name) return report(shape, &value, path, constraint);
    report_by_model(path, constraint);
  }

  void report_by_model(const Path& path, const std::string& constraint) {
    add({"Value" + at(path, true) + constraint, Fault::any, stops_});
  }

  static std::string at(const Path& path, bool by_model) {
    std::string where;
    path.append_to(where, by_model);
    return " at '" + where + "' failed to satisfy constraint: ";
  }

  void add(Found found) {
    if (errors_.size() < errors_max) errors_.push_back(std::move(found));
  }

  void check(const Shape& shape, const Value* value, const Path& path) {
    if (value == nullptr || value->is(Value::Kind::null)) {
      lacks_member_ = true;
      return report(shape, value, path, "Member must not be null");
    }
    switch (shape.type) {
      case ShapeType::string: return check_string(shape, *value, path);
      case ShapeType::integer:
      case ShapeType::long_integer: return check_range(shape, *value, path);
      case ShapeType::list: return check_list(shape, *value, path);
      case ShapeType::map: return check_map(shape, *value, path);
      case ShapeType::structure: return check_members(shape.members, *value, path);
      case ShapeType::attribute_value: return check_attribute_value(*value, path);
      case ShapeType::decimal:
      case ShapeType::boolean:
      case ShapeType::blob:
      case ShapeType::timestamp: return;
    }
  }

  // The model's only constraint on an attribute value is the length of names in maps. attribute_value_json.h
  // checks everything else.
  void check_attribute_value(const Value& value, const Path& path) {
    for (const json::Member& present : value.members()) {
      if (present.name == "L") {
        const Path list{.parent = &path, .name = present.name};
        std::size_t position = 0;
        for (const Value& element : present.value.items()) {
          check_attribute_value(element, Path{.parent = &list, .position = ++position, .element = true});
        }
      } else if (present.name == "M") {
        const Path map{.parent = &path, .name = present.name};
        const auto entries = present.value.members();
        if (std::any_of(entries.begin(), entries.end(), [](const json::Member& entry) {
              return entry.name.size() > nested_name_length_max &&
                     java_length(entry.name) > std::int64_t{nested_name_length_max};
            })) {
          report(value_map, &present.value, map,
                 "Map keys must satisfy constraint: [Member must have length less than or equal to 65535]");
        }
        for (const json::Member& entry : entries) {
          check_attribute_value(entry.value, Path{.parent = &map, .name = entry.name, .element = true});
        }
      }
    }
  }

  void check_string(const Shape& shape, const Value& value, const Path& path) {
    const auto text = value.string();
    if (shape.table_name && text.starts_with("arn:")) {
      if (java_length(text) > 1024)
        report(shape, &value, path, "Member must have length less than or equal to 1024");
      return;
    }
    if (shape.table_name && text.empty() && takes_one_character(frame_)) {
      const std::string constraint = "Member must have length greater than or equal to 1";
      return names_by_model(frame_) ? report_by_model(path, constraint)
                                    : report(shape, &value, path, constraint);
    }
    if (!shape.pattern.empty() && !matches_pattern(shape.pattern, text)) {
      report(shape, &value, path,
             "Member must satisfy regular expression pattern: " + std::string(shape.pattern));
    }
    if (!shape.length_first) check_length(shape, value, java_length(text), path);
    if (!shape.values.empty() &&
        std::find(shape.values.begin(), shape.values.end(), text) == shape.values.end()) {
      report_enum(shape, value, path);
    }
  }

  void report_enum(const Shape& shape, const Value& value, const Path& path) {
    const std::string constraint = "Member must satisfy enum value set: ";
    if (has_newer_words(frame_) && !shape.unnamed_values.empty()) {
      return add({"Failed to satisfy constraint: " + constraint + std::string(shape.unnamed_values),
                  Fault::unnamed, stops_});
    }
    report(shape, &value, path, constraint + "[" + engine::joined(shape.values, ", ") + "]",
           Fault::value_of_enum);
  }

  void check_length(const Shape& shape, const Value& value, std::int64_t length, const Path& path) {
    check_size(shape, value, length, "length", path);
  }

  void check_range(const Shape& shape, const Value& value, const Path& path) {
    check_size(shape, value, integer_of(value), "value", path);
  }

  void check_size(const Shape& shape, const Value& value, std::int64_t size, std::string_view what,
                  const Path& path) {
    const auto refuse = [&](std::string_view bound, std::int64_t limit) {
      report_size(shape, value, path,
                  "Member must have " + std::string(what) + std::string(bound) + std::to_string(limit));
    };
    if (shape.min && size < *shape.min) refuse(" greater than or equal to ", *shape.min);
    if (shape.max && size > *shape.max) refuse(" less than or equal to ", *shape.max);
  }

  void check_list(const Shape& shape, const Value& value, const Path& path) {
    check_length(shape, value, static_cast<std::int64_t>(value.items().size()), path);
    check_elements(shape, value, path);
  }

  void check_elements(const Shape& shape, const Value& value, const Path& path) {
    const bool attribute_values = shape.element->type == ShapeType::attribute_value;
    std::size_t position = 0;
    for (const Value& element : value.items()) {
      if (errors_.size() >= errors_max) return;
      const Path element_path{.parent = &path, .position = ++position, .element = true};
      if (attribute_values) {
        check_attribute_value(element, element_path);
      } else {
        check(*shape.element, &element, element_path);
      }
    }
  }

  void check_map(const Shape& shape, const Value& value, const Path& path) {
    const auto members = value.members();
    check_length(shape, value, static_cast<std::int64_t>(members.size()), path);
    if (shape.key != nullptr && std::any_of(members.begin(), members.end(), [&](const json::Member& member) {
          return !key_is_valid(*shape.key, member.name);
        })) {
      report(shape, &value, path, "Map keys must satisfy constraint: [" + constraints_of(*shape.key) + "]",
             shape.keys_yield ? Fault::yielding_key : Fault::any);
    }
    const Shape& element = *shape.element;
    // If the values of a map are lists, an error in the length of a list is reported with the path of the
    // map.
    const bool measured = element.type == ShapeType::list && (element.min || element.max);
    if (measured && std::any_of(members.begin(), members.end(), [&](const json::Member& member) {
          return !length_is_valid(element, static_cast<std::int64_t>(member.value.items().size()));
        })) {
      report(shape, &value, path, "Map value must satisfy constraint: [" + constraints_of(element) + "]");
    }
    for (const auto& member : members) {
      if (errors_.size() >= errors_max) return;
      const bool attribute_value = element.type == ShapeType::attribute_value;
      if (attribute_value && is_plain_value(member.value)) continue;
      const Path member_path{.parent = &path, .name = member.name, .element = true};
      if (attribute_value) {
        check_attribute_value(member.value, member_path);
      } else if (measured && !member.value.is(Value::Kind::null)) {
        check_elements(element, member.value, member_path);
      } else {
        check(element, &member.value, member_path);
      }
    }
  }

  static bool length_is_valid(const Shape& shape, std::int64_t length) {
    return (!shape.min || length >= *shape.min) && (!shape.max || length <= *shape.max);
  }

  static bool key_is_valid(const Shape& shape, std::string_view name) {
    if (shape.table_name && name.starts_with("arn:")) return java_length(name) <= 1024;
    // A string never has more UTF-16 units than bytes, so most names need no counting.
    const bool surely = !name.empty() && shape.min.value_or(0) <= 1 &&
                        length_is_valid(shape, static_cast<std::int64_t>(name.size()));
    return (surely || length_is_valid(shape, java_length(name))) &&
           (shape.pattern.empty() || matches_pattern(shape.pattern, name));
  }

  static std::string constraints_of(const Shape& shape) {
    std::string result;
    const auto add = [&](const std::string& constraint) {
      result += (result.empty() ? "" : ", ") + constraint;
    };
    if (shape.max) add("Member must have length less than or equal to " + std::to_string(*shape.max));
    if (shape.min) add("Member must have length greater than or equal to " + std::to_string(*shape.min));
    if (!shape.pattern.empty()) {
      add("Member must satisfy regular expression pattern: " + std::string(shape.pattern));
    }
    return result;
  }

  Frame frame_;
  std::vector<Found> errors_;
  std::string unsupported_;  // path of the first unsupported member
  bool stops_ = false;       // Member::stops of the top-level member that is being checked
  bool lacks_member_ = false;
};

Result<void> check_first(const Shape& shape, const Value& request) {
  const Present present(shape.members, request);
  for (std::size_t place = 0; place < shape.members.size(); ++place) {
    const Member& member = shape.members[place];
    const Value* value = present[place];
    if (member.presence == Presence::required_first && value == nullptr) {
      return error::validation("The parameter '" + std::string(member.name) +
                               "' is required but was not present in the request");
    }
    if (member.shape == nullptr || !member.shape->length_first || value == nullptr ||
        value->string().starts_with("arn:"))
      continue;
    const auto length = java_length(value->string());
    if (length < *member.shape->min || length > *member.shape->max) {
      // Messages also use the member name TableName for the name of a global table.
      const auto name = member.shape->table_name ? std::string_view("TableName") : member.name;
      return error::validation(std::string(name) + " must be at least " + std::to_string(*member.shape->min) +
                               " characters long and at most " + std::to_string(*member.shape->max) +
                               " characters long");
    }
  }
  return {};
}

}  // namespace

Result<void> check_types(const Shape& shape, const Value& request) {
  if (request.is(Value::Kind::null)) return error::serialization("");
  return check_type(shape, request, Place::root);
}

Result<void> check_constraints(const Shape& shape, const Value& request, Frame frame) {
  CHECK_OK(check_first(shape, request));
  Constraints constraints(frame);
  constraints.check_request(shape, request);
  if (!constraints.lacks_member() || frame <= Frame::handed_over) return constraints.result();
  Constraints handed_over(Frame::handed_over);
  handed_over.check_request(shape, request);
  return handed_over.result();
}

std::int64_t integer_of(const Value& checked) {
  const auto text = checked.number_text();
  if (const auto number = engine::whole_number<std::int64_t>(text)) return *number;
  double decimal = 0;
  std::from_chars(text.data(), text.data() + text.size(), decimal);
  if (decimal >= 9.2e18) return std::numeric_limits<std::int64_t>::max();
  if (decimal <= -9.2e18) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(decimal);
}

bool boolean_of(const Value& checked) {
  return checked.is(Value::Kind::string) ? boolean_from_text(checked.string()).value_or(false)
                                         : checked.boolean();
}

std::optional<std::int64_t> integer_member(const Value& object, std::string_view name) {
  const Value* value = object.member(name);
  return value != nullptr ? std::optional(integer_of(*value)) : std::nullopt;
}

std::optional<bool> boolean_member(const Value& object, std::string_view name) {
  const Value* value = object.member(name);
  return value != nullptr ? std::optional(boolean_of(*value)) : std::nullopt;
}

std::optional<std::string_view> string_member(const Value& object, std::string_view name) {
  const Value* value = object.member(name);
  return value != nullptr ? std::optional(value->string()) : std::nullopt;
}

}  // namespace mayfly::compat
