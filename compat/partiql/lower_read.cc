#include "compat/partiql/lower_read.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "compat/items/page.h"
#include "compat/items/query_and_scan.h"
#include "compat/items/read_target.h"
#include "compat/items/request_expressions.h"
#include "compat/items/sight.h"
#include "compat/tables/lookup.h"
#include "compat/tables/vector_indexes.h"

namespace mayfly::compat::partiql {
namespace {

using engine::KeyAttribute;
using engine::KeyRange;
using engine::KeySchema;
using expression::KeyPredicate;
using PredicateKind = expression::KeyPredicate::Kind;

bool contains(std::span<const KeyAttribute> attributes, std::string_view name) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const KeyAttribute& attribute) { return attribute.name == name; });
}

// Finds the table or index of a SELECT. Errors about an index have PartiQL's wording.
Result<ReadTarget> find_target(const Context& context, const Select& select, bool consistent) {
  const auto find = [&](std::optional<std::string_view> index_name) {
    return find_read_target(context, select.table, index_name, consistent, ReadBy::scan);
  };
  if (!select.index) {
    TRY(ReadTarget target, find(std::nullopt));
    CHECK_OK(check_readable(*target.table, select));
    return target;
  }
  TRY(const auto live, find_table(context, select.table));
  const auto table = live->description();
  const engine::Index* index = table->find_index(*select.index);
  CHECK_OK(check_readable(*table, select));
  if (index == nullptr && find_vector_index(vector_indexes_of(*table), *select.index) == nullptr)
    return error::validation("The table does not have the specified index");
  if (consistent && index != nullptr && index->kind == engine::Index::Kind::global) {
    return error::validation("Strongly consistent read is not supported on Global Secondary Indexes");
  }
  return find(select.index);
}

Result<void> check_types(const KeyRead& read, const KeySchema& keys) {
  for (const KeyPredicate& predicate : read.predicates) {
    for (const KeyAttribute& attribute : keys.all()) {
      if (attribute.name != predicate.attribute) continue;
      if (has_type(*predicate.low, attribute.type) &&
          (predicate.kind != PredicateKind::between || has_type(*predicate.high, attribute.type))) {
        continue;
      }
      return error::validation(
          "Key attribute's data type should match its data type in table's schema: Key " + attribute.name);
    }
  }
  return {};
}

bool overlap(const KeyRange& a, const KeyRange& b) {
  return (b.upper.empty() || a.lower < b.upper) && (a.upper.empty() || b.lower < a.upper);
}

Result<std::vector<KeyRange>> ranges_of(const ReadTarget& target, const std::vector<KeyRead>& reads) {
  std::vector<KeyRange> ranges;
  for (const KeyRead& read : reads) CHECK_OK(check_types(read, target.keys()));
  for (const KeyRead& read : reads) {
    TRY(const auto condition, expression::match_key_schema(read.predicates, target.keys()));
    KeyRange range = key_range(target, condition);
    const auto meets = [&](const KeyRange& other) { return overlap(range, other); };
    if (std::any_of(ranges.begin(), ranges.end(), meets)) {
      return overlapping_conditions();
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

// Whether each read has an equality on every key attribute, so that its range has at most one item.
bool have_whole_keys(const std::vector<KeyRead>& reads, const KeySchema& keys) {
  const std::size_t size = keys.all().size();
  return std::all_of(reads.begin(), reads.end(), [&](const KeyRead& read) {
    return read.predicates.size() == size && read.predicates.back().kind == PredicateKind::equal;
  });
}

// Returns less if the partition of `a` sorts before the partition of `b`.
std::partial_ordering compare_partitions(const KeyRead& a, const KeyRead& b, const KeySchema& keys) {
  for (std::size_t i = 0; i < keys.partition().size(); ++i) {
    const auto order = engine::compare_scalars(*a.predicates[i].low, *b.predicates[i].low);
    if (order != 0) return order;
  }
  return std::partial_ordering::equivalent;
}

class Order {
 public:
  Order(const std::vector<OrderBy>& terms, const KeySchema& keys) : terms_(terms), keys_(keys) {}

  Result<void> check(bool has_where, const std::vector<KeyRead>& reads) const {
    if (terms_.empty()) return {};
    if (!has_where)
      return error::validation("Must have WHERE clause in the statement when using ORDER BY clause.");
    for (const OrderBy& term : terms_) {
      if (!keys_.names(term.attribute)) {
        return error::validation("Attribute " + term.attribute +
                                 " in ORDER BY clause must be part of the primary key");
      }
    }
    if (reads.empty()) {
      return error::validation(
          "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY "
          "clause.");
    }
    const bool several = std::any_of(reads.begin(), reads.end(), [&](const KeyRead& read) {
      return compare_partitions(read, reads.front(), keys_) != 0;
    });
    if (several && term_of(keys_.partition()) == nullptr) {
      return error::validation(
          "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE "
          "clause.");
    }
    return {};
  }

  // Measured on AWS: if ORDER BY has only the partition key, items with the same partition key are returned
  // in descending order of their sort keys.
  [[nodiscard]] bool forward() const {
    const OrderBy* term = term_of(keys_.sort());
    return terms_.empty() || (term != nullptr && !term->descending);
  }

  // Sorts the ranges. Without ORDER BY, the ranges keep their written order.
  void apply(const std::vector<KeyRead>& reads, std::vector<KeyRange>& ranges) const {
    if (terms_.empty()) return;
    const OrderBy* by_partition = term_of(keys_.partition());
    std::vector<std::size_t> order(reads.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto partitions = compare_partitions(reads[a], reads[b], keys_);
      if (partitions != 0) return (partitions < 0) != (by_partition != nullptr && by_partition->descending);
      return forward() ? ranges[a].lower < ranges[b].lower : ranges[b].lower < ranges[a].lower;
    });
    std::vector<KeyRange> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(ranges[i]));
    ranges = std::move(sorted);
  }

 private:
  [[nodiscard]] const OrderBy* term_of(std::span<const KeyAttribute> part) const {
    const auto names_part = [&](const OrderBy& term) { return contains(part, term.attribute); };
    const auto found = std::find_if(terms_.begin(), terms_.end(), names_part);
    return found == terms_.end() ? nullptr : &*found;
  }

  const std::vector<OrderBy>& terms_;
  const KeySchema& keys_;
};

}  // namespace

