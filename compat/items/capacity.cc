#include "compat/items/capacity.h"

#include <algorithm>

namespace mayfly::compat {

namespace {

double blocks(std::size_t bytes, std::size_t block_bytes) {
  return static_cast<double>(std::max<std::size_t>(1, (bytes + block_bytes - 1) / block_bytes));
}

}  // namespace

double read_units(std::size_t bytes, bool consistent) {
  return blocks(bytes, read_block_bytes) * (consistent ? 1 : 0.5);
}

double write_units(std::size_t bytes) { return blocks(bytes, write_block_bytes); }

double vector_request_bytes(double bytes) { return std::max(bytes, 1024.0); }

ReturnCapacity return_capacity(const json::Value& request) {
  const json::Value* member = request.member("ReturnConsumedCapacity");
  if (!member || member->string() == "NONE") return ReturnCapacity::none;
  return member->string() == "INDEXES" ? ReturnCapacity::indexes : ReturnCapacity::total;
}

// A transaction costs double for the table, but not for its indexes, as reported for AWS in August 2026.
void ConsumedCapacity::add_index(const engine::Index& index, double units) {
  (index.kind == engine::Index::Kind::local ? local_ : global_)[index.name] += units;
}

void ConsumedCapacity::add_write(const engine::Table& table, std::size_t old_bytes, std::size_t new_bytes,
                                 const std::vector<engine::Transaction::IndexEffect>& index_effects) {
  add_table(compat::write_units(std::max(old_bytes, new_bytes)));
  for (const auto& effect : index_effects) {
    const auto index =
        std::find_if(table.indexes.begin(), table.indexes.end(),
                     [&](const engine::Index& candidate) { return candidate.id == effect.index; });
    if (index == table.indexes.end()) continue;
    double units = 0;
    if (effect.key_changed) {  // one write deletes the old entry, another one puts the new entry
      if (effect.old_entry_bytes > 0) units += compat::write_units(effect.old_entry_bytes);
      if (effect.new_entry_bytes > 0) units += compat::write_units(effect.new_entry_bytes);
    } else if (effect.old_entry_bytes > 0 || effect.new_entry_bytes > 0) {
      units = compat::write_units(std::max(effect.old_entry_bytes, effect.new_entry_bytes));
    }
    if (units > 0) add_index(*index, units);
  }
}

void ConsumedCapacity::write_units(json::Writer& out, double units) const {
  out.key("CapacityUnits");
  out.decimal(units);
  if (of_ == Of::request) return;
  out.key(of_ == Of::transaction_reads ? "ReadCapacityUnits" : "WriteCapacityUnits");
  out.decimal(units);
}

void ConsumedCapacity::write_vector_indexes(json::Writer& out) const {
  if (vectors_.empty()) return;
  out.key("VectorIndexes");
  out.begin_object();
  for (const auto& [name, bytes] : vectors_) {
    out.key(name);
    out.begin_object();
    out.key("VectorWriteRequestBytes");
    out.decimal(bytes);
    out.end_object();
  }
  out.end_object();
}

void ConsumedCapacity::write(json::Writer& out, ReturnCapacity mode) const {
  double total = table_;
  for (const auto& [name, units] : local_) total += units;
  for (const auto& [name, units] : global_) total += units;

  out.begin_object();
  out.key("TableName");
  out.string(table_name_);
  write_units(out, total);
  if (mode == ReturnCapacity::indexes) {
    const auto write_units_object = [&](double units) {
      out.begin_object();
      write_units(out, units);
      out.end_object();
    };
    out.key("Table");
    write_units_object(table_);
    const auto write_indexes = [&](std::string_view member, const Units& indexes) {
      if (indexes.empty()) return;
      out.key(member);
      out.begin_object();
      for (const auto& [name, units] : indexes) {
        out.key(name);
        write_units_object(units);
      }
      out.end_object();
    };
    write_indexes("LocalSecondaryIndexes", local_);
    write_indexes("GlobalSecondaryIndexes", global_);
    write_vector_indexes(out);
  }
  out.end_object();
}

}  // namespace mayfly::compat
