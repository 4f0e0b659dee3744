// Converts bytes to read and write capacity units, and prints ConsumedCapacity.
//
// An eventually consistent read costs half a unit per 4 KB, and a strongly consistent read costs one unit per
// 4 KB. A write costs one unit per 1 KB of the old or the new item, whichever is larger. Every access costs
// at least one block, even if the item does not exist.
//
//   ConsumedCapacity consumed(table.name);
//   consumed.add_table(read_units(stored.size(), consistent));
//   consumed.write(out, ReturnCapacity::total);     // {"TableName":"t","CapacityUnits":0.5}
//
// A transaction reads or writes each item twice, so the table's units are doubled; the units of indexes are
// not doubled. The output of a transaction also says whether the units are read or write units. Consumption
// of vector indexes is counted separately, in bytes.
//
// The rules come from AWS's developer guide: "DynamoDB read and write operations" and, for indexes,
// "Provisioned throughput considerations".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json.h"
#include "engine/items/transaction.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

inline constexpr std::size_t read_block_bytes = 4096;
inline constexpr std::size_t write_block_bytes = 1024;

double read_units(std::size_t bytes, bool consistent);
double write_units(std::size_t bytes);
// Vector indexes are charged by the byte, with a minimum of 1 KB.
double vector_request_bytes(double bytes);

enum class ReturnCapacity : std::uint8_t { none, total, indexes };
ReturnCapacity return_capacity(const json::Value& request);  // from ReturnConsumedCapacity

// The capacity that one request consumed on one table and its indexes.
class ConsumedCapacity {
 public:
  enum class Of : std::uint8_t { request, transaction_reads, transaction_writes };
  explicit ConsumedCapacity(std::string_view table_name, Of of = Of::request)
      : table_name_(table_name), of_(of) {}

  [[nodiscard]] const std::string& table_name() const { return table_name_; }
  void add_table(double units) { table_ += times() * units; }
  void add_index(const engine::Index& index, double units);
  void add_vector_index(const std::string& name, double bytes) { vectors_[name] += bytes; }
  // Adds the write of one item: the table's share, and the share of each index whose entry changed.
  void add_write(const engine::Table& table, std::size_t old_bytes, std::size_t new_bytes,
                 const std::vector<engine::Transaction::IndexEffect>& index_effects);

  // Writes the capacity as one object. Callers omit the member if `mode` is ReturnCapacity::none.
  void write(json::Writer& out, ReturnCapacity mode) const;

 private:
  using Units = std::map<std::string, double, std::less<>>;
  [[nodiscard]] double times() const { return of_ == Of::request ? 1 : 2; }
  void write_units(json::Writer& out, double units) const;
  void write_vector_indexes(json::Writer& out) const;

  std::string table_name_;
  Of of_;
  double table_ = 0;
  Units local_, global_;
  Units vectors_;  // bytes
};

}  // namespace mayfly::compat
