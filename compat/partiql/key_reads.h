// Which key look-ups answer a WHERE clause. DynamoDB decomposes IN and OR on keys into several Queries or
// GetItems:
//
//   artist IN ['Nina', 'Miles'] AND year > 1960         two, each with its artist and year > 1960
//   artist = 'Nina' AND (year = 1964 OR year = 1966)    two
//   artist = 'Nina' OR plays = 3                        none: only a Scan finds what is not Nina's
//   artist = 'Nina' AND (plays = 3 OR live = true)      one: an OR that names no key is left to the filter
//   artist = 'Nina' AND (year <> 1964 OR year = 1966)   one: Nina's, filtered by all of the clause
#pragma once

#include <vector>

#include "compat/expression/ast.h"
#include "compat/expression/key_condition.h"
#include "compat/wire/error.h"
#include "engine/table.h"

namespace mayfly::compat::partiql {

inline constexpr std::size_t key_reads_max = 50;

struct KeyRead {
  std::vector<expression::KeyPredicate> predicates;  // every partition attribute equal, then sort attributes
  bool filtered = false;                             // the clause asks for more than the predicates say
  bool negated = false;  // what else it asks has a negated condition on the sort key
};

// Empty: a Scan. "Too many decomposed read operations for a given query.", and overlapping_conditions where
// one of a partition's reads is of all of it and another is not.
Result<std::vector<KeyRead>> key_reads(const expression::Condition& where, const engine::KeySchema& keys);

// "Overlapping conditions with range keys are not supported in where clause"
Unexpected<Error> overlapping_conditions();

// The condition as one that a Query can look up, on whatever attribute it names; nothing if it is not one.
std::optional<expression::KeyPredicate> key_predicate(const expression::Condition& condition);

}  // namespace mayfly::compat::partiql
