#include "engine/values/item_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/base/check.h"
#include "engine/base/hurry.h"
#include "engine/values/item_size.h"

namespace mayfly::engine {
namespace {

void store_u32(char* at, std::size_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t load_u32(const char* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i)
    value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(at[i])) << (8 * i);
  return value;
}

class Encoder {
 public:
  explicit Encoder(Appender& out) : out_(out) {}

  void size(std::size_t item_bytes) {
    store_u32(out_.room(sizeof(std::uint32_t)), item_bytes);
    out_.written(out_.room(0) + sizeof(std::uint32_t));
  }

  void map(const Map& map) {
    count(map.size());
    for (const Attribute& attribute : map) {
      payload(attribute.name);
      value(attribute.value);
    }
  }

  void value(const AttributeValue& value) {
    auto tag = static_cast<std::uint8_t>(value.type());
    if (const bool* boolean = value.get_if<bool>(); boolean && *boolean) tag |= true_bit;
    out_.byte(static_cast<char>(tag));
    std::visit([this](const auto& alternative) { payload(alternative); }, value.variant());
  }

  void payload(const Number& number) {
    std::array<char, 18> bytes{};
    int size = 0;
    for (auto rest = number.significand(); rest != 0; rest >>= 8) bytes[2 + size++] = static_cast<char>(rest);
    bytes[0] = static_cast<char>(size | (number.negative() ? negative_bit : 0));
    if (size != 0) bytes[1] = static_cast<char>(number.magnitude() - Number::magnitude_min);
    out_.bytes({bytes.data(), size == 0 ? std::size_t{1} : static_cast<std::size_t>(2 + size)});
  }

  void count(std::size_t value) {
    for (; value >= 0x80; value >>= 7) out_.byte(static_cast<char>(value | 0x80));
    out_.byte(static_cast<char>(value));
  }

 private:
  void payload(const std::string& text) {
    count(text.size());
    out_.bytes(text);
  }
  void payload(const Binary& binary) { payload(binary.bytes); }
  void payload(const bool&) {}
  void payload(const Null&) {}

  template <class T>
  void payload(const Set<T>& set) {
    sized([&] {
      count(set.size());
      for (const T& member : set.members()) payload(member);
    });
  }
  void payload(const List& list) {
    sized([&] {
      count(list.size());
      for (const AttributeValue& element : list) value(element);
    });
  }
  void payload(const Map& nested) {
    sized([&] { map(nested); });
  }

  template <class Body>
  void sized(Body&& body) {
    const std::size_t at = out_.size();
    size(0);
    body();
    store_u32(out_.at(at), out_.size() - at - sizeof(std::uint32_t));
  }

  Appender& out_;
};

// Announces the cost of building a list, map or set with `count` values (hurry.h). Returns `count`.
std::size_t opened(std::size_t count) {
  constexpr std::uint64_t nanoseconds_per_value = 60;  // to build it, use it and free it
  Hurry::spend(nanoseconds_per_value * count);
  return count;
}

template <class T, class ReadOne>
void read_set(StoredReader& in, AttributeValue& out, ReadOne&& read_one) {
  std::vector<T> members;
  std::size_t count = opened(in.open());
  members.reserve(count);
  for (; count > 0; --count) members.push_back(read_one());
  out = Set<T>::of_distinct(std::move(members));
}

void read_map(StoredReader& in, std::size_t count, Map& out);

// Builds the value in place.
void read_value(StoredReader& in, StoredReader::Tag tag, AttributeValue& out) {
  AttributeValue::Variant& made = out.variant();
  switch (tag.type) {
    case Type::string: made.emplace<std::string>(in.text()); return;
    case Type::number: made.emplace<Number>(in.number()); return;
    case Type::binary: made.emplace<Binary>().bytes = in.text(); return;
    case Type::boolean: made.emplace<bool>(tag.boolean); return;
    case Type::null: made.emplace<Null>(); return;
    case Type::string_set: return read_set<std::string>(in, out, [&] { return std::string(in.text()); });
    case Type::number_set: return read_set<Number>(in, out, [&] { return in.number(); });
    case Type::binary_set: return read_set<Binary>(in, out, [&] { return Binary{std::string(in.text())}; });
    case Type::list: {
      List& list = made.emplace<List>();
      std::size_t count = opened(in.open());
      list.reserve(count);
      for (; count > 0; --count) read_value(in, in.tag(), list.emplace_back());
      return;
    }
    case Type::map: return read_map(in, in.open(), made.emplace<Map>());
  }
  MAYFLY_CHECK(false && "no such tag");
}

void read_map(StoredReader& in, std::size_t count, Map& out) {
  out.reserve(opened(count));
  for (; count > 0; --count) {
    AttributeValue& value = out.append(in.text());
    read_value(in, in.tag(), value);
  }
}

}  // namespace

