#include "compat/wire/attribute_value_json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compat/json/json_text.h"
#include "compat/wire/base64.h"
#include "compat/wire/java_number.h"
#include "compat/wire/shape.h"
#include "engine/base/hurry.h"
#include "engine/values/item_codec.h"

namespace mayfly::compat {
namespace {

using engine::Attribute;
using engine::AttributeValue;
using engine::Binary;
using engine::BinarySet;
using engine::List;
using engine::Map;
using engine::Null;
using engine::Number;
using engine::NumberError;
using engine::NumberSet;
using engine::Set;
using engine::StoredReader;
using engine::StoredWriter;
using engine::StringSet;
using engine::Type;
using engine::type_name;
using engine::type_named;
using json::Value;

// --- Reading ----------------------------------------------------------------------------------------------

// The order in which DynamoDB checks the types of a value that has several.
constexpr std::array<Type, 10> order_of_checks = {
    Type::string,     Type::number,     Type::binary,     Type::boolean, Type::null,
    Type::binary_set, Type::number_set, Type::string_set, Type::list,    Type::map};

// The order in which the members of a map are read. `by_name` is the order in which a map keeps its members,
// so reading in this order moves no members. If several members are invalid, however, this order does not
// find the member that DynamoDB reports, which is the first in written order. After an error, the outermost
// value is therefore read again in written order.
enum class Order : std::uint8_t { by_name, as_written };

struct Reading {
  Frame frame;
  Order order;
};

// Builds the value in place, in `out`.
Result<void> read_value(const Value& value, int level, Reading reading, AttributeValue& out);

Unexpected<Error> empty_value() {
  return error::validation(
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
}

Result<Binary> read_binary(std::string_view text) {
  auto bytes = decode_base64(text);
  if (!bytes) return error::serialization("Invalid last non-pad Base64 character dectected");
  return Binary{*std::move(bytes)};
}

// Prints a list of strings as the service's Java code does: "[a, b]".
std::string printed(const Value& texts) {
  std::string out = "[";
  for (const Value& text : texts.items()) {
    if (out.size() > 1) out += ", ";
    out += text.string();
  }
  return out + "]";
}

// Returns ["a", "b", "b"] for the members b, a, b and c. The new front end reads up to the first member that
// repeats another. The message lists the members before this repetition, in the order of their bytes, and
// then the repeated member.
std::string printed_to_repeated(Type type, const Value& array) {
  std::map<std::string, std::string_view> before;  // the members' strings, by their bytes
  std::string_view repeated;
  for (const Value& member : array.items()) {
    const std::string_view text = member.string();
    std::string bytes =
        type == Type::binary_set ? decode_base64(text).value_or(std::string()) : std::string(text);
    if (before.emplace(std::move(bytes), text).second) continue;
    repeated = text;
    break;
  }
  std::string out = "[";
  for (const auto& [bytes, text] : before) {
    json::append_escaped(out, text);
    out += type == Type::binary_set ? "," : ", ";
  }
  json::append_escaped(out, repeated);
  return out + "]";
}

Unexpected<Error> duplicates(Type type, const Value& array, Frame frame) {
  const bool newer = has_newer_words(frame);
  if (type == Type::number_set && !newer)
    return error::validation("Input collection contains duplicates", Error::About::duplicates);
  std::string collection;
  if (type != Type::number_set) collection = newer ? printed_to_repeated(type, array) : printed(array);
  return error::validation("One or more parameter values were invalid: Input collection" +
                               (collection.empty() ? "" : " " + collection) +
                               (type == Type::binary_set ? "of type BS" : "") + " contains duplicates.",
                           Error::About::duplicates);
}

Result<void> read_string_set(const Value& array, Frame frame, StringSet& out) {
  if (array.items().empty()) {
    return error::validation("One or more parameter values were invalid: An string set  may not be empty");
  }
  std::vector<std::string> members;
  members.reserve(array.items().size());
  for (const Value& member : array.items()) {
    if (!member.is(Value::Kind::string)) return empty_value();
    members.emplace_back(member.string());
  }
  if (!StringSet::make(std::move(members), out)) return duplicates(Type::string_set, array, frame);
  return {};
}

Result<void> read_number_set(const Value& array, Frame frame, NumberSet& out) {
  if (array.items().empty()) {
    return error::validation("One or more parameter values were invalid: An number set  may not be empty",
                             Error::About::number);
  }
  std::vector<Number> members;
  members.reserve(array.items().size());
  for (const Value& member : array.items()) {
    if (!member.is(Value::Kind::string)) return empty_value();
    TRY(members.emplace_back(), read_number(member.string(), frame));
  }
  if (!NumberSet::make(std::move(members), out)) return duplicates(Type::number_set, array, frame);
  return {};
}

Result<void> read_binary_set(const Value& array, Frame frame, BinarySet& out) {
  if (array.items().empty()) {
    return error::validation("One or more parameter values were invalid: Binary sets should not be empty");
  }
  std::vector<Binary> members;
  members.reserve(array.items().size());
  for (const Value& member : array.items()) {
    if (!member.is(Value::Kind::string)) return empty_value();
    TRY(members.emplace_back(), read_binary(member.string()));
  }
  if (!BinarySet::make(std::move(members), out)) return duplicates(Type::binary_set, array, frame);
  return {};
}

Result<void> read_list(const Value& array, int level, Reading reading, List& out) {
  out.reserve(array.items().size());
  for (const Value& element : array.items())
    CHECK_OK(read_value(element, level, reading, out.emplace_back()));
  return {};
}

// A member, and the first bytes of its name as a number. Comparing the numbers usually decides the order.
struct OrderedMember {
  std::uint64_t first_bytes;
  const json::Member* member;
};
using MembersInOrder = boost::container::small_vector<OrderedMember, 32>;

std::uint64_t first_bytes(std::string_view name) {
  std::uint64_t bytes = 0;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&bytes, name.data(), std::min(name.size(), sizeof bytes));
  return __builtin_bswap64(bytes);
}

// Members with the same name keep their written order, so the one that was written last is read last.
MembersInOrder in_order(std::span<const json::Member> members, Order order) {
  constexpr std::size_t few = 16;  // at most this many are sorted by insertion
  const auto by_name = [](const OrderedMember& a, const OrderedMember& b) {
    if (a.first_bytes != b.first_bytes) return a.first_bytes < b.first_bytes;
    const int difference = a.member->name.compare(b.member->name);
    return difference != 0 ? difference < 0 : a.member < b.member;
  };
  MembersInOrder sorted(members.size(), boost::container::default_init);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const OrderedMember next{first_bytes(members[i].name), &members[i]};
    std::size_t place = i;
    if (order == Order::by_name && members.size() <= few)
      for (; place > 0 && by_name(next, sorted[place - 1]); --place) sorted[place] = sorted[place - 1];
    sorted[place] = next;
  }
  if (order == Order::by_name && members.size() > few &&
      !std::is_sorted(sorted.begin(), sorted.end(), by_name))
    std::sort(sorted.begin(), sorted.end(), by_name);
  return sorted;
}

Result<void> read_map(const Value& object, int level, Reading reading, Map& out) {
  std::vector<Attribute> attributes;
  attributes.reserve(object.members().size());
  for (const OrderedMember& ordered : in_order(object.members(), reading.order)) {
    const json::Member& member = *ordered.member;
    Attribute& attribute = attributes.emplace_back();
    attribute.name = member.name;
    CHECK_OK(read_value(member.value, level, reading, attribute.value));
  }
  out = Map::from_unsorted(std::move(attributes));
  return {};
}

// `level` is the level of the value itself: 1 for an attribute of the item.
Result<void> read_typed(Type type, const Value& value, int level, Reading reading, AttributeValue& out) {
  AttributeValue::Variant& made = out.variant();
  switch (type) {
    case Type::string: made.emplace<std::string>(value.string()); return {};
    case Type::number: {
      TRY(made.emplace<engine::Number>(), read_number(value.string(), reading.frame));
      return {};
    }
    case Type::binary: {
      TRY(made.emplace<Binary>(), read_binary(value.string()));
      return {};
    }
    case Type::boolean: made.emplace<bool>(boolean_of(value)); return {};
    case Type::null:
      if (!boolean_of(value)) {
        return error::validation(
            "One or more parameter values were invalid: Null attribute value types must have the value of "
            "true");
      }
      made.emplace<Null>();
      return {};
    case Type::string_set: return read_string_set(value, reading.frame, made.emplace<StringSet>());
    case Type::number_set: return read_number_set(value, reading.frame, made.emplace<NumberSet>());
    case Type::binary_set: return read_binary_set(value, reading.frame, made.emplace<BinarySet>());
    case Type::list: return read_list(value, level + 1, reading, made.emplace<List>());
    case Type::map: return read_map(value, level + 1, reading, made.emplace<Map>());
  }
  return empty_value();
}

Result<void> read_value(const Value& value, int level, Reading reading, AttributeValue& out) {
  if (level > nesting_max) {
    return error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
        "supported limit",
        Error::About::nesting);
  }
  if (value.members().size() == 1) {  // the usual case
    const auto& [name, typed] = value.members().front();
    const std::optional<Type> type = type_named(name);
    if (!type || typed.is(Value::Kind::null)) return empty_value();
    return read_typed(*type, typed, level, reading, out);
  }
  int types = 0;
  for (const Type type : order_of_checks) {
    const Value* typed = value.member(type_name(type));
    if (typed == nullptr) continue;
    CHECK_OK(read_typed(type, *typed, level, reading, out));
    ++types;
  }
  if (types == 0) return empty_value();
  if (types > 1) {
    return error::validation(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes");
  }
  return {};
}

// Writes stored bytes directly. Returns false if the value is invalid or a name is repeated; the caller then
// builds the tree.
bool store_map(const Value& object, int level, StoredWriter& out);

bool store_texts(std::span<const Value> members, StoredWriter& out) {
  boost::container::small_vector<std::string_view, 16> texts;
  texts.reserve(members.size());
  for (const Value& member : members) {
    if (!member.is(Value::Kind::string)) return false;
    texts.push_back(member.string());
  }
  std::sort(texts.begin(), texts.end());
  if (texts.empty() || std::adjacent_find(texts.begin(), texts.end()) != texts.end()) return false;
  const std::size_t opened = out.open_set(Type::string_set, texts.size());
  for (const std::string_view text : texts) out.element(text);
  out.close(opened);
  return true;
}

bool store_value(const Value& value, int level, StoredWriter& out) {
  if (level > nesting_max || value.members().size() != 1) return false;
  const auto& [name, typed] = value.members().front();
  const std::optional<Type> type = type_named(name);
  if (!type || typed.is(Value::Kind::null)) return false;
  switch (*type) {
    case Type::string: out.text(Type::string, typed.string()); return true;
    case Type::number: {
      const auto number = Number::parse(typed.string());
      if (number) out.number(*number);
      return number.has_value();
    }
    case Type::binary: {
      const auto bytes = decode_base64(typed.string());
      if (bytes) out.text(Type::binary, *bytes);
      return bytes.has_value();
    }
    case Type::boolean: out.boolean(boolean_of(typed)); return true;
    case Type::null: out.null(); return boolean_of(typed);
    case Type::string_set: return store_texts(typed.items(), out);
    case Type::number_set:
    case Type::binary_set: {
      AttributeValue set;
      if (!read_typed(*type, typed, level, {Frame::older, Order::by_name}, set)) return false;
      out.value(set);
      return true;
    }
    case Type::list: {
      const std::size_t opened = out.open(Type::list, typed.items().size());
      for (const Value& element : typed.items())
        if (!store_value(element, level + 1, out)) return false;
      out.close(opened);
      return true;
    }
    case Type::map: {
      const std::size_t opened = out.open(Type::map, typed.members().size());
      if (!store_map(typed, level + 1, out)) return false;
      out.close(opened);
      return true;
    }
  }
  return false;
}

bool store_map(const Value& object, int level, StoredWriter& out) {
  const json::Member* before = nullptr;
  for (const OrderedMember& ordered : in_order(object.members(), Order::by_name)) {
    const json::Member& member = *ordered.member;
    if (before != nullptr && before->name == member.name) return false;
    out.name(member.name);
    if (!store_value(member.value, level, out)) return false;
    before = &member;
  }
  return true;
}

// Returns an estimate that is right if each attribute is as large as its text. For other items, the buffer
// has to grow.
std::size_t stored_bytes_for(std::span<const json::Member> attributes) {
  constexpr std::size_t bytes_of_an_attribute = 16;
  std::size_t bytes = 0;
  for (const json::Member& attribute : attributes) {
    bytes += attribute.name.size() + bytes_of_an_attribute;
    if (attribute.value.members().size() == 1)
      bytes += attribute.value.members().front().value.string().size();
  }
  return bytes;
}

bool store_item(const Value& object, std::string& stored) {
  const auto attributes = object.members();
  if (std::any_of(attributes.begin(), attributes.end(),
                  [](const json::Member& attribute) { return attribute.name.empty(); }))
    return false;
  StoredWriter out(stored, stored_bytes_for(attributes));
  out.count(attributes.size());
  const bool simple = store_map(object, 1, out);
  out.end();
  return simple;
}

// Calls `read(Reading, made)` for the order by name and, after an error, again for the written order.
template <class Made, class Read>
Result<Made> read_by_name(Frame frame, Read&& read) {
  Made made;
  auto done = read(Reading{frame, Order::by_name}, made);
  if (!done) done = read(Reading{frame, Order::as_written}, made);
  if (!done) return Unexpected{std::move(done).error()};
  return made;
}

}  // namespace

