#include "engine/values/item_size.h"

namespace mayfly::engine {
namespace {

struct Sizer {
  std::size_t operator()(const std::string& value) const { return value.size(); }
  std::size_t operator()(const Number& value) const { return number_size(value); }
  std::size_t operator()(const Binary& value) const { return value.bytes.size(); }
  std::size_t operator()(bool) const { return 1; }
  std::size_t operator()(Null) const { return 1; }

  template <class T>
  std::size_t operator()(const Set<T>& set) const {
    std::size_t size = 0;
    for (const T& member : set.members()) size += (*this)(member);
    return size;
  }
  std::size_t operator()(const List& list) const {
    std::size_t size = container_bytes;
    for (const AttributeValue& value : list) size += element_bytes + value_size(value);
    return size;
  }
  std::size_t operator()(const Map& map) const {
    return container_bytes + element_bytes * map.size() + item_size(map);
  }
};

}  // namespace

std::size_t number_size(const Number& number) {
  if (number.is_zero()) return 1;
  // A byte holds a pair of decimal digits, aligned at the decimal point. An even number of digits that begins
  // in the middle of a pair takes one more byte.
  const int digits = number.digit_count();
  const bool straddles = digits % 2 == 0 && number.magnitude() % 2 == 0;
  return static_cast<std::size_t>(1 + (digits + 1) / 2 + (straddles ? 1 : 0) + (number.negative() ? 1 : 0));
}

std::size_t value_size(const AttributeValue& value) { return std::visit(Sizer(), value.variant()); }

std::size_t item_size(const Item& item) {
  std::size_t size = 0;
  for (const Attribute& attribute : item) size += attribute.name.size() + value_size(attribute.value);
  return size;
}

}  // namespace mayfly::engine