void encode_item(const Item& item, std::string& out) {
  const std::size_t item_bytes = item_size(item);
  Appender appender(out, item_bytes);
  Encoder encoder(appender);
  encoder.size(item_bytes);
  encoder.map(item);
}

StoredWriter::StoredWriter(std::string& out, std::size_t expected_bytes)
    : out_(out, expected_bytes), begin_(out_.size()) {
  Encoder(out_).size(0);
}

void StoredWriter::count(std::size_t attributes) { Encoder(out_).count(attributes); }

void StoredWriter::counted(std::string_view text) {
  item_bytes_ += text.size();
  if (text.size() >= 0x80) {
    Encoder(out_).count(text.size());
    return out_.bytes(text);
  }
  char* const to = out_.room(1 + text.size());
  *to = static_cast<char>(text.size());
  if (!text.empty()) std::memcpy(to + 1, text.data(), text.size());
  out_.written(to + 1 + text.size());
}

void StoredWriter::text(Type type, std::string_view bytes) {
  tag(type);
  counted(bytes);
}

void StoredWriter::number(const Number& number) {
  tag(Type::number);
  Encoder(out_).payload(number);
  item_bytes_ += number_size(number);
}

void StoredWriter::boolean(bool boolean) {
  tag(Type::boolean, boolean ? true_bit : 0);
  item_bytes_ += 1;
}

void StoredWriter::null() {
  tag(Type::null);
  item_bytes_ += 1;
}

void StoredWriter::value(const AttributeValue& value) {
  Encoder(out_).value(value);
  item_bytes_ += value_size(value);
}

std::size_t StoredWriter::open(Type type, std::size_t count) {
  item_bytes_ += container_bytes + element_bytes * count;
  return open_set(type, count);
}

std::size_t StoredWriter::open_set(Type type, std::size_t count) {
  tag(type);
  const std::size_t opened = out_.size();
  Encoder encoder(out_);
  encoder.size(0);
  encoder.count(count);
  return opened;
}

void StoredWriter::close(std::size_t opened) {
  store_u32(out_.at(opened), out_.size() - opened - sizeof(std::uint32_t));
}

void StoredWriter::end() { store_u32(out_.at(begin_), item_bytes_); }

Item decode_item(std::string_view stored) {
  StoredReader in(stored);
  Item item;
  read_map(in, in.count(), item);
  MAYFLY_CHECK(in.at_end());
  return item;
}

std::uint32_t stored_item_size(std::string_view stored) {
  MAYFLY_DEBUG_CHECK(stored.size() > sizeof(std::uint32_t));
  return load_u32(stored.data());
}

std::optional<AttributeValue> stored_attribute(std::string_view stored, std::string_view name) {
  StoredReader in(stored);
  for (std::size_t count = in.count(); count > 0; --count) {
    const std::string_view found = in.text();
    const StoredReader::Tag tag = in.tag();
    if (found == name) {
      std::optional<AttributeValue> value(std::in_place);
      read_value(in, tag, *value);
      return value;
    }
    if (found > name) return std::nullopt;
    in.skip(tag);
  }
  return std::nullopt;
}

Item stored_attributes(std::string_view stored, std::span<const std::string_view> names) {
  Item found;
  found.reserve(names.size());
  StoredReader in(stored);
  for (std::size_t count = in.count(); count > 0 && found.size() < names.size(); --count) {
    const std::string_view name = in.text();
    const StoredReader::Tag tag = in.tag();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      in.skip(tag);
    } else {
      read_value(in, tag, found.append(name));
    }
  }
  return found;
}

Number StoredReader::number() {
  const std::uint8_t head = next();
  if (head == 0) return {};
  const int magnitude = next() + Number::magnitude_min;
  const int size = head & ~negative_bit;
  const auto read = [&](auto significand) {
    for (int i = 0; i < size; ++i) significand |= static_cast<decltype(significand)>(next()) << (8 * i);
    return Number::from_magnitude((head & negative_bit) != 0, significand, magnitude);
  };
  constexpr int narrow_bytes = sizeof(std::uint64_t);
  return size <= narrow_bytes ? read(std::uint64_t{}) : read(Number::Wide{});
}

void StoredReader::skip(Tag tag) {
  switch (tag.type) {
    case Type::string:
    case Type::binary: text(); return;
    case Type::number:
      if (const std::uint8_t head = next(); head != 0) advance(1 + (head & ~negative_bit));
      return;
    case Type::boolean:
    case Type::null: return;
    case Type::string_set:
    case Type::number_set:
    case Type::binary_set:
    case Type::list:
    case Type::map: {
      MAYFLY_DEBUG_CHECK(end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(std::uint32_t)));
      const std::uint32_t bytes = load_u32(at_);
      advance(sizeof(std::uint32_t) + bytes);
      return;
    }
  }
}

}  // namespace mayfly::engine