Result<engine::Number> read_number(std::string_view text, Frame frame) {
  auto number = Number::parse(text);
  if (number) return *number;
  const auto refuse = [](std::string message) {
    return error::validation(std::move(message), Error::About::number);
  };
  switch (has_newer_words(frame) ? number.error() : java_number_error(text, number.error())) {
    case NumberError::not_a_number: break;
    case NumberError::too_many_digits:
      return refuse("Attempting to store more than 38 significant digits in a Number");
    case NumberError::overflow:
      return refuse(
          "Number overflow. Attempting to store a number with magnitude larger than supported range");
    case NumberError::underflow:
      return refuse(
          "Number underflow. Attempting to store a number with magnitude smaller than supported range");
  }
  if (text.empty() && !has_newer_words(frame))
    return refuse("The parameter cannot be converted to a numeric value");
  return refuse("The parameter cannot be converted to a numeric value: " + std::string(text));
}

Result<AttributeValue> read_attribute_value(const Value& value, Frame frame) {
  return in_frame(frame, read_by_name<AttributeValue>(frame, [&](Reading reading, AttributeValue& made) {
                    return read_value(value, 1, reading, made);
                  }));
}

Result<engine::Item> read_item(const Value& object, Frame frame) {
  auto item = read_by_name<engine::Item>(
      frame, [&](Reading reading, engine::Item& made) { return read_map(object, 1, reading, made); });
  // DynamoDB reports an empty name after all other errors except nesting that is too deep.
  const auto members = object.members();
  const bool may_be_unnamed = item || item.error().about == Error::About::nesting;
  if (may_be_unnamed && std::any_of(members.begin(), members.end(),
                                    [](const json::Member& member) { return member.name.empty(); })) {
    return in_frame(frame, Result<engine::Item>(empty_attribute_name()));
  }
  return in_frame(frame, std::move(item));
}

