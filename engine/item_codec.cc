#include "engine/item_codec.h"

#include <array>

#include "engine/item_size.h"

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
  explicit Encoder(std::string& out) : out_(out) {}

  void map(const Map& map) {
    count(map.size());
    for (const Attribute& attribute : map) {
      payload(attribute.name);
      value(attribute.value);
    }
  }

 private:
  void value(const AttributeValue& value) {
    auto tag = static_cast<std::uint8_t>(value.type());
    if (const bool* boolean = value.get_if<bool>(); boolean && *boolean) tag |= true_bit;
    out_ += static_cast<char>(tag);
    std::visit([this](const auto& alternative) { payload(alternative); }, value.variant());
  }

  void payload(const std::string& text) {
    count(text.size());
    out_ += text;
  }
  void payload(const Binary& binary) { payload(binary.bytes); }
  void payload(const bool&) {}
  void payload(const Null&) {}

  void payload(const Number& number) {
    std::array<char, 18> bytes{};
    int size = 0;
    for (auto rest = number.significand(); rest != 0; rest >>= 8) bytes[2 + size++] = static_cast<char>(rest);
    bytes[0] = static_cast<char>(size | (number.negative() ? negative_bit : 0));
    if (size != 0) bytes[1] = static_cast<char>(number.magnitude() - Number::magnitude_min);
    out_.append(bytes.data(), size == 0 ? 1 : 2 + size);
  }

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
    const std::size_t start = out_.size() + sizeof(std::uint32_t);
    out_.resize(start);
    body();
    store_u32(out_.data() + start - sizeof(std::uint32_t), out_.size() - start);
  }

  void count(std::size_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string& out_;
};

template <class T, class ReadOne>
Set<T> read_set(StoredReader& in, ReadOne&& read_one) {
  std::vector<T> members;
  std::size_t count = in.open();
  members.reserve(count);
  for (; count > 0; --count) members.push_back(read_one());
  return Set<T>::of_distinct(std::move(members));
}

Map read_map(StoredReader& in, std::size_t count);

AttributeValue read_value(StoredReader& in, StoredReader::Tag tag) {
  switch (tag.type) {
    case Type::string: return std::string(in.text());
    case Type::number: return in.number();
    case Type::binary: return Binary{std::string(in.text())};
    case Type::boolean: return AttributeValue(tag.boolean);
    case Type::null: return Null{};
    case Type::string_set: return read_set<std::string>(in, [&] { return std::string(in.text()); });
    case Type::number_set: return read_set<Number>(in, [&] { return in.number(); });
    case Type::binary_set: return read_set<Binary>(in, [&] { return Binary{std::string(in.text())}; });
    case Type::list: {
      List list;
      std::size_t count = in.open();
      list.reserve(count);
      for (; count > 0; --count) list.push_back(read_value(in, in.tag()));
      return list;
    }
    case Type::map: return read_map(in, in.open());
  }
  assert(false && "no such tag");
  return Null{};
}

Map read_map(StoredReader& in, std::size_t count) {
  Map map;
  map.reserve(count);
  for (; count > 0; --count) {
    const std::string_view name = in.text();
    map.append(std::string(name), read_value(in, in.tag()));
  }
  return map;
}

}  // namespace

void encode_item(const Item& item, std::string& out) {
  const std::size_t start = out.size();
  out.resize(start + sizeof(std::uint32_t));
  store_u32(out.data() + start, item_size(item));
  Encoder(out).map(item);
}

Item decode_item(std::string_view stored) {
  StoredReader in(stored);
  const std::size_t count = in.count();
  Item item = read_map(in, count);
  assert(in.at_end());
  return item;
}

std::uint32_t stored_item_size(std::string_view stored) {
  assert(stored.size() > sizeof(std::uint32_t));
  return load_u32(stored.data());
}

std::optional<AttributeValue> stored_attribute(std::string_view stored, std::string_view name) {
  StoredReader in(stored);
  for (std::size_t count = in.count(); count > 0; --count) {
    const std::string_view found = in.text();
    const StoredReader::Tag tag = in.tag();
    if (found == name) return read_value(in, tag);
    if (found > name) return std::nullopt;
    in.skip(tag);
  }
  return std::nullopt;
}

Number StoredReader::number() {
  const std::uint8_t head = next();
  if (head == 0) return {};
  const int magnitude = next() + Number::magnitude_min;
  const int size = head & ~negative_bit;
  Number::Wide significand = 0;
  for (int i = 0; i < size; ++i) significand |= static_cast<Number::Wide>(next()) << (8 * i);
  return Number::from_magnitude((head & negative_bit) != 0, significand, magnitude);
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
      assert(end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(std::uint32_t)));
      const std::uint32_t bytes = load_u32(at_);
      advance(sizeof(std::uint32_t) + bytes);
      return;
    }
  }
}

}  // namespace mayfly::engine
