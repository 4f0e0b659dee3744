#include "compat/expression/projection.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "compat/expression/evaluate.h"
#include "engine/base/hurry.h"

namespace mayfly::compat::expression {
namespace {

using engine::AttributeValue;
using Paths = std::span<const Path* const>;

constexpr std::uint64_t nanoseconds_per_path = 100;

std::optional<AttributeValue> select(const AttributeValue& value, Paths paths, std::size_t depth);

// Calls `visit` for each group of paths that share the element at `depth`. Requires: the paths are sorted by
// their elements, so that such paths are adjacent.
template <class Visit>
void for_each_element(Paths paths, std::size_t depth, Visit visit) {
  for (std::size_t from = 0; from < paths.size();) {
    const Path::Element& element = paths[from]->elements[depth];
    std::size_t to = from + 1;
    while (to < paths.size() && paths[to]->elements[depth] == element) ++to;
    visit(element, paths.subspan(from, to - from));
    from = to;
  }
}

std::optional<AttributeValue> select_from_map(const engine::Map& map, Paths paths, std::size_t depth) {
  engine::Map out;
  for_each_element(paths, depth, [&](const Path::Element& element, Paths rest) {
    const auto* name = std::get_if<std::string>(&element);
    const AttributeValue* child = name == nullptr ? nullptr : map.find(*name);
    if (child == nullptr) return;
    if (auto part = select(*child, rest, depth + 1)) out.append(*name) = *std::move(part);
  });
  if (out.empty()) return std::nullopt;
  return AttributeValue(std::move(out));
}

std::optional<AttributeValue> select_from_list(const engine::List& list, Paths paths, std::size_t depth) {
  engine::List out;
  for_each_element(paths, depth, [&](const Path::Element& element, Paths rest) {
    const auto* index = std::get_if<std::uint32_t>(&element);
    if (index == nullptr || *index >= list.size()) return;
    if (auto part = select(list[*index], rest, depth + 1)) out.push_back(*std::move(part));
  });
  if (out.empty()) return std::nullopt;
  return AttributeValue(std::move(out));
}

// Returns the parts of `value` that the paths select, or nullopt if the value has none of these parts.
// `depth`: the first element of each path that applies to `value`.
std::optional<AttributeValue> select(const AttributeValue& value, Paths paths, std::size_t depth) {
  // Paths do not overlap, so a path that ends here is the only path in `paths`.
  if (paths.front()->elements.size() == depth) return value;
  if (const auto* map = value.get_if<engine::Map>()) return select_from_map(*map, paths, depth);
  if (const auto* list = value.get_if<engine::List>()) return select_from_list(*list, paths, depth);
  return std::nullopt;
}

}  // namespace

engine::Item project(const Projection& projection, const engine::Item& item) {
  if (projection.empty()) return item;
  engine::Hurry::spend(nanoseconds_per_path * projection.size());
  std::vector<const Path*> paths;
  paths.reserve(projection.size());
  for (const Path& path : projection) paths.push_back(&path);
  std::sort(paths.begin(), paths.end(),
            [](const Path* a, const Path* b) { return a->elements < b->elements; });
  paths.erase(std::unique(paths.begin(), paths.end(), [](const Path* a, const Path* b) { return *a == *b; }),
              paths.end());
  auto selected = select_from_map(item, paths, 0);
  if (!selected) return {};
  return std::move(*selected->get_if<engine::Map>());
}

std::string flat_name(const Path& path) {
  std::string name;
  for (const Path::Element& element : path.elements) {
    if (const auto* position = std::get_if<std::uint32_t>(&element)) {
      name += "[" + std::to_string(*position) + "]";
    } else {
      name = std::get<std::string>(element);
    }
  }
  return name;
}

engine::Item project_flat(const Projection& projection, const engine::Item& item) {
  engine::Hurry::spend(nanoseconds_per_path * projection.size());
  engine::Item out;
  for (const Path& path : projection) {
    if (const AttributeValue* value = find(path, item)) out.set(flat_name(path), *value);
  }
  return out;
}

}  // namespace mayfly::compat::expression