Result<engine::StoredItem> read_stored_item(const Value& object, Frame frame) {
  std::string stored;
  if (store_item(object, stored)) return engine::StoredItem(std::move(stored));
  TRY(engine::Item item, read_item(object, frame));
  return engine::StoredItem(std::move(item));
}

Unexpected<Error> empty_attribute_name() {
  return error::validation("One or more parameter values were invalid: Empty attribute name",
                           Error::About::name);
}

// --- Writing ----------------------------------------------------------------------------------------------
// The writers of trees and of stored bytes share these functions. All nested values are appended to the text
// directly; only the outermost value asks the Writer for its comma.

namespace {

using json::TextAppender;

// Returns an estimate of the JSON's size. The JSON is longer than the stored form by about eight bytes per
// attribute, and strings have the same length in both forms.
constexpr std::size_t json_bytes_for(std::size_t stored_bytes) {
  return stored_bytes + std::min(stored_bytes / 2, std::size_t{1024});
}

// The text before a value, such as {"S":, indexed by Type. Each text is at most eight bytes long.
struct Opening {
  char text[9];
  std::size_t bytes;
};
constexpr std::array<Opening, 10> openings = {{{R"({"S":)", 5},
                                               {R"({"N":)", 5},
                                               {R"({"B":)", 5},
                                               {R"({"BOOL":)", 8},
                                               {R"({"NULL":)", 8},
                                               {R"({"SS":)", 6},
                                               {R"({"NS":)", 6},
                                               {R"({"BS":)", 6},
                                               {R"({"L":)", 5},
                                               {R"({"M":)", 5}}};

void append_open(TextAppender& out, Type type) {
  const Opening& opening = openings[static_cast<std::size_t>(type)];
  char* to = out.room(sizeof opening.text);
  std::memcpy(to, opening.text, sizeof opening.text - 1);
  out.written(to + opening.bytes);
}

void append_text(TextAppender& out, const std::string& text) { out.quoted(text); }
void append_text(TextAppender& out, const Number& number) {
  out.byte('"');
  out.written(number.write(out.room(Number::text_bytes_max)));
  out.byte('"');
}
void append_base64_text(TextAppender& out, std::string_view bytes) {
  out.byte('"');
  out.written(write_base64(out.room(base64_bytes(bytes.size())), bytes));
  out.byte('"');
}
void append_text(TextAppender& out, const Binary& binary) { append_base64_text(out, binary.bytes); }
void append_boolean(TextAppender& out, bool boolean) {
  if (boolean) {
    out.literal("true");
  } else {
    out.literal("false");
  }
}

template <class AppendOne>
void append_elements(TextAppender& out, std::size_t count, char open, char close, AppendOne&& append_one) {
  out.byte(open);
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out.byte(',');
    append_one(i);
  }
  out.byte(close);
}