Result<void> check_readable(const engine::Table& table, const Select& select) {
  const engine::Index* index = select.index ? table.find_index(*select.index) : nullptr;
  const KeySchema& keys = index != nullptr ? index->keys : table.keys;
  if (keys.partition().size() > 1 || keys.sort().size() > 1) {
    return error::validation(
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute "
        "RANGE keys.");
  }
  if (select.projection_error) return Unexpected{*select.projection_error};
  return {};
}

Result<Read> lower_read(const Context& context, Select select, bool consistent) {
  Read read;
  PageRequest& page = read.page;
  TRY(page.target, find_target(context, select, consistent));
  const ReadTarget& target = page.target;
  page.consistent = consistent;
  page.sight = sight_of(context, *page.target.table, page.target.index, consistent);
  if (!select.projection.empty()) {
    CHECK_OK(check_keys_are_scalars(*target.table, nested_names(select.projection)));
    page.projection = std::move(select.projection);
    page.flat_projection = true;
  }
  std::vector<KeyRead> reads;
  if (select.where) {
    TRY(reads, key_reads(*select.where, target.keys()));
  }
  TRY(read.ranges, ranges_of(target, reads));
  const Order order(select.order, target.keys());
  CHECK_OK(order.check(select.where.has_value(), reads));
  const bool keyed = !reads.empty();
  if (keyed) {
    order.apply(reads, read.ranges);
    for (KeyRange& range : read.ranges) range.forward = order.forward();
    read.whole_keys = target.index == nullptr && have_whole_keys(reads, target.keys());
  } else {
    read.ranges.emplace_back().index = target.index ? target.index->id : engine::IndexId{0};
    page.partitions = scanned_partitions(*target.table);
  }
  if (!keyed || std::any_of(reads.begin(), reads.end(), [](const KeyRead& each) { return each.filtered; })) {
    page.filter = std::move(select.where);
  }
  if (page.filter) CHECK_OK(check_keys_are_scalars(*target.table, nested_names(*page.filter)));
  CHECK_OK(apply_index_projection(false, page));
  // Attributes in a branch of OR are not checked.
  if (keyed) CHECK_OK(check_filter_is_projected(page, expression::for_each_path_outside_or));
  return read;
}

Result<ItemRead> lower_item_read(std::shared_ptr<engine::LiveTable> live, Select select,
                                 std::string_view refusal) {
  const auto table = live->description();
  const KeySchema& keys = table->keys;
  std::vector<KeyRead> reads;
  if (select.where) {
    TRY(reads, key_reads(*select.where, keys));
  }
  const bool whole_keys = !reads.empty() && have_whole_keys(reads, keys);
  if (reads.size() > 1) CHECK_OK(ranges_of({live, table}, reads));
  if (!whole_keys || reads.size() != 1 || reads.front().filtered || !select.order.empty()) {
    return error::validation(std::string(refusal));
  }
  ItemRead read{.table = std::move(live)};
  for (KeyPredicate& predicate : reads.front().predicates) {
    read.key_item.set(predicate.attribute, *predicate.low);
  }
  if (!select.projection.empty()) {
    CHECK_OK(check_keys_are_scalars(*table, nested_names(select.projection)));
    read.projection = std::move(select.projection);
    read.flat_projection = true;
  }
  return read;
}

}  // namespace mayfly::compat::partiql
