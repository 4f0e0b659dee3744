// Changes items by rules, so that nobody is in them any more and they still fit together.
//
//   auto anonymizer = Anonymizer::for_table(rules, hash, {.table = "users", .keys = {"id"}, .ttl =
//   "expires"}); if (!anonymizer) fail(anonymizer.error());    // "users: the rule for id drops a key …"
//   Changes changes;
//   CHECK_OK(anonymizer->change(item, changes));  // changes.counts: how many values, by rule
//
// Types stay: a string becomes a string. Hashes of keys stay distinct; a rule that could give two items one
// key is refused before any item is read. Of sets each member is changed, and members that come out alike are
// one. What has no stand-in stays: true, false, null, empty texts. The attribute of TTL is changed by a rule
// that names it, never by the default.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/transfer/keyed_hash.h"
#include "cli/transfer/rules.h"
#include "engine/attribute_value.h"
#include "engine/expected.h"

namespace mayfly::transfer {

struct TableShape {
  std::string table;
  std::vector<std::string> keys;  // of the table itself
  std::string ttl{};              // empty: none
};

// How many values were changed, by what did it: "users: email (fake email)".
struct Changes {
  std::map<std::string, std::uint64_t> counts;
  void add(const std::map<std::string, std::uint64_t>& more) {
    for (const auto& [what, count] : more) counts[what] += count;
  }
};

class Anonymizer {
 public:
  // Attributes whose changes by the default are counted one by one; those of others together.
  static constexpr std::size_t counted_names_max = 200;

  // `rules` and `hash` live as long as this.
  static Expected<Anonymizer, std::string> for_table(const Rules& rules, const KeyedHash& hash,
                                                     TableShape shape);

  // The error: the item has become too large.
  Expected<void, std::string> change(engine::Item& item, Changes& changes) const;

 private:
  struct Walk;
  Anonymizer(const Rules& rules, const KeyedHash& hash, TableShape shape)
      : rules_(&rules), hash_(&hash), shape_(std::move(shape)) {}
  [[nodiscard]] Expected<void, std::string> check() const;

  const Rules* rules_;
  const KeyedHash* hash_;
  TableShape shape_;
  std::vector<const Rule*> own_;  // those of this table
};

}  // namespace mayfly::transfer
