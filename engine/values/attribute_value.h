// AttributeValue is a variant of DynamoDB's ten types. Item maps attribute names to values.
//
// Maps are sorted by the bytes of their names, and sets by the bytes or the numbers of their members.
// Responses have the same order. Sets that an earlier version stored may be unsorted, so the comparison
// of two sets ignores the order of their members. Maps and sets are built by factories; Set::make
// reports duplicates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/values/number.h"

namespace mayfly::engine {

class AttributeValue;
struct Attribute;

struct Binary {
  std::string bytes;
  friend auto operator<=>(const Binary&, const Binary&) = default;
};

struct Null {
  friend bool operator==(const Null&, const Null&) = default;
};

// A set has no duplicates. make() drops duplicates and returns false if there were any. DynamoDB has no empty
// sets; compat rejects them.
template <class T>
class Set {
 public:
  Set() = default;
  static bool make(std::vector<T> members, Set& out);
  // For decoders: keeps the stored order. Requires: `members` has no duplicates.
  static Set of_distinct(std::vector<T> members);

  [[nodiscard]] const std::vector<T>& members() const { return members_; }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] bool contains(const T& value) const;
  void insert_all(const Set& other);  // union
  void erase_all(const Set& other);   // difference

  template <class U>
  friend bool operator==(const Set<U>& a, const Set<U>& b);

 private:
  std::vector<T> members_;
};

template <class T>
bool operator==(const Set<T>& a, const Set<T>& b);

using StringSet = Set<std::string>;
using NumberSet = Set<Number>;
using BinarySet = Set<Binary>;
using List = std::vector<AttributeValue>;

// Attribute names with their values, sorted by name. A whole item is also a Map.
class Map {
 public:
  Map() = default;
  Map(std::initializer_list<Attribute> attributes);
  // Accepts attributes in any order. If several attributes have the same name, the map keeps the last one.
  static Map from_unsorted(std::vector<Attribute> attributes);

  [[nodiscard]] const AttributeValue* find(std::string_view name) const;
  [[nodiscard]] AttributeValue* find(std::string_view name);
  void set(std::string name, AttributeValue value);  // inserts or replaces
  bool erase(std::string_view name);                 // returns false if the name is absent
  // Sets and erases many attributes in one pass. If several attributes in `set` have the same name, the map
  // keeps the last one.
  // Requires: both arguments are sorted by name.
  void change(std::vector<Attribute> set, const std::vector<std::string_view>& erased);
  void reserve(std::size_t count);
  // For decoders, whose input is sorted: appends an attribute and returns its value, to be filled in place.
  // Requires: `name` sorts after all names in the map.
  AttributeValue& append(std::string_view name);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const;
  [[nodiscard]] auto begin() const;
  [[nodiscard]] auto end() const;
  [[nodiscard]] auto begin();
  [[nodiscard]] auto end();

  friend bool operator==(const Map& a, const Map& b);

 private:
  std::vector<Attribute> attributes_;
};

using Item = Map;

// In the order of the variant's alternatives.
enum class Type : unsigned char {
  string,
  number,
  binary,
  boolean,
  null,
  string_set,
  number_set,
  binary_set,
  list,
  map
};

class AttributeValue {
 public:
  using Variant =
      std::variant<std::string, Number, Binary, bool, Null, StringSet, NumberSet, BinarySet, List, Map>;

  AttributeValue();
  AttributeValue(std::string value);
  AttributeValue(const char* value);
  AttributeValue(Number value);
  AttributeValue(Binary value);
  explicit AttributeValue(bool value);
  AttributeValue(Null value);
  AttributeValue(StringSet value);
  AttributeValue(NumberSet value);
  AttributeValue(BinarySet value);
  AttributeValue(List value);
  AttributeValue(Map value);

  [[nodiscard]] Type type() const { return static_cast<Type>(value_.index()); }
  [[nodiscard]] const Variant& variant() const { return value_; }
  [[nodiscard]] Variant& variant() { return value_; }

  // The value as T, or nullptr if it has another type: value.get_if<Number>().
  template <class T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&value_);
  }
  template <class T>
  [[nodiscard]] T* get_if() {
    return std::get_if<T>(&value_);
  }

  friend bool operator==(const AttributeValue& a, const AttributeValue& b) { return a.value_ == b.value_; }

 private:
  Variant value_;
};

struct Attribute {
  std::string name;
  AttributeValue value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// These functions are defined after Attribute, because a vector of an incomplete type can be declared
// but not used.
inline std::size_t Map::size() const { return attributes_.size(); }
inline bool Map::empty() const { return attributes_.empty(); }
inline auto Map::begin() const { return attributes_.begin(); }
inline auto Map::end() const { return attributes_.end(); }
inline auto Map::begin() { return attributes_.begin(); }
inline auto Map::end() { return attributes_.end(); }

inline AttributeValue::AttributeValue() : value_(Null{}) {}
inline AttributeValue::AttributeValue(std::string value) : value_(std::move(value)) {}
inline AttributeValue::AttributeValue(const char* value) : value_(std::string(value)) {}
inline AttributeValue::AttributeValue(Number value) : value_(value) {}
inline AttributeValue::AttributeValue(Binary value) : value_(std::move(value)) {}
inline AttributeValue::AttributeValue(bool value) : value_(value) {}
inline AttributeValue::AttributeValue(Null value) : value_(value) {}
inline AttributeValue::AttributeValue(StringSet value) : value_(std::move(value)) {}
inline AttributeValue::AttributeValue(NumberSet value) : value_(std::move(value)) {}
inline AttributeValue::AttributeValue(BinarySet value) : value_(std::move(value)) {}
inline AttributeValue::AttributeValue(List value) : value_(std::move(value)) {}
inline AttributeValue::AttributeValue(Map value) : value_(std::move(value)) {}

// Orders two strings, two numbers or two binaries as DynamoDB's <, BETWEEN and sort keys do. Any other pair
// is unordered.
std::partial_ordering compare_scalars(const AttributeValue& a, const AttributeValue& b);

// "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M".
std::string_view type_name(Type type);

// Returns the type with this name; nullopt if there is no such type. This function must be fast, because it
// is called for every value of a request.
constexpr std::optional<Type> type_named(std::string_view name) {
  constexpr std::size_t bytes_max = 4;
  const auto code = [](std::string_view text) {
    std::uint64_t word = text.size();
    for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
    return word;
  };
  if (name.size() > bytes_max) return std::nullopt;
  switch (code(name)) {
    case code("S"): return Type::string;
    case code("N"): return Type::number;
    case code("B"): return Type::binary;
    case code("BOOL"): return Type::boolean;
    case code("NULL"): return Type::null;
    case code("SS"): return Type::string_set;
    case code("NS"): return Type::number_set;
    case code("BS"): return Type::binary_set;
    case code("L"): return Type::list;
    case code("M"): return Type::map;
    default: return std::nullopt;
  }
}

}  // namespace mayfly::engine