void append_item(TextAppender& out, const Map& map);

struct ValueAppender {
  TextAppender& out;

  void append(const AttributeValue& value) {
    append_open(out, value.type());
    std::visit(*this, value.variant());
    out.byte('}');
  }

  void operator()(const std::string& text) { append_text(out, text); }
  void operator()(const Number& number) { append_text(out, number); }
  void operator()(const Binary& binary) { append_text(out, binary); }
  void operator()(bool boolean) { append_boolean(out, boolean); }
  void operator()(Null) { append_boolean(out, true); }
  template <class T>
  void operator()(const Set<T>& set) {
    append_elements(out, set.size(), '[', ']', [&](std::size_t i) { append_text(out, set.members()[i]); });
  }
  void operator()(const List& list) {
    append_elements(out, list.size(), '[', ']', [&](std::size_t i) { append(list[i]); });
  }
  void operator()(const Map& map) { append_item(out, map); }
};

void append_item(TextAppender& out, const Map& map) {
  auto attribute = map.begin();
  append_elements(out, map.size(), '{', '}', [&](std::size_t) {
    append_text(out, attribute->name);
    out.byte(':');
    ValueAppender{out}.append(attribute->value);
    ++attribute;
  });
}

void append_stored_map(TextAppender& out, StoredReader& in, std::size_t count);

