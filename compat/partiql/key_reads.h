// Finds the key look-ups that answer a WHERE clause. Like DynamoDB, decomposes IN and OR on keys into several
// Queries or GetItems:
//
//   artist IN ['Nina', 'Miles'] AND year > 1960         two, each with its artist and year > 1960
//   artist = 'Nina' AND (year = 1964 OR year = 1966)    two
//   artist = 'Nina' OR plays = 3                        none: plays = 3 needs a Scan
//   artist = 'Nina' AND (plays = 3 OR live = true)      one: an OR that names no key is left to the filter
//   artist = 'Nina' AND (year <> 1964 OR year = 1966)   one: artist = 'Nina', filtered by the whole clause
#pragma once

#include <vector>

#include "compat/expression/key_condition.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"
#include "engine/schema/table.h"

namespace mayfly::compat::partiql {

inline constexpr std::size_t key_reads_max = 50;

struct KeyRead {
  std::vector<expression::KeyPredicate> predicates;  // equalities on partition attributes come first
  bool filtered = false;                             // the clause has conditions beyond the predicates
  bool negated = false;  // the other conditions include a negated condition on the sort key
};

// Returns an empty list if the clause needs a Scan. Errors: "Too many decomposed read operations for a given
// query.", and overlapping_conditions if one read covers a whole partition and another read covers only a
// part of it.
Result<std::vector<KeyRead>> key_reads(const expression::Condition& where, const engine::KeySchema& keys);

// "Overlapping conditions with range keys are not supported in where clause"
Unexpected<Error> overlapping_conditions();

// Returns the condition as a predicate that a Query can look up, whichever attribute it names. Returns
// nullopt if the condition is not such a predicate.
std::optional<expression::KeyPredicate> key_predicate(const expression::Condition& condition);

}  // namespace mayfly::compat::partiql
