// Replaces values in items according to rules, so that no person can be identified but references between
// items still match.
//
//   auto anonymizer =
//       Anonymizer::for_table(rules, hash, {.table = "users", .keys = {"id"}, .ttl = "expires"});
//   if (!anonymizer) fail(anonymizer.error());    // "users: key attribute id cannot be dropped; …"
//   Changes changes;
//   CHECK_OK(anonymizer->change(item, changes));  // adds to changes.counts, by rule
//
// - A replacement has the same type as the value that it replaces.
// - Hashed keys stay distinct. A rule that could give two items the same key is rejected before any item is
//   read.
// - Each member of a set is changed. Members that become equal are merged.
// - Values that have no substitute stay unchanged: true, false, null, empty strings and empty binaries.
// - The TTL attribute is changed only by a rule that names it, never by the default.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/anonymize/keyed_hash.h"
#include "cli/anonymize/rules.h"
#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::transfer {

struct TableShape {
  std::string table;
  std::vector<std::string> keys;  // key attributes of the table, not of its indexes
  std::string ttl{};              // the TTL attribute; empty: the table has no TTL
};

// The number of changed values for each rule or default, such as "users: email (fake email)".
struct Changes {
  std::map<std::string, std::uint64_t> counts;
  void add(const std::map<std::string, std::uint64_t>& more) {
    for (const auto& [what, count] : more) counts[what] += count;
  }
};

class Anonymizer {
 public:
  // The changes that the default makes are counted separately for at most this many attributes, and in one
  // total for all other attributes.
  static constexpr std::size_t counted_names_max = 200;

  // `rules` and `hash` must outlive this object.
  static Expected<Anonymizer, std::string> for_table(const Rules& rules, const KeyedHash& hash,
                                                     TableShape shape);

  // Fails if the item becomes too large.
  Expected<void, std::string> change(engine::Item& item, Changes& changes) const;

 private:
  struct Walk;
  Anonymizer(const Rules& rules, const KeyedHash& hash, TableShape shape)
      : rules_(&rules), hash_(&hash), shape_(std::move(shape)) {}
  [[nodiscard]] Expected<void, std::string> check() const;

  const Rules* rules_;
  const KeyedHash* hash_;
  TableShape shape_;
  std::vector<const Rule*> own_;  // the rules for this table
};

}  // namespace mayfly::transfer