// Returns `count`, and accounts for the time to write a list, map or set with `count` values.
std::size_t opened(std::size_t count) {
  constexpr std::uint64_t nanoseconds_per_value = 30;
  engine::Hurry::spend(nanoseconds_per_value * count);
  return count;
}

void append_stored_value(TextAppender& out, StoredReader& in) {
  const StoredReader::Tag tag = in.tag();
  append_open(out, tag.type);
  switch (tag.type) {
    case Type::string: out.quoted(in.text(), in.end()); break;
    case Type::number: append_text(out, in.number()); break;
    case Type::binary: append_base64_text(out, in.text()); break;
    case Type::boolean: append_boolean(out, tag.boolean); break;
    case Type::null: append_boolean(out, true); break;
    case Type::string_set:
      append_elements(out, opened(in.open()), '[', ']',
                      [&](std::size_t) { out.quoted(in.text(), in.end()); });
      break;
    case Type::number_set:
      append_elements(out, opened(in.open()), '[', ']', [&](std::size_t) { append_text(out, in.number()); });
      break;
    case Type::binary_set:
      append_elements(out, opened(in.open()), '[', ']',
                      [&](std::size_t) { append_base64_text(out, in.text()); });
      break;
    case Type::list:
      append_elements(out, opened(in.open()), '[', ']', [&](std::size_t) { append_stored_value(out, in); });
      break;
    case Type::map: append_stored_map(out, in, opened(in.open())); break;
  }
  out.byte('}');
}

void append_stored_map(TextAppender& out, StoredReader& in, std::size_t count) {
  append_elements(out, count, '{', '}', [&](std::size_t) {
    out.quoted(in.text(), in.end());
    out.byte(':');
    append_stored_value(out, in);
  });
}

// Writes the comma if one is needed. The caller appends the value to the returned text.
std::string& next_value(json::Writer& out) {
  out.raw({});
  return out.out();
}

}  // namespace

void write_attribute_value(json::Writer& out, const AttributeValue& value) {
  TextAppender text(next_value(out));
  ValueAppender{text}.append(value);
}

void write_item_object(json::Writer& out, const engine::Item& item) {
  TextAppender text(next_value(out));
  append_item(text, item);
}

void write_stored_item(json::Writer& out, std::string_view stored) {
  constexpr std::uint64_t nanoseconds_per_byte = 2;
  engine::Hurry::spend(nanoseconds_per_byte * stored.size());
  StoredReader in(stored);
  const std::size_t count = opened(in.count());
  TextAppender text(next_value(out), json_bytes_for(stored.size()));
  append_stored_map(text, in, count);
}

}  // namespace mayfly::compat
