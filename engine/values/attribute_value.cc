#include "engine/values/attribute_value.h"

#include <algorithm>
#include <array>

#include "engine/base/check.h"

namespace mayfly::engine {
namespace {

template <class Attributes>
auto position(Attributes& attributes, std::string_view name) {
  const auto before = [](const Attribute& attribute, std::string_view key) {
    return attribute.name.compare(key) < 0;
  };
  return std::lower_bound(attributes.begin(), attributes.end(), name, before);
}

// Returns pointers to the members, in sorted order.
template <class T>
std::vector<const T*> in_order(const std::vector<T>& members) {
  std::vector<const T*> sorted;
  sorted.reserve(members.size());
  for (const T& member : members) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const T* a, const T* b) { return *a < *b; });
  return sorted;
}

template <class T>
bool are_equal(const T* a, const T* b) {
  return *a == *b;
}

}  // namespace

template <class T>
bool Set<T>::make(std::vector<T> members, Set& out) {
  std::sort(members.begin(), members.end());
  const auto distinct = std::unique(members.begin(), members.end());
  const bool unique = distinct == members.end();
  members.erase(distinct, members.end());
  out.members_ = std::move(members);
  return unique;
}

template <class T>
Set<T> Set<T>::of_distinct(std::vector<T> members) {
  Set set;
  set.members_ = std::move(members);
  return set;
}

template <class T>
bool Set<T>::contains(const T& value) const {
  return std::find(members_.begin(), members_.end(), value) != members_.end();
}

template <class T>
void Set<T>::insert_all(const Set& other) {
  members_.insert(members_.end(), other.members_.begin(), other.members_.end());
  make(std::move(members_), *this);
}

template <class T>
void Set<T>::erase_all(const Set& other) {
  // Look up each member of the larger set in the smaller one. Either set can have a million more members than
  // the other.
  std::sort(members_.begin(), members_.end());
  if (other.size() < members_.size()) {
    const std::vector<const T*> gone = in_order(other.members_);
    const auto before = [](const T* a, const T& b) { return *a < b; };
    std::erase_if(members_, [&](const T& member) {
      const auto found = std::lower_bound(gone.begin(), gone.end(), member, before);
      return found != gone.end() && **found == member;
    });
    return;
  }
  std::vector<bool> gone(members_.size());
  for (const T& member : other.members_) {
    const auto found = std::lower_bound(members_.begin(), members_.end(), member);
    if (found != members_.end() && *found == member)
      gone[static_cast<std::size_t>(found - members_.begin())] = true;
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < members_.size(); ++at) {
    if (gone[at]) continue;
    if (kept != at) members_[kept] = std::move(members_[at]);
    ++kept;
  }
  members_.resize(kept);
}

template <class T>
bool operator==(const Set<T>& a, const Set<T>& b) {
  if (a.members_ == b.members_) return true;
  if (a.members_.size() != b.members_.size()) return false;
  // Sets that this version of Mayfly stores are sorted, so two sorted sets that are not identical differ.
  // This avoids sorting, which takes 20 ms for 100,000 members.
  const auto sorted = [](const std::vector<T>& members) {
    return std::is_sorted(members.begin(), members.end());
  };
  if (sorted(a.members_) && sorted(b.members_)) return false;
  const auto left = in_order(a.members_), right = in_order(b.members_);
  return std::equal(left.begin(), left.end(), right.begin(), are_equal<T>);
}

template bool operator==(const StringSet& a, const StringSet& b);
template bool operator==(const NumberSet& a, const NumberSet& b);
template bool operator==(const BinarySet& a, const BinarySet& b);
template class Set<std::string>;
template class Set<Number>;
template class Set<Binary>;

Map::Map(std::initializer_list<Attribute> attributes) : Map(from_unsorted(attributes)) {}

Map Map::from_unsorted(std::vector<Attribute> attributes) {
  const auto by_name = [](const Attribute& a, const Attribute& b) { return a.name < b.name; };
  if (!std::is_sorted(attributes.begin(), attributes.end(), by_name)) {
    std::stable_sort(attributes.begin(), attributes.end(), by_name);
  }
  // std::unique keeps the first of several equal elements; going backwards keeps the last.
  const auto kept = std::unique(attributes.rbegin(), attributes.rend(),
                                [](const Attribute& a, const Attribute& b) { return a.name == b.name; });
  attributes.erase(attributes.begin(), kept.base());
  Map map;
  map.attributes_ = std::move(attributes);
  return map;
}

const AttributeValue* Map::find(std::string_view name) const {
  const auto found = position(attributes_, name);
  return found != attributes_.end() && found->name == name ? &found->value : nullptr;
}

AttributeValue* Map::find(std::string_view name) {
  const auto found = position(attributes_, name);
  return found != attributes_.end() && found->name == name ? &found->value : nullptr;
}

void Map::set(std::string name, AttributeValue value) {
  if (attributes_.empty() || attributes_.back().name < name) {  // always true if the input is sorted
    attributes_.push_back({std::move(name), std::move(value)});
    return;
  }
  const auto found = position(attributes_, name);
  if (found->name == name) {
    found->value = std::move(value);
  } else {
    attributes_.insert(found, {std::move(name), std::move(value)});
  }
}

bool Map::erase(std::string_view name) {
  const auto found = position(attributes_, name);
  if (found == attributes_.end() || found->name != name) return false;
  attributes_.erase(found);
  return true;
}

void Map::change(std::vector<Attribute> set, const std::vector<std::string_view>& erased) {
  std::vector<Attribute> result;
  result.reserve(attributes_.size() + set.size());
  auto gone = erased.begin();
  auto added = set.begin();
  const auto add_before = [&](const Attribute* kept) {
    for (; added != set.end() && (kept == nullptr || added->name <= kept->name); ++added) {
      if (!result.empty() && result.back().name == added->name) result.pop_back();
      result.push_back(std::move(*added));
    }
  };
  for (Attribute& attribute : attributes_) {
    while (gone != erased.end() && *gone < attribute.name) ++gone;
    if (gone != erased.end() && *gone == attribute.name) continue;
    add_before(&attribute);
    if (!result.empty() && result.back().name == attribute.name) continue;  // a new value has replaced it
    result.push_back(std::move(attribute));
  }
  add_before(nullptr);
  attributes_ = std::move(result);
}

void Map::reserve(std::size_t count) { attributes_.reserve(count); }

AttributeValue& Map::append(std::string_view name) {
  MAYFLY_DEBUG_CHECK(attributes_.empty() || attributes_.back().name < name);
  Attribute& attribute = attributes_.emplace_back();
  attribute.name = name;
  return attribute.value;
}

bool operator==(const Map& a, const Map& b) { return a.attributes_ == b.attributes_; }

std::partial_ordering compare_scalars(const AttributeValue& a, const AttributeValue& b) {
  if (a.type() != b.type()) return std::partial_ordering::unordered;
  switch (a.type()) {
    case Type::string: return *a.get_if<std::string>() <=> *b.get_if<std::string>();
    case Type::number: return *a.get_if<Number>() <=> *b.get_if<Number>();
    case Type::binary: return *a.get_if<Binary>() <=> *b.get_if<Binary>();
    case Type::boolean:
    case Type::null:
    case Type::string_set:
    case Type::number_set:
    case Type::binary_set:
    case Type::list:
    case Type::map: break;
  }
  return std::partial_ordering::unordered;
}

std::string_view type_name(Type type) {
  static constexpr std::array<std::string_view, 10> names = {"S",  "N",  "B",  "BOOL", "NULL",
                                                             "SS", "NS", "BS", "L",    "M"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace mayfly::engine
