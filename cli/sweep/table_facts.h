// What an endpoint reports about a table to be swept: its key, its index, and any problem that prevents
// sweeping.
//
//   TRY(const auto facts, read_facts(client, layout));
//   facts.problem    // "it has no index sweep. Create it with 'mayfly sweep plan --apply'"; empty: none
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/aws/client.h"
#include "cli/sweep/layout.h"

namespace mayfly::sweep {

struct TableFacts {
  std::vector<std::string> key;       // names: partition key, sort key
  std::int64_t items = 0, bytes = 0;  // from DescribeTable, so possibly hours out of date
  bool on_demand = false;
  std::int64_t write_units = 0;  // provisioned capacity
  enum class Index : std::uint8_t { absent, building, ready, other_key };
  Index index = Index::absent;
  bool index_has_ttl = false;  // index entries contain the TTL, so each renewal writes to the index
  std::string ttl_attribute;   // attribute of the endpoint's own TTL; empty: that TTL is off
  std::string isolation;       // Alternator's write isolation; empty for other endpoints
  std::string problem;  // a sentence that says why the table cannot be swept; empty: the table can be swept
};

Expected<TableFacts, std::string> read_facts(aws::Client& client, const Layout& layout);

// Creates the index, unless it is already being created, and waits until it can be used.
Expected<void, std::string> create_index(aws::Client& client, const Layout& layout, const TableFacts& facts);

// Whether Alternator checks conditions against all writers under this value of system:write_isolation. It
// does not if some writes bypass lightweight transactions: such a write can be lost if it falls between the
// read and the write of a conditional update.
bool is_safe_isolation(std::string_view name);

}  // namespace mayfly::sweep
